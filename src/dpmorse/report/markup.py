"""The parts of a page that are readable without a script: the promise, facts about the model, its columns.

Every value is escaped, because names come from users and a ledger may come from a file.
"""

import html
import math
from collections.abc import Mapping, Sequence
from decimal import ROUND_CEILING, Context, Decimal

import numpy as np

from dpmorse.profiles import Account, Profile
from dpmorse.report.bulletin import Description
from dpmorse.report.released import Promise, ReleasedModel
from dpmorse.report.text import LONGEST_NAME, plain

MOST_SENTENCES = 8
"""Most groups that are described above the fold."""

_MOST_ROWS = 500
"""Most rows of a table, of columns or of releases; the others are counted in its last row."""

_LONGEST_PARAGRAPH = 2000
"""Most characters of a paragraph of the privacy statement, which may come from a file."""

_HEADINGS = {"release": "Release", "values": "Numbers drawn", "rho": "Cost (rho)"}
"""Headings of the ledger's columns, by the keys of its rows."""

_NOISE = "noise_stddev_"
"""How the keys of columns with noise begin; what follows names the quantity."""

_TWO_SIDED = 1.96
"""Standard deviations of noise in half an interval of 95 %."""


def badge(promise: Promise) -> str:
    """Return a badge that warns of noise that is not secure; nothing where it is."""
    if promise.secure:
        return ""
    return '<p class="badge bad" id="not-secure">Not secure: seeded noise, for tests only</p>'


def sentences(said: Description) -> str:
    """Return the groups as list items; those beyond the first are left to the script and its slider."""
    shown = [f"<li>{html.escape(group)}</li>" for group in said.groups[:MOST_SENTENCES]]
    more = len(said.groups) - len(shown)
    return "\n".join([*shown, *([f"<li>and {more} more</li>"] if more else [])])


def source(dataset: str | None, made_on: str) -> str:
    """Return where the numbers are from, in a line."""
    return html.escape(". ".join(filter(None, (dataset, made_on, ""))))


def statement(promise: Promise) -> str:
    """Return the promise in words, a warning first if there is one."""
    lines = [html.escape(plain(line, _LONGEST_PARAGRAPH)) for line in promise.statement.split("\n")]
    if not promise.secure:
        lines[0] = f'<strong class="warning">{lines[0]}</strong>'
    return "<p>" + "</p>\n<p>".join(lines) + "</p>"


def facts(model: ReleasedModel, dataset: str | None, made_on: str) -> str:
    """Return terms and values for the head of the page."""
    promise = model.promise
    facts = {} if dataset is None else {"Data": dataset}
    # Four digits, rounded up, so that no page states less than was spent.
    epsilon = Context(prec=4, rounding=ROUND_CEILING).create_decimal(Decimal(promise.epsilon)).normalize()
    facts |= {
        "Date": made_on,
        "Protected": promise.unit,
        "Privacy loss \N{GREEK SMALL LETTER EPSILON}": f"{epsilon:f}",
        "May fail with \N{GREEK SMALL LETTER DELTA}": f"{promise.delta:g}",
        "Neighbours": promise.neighboring,
        "Columns": str(len(model.columns)),
    }
    if model.profile is not None:
        facts["Records"] = _number_of_records(model.profile)
    facts |= {
        "Noise": "Noise from the operating system" if promise.secure else "seeded, not secure",
        "Components": str(model.mixture.n_components),
        "Modes": f"{model.tree.n_modes}{'' if model.tree.certified else ', some points flagged'}",
        "Merge rule": model.tree.basis,
        "Estimator": model.kind,
    }
    return _terms(facts)


def _number_of_records(profile: Profile) -> str:
    """Return how many records there are by the account that all numbers are of, and an interval for it."""
    if profile.n_records is not None:
        return f"{profile.n_records:,.0f}"
    total, counted = float(Account.of(profile).sizes.sum()), float(profile.counts.sum())
    half = _TWO_SIDED * math.sqrt(float(np.square(profile.count_stddev).sum()))
    low, high = min(max(counted - half, 0.0), total), max(counted + half, total)
    return f"about {total:,.0f} ({low:,.0f} to {high:,.0f})"


def columns(model: ReleasedModel) -> str:
    """Return the columns and what was stated of them: bounds and values, which are public."""
    rows = [[column.name, column.stated or _UNSTATED] for column in model.columns]
    return _table(["Column", "Stated beforehand"], rows)


_UNSTATED = "no bounds are known of this model"


def claims(model: ReleasedModel) -> str:
    """Return what the claim states, point by point, with what small groups must know."""
    # Noise is the same for all: from what size on can a group be seen at all?
    small = (
        "Noise is as large for a small group as for a large one. Small groups are therefore described less "
        "well, or not at all: they are merged with others."
    )
    if model.smallest_seen is not None:
        small += (
            f" Here a group that lies apart from all others is found in 19 of 20 such fits if it has "
            f"{model.smallest_seen:,} records or more."
        )
    return _terms({**model.promise.claims, "Small groups": small}, _LONGEST_PARAGRAPH)


def ledger(rows: Sequence[Mapping[str, object]]) -> str:
    """Return the ledger as the inside of a table."""
    keys = list(dict.fromkeys(key for row in rows for key in row))
    headings = []
    for key in keys:
        heading = _HEADINGS.get(key, key)
        if key.startswith(_NOISE):
            heading = f"Noise of {key.removeprefix(_NOISE)}"
        headings.append(plain(heading))
    return _table(headings, [[_cell(row.get(key)) for key in keys] for row in rows])


def _terms(terms: Mapping[str, str], longest: int = LONGEST_NAME) -> str:
    return "\n".join(
        f"<div><dt>{html.escape(plain(term))}</dt><dd>{html.escape(plain(value, longest))}</dd></div>"
        for term, value in terms.items()
    )


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return the inside of a table; beyond 500 rows the rest is counted."""
    head = "".join(f'<th scope="col">{html.escape(heading)}</th>' for heading in headings)
    lines = [f"<thead><tr>{head}</tr></thead>", "<tbody>"]
    shown = list(rows[:_MOST_ROWS])
    if len(rows) > _MOST_ROWS:
        shown.append([f"and {len(rows) - _MOST_ROWS} more", *[""] * (len(headings) - 1)])
    for row in shown:
        cells = "".join(f"<td>{html.escape(cell)}</td>" for cell in row)
        lines.append(f"<tr>{cells}</tr>")
    return "\n".join([*lines, "</tbody>"])


def _cell(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else plain(str(value))
