"""Shares, medians and quartiles of a page are those of the model's table, for every cut, with their notes."""

import re
from dataclasses import replace

import numpy as np
import pytest

from dpmorse.densities import GaussianMixture
from dpmorse.morse import merge_tree
from dpmorse.profiles import NO_INTERVALS, Account, ClusterView, about_intervals, cluster_table
from dpmorse.report import contents as contents_module
from dpmorse.report import numbers as numbers_module
from dpmorse.report import render
from dpmorse.report.noise import noise_of_last_release
from dpmorse.report.numbers import nodes_of
from dpmorse.report.released import released
from mixture_profiles import OwnBase, invented_profile


def same(shown, estimate, *place):
    """Compare [value, low, high, decimals] with an estimate, to two digits of half the interval."""
    exact = [float(part[place]) for part in (estimate.value, estimate.low, estimate.high)]
    if np.isnan(exact[0]):
        return shown is None
    return np.allclose(shown[:3], exact, rtol=0, atol=0.026 * (exact[2] - exact[1]) + 1e-12)


def check_rows(data, table, k):
    rows = [data["numbers"]["rows"][i] for i in data["nodes"][k - 1]]
    assert len(rows) == k
    assert sum(row["share"][0] for row in rows) == pytest.approx(1, abs=0.006 * k)
    for c, row in enumerate(rows):
        assert same(row["share"], table.share, c)
        assert row["records"] == round(table.counts[c])
        assert row["supported"] == table.supported[c]
        for j, of_column in enumerate(row["numbers"]):
            for shown, estimate in zip(of_column, (table.q1, table.median, table.q3), strict=True):
                assert same(shown, estimate, c, j)


def test_every_cut_has_the_rows_of_its_table(default_model, embedded):
    data = embedded(render(default_model))
    n_leaves = default_model.merge_tree_.n_leaves
    assert len(data["numbers"]["rows"]) == 2 * n_leaves - 1, "one row for each node of the tree"
    for k in range(1, n_leaves + 1):
        check_rows(data, default_model.table(k), k)
    about = f"{about_intervals()} The number of records was released with noise, too."
    assert data["numbers"]["about"] == about
    assert "records at hand" in about_intervals()
    assert all("noise" not in row for row in data["numbers"]["rows"]), "it is in the intervals"


def test_rows_do_not_depend_on_how_many_are_made_at_a_time(default_model, embedded, monkeypatch):
    whole = embedded(render(default_model))["numbers"]
    monkeypatch.setattr(numbers_module, "_VALUES_AT_A_TIME", 1)
    assert embedded(render(default_model))["numbers"] == whole


@pytest.mark.parametrize("name", ["bare_model", "hard_model"])
def test_without_a_profile_numbers_are_those_of_the_mixture_and_have_no_intervals(name, request, embedded):
    model = request.getfixturevalue(name)
    numbers = embedded(render(model))["numbers"]
    assert (numbers["measured"], numbers["about"]) == (False, NO_INTERVALS)
    view = ClusterView.of_mixture(model.mixture_, model._labels_of_components(None), model.base_.schema_)
    rows = [numbers["rows"][i] for i in embedded(render(model))["nodes"][model.n_clusters_ - 1]]
    assert [row["share"][0] for row in rows] == pytest.approx(view.share.value, abs=6e-4)
    for j, column in enumerate(view.columns):
        for place, estimate in enumerate((column.q1, column.median, column.q3)):
            assert [row["numbers"][j][place][0] for row in rows] == pytest.approx(estimate.value, abs=6e-3)
            assert all(row["numbers"][j][place][1:3] == [None, None] for row in rows)
    noise = noise_of_last_release(model.base_, model.mixture_, model.base_.domain_)
    labels = model._labels_of_components(None)
    labels = np.where(model.mixture_.weights > 0, labels, -1)
    of_sizes = [np.linalg.norm(noise[labels == c]) for c in range(model.n_clusters_)]
    assert [row["noise"] for row in rows] == pytest.approx(of_sizes, rel=1e-4)


def test_notes_stand_with_what_they_are_about(doubtful_model, embedded):
    data = embedded(render(doubtful_model, columns=["age", "<b>income</b>"]))
    table, texts = data["numbers"], data["numbers"]["texts"]
    rows = [table["rows"][i] for i in data["nodes"][2]]
    assert [set(row["notes"]) for row in rows] == [set(), {"unknown"}, {"size"}]
    (hidden,), (small,) = rows[1]["notes"]["unknown"], rows[2]["notes"]["size"]
    assert texts[hidden].startswith("In this cluster the medians of 'age', '<b>income</b>' are not known")
    assert texts[small].startswith("This cluster is smaller than three standard deviations")
    assert table["columns"][0] == []
    assert (
        "of the values of column '<b>income</b>' lie above its upper bound" in texts[table["columns"][1][0]]
    )
    assert [row["supported"] for row in rows] == [True, True, False]


def test_what_noise_hides_is_no_number(doubtful_model, embedded):
    page = render(doubtful_model)
    data = embedded(page)
    assert not re.search(r"\bNaN\b|\bInfinity\b", page.split('id="data">')[1].split("</script>")[0])
    known, hidden, noise = (data["numbers"]["rows"][i] for i in data["nodes"][2])
    assert all(number is not None for column in known["numbers"] for number in column)
    for row in (hidden, noise):
        assert [column[1] for column in row["numbers"]] == [None, None]
        assert row["traits"] == []
    assert noise["numbers"] == [[None] * 3] * 2
    assert noise["share"][0] == pytest.approx(15 / 5065, abs=1e-3)
    assert noise["said"].endswith(": may be noise, too small to be told from it.")
    assert noise["said"].startswith("0.3\N{NO-BREAK SPACE}% of the records, give or take ")


def test_a_cluster_without_component_has_no_records(doubtful_model, embedded):
    """A mode that no component descends to comes after the components in a cut."""
    nodes, of_cuts = nodes_of([[0, 0, 0, 0], [0, 0, 0, 1]], 3)
    assert of_cuts == [[0], [0, 1]]
    assert nodes.tolist() == [[1, 1, 1], [0, 0, 0]]
    for model in (released(doubtful_model), released(WithoutProfile(doubtful_model))):
        row = numbers_module.numbers(model, np.arange(2), nodes)["rows"][1]
        assert row["share"][0] == 0
        assert row["numbers"] == [[None] * 3] * 2
        assert not row.get("traits")


class WithoutProfile:
    def __init__(self, model):
        self.mixture_, self.privacy_, self.merge_tree_ = model.mixture_, model.privacy_, model.merge_tree_


def test_synthetic_records_stay_inside_the_bounds(hard_model, embedded):
    class Fitted(OwnBase):
        mixture_ = GaussianMixture([0.5, 0.5], [[0.0, 0.0], [2.0, 1.0]], np.tile(np.eye(2), (2, 1, 1)))
        profile_ = invented_profile(mixture_, [900, 900], lower=[0.0, 0.0], upper=[2.0, 1.0])
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

    class Fitted(OwnBase):
        mixture_, privacy_, merge_tree_ = mixture, hard_model.privacy_, merge_tree(mixture)
        profile_ = invented_profile(mixture, rng.uniform(0, 900, size=n_components))

    page = render(Fitted())
    data = embedded(page)
    assert len(page) < 1_000_000
    assert len(data["cuts"]) == min(n_components, contents_module._MOST_NUMBERS // (18 * n_features))
    for k in {1, len(data["cuts"])}:
        labels = Fitted.merge_tree_.cut(k)[:n_components]
        check_rows(data, cluster_table(Fitted.profile_, labels), k)


def test_the_number_of_records_is_a_fact(default_model, hard_model, doubtful_model, embedded):
    profile = default_model.base_.profile_
    total, counted = Account.of(profile).sizes.sum(), profile.counts.sum()
    half = 1.96 * np.sqrt(np.square(profile.count_stddev).sum())
    low, high = min(counted - half, total), max(counted + half, total)
    assert f"<dd>about {total:,.0f} ({low:,.0f} to {high:,.0f})</dd>" in render(default_model)
    assert "<dt>Records</dt>" not in render(hard_model)
    public = replace(doubtful_model.profile_, n_records=7000)
    with_public_size = type("Fitted", (type(doubtful_model),), {"profile_": public})()
    page = render(with_public_size)
    assert "<dd>7,000</dd>" in page
    assert "The number of all records is public" in embedded(page)["numbers"]["about"]


def test_certified_is_explained(default_model):
    page = " ".join(render(default_model).split())
    assert "does not say that a cluster is real" in page
