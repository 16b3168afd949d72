"""The cap on rows of a person, in every container: the audit of docs/audit.md, with fewer tables."""

import numpy as np
import pytest

from audits.attacks import described_rows, rows_of_persons
from dpmorse.records.persons.row_choice import Chosen

# The warnings are Dask's and pyarrow's own, which differ by version.
pytestmark = [pytest.mark.long, pytest.mark.filterwarnings("ignore")]


def test_no_container_goes_over_the_cap_or_uses_other_rows(tmp_path):
    found = rows_of_persons.audit(30, seed=11, folder=tmp_path)
    assert len(found) >= 13
    for name, (n_tables, over, other) in found.items():
        assert (n_tables, over, other) == (30, 0, 0), name


def test_nor_does_one_of_tables_with_texts_days_and_holes(tmp_path):
    found = described_rows.audit(12, seed=11, folder=tmp_path)
    assert len(found) == 8
    for name, (n_tables, over, other) in found.items():
        assert (n_tables, over, other) == (12, 0, 0), name


def test_the_audit_notices_a_cap_that_does_not_hold(tmp_path, monkeypatch):
    monkeypatch.setattr(Chosen, "_used", lambda self, batch, hashes: np.ones(len(batch), dtype=bool))
    for audit in (rows_of_persons.audit, described_rows.audit):
        assert all(over > 0 for _, over, _ in audit(10, seed=11, folder=tmp_path).values())


def test_the_audit_notices_ids_that_are_split(tmp_path, monkeypatch):
    """Numbers and text that spells them, as two persons: what the code did once."""
    monkeypatch.setattr(
        "dpmorse.records.persons.ids.canonical", lambda value: f"{type(value) is str} {value}"
    )
    found = rows_of_persons.audit(40, seed=11, folder=tmp_path)
    assert found["array"][1] > 0
    assert sum(over for _, over, _ in found.values()) > 10
