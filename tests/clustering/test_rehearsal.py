"""Rehearsals: what "found again" means, that it depends on the release alone, and that it is made once."""

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from dpmorse import (
    DPMoGHard,
    DPMorse,
    InvalidParameterError,
    InvalidTypeError,
    ModelFormatError,
    MorseClustering,
    load,
)
from dpmorse.bases import PrivateGaussianMixture, Refits, refits
from dpmorse.bases.randomness import Randomness
from dpmorse.clustering.rehearsal import MOST_CLUSTERS, MOST_REHEARSALS, Refit, Rehearsal
from dpmorse.clustering.rehearsed import SuggestedNumber
from dpmorse.datasets import make_blobs
from dpmorse.morse import Suggestion
from every_base import beside_categories, every_way, some_missing, with_categories, with_missing

WIDE = (-20, 20)


@pytest.fixture(scope="module")
def records():
    return make_blobs(3000, n_clusters=3, n_features=3, separation=6.0, random_state=1)[0]


@pytest.fixture(scope="module")
def model(records):
    return DPMorse("auto", epsilon=1.0, bounds=WIDE, rehearsals=2, random_state=1).fit(records)


def refit(table, cuts, suggested):
    """A rehearsal with this joint table of components."""
    first, second = np.nonzero(table)
    pairs = np.array([first, second, np.array(table)[first, second]])
    return Refit(pairs, np.array(cuts), suggested)


# -- what it means ------------------------------------------------------------------------------------


def test_the_index_of_a_cluster_is_that_with_the_most_similar_one():
    """Components 0 and 1 of the fit are one cluster, 2 another; a fifth of the second went to the first."""
    one = refit([[30, 0], [20, 0], [10, 40]], [[0, 0], [0, 1]], 2)
    matches = one.matches(np.array([0, 0, 1]), 2, 2)
    assert matches == pytest.approx([50 / 60, 40 / 50])
    assert one.matches(np.array([0, 0, 1]), 2, 1) == pytest.approx([50 / 100, 50 / 100])
    assert one.matches(np.array([0, 0, 0]), 1, 1) == pytest.approx([1.0])


def test_a_cut_that_a_rehearsal_cannot_make_is_compared_with_its_finest():
    one = refit([[30, 0], [0, 20]], [[0, 0], [0, 1]], 1)
    assert np.array_equal(one.matches(np.array([0, 1]), 2, 7), one.matches(np.array([0, 1]), 2, 2))


def test_a_cluster_without_records_is_not_known():
    again = Rehearsal((refit([[30, 5], [0, 0]], [[0, 0], [0, 1]], 2),)).again(
        np.array([0, 1]), 2, own_numbers=True
    )
    assert np.isnan(again.likeness).tolist() == [False, True]
    assert again.n_found(1) is None
    assert again.in_words(1) == ""


def test_votes_and_means_over_rehearsals():
    """A cluster with indices of 1, 3/4 and 1/2: found again in two of three, and likely to have 3/4."""
    cuts = [[0, 0], [0, 1]]
    rehearsal = Rehearsal(
        (
            refit([[40, 0], [0, 40]], cuts, 2),
            refit([[30, 10], [0, 40]], cuts, 2),
            refit([[20, 20], [0, 0]], cuts, 2),
        )
    )
    again = rehearsal.again(np.array([0, 1]), 2, own_numbers=False)
    assert again.likeness[0] == pytest.approx(0.75)
    assert again.n_found(0) == 2
    assert again.in_words(0) == "found again in 2 of 3 rehearsals"


def test_rehearsals_are_cut_into_their_own_number_or_into_that_of_the_cut():
    rehearsal = Rehearsal((refit([[40, 0], [0, 40]], [[0, 0], [0, 1]], 1),))
    labels = np.array([0, 1])
    assert rehearsal.again(labels, 2, own_numbers=True).likeness.tolist() == [0.5, 0.5]
    assert rehearsal.again(labels, 2, own_numbers=False).likeness.tolist() == [1.0, 1.0]
    assert rehearsal.again(labels, MOST_CLUSTERS + 1, own_numbers=False) is None


def test_the_same_fit_is_found_again(model):
    """A rehearsal that has the components of the fit itself finds every cluster of every cut."""
    tree, components = model.merge_tree_, np.arange(model.mixture_.n_components)
    same = Rehearsal((Refit.of(components, components, tree),))
    for k in range(1, tree.n_leaves + 1):
        assert same.again(tree.cut(k), k, own_numbers=False).likeness.tolist() == [1.0] * k


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ((), "4 clusters suggested"),
        ((4, 4, 4), "4 clusters suggested; 3 of 3 rehearsals say 4"),
        ((4, 3, 4, 5), "4 clusters suggested; 2 of 4 rehearsals say 4, the others 3 or 5"),
        ((4, 4, 7), "4 clusters suggested; 2 of 3 rehearsals say 4, the other 7"),
        ((4, 2, 3, 5), "4 clusters suggested; 1 of 4 rehearsals says 4, the others 2, 3 or 5"),
        ((2, 2), "4 clusters suggested; none of 2 rehearsals says 4, but 2"),
        ((4,), "4 clusters suggested; 1 of 1 rehearsal says 4"),
    ],
)
def test_the_number_in_words(said, words):
    number = SuggestedNumber.of(Suggestion(4, (4,)), said)
    assert str(number) == words
    assert number.n_agreeing == said.count(4)
    assert number.others == tuple(sorted(set(said) - {4}))


# -- post-processing ----------------------------------------------------------------------------------


def matches(model, n_clusters=None):
    return model._again(n_clusters).matches.tolist()


def test_it_is_a_function_of_the_release(model, records, tmp_path):
    """A file holds nothing but the release: whoever loads it finds the same, before and after it was known."""
    fresh = DPMorse("auto", epsilon=1.0, bounds=WIDE, rehearsals=2, random_state=1).fit(records)
    fresh.save(tmp_path / "before.json")
    state = np.random.get_state()[1].tolist()
    assert matches(fresh) == matches(model)
    assert np.random.get_state()[1].tolist() == state, "nobody's randomness is used"
    fresh.save(tmp_path / "after.json")
    for name in ("before", "after"):
        loaded = load(tmp_path / f"{name}.json")
        assert matches(loaded) == matches(model)
        assert loaded.suggestion_ == model.suggestion_
    assert matches(pickle.loads(pickle.dumps(fresh))) == matches(model)


def test_the_order_of_records_and_their_container_change_nothing(model, records):
    """The release is the same, so it is, too."""
    frame = pd.DataFrame(records[::-1])
    frame.columns = [f"x{j}" for j in range(3)]
    other = DPMorse("auto", epsilon=1.0, bounds=WIDE, rehearsals=2, random_state=1).fit(frame)
    assert matches(other) == matches(model)


def test_its_noise_is_not_that_of_a_fit_with_a_small_seed():
    """The same noise twice would find everything again."""

    def drawn(random_state):
        return Randomness.from_parameters(random_state, "native").sampler.gaussian(np.full(20, 1000)).tolist()

    streams = [drawn(refits._randomness(2 + number, 2)) for number in range(5)]
    streams += [drawn(seed) for seed in range(5)]
    assert len({tuple(stream) for stream in streams}) == 10


def test_of_many_records_fewer_are_drawn_with_noise_as_much_smaller(model, monkeypatch):
    """Ten times the records and the noise of a tenth of them: sums have a hundred times the cost."""
    made, costs, sizes = Refits.of(model.base_), [], []
    release = PrivateGaussianMixture.release

    def noting(self, queries, plan, rng):
        costs.append({stage.name: stage.cost for stage in plan.stages})
        sizes.append(queries.total(plan.stages[0].step(), 1e6))
        return release(self, queries, plan, rng)

    monkeypatch.setattr(PrivateGaussianMixture, "release", noting)
    made.fit(0)
    monkeypatch.setattr("dpmorse.bases.refits._MOST_RECORDS", round(made.profile.counts.sum() / 10))
    made.fit(0)
    assert sizes[0] == pytest.approx(made.profile.counts.sum(), abs=1)
    assert sizes[1] == pytest.approx(sizes[0] / 10, abs=1)
    for name, cost in costs[0].items():
        assert costs[1][name] == pytest.approx(100 * cost, rel=1e-2)


# -- of a model ---------------------------------------------------------------------------------------


def test_groups_that_lie_apart_are_found_again_and_noise_is_not(model):
    assert model.n_clusters_ == 3
    assert np.all(model._again().likeness > 0.9)
    assert model.suggestion_.n_clusters == 3
    assert model.suggestion_.rehearsed == (3, 3)
    one = DPMorse(2, epsilon=0.5, bounds=(-4, 4), rehearsals=3, random_state=0)
    one.fit(np.random.default_rng(0).normal(size=(3000, 3)))
    assert one._again().likeness.min() < 0.85


def test_they_are_made_when_first_asked_for_and_once(records, monkeypatch):
    made, fit = [], Refits.fit
    monkeypatch.setattr(Refits, "fit", lambda self, number: made.append(number) or fit(self, number))
    model = DPMorse(3, epsilon=1.0, bounds=WIDE, rehearsals=2, random_state=0).fit(records)
    model.table()
    model.cautions()
    model.predict(records)
    cut = model.cut(2)
    assert made == []
    cut.summary()
    model.summary()
    str(model.suggestion_)
    model.cut(4).summary()
    assert made == [0, 1], "cuts share them"
    model.fit(records).summary()
    assert made == [0, 1, 0, 1]


def test_an_interrupted_rehearsal_is_made_anew(records, monkeypatch):
    model = DPMorse(3, epsilon=1.0, bounds=WIDE, rehearsals=2, random_state=0).fit(records)
    fit = Refits.fit

    def stopped(self, number):
        if number:
            raise KeyboardInterrupt
        return fit(self, number)

    monkeypatch.setattr(Refits, "fit", stopped)
    with pytest.raises(KeyboardInterrupt):
        model.summary()
    assert model._rehearsals.done is None
    monkeypatch.undo()
    assert len(model._again().matches) == 2


def test_every_cut_has_its_own(model):
    for k in range(1, model.merge_tree_.n_leaves + 1):
        assert matches(model.cut(k)) == matches(model, k)
        assert model._again(k).matches.shape == (2, k)
    assert matches(model, 1) == [[1.0], [1.0]]


def test_a_told_number_is_compared_with_cuts_into_the_same(records):
    model = DPMorse(2, epsilon=1.0, bounds=WIDE, rehearsals=2, random_state=0).fit(records)
    made = model._rehearsals.made()
    expected = made.again(model.component_labels_, 2, own_numbers=False)
    assert matches(model) == expected.matches.tolist()
    assert model.suggestion_.n_clusters == model.merge_tree_.suggestion.n_clusters, "what auto would say"


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_the_column_of_the_summary(model, library):
    frame = model.summary(library=library)
    values = frame["again"].to_pylist() if library == "pyarrow" else list(frame["again"])
    assert values == pytest.approx(np.repeat(model._again().likeness, 3))
    assert all(0 <= value <= 1 for value in values)


@every_way
def test_every_base_under_a_tree(way, records):
    """A base without a profile knows nothing of it, and says so: no error, and nothing that looks known."""
    base = way.short(4, epsilon=2.0, n_features=3, width=20.0, random_state=0)
    model = MorseClustering(base, 2, rehearsals=1).fit(way.table(records))
    if model.base_.profile_ is None:
        assert model._again() is None
        assert model.suggestion_.rehearsed == ()
        with pytest.raises(InvalidTypeError, match="has no profile"):
            model.summary()
    else:
        assert model._again().matches.shape == (1, 2)
        assert model.summary()["again"].notna().all()
        assert model.base_.summary()["again"].isna().all(), "it is about clusters"


class Foreign:
    """An estimator of nobody's package, with the least that a tree needs."""

    def get_params(self, *, deep=True):
        return {}

    def fit(self, X, y=None):
        self.mixture_ = DPMoGHard(3, epsilon=9.0, bounds=(-20, 20), n_iter=2, random_state=0).fit(X).mixture_
        self.privacy_ = None
        return self

    def predict(self, X):
        return self.mixture_.labels(X)


def test_a_base_that_others_wrote(records):
    model = MorseClustering(Foreign(), 2).fit(records)
    assert model._again() is None
    assert str(model.suggestion_) == model.merge_tree_.suggestion.in_words


@pytest.mark.parametrize(
    "told",
    [
        {"bounds": "private"},
        {"bounds": WIDE, "max_rows_per_group": 3},
        {"bounds": WIDE, "neighboring": "replace-one"},
        {"bounds": WIDE, "merge": "single"},
        {"bounds": WIDE, "n_components": 1},
    ],
    ids=lambda told: list(told)[-1],
)
def test_every_promise(told, records):
    owners = np.arange(len(records)) // 2 if "max_rows_per_group" in told else None
    model = DPMorse(epsilon=2.0, rehearsals=1, random_state=0, **told).fit(records, groups=owners)
    assert model._again().matches.shape == (1, model.n_clusters_)


@pytest.mark.parametrize("n_features", [1, 2, 3])
@pytest.mark.parametrize("kind", ["numbers", "missing", "categories"])
def test_every_regime(kind, n_features, records):
    told, X = {"bounds": WIDE}, records[:, :n_features]
    if kind == "missing":
        told, X = with_missing(n_features, 20.0), some_missing(X)
    elif kind == "categories":
        told, X = with_categories(n_features, 20.0), beside_categories(X)
    model = DPMorse(3, epsilon=2.0, rehearsals=1, random_state=0, **told).fit(X)
    assert model._again().matches.shape == (1, 3)


def test_a_release_that_is_all_noise():
    model = DPMorse(3, epsilon=0.01, bounds=(-1, 1), rehearsals=1, random_state=0).fit(np.zeros((5, 2)))
    assert model.summary()["again"].between(0, 1).any() or model.summary()["again"].isna().all()


def test_they_can_be_turned_off(records):
    model = DPMorse(3, epsilon=1.0, bounds=WIDE, rehearsals=0, random_state=0).fit(records)
    assert model._again() is None
    assert model.suggestion_.rehearsed == ()
    assert np.isnan(model.summary()["again"]).all()


@pytest.mark.parametrize("value", [-1, MOST_REHEARSALS + 1])
def test_numbers_out_of_range(value, records):
    with pytest.raises(
        InvalidParameterError, match=r"rehearsals must be between 0 and 100, got .* 0 makes none"
    ):
        DPMorse(epsilon=1.0, bounds=WIDE, rehearsals=value).fit(records)


@pytest.mark.parametrize("value", [True, 2.5, "five", None])
def test_values_that_are_no_numbers(value, records):
    with pytest.raises(InvalidTypeError, match="rehearsals must be an integer between 0 and 100"):
        DPMorse(epsilon=1.0, bounds=WIDE, rehearsals=value).fit(records)


# -- files --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def document(model):
    model._again()
    return model._to_document()


def test_files_that_say_nothing_of_rehearsals_know_nothing(document):
    old = {name: part for name, part in document.items() if name != "rehearsals"}
    loaded = DPMorse._from_document(old)
    assert loaded.rehearsals == 0
    assert loaded._again() is None


def test_files_of_models_that_nobody_asked_rehearse_when_asked(document, model):
    loaded = DPMorse._from_document({**document, "rehearsals": {"asked": 2, "done": None}})
    assert loaded.rehearsals == 2
    assert matches(loaded) == matches(model)


def hostile(document):
    """Yield rehearsals that no model has made."""
    good = document["rehearsals"]["done"][0]
    first, second, counts = good["pairs"]
    n = len(good["cuts"][0])
    bad = [
        {**good, "pairs": [first, second]},
        {**good, "pairs": [first[:-1], second, counts]},
        {**good, "pairs": [[], [], []]},
        {**good, "pairs": [[-1, *first[1:]], second, counts]},
        {**good, "pairs": [[10**6, *first[1:]], second, counts]},
        {**good, "pairs": [first, [n, *second[1:]], counts]},
        {**good, "pairs": [first, second, [0, *counts[1:]]]},
        {**good, "pairs": [first, second, [10**30, *counts[1:]]]},
        {**good, "pairs": [first, second, [1.5, *counts[1:]]]},
        {**good, "pairs": [first, second, [True, *counts[1:]]]},
        {**good, "pairs": None},
        {**good, "cuts": []},
        {**good, "cuts": [[]]},
        {**good, "cuts": [[0] * n, [0] * (n - 1)]},
        {**good, "cuts": [[1] * n]},
        {**good, "cuts": [[0] * n, ["a"] * n]},
        {**good, "cuts": 3},
        {**good, "suggested": 0},
        {**good, "suggested": len(good["cuts"]) + 1},
        {**good, "suggested": True},
        {**good, "suggested": [2]},
        {**good, "more": 1},
        [],
    ]
    for each in bad:
        yield {"asked": 2, "done": [good, each]}
    yield {"asked": 1, "done": [good, good]}
    yield {"asked": 0, "done": []}
    yield {"asked": -1, "done": None}
    yield {"asked": 10**9, "done": None}
    yield {"asked": True, "done": None}
    yield {"asked": 2}
    yield {"asked": 2, "done": {}}
    yield [1, 2]


def test_hostile_rehearsals_are_refused(document):
    for content in hostile(document):
        with pytest.raises(ModelFormatError, match="rehearsals"):
            DPMorse._from_document({**document, "rehearsals": content})


def test_a_model_with_another_profile_has_other_rehearsals(document, model):
    """What is known of rehearsals in the file is taken as it stands; without it, it follows the release."""
    loaded = DPMorse._from_document({**document, "rehearsals": {"asked": 1, "done": None}})
    profile = loaded.base_.profile_
    loaded.base_.profile_ = replace(profile, sizes=profile.sizes / 10, entries=profile.entries / 10)
    assert matches(loaded)[0] != matches(model)[0]
