"""The parts of a page that are readable without a script: the promise, facts about the model, its columns.

Every value is escaped, because names come from users and a ledger may come from a file.
"""

import html
import math
from collections.abc import Mapping, Sequence
from decimal import ROUND_CEILING, Context, Decimal

from dpmorse.profiles import SUPPORT
from dpmorse.report.released import Promise, ReleasedModel
from dpmorse.report.text import LONGEST_NAME, plain

_MOST_ROWS = 500
"""Most releases in the table of the ledger; the others are counted in its last row."""

_LONGEST_PARAGRAPH = 2000
"""Most characters of a paragraph of the privacy statement, which may come from a file."""

_HEADINGS = {"release": "Release", "values": "Numbers drawn", "rho": "Cost (rho)"}
"""Headings of the ledger's columns, by the keys of its rows."""

_NOISE = "noise_stddev_"
"""How the keys of columns with noise begin; what follows names the quantity."""


_TWO_SIDED = 1.96
"""Standard deviations of noise in half an interval of 95 %."""


def badge(promise: Promise) -> str:
    """Return a badge that says whether the noise is secure."""
    if promise.secure:
        return '<p class="badge good">Noise from the operating system</p>'
    return '<p class="badge bad" id="not-secure">Not secure: seeded noise, for tests only</p>'


def statement(promise: Promise) -> str:
    """Return the promise in words, a warning first if there is one."""
    lines = [html.escape(plain(line, _LONGEST_PARAGRAPH)) for line in promise.statement.split("\n")]
    first = lines[0] if promise.secure else f'<strong class="warning">{lines[0]}</strong>'
    return "\n".join(f"<p>{line}</p>" for line in [first, *lines[1:]])


def facts(model: ReleasedModel, dataset: str | None, made_on: str) -> str:
    """Return terms and values for the head of the page."""
    facts = {
        **({} if dataset is None else {"Data": dataset}),
        "Date": made_on,
        "Protected": model.promise.unit,
        "Privacy loss \N{GREEK SMALL LETTER EPSILON}": _upwards(model.promise.epsilon),
        "May fail with \N{GREEK SMALL LETTER DELTA}": f"{model.promise.delta:g}",
        "Neighbours": model.promise.neighboring,
        "Columns": str(len(model.columns)),
        **_records(model),
        "Components": str(model.mixture.n_components),
        "Modes": f"{model.tree.n_modes}{'' if model.tree.certified else ', some points flagged'}",
        "Merge rule": model.tree.basis,
        "Estimator": model.kind,
    }
    return _terms(facts)


def columns(model: ReleasedModel) -> str:
    """Return the columns and what was stated of them: bounds and values, which are public."""
    head = "".join(f'<th scope="col">{title}</th>' for title in ("Column", "Stated beforehand"))
    body = [_row([column.name, column.stated or _UNSTATED]) for column in model.columns[:_MOST_ROWS]]
    if len(model.columns) > _MOST_ROWS:
        body.append(_row([f"and {len(model.columns) - _MOST_ROWS} more", ""]))
    return "\n".join([f"<thead><tr>{head}</tr></thead>", "<tbody>", *body, "</tbody>"])


_UNSTATED = "no bounds are known of this model"


def claims(model: ReleasedModel) -> str:
    """Return what the claim states, point by point, with what small groups must know."""
    return _terms({**model.promise.claims, "Small groups": _small_groups(model)}, _LONGEST_PARAGRAPH)


def _small_groups(model: ReleasedModel) -> str:
    """Say from what size on a group can be seen at all: noise is the same for all, and drowns the small."""
    words = (
        "Noise is as large for a small group as for a large one. Small groups are therefore described less "
        "well, or not at all: they are merged with others."
    )
    if model.profile is None:
        return words
    least = SUPPORT * model.profile.count_stddev
    return f"{words} Here a group of fewer than about {least:,.0f} records cannot be told from noise."


def _terms(terms: Mapping[str, str], longest: int = LONGEST_NAME) -> str:
    return "\n".join(
        f"<div><dt>{html.escape(plain(term))}</dt><dd>{html.escape(plain(value, longest))}</dd></div>"
        for term, value in terms.items()
    )


def _records(model: ReleasedModel) -> dict[str, str]:
    """Return the number of records as it was released, with its noise, if it was."""
    if model.profile is None:
        return {}
    half = _TWO_SIDED * model.profile.count_stddev * math.sqrt(model.profile.n_components)
    total = max(0.0, float(model.profile.counts.sum()))
    return {
        "Records": f"about {total:,.0f}\N{NO-BREAK SPACE}\N{PLUS-MINUS SIGN}\N{NO-BREAK SPACE}{half:,.0f}"
    }


def ledger(rows: Sequence[Mapping[str, object]]) -> str:
    """Return the ledger as the inside of a table; beyond 500 releases the rest is counted."""
    keys = list(dict.fromkeys(key for row in rows for key in row))
    head = "".join(f'<th scope="col">{html.escape(plain(_heading(key)))}</th>' for key in keys)
    body = [_row([_cell(row.get(key)) for key in keys]) for row in rows[:_MOST_ROWS]]
    if len(rows) > _MOST_ROWS:
        body.append(_row([f"and {len(rows) - _MOST_ROWS} more", *[""] * (len(keys) - 1)]))
    return "\n".join([f"<thead><tr>{head}</tr></thead>", "<tbody>", *body, "</tbody>"])


def _row(cells: Sequence[str]) -> str:
    return "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells) + "</tr>"


def _heading(key: str) -> str:
    if key.startswith(_NOISE):
        return f"Noise of {key.removeprefix(_NOISE)}"
    return _HEADINGS.get(key, key)


def _cell(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else plain(str(value))


def _upwards(cost: float) -> str:
    """Write a cost with four digits, rounded up, so that no page states less than was spent."""
    return f"{Context(prec=4, rounding=ROUND_CEILING).create_decimal(Decimal(cost)).normalize():f}"
