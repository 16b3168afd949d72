"""Replays of whole fits as users make them: the audit of docs/audit.md, in one storage."""

import numpy as np
import pytest

from audits.attacks.stored_fits import STORAGES, UNITS, fits, replayed
from dpmorse.records.persons.row_choice import Chosen

pytestmark = [pytest.mark.long, pytest.mark.filterwarnings("ignore")]  # of pure noise, and Dask's own


@pytest.mark.parametrize(("unit", "relation"), UNITS)
@pytest.mark.parametrize("fit", fits(), ids=lambda fit: fit.name)
def test_neighbours_move_no_answer_further_than_is_paid_for(fit, unit, relation, tmp_path):
    storage = list(STORAGES)[len(fit.name) % len(STORAGES)]
    moved = [one for _, one in replayed(fit, storage, unit, relation, tmp_path)]
    assert 0.1 < max(moved) <= 1 + 1e-9


def test_a_cap_on_rows_that_is_bypassed_is_noticed(monkeypatch, tmp_path):
    monkeypatch.setattr(Chosen, "_used", lambda self, batch, hashes: np.ones(len(batch), dtype=bool))
    moved = replayed(fits()[0], "batches", "person", "add-remove", tmp_path)
    assert max(one for _, one in moved) > 1
