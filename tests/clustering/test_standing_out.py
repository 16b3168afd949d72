"""What is said where no groups can be told apart: why, and how many records or how much budget it would take."""

import re

import numpy as np
import pytest

from dpmorse import DPMorse, Nominal, Numeric
from dpmorse.bases import rehearse
from dpmorse.cli.clusters import say_clusters
from dpmorse.clustering import load
from dpmorse.report.contents import contents
from dpmorse.report.released import released

WORDS = re.compile(
    r"1 cluster suggested: with about ([\d,]+) records, 3 columns and epsilon 1 no groups can be told apart; "
    r"about ([\d,]+) records or epsilon ([\d.]+) would be needed"
)


def few_records(**parameters):
    X = np.random.default_rng(0).normal(size=(200, 3))
    return DPMorse(epsilon=1.0, random_state=0, **{"bounds": (-5, 5)} | parameters).fit(X)


@pytest.fixture(scope="module")
def model():
    return few_records()


def number(text):
    return float(text.replace(",", ""))


def test_it_says_what_would_let_four_groups_be_seen(model):
    records, enough, epsilon = map(number, WORDS.match(model.merge_tree_.suggestion.in_words).groups())
    assert records == round(model.base_.profile_.counts.sum())
    assert enough > records
    assert epsilon > 1.0
    for n_records, budget in ((enough, 1.0), (records, epsilon)):
        base = DPMorse(epsilon=budget, bounds=(-5, 5))._base_for(3)
        smallest = rehearse(base, 3, int(n_records)).smallest_cluster
        assert 4 * smallest <= 1.1 * n_records, "to two digits"
        assert 4 * rehearse(base, 3, int(n_records / 2)).smallest_cluster > n_records / 2 or budget > 1.0


def test_it_is_said_in_the_same_words_everywhere(model, tmp_path, capsys):
    words = model.merge_tree_.suggestion.in_words
    assert model.n_clusters_ == 1
    say_clusters(model)
    assert words in " ".join(capsys.readouterr().out.split())
    page = contents(released(model), 100, np.random.default_rng(0))
    assert page["tree"]["suggestion"].startswith(words)
    model.save(tmp_path / "model.json")
    assert load(tmp_path / "model.json").merge_tree_.suggestion.in_words == words


def test_in_a_large_table_it_says_what_would_have_been_seen():
    X = np.random.default_rng(1).normal(size=(20_000, 4))
    model = DPMorse(epsilon=1.0, bounds=(-6, 6), random_state=0).fit(X)
    words = model.merge_tree_.suggestion.in_words
    assert re.match(r"1 cluster suggested: no groups can be told apart; one of \d+ records or more", words)


def test_columns_by_name_private_bounds_and_tables_have_words_too():
    rng = np.random.default_rng(2)
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": rng.normal(size=200), "b": rng.integers(3, size=200)})
    columns = {"a": Numeric(-5, 5, missing="ignore"), "b": Nominal([0, 1, 2])}
    for parameters in (
        {"bounds": {"a": (-5, 5), "b": (0, 2)}},
        {"bounds": "private"},
        {"columns": columns, "bounds": None},
    ):
        model = DPMorse(epsilon=0.5, random_state=0, **parameters).fit(frame)
        assert model.merge_tree_.sizes.why_one().startswith("with about ")


def test_without_a_profile_nothing_is_said_of_records():
    model = few_records(profile=False)
    assert model.merge_tree_.sizes is None
    assert model.merge_tree_.suggestion.n_noise == 0
