"""The statement names the relation, the spend and what is not covered."""

import pytest

from dpmorse import Budget, PrivacyReport
from dpmorse.privacy import Calibration, Neighboring, ReleaseEvent, Step
from dpmorse.privacy.report import upwards


def report(neighboring=Neighboring.ADD_REMOVE, *, secure=True, name="round", n_used=2, **unit):
    reserved = tuple(
        ReleaseEvent(
            step=Step.parse(f"{name} {i}"),
            neighboring=neighboring,
            rho=0.01,
            n_draws=7,
            smallest_scale=2**28,
            noise_stddev={"count": 5.0, "sum": 6.5},
        )
        for i in (1, 2)
    )
    budget = Budget(1.0, 1e-6, neighboring, **unit)
    return PrivacyReport(budget, reserved, reserved[:n_used], Calibration.GAUSSIAN, secure)


def test_figures_come_from_what_was_reserved():
    """Whatever was used of it, which is an account beside the promise."""
    less, made = report(n_used=1), report()
    assert (less.rho, less.epsilon, less.epsilon_zcdp) == (made.rho, made.epsilon, made.epsilon_zcdp)
    assert less.statement.splitlines()[0] == made.statement.splitlines()[0]
    assert less.used.rho == pytest.approx(0.01)
    assert f"rho = {upwards(0.02)} (zCDP)" in less.statement
    assert f"Used: rho = {upwards(0.01)}, an account, not a smaller promise." in less.statement
    assert less.used.epsilon(1e-6) < less.epsilon == made.used.epsilon(1e-6)
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


def test_the_statement_names_the_unit():
    def text(rows, unit):
        return report(Neighboring.ADD_REMOVE_GROUP, max_rows_per_group=rows, unit=unit).statement

    assert "removing all records of one patient, of which at most 5 are used." in text(5, "patient")
    assert "removing all records of one group (such as a person), of which at most 2 are used." in text(
        2, None
    )


def test_a_seeded_model_is_stamped():
    assert report(secure=False).statement.startswith("NOT SECURE")


def test_short_representation():
    assert repr(report()) == (
        "PrivacyReport(epsilon=0.834118, delta=1e-06, neighboring='add-remove', 2 releases, secure=True)"
    )


def test_costs_are_written_rounded_up():
    assert [upwards(cost) for cost in (0.13278714, 1.0, 0.99999999, 123.45600001, 2.0**-30)] == [
        "0.132788",
        "1",
        "1",
        "123.457",
        "0.000000000931323",
    ]


def test_ledger_as_table():
    made = report()
    assert len(made.table.splitlines()) == 5
    assert [line.split()[-1] for line in report(n_used=1).table.splitlines()[-2:]] == [
        upwards(0.01),
        upwards(0.02),
    ]
    assert [line.split()[0] for line in made.table.splitlines()[-2:]] == ["used", "promised"]
    assert made.to_dicts()[1]["release"] == "round 2"
    assert made.to_dicts()[0]["noise_stddev_sum"] == 6.5


def test_notebooks_show_the_statement_and_the_ledger_escaped():
    made = report(name="<script>alert(1)</script>")
    page = made._repr_html_()
    assert "differentially private" in page
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert page.count("<tr>") == 1 + len(made.events)
