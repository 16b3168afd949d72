"""``dpmorse demo``: invented patients, and every kind of output for them."""

import os
from collections.abc import Sequence
from typing import Annotated, Any, Self

import numpy as np
import typer

from dpmorse.cli.bounds_file import read_bounds
from dpmorse.cli.bounds_template import line_of, template
from dpmorse.cli.clusters import say_clusters, tell_cautions
from dpmorse.cli.messages import note, reports_mistakes, say
from dpmorse.cli.models import rehearse, sampled_columns
from dpmorse.cli.options import ForceOption, QuietOption
from dpmorse.cli.outputs import check_folder_output, replacing, write_columns, write_text
from dpmorse.cli.progress import Bar, progress_bar
from dpmorse.clustering import DPMorse
from dpmorse.datasets import make_patient_table, make_patients
from dpmorse.records import Columns, Reading, Table
from dpmorse.schema import Schema
from dpmorse.typing import FloatArray, IntArray

_COLUMNS = ("age", "pressure")
"""Names of the columns of the invented patients."""

_LIMITS = ((0.0, 110.0), (60.0, 220.0))
"""Bounds of the columns: public knowledge about ages in years and blood pressures in mmHg."""

_DESCRIPTION = {
    "age": "{ lower = 0, upper = 110 }",
    "pressure": '{ lower = 60, upper = 220, missing = "ignore" }',
    "sex": '{ values = ["female", "male"] }',
    "smoker": '{ boolean = true, missing = "ignore" }',
    "ward": '{ values = ["surgery", "medicine", "cardiology"] }',
    "admitted": "{ earliest = 2010-01-01, latest = 2030-01-01 }",
}
"""What the columns of the table are: public knowledge about a hospital."""

_N_PATIENTS = 20_000
"""Number of invented patients: enough for clear clusters at epsilon = 1, few enough to be fitted in
seconds."""


@reports_mistakes
def demo(
    *,
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="FOLDER", help="Where to; made if it is not there.")
    ] = "dpmorse-demo",
    epsilon: Annotated[float, typer.Option("--epsilon", help="Privacy budget of the fit.")] = 1.0,
    force: ForceOption = False,
    quiet: QuietOption = False,
) -> None:
    """Cluster invented patients and write everything that can be made of the model.

    Age and blood pressure of 20000 people who do not exist, then a table of them with categories, dates and
    missing values; the folder holds both, too, for trying the other commands.
    """
    model = DPMorse(4, epsilon=epsilon, bounds=tuple(zip(*_LIMITS, strict=True)))
    check_folder_output(output, force=force)
    points, _ = make_patients(_N_PATIENTS, random_state=1)
    patients = _NamedArray(points, _COLUMNS)
    with progress_bar(shown=not quiet) as bar:
        model._fit(patients)  # cautions stand below the table
        rehearse(model, bar)
    _write_files(output, model, points, model.predict(patients))
    of_table = _write_table_files(output, epsilon)
    if quiet:
        tell_cautions(model)
        tell_cautions(of_table)
        return
    say_clusters(model)
    say("\nThe same people with sex, smoking, ward and day of admission, and with missing values:\n")
    say_clusters(of_table)
    say(f"\n{model.privacy_.statement}\n\nThe table was fitted with a budget of its own, as large.")
    say("\nFiles to open:")
    for name in sorted(os.listdir(output)):
        say(f"  {os.path.join(output, name)}")


class _NamedArray(Table):
    """An array whose columns have names; a frame would need a library that is optional."""

    def __init__(self, X: Any, names: Sequence[str], schema: Schema | None = None) -> None:
        super().__init__(X, schema=schema)
        self._columns = Columns.of(len(names), names)

    def described_by(self, schema: Schema) -> Self:
        """Return the same records with a schema, whose columns have their order."""
        return type(self)(self._given, self._columns.names, schema)

    def matching(self, estimator: Any) -> Self:
        """Refuse columns that are not those of the fit: the array itself has no names to be compared."""
        self.columns.check_those_of(estimator)
        return self


def _write_files(output: str, model: DPMorse, points: FloatArray, labels: IntArray) -> None:
    """Write the patients, the model, and what can be made of it."""
    patients = dict(zip(_COLUMNS, points.T.tolist(), strict=True))
    bounds = (f"{{ lower = {lower:g}, upper = {upper:g} }}" for lower, upper in _LIMITS)
    columns, clusters = sampled_columns(model, 5000, None)
    synthetic = {name: [round(value, 1) for value in values] for name, values in columns.items()}
    write_columns(os.path.join(output, "patients.csv"), patients)
    write_text(
        os.path.join(output, "bounds.toml"),
        template("patients.csv", map(line_of, _COLUMNS, bounds), Reading()),
    )
    model.save(os.path.join(output, "model.json"))
    write_columns(os.path.join(output, "labels.csv"), {**patients, "cluster": labels.tolist()})
    write_columns(os.path.join(output, "synthetic.csv"), {**synthetic, "cluster": clusters.tolist()})
    _write_report(model, "patients.csv", os.path.join(output, "report.html"))
    _write_picture(model, points, os.path.join(output, "clusters.png"))


def _write_table_files(output: str, epsilon: float) -> DPMorse:
    """Write the same people with categories, dates and missing values; fit them as their bounds file says."""
    columns, _ = make_patient_table(_N_PATIENTS, random_state=1)
    table = {
        name: [None if value != value else value for value in values.tolist()]  # noqa: PLR0124 - NaN
        for name, values in columns.items()
    }
    write_columns(os.path.join(output, "table.csv"), table)
    toml = os.path.join(output, "table.toml")
    lines = (line_of(name, entry) for name, entry in _DESCRIPTION.items())
    write_text(toml, template("table.csv", lines, Reading()))
    model = DPMorse(4, epsilon=epsilon, columns=read_bounds(toml).schema_of(list(table)))
    model._fit(_NamedArray(np.array(list(table.values()), dtype=object).T, list(table)))
    rehearse(model, Bar(None))
    model.save(os.path.join(output, "table-model.json"))
    _write_report(model, "table.csv", os.path.join(output, "table-report.html"))
    return model


def _write_report(model: DPMorse, data: str, path: str) -> None:
    from dpmorse.report import write_report  # noqa: PLC0415 - a page is not needed for anything else

    write_report(model, path, force=True, title="Invented patients", dataset=data)


def _write_picture(model: DPMorse, points: FloatArray, path: str) -> None:
    """Draw the records (invented, so they may be shown) beside what was released about them."""
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415 - an extra; without it there are no pictures
    except ImportError:
        note("No pictures: these need matplotlib (pip install 'dpmorse[plot]').")
        return
    from dpmorse.plots import COLOURS, DendrogramDisplay, LandscapeDisplay  # noqa: PLC0415

    figure = Figure(figsize=(13, 3.8), layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    _scatter(left, points[:4000], ["0.35"], "the records (never leave the house)")
    columns, labels = sampled_columns(model, 4000, None)
    of_labels = [COLOURS[label] for label in labels]
    _scatter(middle, np.column_stack(list(columns.values())), of_labels, "")
    LandscapeDisplay.from_estimator(model).plot(ax=middle)
    middle.set_title(f"released: epsilon = {model.privacy_.epsilon:.3g}")
    DendrogramDisplay.from_estimator(model).plot(ax=right)
    right.set_title("how its components merge")
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=110)


def _scatter(axes: Any, points: FloatArray, colours: Any, title: str) -> None:
    axes.scatter(*points.T, s=2, alpha=0.3, c=colours)
    axes.set(xlim=_LIMITS[0], ylim=(80, 215), xlabel=_COLUMNS[0], ylabel=_COLUMNS[1], title=title)
