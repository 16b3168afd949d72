"""The page itself: a template, its style and its script in one file, under a strict security policy."""

import base64
import hashlib
import html
import os
from collections.abc import Sequence
from datetime import date, datetime
from importlib import metadata, resources
from string import Template
from typing import Any

import numpy as np

from dpmorse import _atomic, _validate
from dpmorse.exceptions import InvalidParameterError, InvalidTypeError, OutputExistsError
from dpmorse.report import markup
from dpmorse.report.bulletin import description
from dpmorse.report.contents import contents
from dpmorse.report.released import released
from dpmorse.report.text import json_for_script, plain

MOST_SAMPLES = 20_000
"""Most synthetic records that may be asked for; the page shows fewer if it has many axes."""

EYEBROW = "Released with differential privacy"
"""What stands above the headline of a page without a title."""

_SCRIPTS = (
    "common.js",
    "columns.js",
    "clusters.js",
    "dendrogram.js",
    "view.js",
    "points.js",
    "profile.js",
    "portraits.js",
    "levels.js",
    "tables.js",
    "numbers.js",
    "why.js",
    "exports.js",
    "page.js",
)
"""The scripts of a page, in the order in which they are joined: later ones use earlier ones."""


def render(
    model: Any,
    *,
    columns: Sequence[str] | None = None,
    title: str | None = None,
    dataset: str | None = None,
    made_on: date | None = None,
    n_samples: int = 1000,
    random_state: Any = 0,
) -> str:
    """Return a page about a fitted or loaded model, as one HTML document that stands alone.

    Parameters
    ----------
    model : estimator
        A fitted or loaded ``DPMorse``, ``MorseClustering``, or a base alone, whose components are then merged
        by the rule "auto".
    columns : list of str or None, default=None
        Names of the columns; None takes those of the table that was fitted, or numbers.
    title : str or None, default=None
        What stands above the headline; None says what the page is in general.
    dataset : str or None, default=None
        Name of the data, for the head of the page. It is published with the page.
    made_on : datetime.date or None, default=None
        Date on the page; None is today.
    n_samples : int, default=1000
        Synthetic records to draw, at most 20,000; fewer are shown if there are many columns.
    random_state : int, Generator or None, default=0
        How they are drawn. This has nothing to do with the noise of the model.

    Returns
    -------
    str
        HTML. No request leaves the page.

    Notes
    -----
    **Privacy.** Only released values are used: mixture, merge tree, privacy report, domain. The page is
    post-processing and may be published wherever the model may be. ``columns`` are taken to be public.

    Examples
    --------
    >>> import numpy as np
    >>> from dpmorse import DPMoGHard
    >>> from dpmorse.report import render
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(500, 2))
    >>> model = DPMoGHard(3, epsilon=1.0, bounds=(-1, 1), n_iter=2, random_state=0).fit(X)
    >>> render(model, columns=["height", "weight"])[:15]
    '<!doctype html>'
    """
    n_drawn = _validate.positive_int(n_samples=n_samples, at_most=MOST_SAMPLES)
    heading, data_name = _named("title", title), _named("dataset", dataset)
    day = _day(made_on)
    parts = released(model, columns)
    said = description(parts, parts.members(parts.n_clusters))
    numbers = json_for_script(contents(parts, n_drawn, _generator(random_state)))
    style = _asset("page.css")
    # All scripts are in one function, so that nothing of them is visible from outside.
    script = '(() => {\n"use strict";\n' + "\n".join(map(_script, _SCRIPTS)) + "})();\n"
    return Template(_asset("page.html")).substitute(
        policy=html.escape(_policy(style, script)),
        title=html.escape(heading or said.headline),
        style=style,
        eyebrow=html.escape(heading or EYEBROW),
        headline=html.escape(said.headline),
        badge=markup.badge(parts.promise),
        sentences=markup.sentences(said),
        privacy=html.escape(said.privacy),
        source=markup.source(data_name, day),
        statement=markup.statement(parts.promise),
        facts=markup.facts(parts, data_name, day),
        columns=markup.columns(parts),
        claims=markup.claims(parts),
        ledger=markup.ledger(parts.promise.to_dicts()),
        version=html.escape(_version()),
        data=numbers,
        script=script,
    )


def write_report(
    model: Any,
    path: str | os.PathLike[str],
    *,
    force: bool = False,
    columns: Sequence[str] | None = None,
    title: str | None = None,
    dataset: str | None = None,
    made_on: date | None = None,
    n_samples: int = 1000,
    random_state: Any = 0,
) -> None:
    """Write the page of ``render`` to a file, whole or not at all.

    Parameters
    ----------
    model, columns, title, dataset, made_on, n_samples, random_state
        As in ``render``.
    path : str or path
        Where to; by custom the name ends in ``.html``.
    force : bool, default=False
        Whether a file that exists is replaced; otherwise ``OutputExistsError`` is raised.
    """
    _validate.boolean(force=force)
    if not force and os.path.lexists(path):  # before the work; the write looks again
        raise _exists(path)
    page = render(
        model,
        columns=columns,
        title=title,
        dataset=dataset,
        made_on=made_on,
        n_samples=n_samples,
        random_state=random_state,
    )
    try:
        _atomic.write_bytes(path, page.encode(), overwrite=force)
    except FileExistsError:
        raise _exists(path) from None


def _exists(path: str | os.PathLike[str]) -> OutputExistsError:
    shown = _validate.describe(os.fspath(path))
    return OutputExistsError(
        f"path must be a new file, got {shown}, which exists. Choose another name, or give force=True."
    )


def _named(parameter: str, value: object) -> str | None:
    """Return a name that a user gives, fit to be shown; an empty one is none."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise InvalidTypeError(f"{parameter} must be text or None, got {_validate.describe(value)}.")
    return plain(value.strip()) or None


def _day(made_on: object) -> str:
    if made_on is not None and not isinstance(made_on, date):
        raise InvalidTypeError(
            f"made_on must be a datetime.date or None, got {_validate.describe(made_on)}. None is today."
        )
    return (made_on or datetime.now().astimezone().date()).isoformat()


def _generator(random_state: Any) -> np.random.Generator:
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise InvalidParameterError(
            "random_state must be a non-negative integer, a numpy Generator or None, "
            f"got {_validate.describe(random_state)}."
        ) from None


def _asset(name: str) -> str:
    return resources.files("dpmorse.report").joinpath("assets", name).read_text(encoding="utf-8")


def _script(name: str) -> str:
    """Return a script without its comments and indents, which would be a tenth of a page."""
    lines = (line.lstrip() for line in _asset(name).splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//"))


def _policy(style: str, script: str) -> str:
    """Return a content-security policy under which exactly this style and this script work."""
    return "; ".join(
        [
            "default-src 'none'",
            f"style-src '{_hash(style)}'",
            f"script-src '{_hash(script)}'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",  # text can never become markup
            "trusted-types 'none'",
        ]
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _version() -> str:
    try:
        return metadata.version("dpmorse")
    except metadata.PackageNotFoundError:  # run from a copy of the sources
        return ""
