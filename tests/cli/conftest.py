"""What the tests of the command line share: files of invented people, and a way to run commands."""

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from typer.testing import CliRunner

from dpmorse import DPMoGHard, DPMorse, MorseClustering
from dpmorse.bases import Refits
from dpmorse.cli.application import app
from dpmorse.datasets import make_patients


@pytest.fixture(autouse=True)
def no_rehearsals(request, monkeypatch):
    """Rehearsals take as long as five fits: only tests that are marked make them."""
    if request.node.get_closest_marker("rehearses") is None:
        monkeypatch.setattr(Refits, "of", lambda base: None)


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty folder, in which the test runs."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(here):
    """Run a command in this process; says what came out, and insists on an exit code."""

    def run(*args, code=0, **options):
        result = CliRunner().invoke(app, [str(arg) for arg in args], prog_name="dpmorse", **options)
        assert code is None or result.exit_code == code, f"exit code {result.exit_code}: {result.output}"
        assert "Traceback" not in result.output
        return result

    return run


@pytest.fixture
def run_json(run):
    """Run a command with --json; stdout must be one JSON object."""
    return lambda *args: json.loads(run(*args, "--json").stdout)


@pytest.fixture(scope="session")
def patients():
    points, _ = make_patients(1000, random_state=1)
    return pa.table(list(points.T), names=["age", "pressure"])


@pytest.fixture
def csv_file(here, patients):
    path = here / "patients.csv"
    pa.csv.write_csv(patients, path)
    return path


@pytest.fixture(scope="session")
def model_text(tmp_path_factory, patients):
    """A fitted model, as the text of its file."""
    path = tmp_path_factory.mktemp("model") / "model.json"
    base = DPMoGHard(6, epsilon=9.0, bounds=([0, 60], [110, 220]))
    MorseClustering(base, 3).fit(patients).save(path)
    return path.read_text()


@pytest.fixture
def model_file(here, model_text):
    path = here / "model.json"
    path.write_text(model_text)
    return path


@pytest.fixture
def rng():
    return np.random.default_rng(5)


@pytest.fixture(scope="session")
def measured_text(tmp_path_factory, patients):
    """A fitted model with a profile, some of whose numbers are worth a warning, as the text of its file.

    Noise hides the medians of cluster 1, and cluster 2 may be noise; pressures lie above their bound.
    """
    path = tmp_path_factory.mktemp("measured") / "model.json"
    model = DPMorse(3, 3, epsilon=9.0, bounds=([0, 60], [110, 220]), random_state=0).fit(patients)
    measured, labels = model.base_.profile_, model.component_labels_
    wanted = np.choose(labels, [measured.counts, 5 * measured.count_stddev, measured.count_stddev])
    factors = wanted / measured.counts
    model.base_.profile_ = replace(
        measured,
        sizes=measured.sizes * factors,
        entries=measured.entries * factors[:, None],
        outside=np.array([[0.0, 0.0], [0.0, 500.0]]),
    )
    model.save(path)
    return path.read_text()


@pytest.fixture
def measured_file(here, measured_text):
    path = here / "measured.json"
    path.write_text(measured_text)
    return path
