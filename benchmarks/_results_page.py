"""The page of results: every table of a results file, with explanations."""

import os
from collections.abc import Iterator
from pathlib import Path

from benchmarks import _paper, _result_tables
from benchmarks._clusterings import DEFAULT, DELTA, HDBSCAN_ROWS
from benchmarks._experiments import WIDE_EPSILON
from benchmarks._result_tables import Table
from benchmarks._scale_page import kept_section
from benchmarks._scores import Results

_SIX = "The six datasets"
_DELTA = f"{DELTA:g}".replace("e-0", "e-")
_HEADER = "<!-- Written by benchmarks/utility.py from its results file. Do not edit: run it again. -->"
_ABOUT_SCORES = f"""\
How well do private methods find groups that are known beforehand? Each is given records without their
classes, and its clusters are compared with the classes by the adjusted Rand index (ARI): 1 is perfect, 0 is
chance. The smaller epsilon (eps) is, the stronger is the guarantee of privacy, and the more noise there is.
Entries are mean ± standard deviation (worst) over seeds. Neighbours differ by one record added or removed;
delta = {_DELTA}.
A run that fails counts as 0. Records labelled as background noise take part in fits and not in scores."""
_ABOUT_SIX = f"""\
A base alone has K components, which are its clusters. `-Morse` is `MorseClustering` over the base with the
paper's K0 components and the default rule; `{DEFAULT}` is the default estimator, which is told K
and nothing else of a dataset. Bounds are minimum and maximum of each column, assumed public as in the paper.
The paper does not say which six actions its EMG has, nor how its USPS was embedded: these two are not exactly
its data."""
_ABOUT_MEANS = "Mean over the datasets of the mean over seeds. References have no budget."
_ABOUT_REFERENCES = f"""\
These see the records, scaled by the bounds to [-1, 1]. `KMeans` and `GaussianMixture` are scikit-learn's
with K clusters; `GaussianMixture-Morse` has K0 components, merged by the rule "overlap". `HDBSCAN` has
min_cluster_size = N / 100 and is run once, on {HDBSCAN_ROWS:,} records drawn at random where there are
more; what it calls noise counts as one more cluster."""
_ABOUT_COMPONENTS = f"""\
The paper prints numbers for DPMoG-hard-Morse only, as means of {_paper.RUNS} runs, merged by single linkage;
it states no delta, and no scores for epsilon 0.5. `{_paper.PRINTED_METHOD}` is that method with the
corrections of [privacy.md](privacy.md) and the default rule. For `{DEFAULT}` K0 is a
limit; it takes no more components than suit K and the number of columns."""
_ABOUT_TENTH = f"`{DEFAULT}` at epsilon 1 beside the scores that the paper prints for epsilon 10."
_ABOUT_WIDE = f"""\
`{DEFAULT}` at epsilon {WIDE_EPSILON:g}, with bounds widened about their centre: what it costs to know the
range of the columns badly."""
_ABOUT_RUNS = """\
Over all runs of a method above. K is reached if the model has K clusters; for methods without a tree, if
records have K different labels. Seconds are those of fit and predict on one core."""
_UNKNOWN = """\
Fits above are told K. What `DPMorse("auto")` finds, which is told nothing, is in
[morse.md](morse.md#how-many-clusters) (`python -m benchmarks.suggested`)."""
_MANY_COLUMNS = """\
Images and generated sets of 33 to 256 columns are in [default.md](default.md#many-columns)
(`python -m benchmarks.columns`)."""

Section = tuple[str, str, list[Table]]


def sections(results: Results) -> Iterator[Section]:
    """Yield heading, explanation and tables of everything that was run."""
    if results.datasets:
        yield from _sections_of_six(results)
    if results.settings["instances"]:
        yield "Generated sets", _about_generated(results), [_result_tables.generated_table(results)]
    how = [_result_tables.run_table(results), _result_tables.failure_table(results)]
    yield "Runs and failures", _ABOUT_RUNS, how


def _sections_of_six(results: Results) -> Iterator[Section]:
    if results.private_methods:
        yield _SIX, _ABOUT_SIX, _result_tables.main_tables(results)
        yield "Mean over the datasets", _ABOUT_MEANS, [_result_tables.mean_table(results)]
    if results.references:
        yield "References without privacy", _ABOUT_REFERENCES, [_result_tables.reference_table(results)]
    if results.merging:
        yield "More components", _ABOUT_COMPONENTS, _result_tables.component_tables(results)
    if results.has_default:
        yield "A tenth of the budget", _ABOUT_TENTH, [_result_tables.tenth_table(results)]
    if results.has_default and results.settings["bounds_factors"]:
        yield "Wide bounds", _ABOUT_WIDE, [_result_tables.wide_table(results)]


def tables(results: Results) -> Iterator[Table]:
    """Yield every table that has something to show, in the order of the page."""
    for _, _, shown in sections(results):
        yield from (table for table in shown if table.rows)


def page(results: Results, pictures: list[Path], at: Path) -> str:
    """Return the page as Markdown; pictures are linked from where the page will be."""
    parts = [_HEADER, "# Results", f"{_ABOUT_SCORES} Seeds: {results.settings['n_seeds']}."]
    for heading, explanation, tables_of_section in sections(results):
        shown = [table for table in tables_of_section if table.rows]
        if not shown:
            continue
        parts += [f"## {heading}", explanation]
        if heading == _SIX:
            targets = [Path(os.path.relpath(path, at.parent)).as_posix() for path in pictures]
            links = [f"![ARI against epsilon, {Path(to).stem}]({to})" for to in targets]
            parts += [*links[:1], *([_folded("Each base by itself", *links[1:])] if links[1:] else [])]
        parts += [_folded(table.title, str(table)) for table in shown] if len(shown) > 1 else [str(shown[0])]
    parts += ["## Number of clusters unknown", _UNKNOWN, "## More than 32 columns", _MANY_COLUMNS]
    how = _result_tables.where_and_how(results)
    kept = kept_section(at.read_text(encoding="utf-8")) if at.exists() else ""
    return "\n\n".join([*parts, "## Where and how", how, *([kept] if kept else [])]) + "\n"


def _folded(title: str, *parts: str) -> str:
    """Return parts that readers open: one page of all tables would be thirty screens long."""
    return "\n\n".join(["<details markdown>", f"<summary>{title}</summary>", *parts, "</details>"])


def _about_generated(results: Results) -> str:
    instances = ", ".join(map(str, results.settings["instances"]))
    text = f"""\
Instances {instances}
of every family of `benchmarks.generated.make_family`, with K from the data and the number of components left
to `{DEFAULT}`. Seeds: {results.settings["n_generated_seeds"]}. The better of the two references
is taken on each set."""
    if not results.has_default:
        return text
    ahead, total = _result_tables.sets_ahead(results, 1.0)
    return f"{text} `{DEFAULT}` at epsilon 1 is at least as good on {ahead} of {total} sets."
