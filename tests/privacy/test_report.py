"""The statement names the relation, the spend and what is not covered."""

import pytest

from dpmorse import Budget, PrivacyReport
from dpmorse.privacy import Calibration, Neighboring, ReleaseEvent


def report(neighboring=Neighboring.ADD_REMOVE, *, secure=True):
    events = tuple(
        ReleaseEvent(
            name=f"round {i}",
            neighboring=neighboring,
            rho=0.01,
            n_draws=7,
            smallest_scale=2**28,
            noise_stddev={"count": 5.0, "sum": 6.5},
        )
        for i in (1, 2)
    )
    return PrivacyReport(Budget(1.0, 1e-6, neighboring), events, Calibration.GAUSSIAN, secure)


def test_figures_come_from_the_events():
    made = report()
    assert made.rho == pytest.approx(0.02)
    assert made.epsilon < 1.0
    assert made.epsilon < made.epsilon_zcdp
    assert made.delta == 1e-6
    assert made.neighboring == "add-remove"


def test_statement_in_words():
    text = report().statement
    assert "adding or removing one record" in text
    assert "number of records is protected" in text
    assert "labels of training records" in text
    assert "NOT SECURE" not in text
    assert "replacing the values of one record" in report(Neighboring.REPLACE_ONE).statement


def test_a_seeded_model_is_stamped():
    assert report(secure=False).statement.startswith("NOT SECURE")


def test_ledger_as_table():
    made = report()
    assert len(made.table.splitlines()) == 3
    assert made.to_dicts()[1]["release"] == "round 2"
    assert made.to_dicts()[0]["noise_stddev_sum"] == 6.5
