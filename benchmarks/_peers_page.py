"""Tables and page of the comparison with other libraries."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from benchmarks._clusterings import DEFAULT, DELTA
from benchmarks._experiments import Row
from benchmarks._peer_libraries import UNPACKAGED
from benchmarks._peer_runs import BLOBS, REFERENCE
from benchmarks._result_tables import Table, failure_table, where_and_how
from benchmarks._scores import Results, short

_HEADER = "<!-- Written by benchmarks/peers.py from its results file. Do not edit: run it again. -->"
_DELTA = f"{DELTA:g}".replace("e-0", "e-")
_ABSENT, _NO_CENTRES = "not installed", "no centres"
_ABOUT = """\
This page compares the private clusterings of dpmorse with those of other libraries. All are given the same
records, the same bounds, the same strength of the guarantee (epsilon, as each library claims it) and the
true number of classes K, and nothing else. Records are scaled by the bounds to the box [-1, 1]: minimum and
maximum of each column, assumed public. Entries are mean ± standard deviation over seeds; how many of the
runs failed, if any did, is said beside. A failed run counts as 0 in the adjusted Rand index and has no part
in the other figures."""
_ABOUT_COST = f"""\
Mean squared distance of the records to the nearest released centre, divided by that of scikit-learn's KMeans
(n_init=10), which sees the records: 1 is perfect. Centres of a base of dpmorse are the means of its mixture,
one component for each class. `{DEFAULT}` merges components and has no centres. A mixture is fitted to
describe the density and not to have a small cost: components may share a dense region."""
_ABOUT_ARI = """\
Adjusted Rand index against the classes: 1 is perfect, 0 is chance. Labels are those of the method's own
`predict`, or the nearest centre where it has none."""
_ABOUT_BLOBS = """\
50,000 records in 8 columns: ten round clusters of standard deviation .05 in the box [-1, 1], with centres
uniform in [-.8, .8], drawn anew from the seed of each run. Seconds are those of the fit alone, on one core,
after a first fit of a few records has loaded and compiled what there is."""
_ABOUT_BUDGET = f"""\
Epsilon spent, at most, by number of columns D. Bases of dpmorse: what their ledger proves at delta =
{_DELTA}, for one record added or removed. Google's library: its claim, for the same delta, not checked here.

diffprivlib's KMeans claims pure epsilon (delta = 0), a stronger kind of promise, and names no neighbouring
relation. Shown is the sum of the epsilons that it hands to its mechanisms. It means to split an iteration's
budget into e shares for a count and 1 for each of D sums, with e = (.2025 D)^(1/3), but each gets what was
meant for the other: 1 + D e shares are handed out where there are D + e. Its noise for a sum is made for the
whole range of a column. A record that is added or removed moves a sum by half of that at most where bounds
are around 0, as here, so that sums then cost about half of what is counted; a record that is replaced costs
all of it. That a cluster is empty is covered by no epsilon: such a cluster gets no noise."""
_ABOUT_PEERS = """\
Libraries are installed for this benchmark only, each in an environment of its own. What cannot be installed
is not measured. The name dp-learning stands in the set-up file of Google's library and was found at no
index; a wheel of it is used if pip finds one in a local folder. OpenDP, PyDP, SmartNoise, Tumult Analytics
and PipelineDP can be installed and have no clustering; pfl has expectation-maximisation for simulated
federations, of which its user would have to assemble a clustering."""

Section = tuple[str, str, list[Table]]


def spread(rows: Sequence[Row], field: str) -> str:
    """Return mean and standard deviation of a figure over runs, and how many failed; empty without runs."""
    values = [row[field] for row in rows if row[field] is not None]
    failed = sum(row["error"] is not None for row in rows)
    parts = [f"{short(float(np.mean(values)))} ± {short(float(np.std(values)))}"] if values else []
    if failed:
        parts.append(f"({failed} of {len(rows)} failed)")
    return " ".join(parts)


def absent(results: Results) -> list[str]:
    """Return the libraries that would take part if they were installed; some have no package anywhere."""
    missing = [peer["name"] for peer in results.settings["peers"] if peer["version"] is None]
    return [name for name in missing if name not in UNPACKAGED]


def _runs(results: Results, method: str, dataset: str) -> list[Row]:
    return [row for row in results.of_method(method) if row["dataset"] == dataset]


def _six(results: Results) -> list[str]:
    return [name for name in results.datasets if name != BLOBS]


def _by_dataset(title: str, results: Results, cell: Callable[[str, str], str]) -> Table:
    """Lay out one figure: methods and datasets, with a line for each library that could have been there."""
    datasets = _six(results)
    rows = [[method, *(cell(method, name) for name in datasets)] for method in results.settings["methods"]]
    rows += [[name, *[_ABSENT] * len(datasets)] for name in absent(results)]
    return Table(title, ["method", *datasets], rows if datasets else [])


def _cost(results: Results, method: str, dataset: str) -> str:
    if method == DEFAULT:
        return _NO_CENTRES
    return spread(_runs(results, method, dataset), "ratio")


def cost_table(results: Results) -> Table:
    """Return the cost on the six, relative to that without privacy."""
    return _by_dataset("K-means cost", results, lambda method, name: _cost(results, method, name))


def score_table(results: Results) -> Table:
    """Return the adjusted Rand index on the six."""
    return _by_dataset(
        "Adjusted Rand index", results, lambda method, name: spread(_runs(results, method, name), "ari")
    )


def blobs_table(results: Results) -> Table:
    """Return cost, score and time on separate clusters."""
    rows = []
    for method in results.settings["methods"] if BLOBS in results.datasets else []:
        runs = _runs(results, method, BLOBS)
        rows.append([method, _cost(results, method, BLOBS), spread(runs, "ari"), spread(runs, "seconds")])
    rows += [[name, *[_ABSENT] * 3] for name in absent(results)] if rows else []
    return Table("Blobs", ["method", "k-means cost", "adjusted Rand index", "seconds"], rows)


def budget_table(results: Results) -> Table:
    """Return the claim of every private method, and the most that it spent on each dataset."""
    columns: dict[str, int] = results.settings["n_features"]
    rows = []
    for method in (name for name in results.settings["methods"] if name != REFERENCE):
        spent = [_most_spent(_runs(results, method, name)) for name in results.datasets]
        rows.append([method, f"{results.epsilons[0]:g}", *spent])
    header = [f"{name} (D = {columns[name]})" for name in results.datasets]
    return Table("Epsilon", ["method", "claimed", *header], rows)


def _most_spent(rows: Sequence[Row]) -> str:
    values = [row["spent"] for row in rows if row["spent"] is not None]
    return f"{max(values):.2f}" if values else ""


def peer_table(results: Results) -> Table:
    """Return every library that is known: its version, or why it does not take part."""
    rows = [
        [peer["name"], peer["version"] or "-", peer["state"].replace("|", "\\|")]
        for peer in results.settings["peers"]
    ]
    return Table("Libraries", ["library", "version", "state"], rows)


def sections(results: Results) -> Iterator[Section]:
    """Yield heading, explanation and tables, in the order of the page."""
    yield "K-means cost", _ABOUT_COST, [cost_table(results)]
    yield "Adjusted Rand index", _ABOUT_ARI, [score_table(results)]
    yield "Separate clusters", _ABOUT_BLOBS, [blobs_table(results)]
    yield "Epsilon claimed and spent", _ABOUT_BUDGET, [budget_table(results)]
    yield "Libraries", _ABOUT_PEERS, [peer_table(results)]
    yield "Failures", "What went wrong, and in how many runs.", [failure_table(results)]


def tables(results: Results) -> Iterator[Table]:
    """Yield every table that has something to show."""
    for _, _, shown in sections(results):
        yield from (table for table in shown if table.rows)


def page(results: Results) -> str:
    """Return the page as Markdown."""
    settings = results.settings
    asked = (
        f"Epsilon {results.epsilons[0]:g}, delta {_DELTA} where there is one. Seeds: {settings['n_seeds']}."
    )
    parts = [_HEADER, "# Other libraries", _ABOUT, asked]
    for heading, explanation, tables_of_section in sections(results):
        shown = [str(table) for table in tables_of_section if table.rows]
        parts += [f"## {heading}", explanation, *shown] if shown else []
    return "\n\n".join([*parts, "## Where and how", where_and_how(results)]) + "\n"
