"""The tables of parameters: what they refuse, what they write, and that they are complete."""

import inspect

import pytest

from dpmorse import InvalidParameterError, InvalidTypeError, Ledger
from dpmorse.bases import available_bases

NOT_IN_TABLES = {"engine", "ledger", "random_state"}
GOOD = {"epsilon": 1.0, "bounds": (-1.0, 1.0)}

REFUSED = [
    pytest.param(kind, name, value, id=f"{kind.__name__}-{name}-{value!r:.20}")
    for kind in available_bases().values()
    for name, parameter in kind.settings_type.table().items()
    for value in parameter.refused
]


@pytest.mark.parametrize("kind", available_bases().values())
def test_the_table_has_every_parameter_that_matters_to_the_release(kind):
    assert set(kind.settings_type.table()) == set(inspect.signature(kind).parameters) - NOT_IN_TABLES


@pytest.mark.parametrize("kind", available_bases().values())
def test_every_parameter_has_examples_of_what_is_refused(kind):
    assert all(parameter.refused for parameter in kind.settings_type.table().values())


@pytest.mark.parametrize(("kind", "name", "value"), REFUSED)
def test_bad_values_are_refused_by_name_before_anything_is_spent(kind, name, value, rng):
    from dpmorse import Budget

    ledger = Ledger(Budget(10.0))
    base = kind(**{**GOOD, name: value, "ledger": ledger})
    with pytest.raises((InvalidParameterError, InvalidTypeError), match=name):
        base.plan(2)
    with pytest.raises((InvalidParameterError, InvalidTypeError), match=name):
        base.fit(rng.uniform(-1, 1, size=(20, 2)))
    assert ledger.events == ()


@pytest.mark.parametrize("kind", available_bases().values())
def test_what_is_written_is_restored(kind):
    settings = kind(**GOOD).plan(3).settings
    content = settings.to_dict()
    again = kind(**kind.settings_type.restored(content)).plan(3).settings
    assert again == settings
    assert again.to_dict() == content
