"""Tables of the utility experiments, readable as text and as Markdown."""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from benchmarks import _paper
from benchmarks._clusterings import DEFAULT
from benchmarks._experiments import GENERATED_EPSILONS, WIDE_EPSILON, generated_names
from benchmarks._scores import Results, Score, short
from benchmarks.generated import FAMILIES

_REFERENCES = ("KMeans", "GaussianMixture")


@dataclass(frozen=True)
class Table:
    """A title, column names and rows of text."""

    title: str
    header: list[str]
    rows: list[list[str]]

    def __str__(self) -> str:
        lines = [self.header, *self.rows]
        widths = [max(len(line[i]) for line in lines) for i in range(len(self.header))]
        rule = ["-" * width for width in widths]
        padded = (map(str.ljust, cells, widths) for cells in (self.header, rule, *self.rows))
        return "\n".join(f"| {' | '.join(cells)} |" for cells in padded)


def _text(score: Score | None) -> str:
    return "" if score is None else str(score)


def _mean(scores: list[Score | None]) -> str:
    """Return the mean of means, empty unless all of them are there."""
    means = [score.mean for score in scores if score is not None]
    return short(float(np.mean(means))) if means and len(means) == len(scores) else ""


def _budgets(epsilons: list[float]) -> list[str]:
    return [f"eps {epsilon:g}" for epsilon in epsilons]


def main_tables(results: Results) -> list[Table]:
    """Return a table for each of the six: methods and budgets."""
    return [_main_table(results, dataset) for dataset in results.datasets]


def _main_table(results: Results, dataset: str) -> Table:
    rows = [
        [method, *(_text(results.main(method, dataset, epsilon)) for epsilon in results.epsilons)]
        for method in results.private_methods
    ]
    title = f"{dataset} (K = {_paper.CLUSTERS[dataset]}, K0 = {_paper.COMPONENTS[dataset]})"
    return Table(title, ["method", *_budgets(results.epsilons)], rows)


def mean_table(results: Results) -> Table:
    """Return the mean over the six of the mean over seeds: methods and budgets."""
    rows = [
        [method, *(_mean([results.main(method, d, e) for d in results.datasets]) for e in results.epsilons)]
        for method in results.private_methods
    ]
    rows += [
        [method, *[_mean([results.main(method, d) for d in results.datasets])] * len(results.epsilons)]
        for method in results.references
    ]
    return Table("Mean over the datasets", ["method", *_budgets(results.epsilons)], rows)


def reference_table(results: Results) -> Table:
    """Return the scores of the methods that see the records."""
    rows = [
        [method, *(_text(results.main(method, dataset)) for dataset in results.datasets)]
        for method in results.references
    ]
    return Table("References without privacy", ["method", *results.datasets], rows)


def component_tables(results: Results) -> list[Table]:
    """Return a table for each set with printed scores: the paper's numbers and ours, by K0 and budget."""
    return [_component_table(results, name) for name in results.datasets if name in _paper.PRINTED]


def _component_table(results: Results, dataset: str) -> Table:
    rows = []
    for epsilon in results.epsilons:
        printed = _paper.PRINTED[dataset].get(epsilon)
        if printed is not None:
            rows.append([f"{epsilon:g}", "the paper", *map(short, printed)])
        for method in results.merging:
            scores = [results.score(method, dataset, epsilon, k) for k in _paper.PRINTED_COMPONENTS]
            rows.append([f"{epsilon:g}", method, *map(_text, scores)])
    header = ["eps", "method", *(f"K0 = {k}" for k in _paper.PRINTED_COMPONENTS)]
    return Table(f"{dataset} by K0", header, rows)


def tenth_table(results: Results) -> Table:
    """Return the scores of the default estimator at epsilon 1 beside those of the paper for epsilon 10."""
    rows = []
    for dataset in (name for name in results.datasets if name in _paper.PRINTED):
        for k, printed in zip(_paper.PRINTED_COMPONENTS, _paper.PRINTED[dataset][10.0], strict=True):
            score = results.score(DEFAULT, dataset, 1.0, k)
            if score is not None:
                ahead = f"{score.mean - printed:+.3f}"
                rows.append([dataset, str(k), short(printed), str(score), ahead])
    header = ["dataset", "K0", "the paper, eps 10", f"{DEFAULT}, eps 1", "difference"]
    return Table("A tenth of the budget", header, rows)


def wide_table(results: Results) -> Table:
    """Return the scores of the default estimator with wide bounds."""
    factors = [1.0, *results.settings["bounds_factors"]]
    rows = []
    for dataset in results.datasets:
        scores = [results.score(DEFAULT, dataset, WIDE_EPSILON, bounds_factor=factor) for factor in factors]
        rows.append([dataset, *map(_text, scores)])
    rows.append(["paired difference of the mean", "", *(_lost_by(results, factor) for factor in factors[1:])])
    header = ["dataset", *("bounds as published" if f == 1 else f"{f:g} times as wide" for f in factors)]
    return Table("Wide bounds", header, rows)


def _lost_by(results: Results, factor: float) -> str:
    """Return what wide bounds change: the mean over the sets, seed by seed, with its standard error."""
    of_sets = [
        results.by_seed(DEFAULT, dataset, WIDE_EPSILON, factor)
        - results.by_seed(DEFAULT, dataset, WIDE_EPSILON, 1.0)
        for dataset in results.datasets
    ]
    of_seeds = np.mean(of_sets, axis=0)
    mean = short(float(of_seeds.mean()))
    if len(of_seeds) < 2:
        return mean
    return f"{mean} ± {short(float(of_seeds.std(ddof=1) / np.sqrt(len(of_seeds))))}"


def generated_table(results: Results) -> Table:
    """Return means over the generated sets of each family, and over all of them."""
    sets = {name: _generated_means(results, name) for name in generated_names(results.settings["instances"])}
    rows = [
        [family, *_averages([means for name, means in sets.items() if name.rsplit("-", 1)[0] == family])]
        for family in FAMILIES
    ]
    rows.append(["all", *_averages(list(sets.values()))])
    private = [f"{DEFAULT}, eps {epsilon:g}" for epsilon in GENERATED_EPSILONS]
    return Table("Generated sets", ["family", *private, *_REFERENCES, "the better of the two"], rows)


def _generated_means(results: Results, dataset: str) -> list[float]:
    scores = [results.score(DEFAULT, dataset, epsilon) for epsilon in GENERATED_EPSILONS]
    scores += [results.score(method, dataset) for method in _REFERENCES]
    means = [np.nan if score is None else score.mean for score in scores]
    return [*means, float(np.max(means[-2:]))]  # nan unless both were run


def _averages(means: list[list[float]]) -> list[str]:
    columns = np.mean(np.array(means), axis=0)
    return ["" if np.isnan(value) else short(float(value)) for value in columns]


def sets_ahead(results: Results, epsilon: float) -> tuple[int, int]:
    """Return on how many generated sets the default reaches the better reference, and of how many."""
    column = GENERATED_EPSILONS.index(epsilon)
    means = [_generated_means(results, name) for name in generated_names(results.settings["instances"])]
    compared = [mean for mean in means if not np.isnan(mean).any()]
    return sum(mean[column] >= mean[-1] for mean in compared), len(compared)


def run_table(results: Results) -> Table:
    """Return failures, runs that reached K clusters, and times."""
    rows = []
    for method in results.settings["methods"]:
        runs = results.of_method(method)
        if runs:
            failed = sum(row["error"] is not None for row in runs)
            reached = f"{np.mean([row['reached'] for row in runs]):.1%}"
            seconds = np.array([row["seconds"] for row in runs])
            times = [f"{np.median(seconds):.2f}", f"{seconds.max():.2f}"]
            rows.append([method, str(len(runs)), str(failed), reached, *times])
    header = ["method", "runs", "failed", "K reached", "median seconds", "longest, seconds"]
    return Table("Runs", header, rows)


def failure_table(results: Results) -> Table:
    """Return the errors and their numbers."""
    errors = Counter((row["method"], row["dataset"], row["error"]) for row in results.rows if row["error"])
    rows = [
        [method, data, str(n), error.replace("|", "\\|")] for (method, data, error), n in errors.most_common()
    ]
    return Table("Failures", ["method", "dataset", "runs", "error"], rows)


def where_and_how(results: Results) -> str:
    """Return the command that makes the results again, and the machine that they were made on."""
    code = f"dpmorse: {results.settings['version']}, code {results.settings['code']}"
    lines = [f"{name}: {value}" for name, value in results.machine.items()]
    return "\n".join(["```sh", results.command, "```", "", "```text", code, *lines, "```"])
