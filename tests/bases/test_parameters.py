"""The tables of parameters: what they refuse, what they write, and that they are complete."""

import inspect

import pytest

from dpmorse import Budget, InvalidParameterError, InvalidTypeError, Ledger
from every_base import WAYS, every_way

NOT_IN_TABLES = {"engine", "ledger", "random_state"}

REFUSED = [
    pytest.param(way, name, value, id=f"{called}-{name}-{value!r:.20}")
    for called, way in WAYS.items()
    for name, parameter in way.kind.settings_type.table().items()
    for value in parameter.refused
]


@every_way
def test_the_table_has_every_parameter_that_matters_to_the_release(way):
    assert set(way.kind.settings_type.table()) == set(inspect.signature(way.kind).parameters) - NOT_IN_TABLES


@every_way
def test_every_parameter_has_examples_of_what_is_refused(way):
    assert all(parameter.refused for parameter in way.kind.settings_type.table().values())


@pytest.mark.parametrize(("way", "name", "value"), REFUSED)
def test_bad_values_are_refused_by_name_before_anything_is_spent(way, name, value, rng):
    ledger = Ledger(Budget(10.0))
    base = way.make(**{name: value, "ledger": ledger})
    X = way.table(rng.uniform(-1, 1, size=(20, 2)))
    with pytest.raises((InvalidParameterError, InvalidTypeError), match=name):
        base.plan(X.shape[1])
    with pytest.raises((InvalidParameterError, InvalidTypeError), match=name):
        base.fit(X)
    assert ledger.events == ()


@every_way
def test_what_is_written_is_restored(way):
    settings = way.make(n_features=3).plan(way.n_columns(3)).settings
    content = settings.to_dict()
    again = way.kind(**way.kind.settings_type.restored(content)).plan(way.n_columns(3)).settings
    assert again == settings
    assert again.to_dict() == content
