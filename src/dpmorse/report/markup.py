"""The parts of a page that are readable without a script: the promise, facts about the model, the ledger.

Every value is escaped, because names come from users and a ledger may come from a file.
"""

import html
import math
from collections.abc import Mapping, Sequence
from decimal import ROUND_CEILING, Context, Decimal

from dpmorse.report.released import Promise, ReleasedModel
from dpmorse.report.text import plain

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


def facts(model: ReleasedModel) -> str:
    """Return terms and values for the head of the page."""
    facts = {
        "Estimator": model.kind,
        "Privacy loss \N{GREEK SMALL LETTER EPSILON}": _upwards(model.promise.epsilon),
        "May fail with \N{GREEK SMALL LETTER DELTA}": f"{model.promise.delta:g}",
        "Neighbours": model.promise.neighboring,
        "Columns": str(len(model.columns)),
        **_records(model),
        "Components": str(model.mixture.n_components),
        "Modes": f"{model.tree.n_modes}{'' if model.tree.certified else ', some points flagged'}",
        "Merge rule": model.tree.basis,
    }
    return "\n".join(
        f"<div><dt>{html.escape(term)}</dt><dd>{html.escape(plain(value))}</dd></div>"
        for term, value in facts.items()
    )


def _records(model: ReleasedModel) -> dict[str, str]:
    """Return the number of records as it was released, with its noise, if it was."""
    if model.profile is None:
        return {}
    half = _TWO_SIDED * model.profile.count_stddev * math.sqrt(model.profile.n_components)
    return {"Records": f"about {model.profile.counts.sum():,.0f} \N{PLUS-MINUS SIGN} {half:,.0f}"}


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
