"""Shares, centres and spreads of a page are those of the model's table, for every cut, with their notes."""

import numpy as np
import pytest

from dpmorse.densities import GaussianMixture
from dpmorse.morse import merge_tree
from dpmorse.profiles import NO_INTERVALS, about_intervals, cluster_table
from dpmorse.report import contents as contents_module
from dpmorse.report import numbers as numbers_module
from dpmorse.report import render
from dpmorse.report.numbers import nodes_of
from mixture_profiles import invented_profile


def same(shown, estimate, *place):
    """Compare [value, low, high, decimals] with an estimate, to two digits of half the interval."""
    exact = [float(part[place]) for part in (estimate.value, estimate.low, estimate.high)]
    return np.allclose(shown[:3], exact, rtol=0, atol=0.026 * (exact[2] - exact[1]) + 1e-12)


def check_rows(data, table, k):
    rows = [data["numbers"]["rows"][i] for i in data["nodes"][k - 1]]
    assert len(rows) == k
    for c, row in enumerate(rows):
        assert same(row["share"], table.share, c)
        assert row["records"] == round(table.counts[c])
        assert row["supported"] == table.supported[c]
        for j in range(len(row["centre"])):
            assert same(row["centre"][j], table.centre, c, j)
            assert same(row["spread"][j], table.spread, c, j)


def test_every_cut_has_the_rows_of_its_table(default_model, embedded):
    data = embedded(render(default_model))
    n_leaves = default_model.merge_tree_.n_leaves
    assert len(data["numbers"]["rows"]) == 2 * n_leaves - 1, "one row for each node of the tree"
    for k in range(1, n_leaves + 1):
        check_rows(data, default_model.table(k), k)
    assert data["numbers"]["about"] == about_intervals()
    assert "records at hand" in about_intervals()
    assert data["noise"] == {"counts": None, "records": None, "residuals": None}


def test_rows_do_not_depend_on_how_many_are_made_at_a_time(default_model, embedded, monkeypatch):
    whole = embedded(render(default_model))["numbers"]
    monkeypatch.setattr(numbers_module, "_VALUES_AT_A_TIME", 1)
    assert embedded(render(default_model))["numbers"] == whole


@pytest.mark.parametrize("name", ["bare_model", "hard_model"])
def test_without_a_profile_it_is_said_why_there_are_no_intervals(name, request, embedded):
    data = embedded(render(request.getfixturevalue(name)))
    assert data["numbers"] is None
    assert data["no_intervals"] == NO_INTERVALS
    assert data["noise"]["counts"] is not None


def test_notes_stand_with_what_they_are_about(doubtful_model, embedded):
    data = embedded(render(doubtful_model, columns=["age", "<b>income</b>"]))
    table, texts = data["numbers"], data["numbers"]["texts"]
    rows = [table["rows"][i]["notes"] for i in data["nodes"][2]]
    assert [set(row) for row in rows] == [{"tail"}, {"spread"}, {"size"}]
    ((spread, column),) = rows[1]["spread"]
    assert column == 0
    assert texts[spread].startswith("The spread of column 'age' in this cluster cannot be told from 0")
    assert texts[rows[0]["tail"][0][0]].startswith("This cluster has a heavy tail")
    assert texts[rows[2]["size"][0][0]].startswith("This cluster is smaller than three standard deviations")
    assert table["columns"][0] == []
    assert texts[table["columns"][1][0]].startswith("Column '<b>income</b>' piles up at its upper bound")
    assert [table["rows"][i]["supported"] for i in data["nodes"][2]] == [True, True, False]


def test_a_cluster_without_component_has_no_node():
    """A mode that no component descends to comes after the components in a cut."""
    nodes, of_cuts = nodes_of([[0, 0, 0, 0], [0, 0, 0, 1]], 3)
    assert of_cuts == [[0], [0, None]]
    assert nodes.tolist() == [[1, 1, 1]]


def test_synthetic_records_stay_inside_the_bounds(hard_model, embedded):
    class Fitted:
        mixture_ = GaussianMixture([0.5, 0.5], [[0.0, 0.0], [2.0, 1.0]], np.tile(np.eye(2), (2, 1, 1)))
        profile_ = invented_profile(mixture_, [900, 900], lower=np.zeros(2), upper=np.array([2.0, 1.0]))
        privacy_ = hard_model.privacy_

    data = embedded(render(Fitted()))
    for axis, positions, most in zip(data["axes"], data["view"]["samples"]["positions"], (2, 1), strict=True):
        shown = axis["low"] + np.array(positions) / 10_000 * (axis["high"] - axis["low"])
        assert shown.min() == pytest.approx(0, abs=1e-3)
        assert shown.max() == pytest.approx(most, abs=1e-3)


@pytest.mark.parametrize(
    ("n_components", "n_features"), [(200, 3), pytest.param(150, 60, marks=pytest.mark.long), (1, 1)]
)
def test_any_number_of_numbers_fits_in_a_small_page(n_components, n_features, hard_model, embedded):
    rng = np.random.default_rng(0)
    means = rng.uniform(-40, 40, size=(n_components, n_features))
    mixture = GaussianMixture(
        np.full(n_components, 1 / n_components), means, np.tile(np.eye(n_features), (n_components, 1, 1))
    )

    class Fitted:
        mixture_, privacy_, merge_tree_ = mixture, hard_model.privacy_, merge_tree(mixture)
        profile_ = invented_profile(mixture, rng.uniform(0, 900, size=n_components))

    page = render(Fitted())
    data = embedded(page)
    assert len(page) < 1_000_000
    assert len(data["cuts"]) == min(n_components, contents_module._MOST_NUMBERS // (12 * n_features))
    for k in {1, len(data["cuts"])}:
        labels = Fitted.merge_tree_.cut(k)[:n_components]
        check_rows(data, cluster_table(Fitted.profile_, labels), k)


def test_the_number_of_records_is_a_fact(default_model, hard_model):
    total = default_model.base_.profile_.counts.sum()
    assert f"about {total:,.0f}\N{NO-BREAK SPACE}\N{PLUS-MINUS SIGN}" in render(default_model)
    assert "<dt>Records</dt>" not in render(hard_model)


def test_certified_is_explained(default_model):
    page = " ".join(render(default_model).split())
    assert "does not say that a cluster is real" in page
