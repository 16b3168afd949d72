"""Bounds by name are those in the order of the columns, and names that do not fit are refused for free."""

from functools import partial

import numpy as np
import pandas as pd
import pytest

from dpmorse import Budget, DPMoGHard, DPMorse, Ledger, MorseClustering, load
from dpmorse.exceptions import InvalidParameterError, InvalidTypeError

NAMES = ["age", "pressure"]
BY_NAME = {"pressure": (60, 220), "age": (0, 110)}  # another order than that of the columns
PAIR = ([0, 60], [110, 220])


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame(rng.uniform([20, 100], [80, 180], size=(500, 2)), columns=NAMES)


def test_bounds_by_name_are_those_of_the_columns(frame, tmp_path):
    fits = [DPMoGHard(2, epsilon=1.0, bounds=b, random_state=0).fit(frame) for b in (BY_NAME, PAIR)]
    assert fits[0]._to_document() == fits[1]._to_document()
    fits[0].save(tmp_path / "model.json")
    assert load(tmp_path / "model.json").bounds == [[0.0, 60.0], [110.0, 220.0]]


def test_where_columns_have_no_names_bounds_go_by_position(frame):
    by_name = {"age": (0, 110), "pressure": (60, 220)}
    fits = [
        DPMoGHard(2, epsilon=1.0, bounds=b, random_state=0).fit(frame.to_numpy()) for b in (by_name, PAIR)
    ]
    assert fits[0]._to_document() == fits[1]._to_document()


@pytest.mark.parametrize("make", [partial(DPMorse, 2), lambda **of: MorseClustering(DPMoGHard(2, **of))])
def test_a_plan_takes_names_as_a_fit_does(make, frame):
    model = make(epsilon=1.0, bounds=BY_NAME)
    plan = model.plan(2, NAMES)
    assert plan.domain.lower.tolist() == PAIR[0]
    assert plan.domain.upper.tolist() == PAIR[1]
    assert plan.events == model.fit(frame).privacy_.reserved
    with pytest.raises(InvalidParameterError, match="X has no 'pressure'"):
        model.plan(2, ["age", "weight"])


@pytest.mark.parametrize(
    ("bounds", "error", "words"),
    [
        ({"age": (0, 110)}, InvalidParameterError, r"lacks 'pressure'.*X\[list\(bounds\)\]"),
        ({**BY_NAME, "weight": (0, 1)}, InvalidParameterError, "X has no 'weight'"),
        (
            {**BY_NAME, "age": 110},
            InvalidTypeError,
            r"pair \(lower, upper\) for each column, got 110 for 'age'",
        ),
        ({**BY_NAME, "age": (110, 0)}, InvalidParameterError, "bounds"),
        ({**BY_NAME, "age": ("a", "b")}, InvalidTypeError, "bounds"),
    ],
)
def test_names_and_pairs_that_do_not_fit_are_refused_before_anything_is_spent(frame, bounds, error, words):
    ledger = Ledger(Budget(1.0))
    with pytest.raises(error, match=words):
        DPMorse(2, epsilon=1.0, bounds=bounds, ledger=ledger).fit(frame)
    assert ledger.events == ()
