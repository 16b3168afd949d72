"""What a bounds file says of a column: a table of TOML that becomes a column of a schema.

Besides ``{ lower = 0, upper = 120 }`` there are forms for whole numbers, categories, truth values and dates.
A file of plain bounds alone makes no schema: ``cli/bounds_file.py`` reads it.
"""

from collections.abc import Mapping
from typing import Any

from dpmorse import _validate
from dpmorse.exceptions import DPMorseError, InvalidParameterError
from dpmorse.records import listed
from dpmorse.schema import KINDS, Column, Form, Schema

PLACEHOLDER = "?"
"""What stands in a template for what must be filled in. It is no number, no list and no date, so that it
cannot be used by mistake."""

PLAIN = frozenset({"lower", "upper"})
"""The keys of plain bounds: where all columns have these alone, there is no schema."""

CODES = "na"
"""The key of codes for missing values: it says how a column is written, and is no part of a schema."""


_FORMS: dict[Form, type[Column]] = {kind.form: kind for kind in KINDS if kind.form is not None}
"""Ways to describe a column, and the kinds that have them."""

*_FIRST_EXAMPLES, _LAST_EXAMPLE = (form.example for form in _FORMS)

_FORMS_IN_WORDS = f"{', '.join(_FIRST_EXAMPLES)} or {_LAST_EXAMPLE}"


def check_entries(shown: str, entries: Mapping[str, Any]) -> None:
    """Refuse entries with wrong keys, and then a file that is not filled in, with all columns to fill in.

    Parameters
    ----------
    shown : str
        How messages call the file.
    entries : mapping
        What the file says of each column.
    """
    for name, entry in entries.items():
        _form(_where(shown, name), entry)
    filled, _ = without_codes(entries)  # "?" is a common code
    empty = [name for name, entry in filled.items() if any(map(_is_placeholder, entry.values()))]
    if empty:
        raise InvalidParameterError(
            f'{shown} is not filled in: replace each "{PLACEHOLDER}" by what you know without looking at the '
            f"data, or remove the column. Columns to fill in: {', '.join(map(repr, empty))}."
        )


def without_codes(entries: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what the entries say besides codes for missing values, and these codes by column."""
    rest = {name: {key: entry[key] for key in entry if key != CODES} for name, entry in entries.items()}
    return rest, {name: entry[CODES] for name, entry in entries.items() if CODES in entry}


def described_columns(shown: str, entries: Mapping[str, Any]) -> dict[str, Column]:
    """Return the schema's column for each entry; entries were checked before."""
    columns = {name: _column(_where(shown, name), entry) for name, entry in entries.items()}
    try:
        Schema.of(columns)
    except DPMorseError as error:
        raise InvalidParameterError(f"{shown}: {error}") from None
    return columns


def _column(where: str, entry: Mapping[str, Any]) -> Column:
    """Build a column; what its kind refuses is said with the place in the file."""
    kind = _FORMS[_form(where, entry)]
    try:
        return kind.from_entry(**entry)
    except DPMorseError as error:
        raise InvalidParameterError(f"{where}: {error}") from None


def _form(where: str, entry: object) -> Form:
    """Find the form that an entry has by its keys."""
    if not isinstance(entry, dict):
        raise InvalidParameterError(
            f"{where} must be a table such as {_FORMS_IN_WORDS}, got {_validate.describe(entry)}."
        )
    form = next((form for form in _FORMS if set(form.needed) & set(entry)), None)
    if form is None:
        raise InvalidParameterError(
            f"{where} must say what the column is, by {_FORMS_IN_WORDS}; it has {_keys(list(entry))}."
        )
    absent = [key for key in form.needed if key not in entry]
    if absent:
        raise InvalidParameterError(f"{where} lacks {_keys(absent)}: write it such as {form.example}.")
    known = {*form.needed, *form.optional, "missing", CODES}
    others = [key for key in entry if key not in known]
    if others:
        raise InvalidParameterError(
            f"{where} has {_keys(others)}, but a column such as {form.example} may have only "
            f"{', '.join(sorted(known))}. Remove what does not belong there."
        )
    return form


def _is_placeholder(value: object) -> bool:
    """Say whether a value must still be filled in; "?" among other values of a list is a value."""
    return value in (PLACEHOLDER, [PLACEHOLDER])


def _where(shown: str, name: str) -> str:
    return f"{shown}, column {name!r}"


def _keys(names: list[str]) -> str:
    if not names:
        return "no key"
    return f"the key{'s' if len(names) > 1 else ''} {listed(names)}"
