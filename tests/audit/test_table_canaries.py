"""Canaries of tables: what is claimed is not refuted, and a fit without noise is."""

import numpy as np
import pytest

from dpmorse import (
    Boolean,
    Date,
    InvalidParameterError,
    Nominal,
    Numeric,
    Ordinal,
    PrivateGaussianMixture,
    Schema,
)
from dpmorse.audit import audit_estimator
from dpmorse.audit.canaries import any_records, as_table
from dpmorse.privacy.sampler import NativeSampler
from dpmorse.records import open_records

pytestmark = pytest.mark.filterwarnings("ignore")  # of pure noise

COLUMNS = {
    "age": Numeric(-1, 1),
    **{f"c{i}": Nominal([str(level) for level in range(12)]) for i in range(30)},
}


def audited(epsilon, **options):
    model = PrivateGaussianMixture(1, epsilon=epsilon, columns=COLUMNS, profile=False, **options)
    return audit_estimator(model, n_canaries=600, confidence=0.99, random_state=1)


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_a_true_claim_is_not_refuted(relation):
    assert audited(4.0, neighboring=relation).passed


@pytest.mark.parametrize("rows", [{}, {"max_rows_per_group": 2}], ids=["rows", "persons"])
def test_a_fit_without_noise_is_refuted(monkeypatch, rows):
    monkeypatch.setattr(NativeSampler, "gaussian", lambda self, scales: np.zeros(len(scales), dtype=np.int64))
    assert not audited(0.5, random_state=0, **rows).passed  # where it starts is all that is left to chance


def test_invented_records_are_records_of_the_table():
    schema = Schema.of(
        {
            "ward": Nominal(["a", 5], missing="level"),
            "age": Numeric(0, 9, missing="level"),
            "visits": Numeric(0, 9, integer=True),
            "pain": Ordinal(["none", "some", "strong"], missing="ignore"),
            "seen": Date("2020-01-01", "2021-01-01"),
            "smoker": Boolean(),
        }
    )
    encoded = any_records(schema, 50, np.random.default_rng(0), at_bounds=True)
    assert np.array_equal(open_records(as_table(schema, encoded), schema=schema).read(None), encoded)


def test_records_of_a_table_cannot_be_given():
    with pytest.raises(InvalidParameterError, match="X must be None where the estimator has columns"):
        audit_estimator(PrivateGaussianMixture(1, epsilon=1.0, columns=COLUMNS), np.zeros((3, 31)))
