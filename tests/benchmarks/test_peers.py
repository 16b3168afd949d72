"""The comparison with other libraries: same units for all, nobody dropped silently, spends as derived."""

import json
import sys
from argparse import Namespace
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import dpmorse
from benchmarks import _measure, _peer_fit, _peer_libraries, _peer_runs, peers
from benchmarks._experiments import Task
from benchmarks._measure import NotInstalledError, ScriptError, environment, printed_by
from benchmarks._peer_libraries import PEERS, UNPACKAGED, Peer, spent_by_diffprivlib, state, states
from benchmarks._peer_runs import BLOBS, REFERENCE, Found, cost, in_box, own_methods, run
from benchmarks._peers_page import (
    blobs_table,
    budget_table,
    cost_table,
    page,
    peer_table,
    score_table,
    spread,
)
from benchmarks._scores import Results
from benchmarks.utility import _write_parquet
from dpmorse.datasets import LabelledData

INSTALLED, ABSENT = "diffprivlib KMeans", "Google LSH clustering"
LIBRARIES = [
    {"name": INSTALLED, "version": "0.6.6", "state": "installed"},
    {"name": ABSENT, "version": None, "state": "not installed: no | wheel"},
    *({"name": name, "version": None, "state": f"not installed: {why}"} for name, why in UNPACKAGED.items()),
]
TASK = Task("DPMoGHard", "usps", None, 1.0, 0, 1.0, "abc")
HERE = Path(sys.executable)


def row(method, dataset, seed=0, **outcome):
    usual = {"ari": 0.5, "ratio": 1.25, "seconds": 0.1, "spent": 1.0, "error": None}
    return {**vars(replace(TASK, method=method, dataset=dataset, seed=seed)), **usual, **outcome}


@pytest.fixture(autouse=True)
def _fresh():
    """Records and costs are kept by name, and names mean other records here."""
    _peer_runs._records.cache_clear()
    _peer_runs._cost_without_privacy.cache_clear()


@pytest.fixture
def square():
    """Four records at the corners of a box with sides 4 and 2, in two classes."""
    X = np.array([[0.0, 0.0], [0.0, 2.0], [4.0, 0.0], [4.0, 2.0]])
    return LabelledData("square", X, np.array([0, 0, 1, 1]), (np.zeros(2), np.array([4.0, 2.0])))


@pytest.fixture
def only_square(monkeypatch, square):
    monkeypatch.setattr(_peer_runs, "load", lambda *_: square)
    return in_box(square)


@pytest.fixture
def results():
    methods = ("DPMoGHard", "DPMorse", INSTALLED, REFERENCE)
    rows = [row(method, name, seed) for name in ("usps", BLOBS) for seed in (0, 1) for method in methods]
    settings = {"version": "1", "code": "abc", "methods": methods, "peers": LIBRARIES}
    settings |= {"datasets": ["usps", BLOBS], "n_features": {"usps": 3, BLOBS: 8}}
    settings |= {"epsilons": [1.0], "n_seeds": 2}
    content = {"rows": rows, "settings": settings, "machine": {"cores": 1}, "command": "run"}
    return Results(json.loads(json.dumps(content)))


class TestCost:
    def test_known_centres_have_their_known_cost(self, only_square):
        X = only_square.X
        np.testing.assert_allclose(cost(X, np.array([[-1.0, 0.0], [1.0, 0.0]])), 1.0)
        np.testing.assert_allclose(cost(X, X), 0.0, atol=1e-12)
        np.testing.assert_allclose(cost(X, np.array([[0.0, 0.0]])), 2.0)

    @pytest.mark.parametrize(
        ("centres", "ratio"), [([[-1, 0], [1, 0]], 1.0), ([[0, 0]], 2.0), ([[-1, 0], [1, 1]], 1.5)]
    )
    def test_the_ratio_is_to_k_means_without_privacy(self, monkeypatch, only_square, centres, ratio):
        found = Found(np.array([3, 3, 5, 5]), np.array(centres, float), 0.1, 1.0)
        monkeypatch.setattr(_peer_runs, "_fit", lambda *_: found)
        outcome = run(TASK, None)
        np.testing.assert_allclose(outcome["ratio"], ratio)
        assert (outcome["ari"], outcome["error"]) == (1.0, None)

    def test_k_means_itself_is_perfect(self, only_square):
        outcome = run(replace(TASK, method=REFERENCE, epsilon=None), None)
        np.testing.assert_allclose(outcome["ratio"], 1.0)
        assert outcome["spent"] is None

    def test_without_centres_there_is_no_cost(self, monkeypatch, only_square):
        monkeypatch.setattr(_peer_runs, "_fit", lambda *_: Found(np.zeros(4, int), None, 0.1, 1.0))
        assert run(TASK, None)["ratio"] is None

    def test_a_failure_is_counted_and_says_why(self, monkeypatch, only_square):
        def fail(*_):
            raise ScriptError("ValueError: no clusters")

        monkeypatch.setattr(_peer_runs, "_fit", fail)
        outcome = run(TASK, None)
        assert (outcome["ari"], outcome["ratio"], outcome["seconds"]) == (0.0, None, None)
        assert outcome["error"] == "ScriptError: ValueError: no clusters"


class TestRecords:
    def test_everybody_gets_the_same_box(self, only_square):
        np.testing.assert_array_equal(np.abs(only_square.X), 1.0)
        np.testing.assert_array_equal(only_square.bounds, [[-1, -1], [1, 1]])

    def test_blobs_are_separate_and_differ_by_seed(self):
        data = _peer_runs.blobs(3)
        assert (data.X.shape, data.n_clusters) == ((50_000, 8), 10)
        centres = np.array([data.X[data.y == label].mean(axis=0) for label in range(10)])
        np.testing.assert_allclose(cost(data.X, centres), 8 * 0.05**2, rtol=0.02)
        assert not np.array_equal(data.X, _peer_runs.blobs(4).X)


class TestOurs:
    def test_every_exported_base_takes_part(self, monkeypatch):
        monkeypatch.setattr(dpmorse, "DPTree", object, raising=False)
        found = own_methods()
        assert {"DPTree", "DPMoGHard", "DPMoG", "PrivateGaussianMixture", "DPMorse"} <= set(found)
        assert not any(name.endswith("-Morse") for name in found)

    def test_a_base_is_fitted_in_the_box_with_a_component_for_each_class(self, monkeypatch, rng):
        y = rng.integers(0, 2, 3000)
        X = y[:, None] * 80.0 + rng.uniform(0, 20, (3000, 2))
        data = LabelledData("two", X, y, (np.zeros(2), np.full(2, 100.0)))
        monkeypatch.setattr(_peer_runs, "_compile", lambda _: None)
        found = _peer_runs._fit_own(replace(TASK, epsilon=5.0), in_box(data))
        assert found.centres.shape == (2, 2)
        assert np.all(np.abs(found.centres) <= 1)
        assert 0 < found.spent <= 5.0
        assert found.seconds > 0


class TestSpend:
    @pytest.mark.parametrize(("n_features", "spent"), [(8, 1.13), (16, 1.41), (64, 2.28)])
    def test_diffprivlib_spends_more_than_it_claims(self, n_features, spent):
        assert round(spent_by_diffprivlib(n_features), 2) == spent

    def test_in_few_columns_it_spends_less(self):
        assert all(spent_by_diffprivlib(n_features) < 1 for n_features in (2, 3, 4))

    def test_shares_in_their_places_would_spend_the_claim(self):
        n_features, e = 8, np.cbrt(0.2025 * 8)
        count, each_sum = np.array([e, 1.0]) / (n_features + e)
        np.testing.assert_allclose(count + n_features * each_sum, 1.0)
        np.testing.assert_allclose(each_sum + n_features * count, spent_by_diffprivlib(n_features))

    def test_a_run_reports_what_was_spent_of_its_own_claim(self, monkeypatch, only_square):
        monkeypatch.setattr(_peer_runs, "fit_peer", lambda *_: (only_square.X[[0, 3]], 0.1))
        outcome = run(replace(TASK, method=INSTALLED, epsilon=2.0), None)
        np.testing.assert_allclose(outcome["spent"], 2 * spent_by_diffprivlib(2))
        assert outcome["error"] is None


class TestInstalling:
    PEER = Peer("Some library", "some", "some-library", ("some-library==1",))

    def test_what_cannot_be_installed_is_reported(self, monkeypatch):
        def refuse(*_):
            raise NotInstalledError("No matching distribution found")

        monkeypatch.setattr(_peer_libraries, "environment", refuse)
        found = state(self.PEER)
        assert (found["version"], found["state"]) == (None, "not installed: No matching distribution found")
        assert [peer["name"] for peer in states()] == [*(peer.name for peer in PEERS), *UNPACKAGED]
        assert all(peer["state"].startswith("not installed: ") for peer in states())

    def test_what_is_installed_has_a_version(self, monkeypatch):
        monkeypatch.setattr(_peer_libraries, "environment", lambda *_: HERE)
        assert state(replace(self.PEER, distribution="numpy"))["version"] == np.__version__

    def test_the_reason_has_no_places_in_it(self, monkeypatch, tmp_path):
        said = "ERROR: no\n\nERROR: Could not fetch https://index.example/simple nor /home/me/wheels here\n"
        (tmp_path / "pip.py").write_text(f"import sys; sys.exit({said!r})")
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
        with pytest.raises(NotInstalledError, match=r"^Could not fetch \(a path\) nor \(a path\) here$"):
            _measure._install(HERE, ["some-library"])

    def test_an_environment_is_made_once(self, monkeypatch, tmp_path):
        made, asked = [], []
        monkeypatch.setattr(_measure, "ROOT", tmp_path)
        monkeypatch.setattr(
            _measure.venv, "create", lambda folder, **_: (made.append(folder), folder.mkdir(parents=True))
        )
        monkeypatch.setattr(_measure, "_install", lambda _, what: asked.append(list(what)))
        for _ in range(2):
            environment("some", ["a"], ["b"])
        assert len(made) == 1
        assert asked == [["--no-index", "--no-deps", "b"], ["a"]]

    def test_a_failed_installation_is_tried_again(self, monkeypatch, tmp_path):
        def refuse(*_):
            raise NotInstalledError("no")

        monkeypatch.setattr(_measure, "ROOT", tmp_path)
        monkeypatch.setattr(_measure.venv, "create", lambda folder, **_: folder.mkdir(parents=True))
        monkeypatch.setattr(_measure, "_install", refuse)
        with pytest.raises(NotInstalledError):
            environment("some", ["a"])
        assert not (tmp_path / ".bench" / "some" / ".ready").exists()


class TestExchange:
    def test_a_script_gets_the_records_and_returns_centres(self, monkeypatch, tmp_path, only_square):
        script = tmp_path / "fit.py"
        script.write_text(
            "import json, sys, numpy as np\n"
            "settings = json.load(open(sys.argv[2] + '/settings.json'))\n"
            "assert settings == {'n_clusters': 2, 'epsilon': 0.5, 'delta': 1e-5, 'seed': 7}\n"
            "np.save(sys.argv[2] + '/centres.npy', np.load(sys.argv[2] + '/records.npy')[:2])\n"
            "print(json.dumps({'seconds': 0.25}))\n"
        )
        monkeypatch.setattr(_peer_libraries, "_FIT", script)
        monkeypatch.setattr(_peer_libraries, "environment", lambda *_: HERE)
        centres, taken = _peer_libraries.fit_peer(PEERS[0], only_square.X, 2, 0.5, 7)
        np.testing.assert_array_equal(centres, only_square.X[:2])
        assert taken == 0.25

    def test_a_script_that_fails_says_why(self):
        with pytest.raises(ScriptError, match=r"^ValueError: no centres in \(a path\)$"):
            printed_by(HERE, "-c", "raise ValueError('no centres in /tmp/records.npy')")

    def test_the_script_knows_every_library(self):
        assert {peer.key for peer in PEERS} == set(_peer_fit.FITS)

    def test_the_script_times_the_second_fit(self, monkeypatch, tmp_path, capsys, only_square):
        sizes = []
        monkeypatch.setitem(_peer_fit.FITS, "some", lambda X, _: (sizes.append(len(X)), X[:2])[1])
        monkeypatch.setattr(_peer_fit, "_FEW", 3)
        monkeypatch.setattr(sys, "argv", ["fit", "some", str(tmp_path)])
        monkeypatch.setattr(_peer_fit.warnings, "filterwarnings", lambda _: None)
        np.save(tmp_path / "records.npy", only_square.X)
        (tmp_path / "settings.json").write_text("{}")
        _peer_fit.main()
        assert sizes == [3, 4]
        assert json.loads(capsys.readouterr().out)["seconds"] >= 0
        np.testing.assert_array_equal(np.load(tmp_path / "centres.npy"), only_square.X[:2])


class TestTables:
    def test_spread_is_over_the_runs_that_did_not_fail(self):
        runs = [row("a", "usps", 0, ratio=1.0), row("a", "usps", 1, ratio=2.0)]
        assert spread(runs, "ratio") == "1.500 ± .500"
        failed = row("a", "usps", 2, ratio=None, ari=0.0, error="E: e")
        assert spread([*runs, failed], "ratio") == "1.500 ± .500 (1 of 3 failed)"
        assert spread([failed], "ratio") == "(1 of 1 failed)"
        assert spread([*runs, failed], "ari") == ".333 ± .236 (1 of 3 failed)"

    def test_every_method_has_its_line(self, results):
        assert cost_table(results).rows == [
            ["DPMoGHard", "1.250 ± .000"],
            ["DPMorse", "no centres"],
            [INSTALLED, "1.250 ± .000"],
            [REFERENCE, "1.250 ± .000"],
            [ABSENT, "not installed"],
        ]
        assert score_table(results).rows[1] == ["DPMorse", ".500 ± .000"]
        assert blobs_table(results).rows[0] == ["DPMoGHard", "1.250 ± .000", ".500 ± .000", ".100 ± .000"]
        assert blobs_table(results).rows[-1] == [ABSENT, *["not installed"] * 3]

    def test_claim_and_spend_are_side_by_side(self, results):
        results.rows.append(row(INSTALLED, BLOBS, 2, spent=1.133))
        table = budget_table(results)
        assert table.header == ["method", "claimed", "usps (D = 3)", "blobs (D = 8)"]
        assert table.rows[-1] == [INSTALLED, "1", "1.00", "1.13"]
        assert REFERENCE not in {line[0] for line in table.rows}

    def test_every_library_is_named(self, results):
        lines = {line[0]: line[1:] for line in peer_table(results).rows}
        assert lines[INSTALLED] == ["0.6.6", "installed"]
        assert lines[ABSENT] == ["-", "not installed: no \\| wheel"]
        assert set(UNPACKAGED) < set(lines)

    def test_the_page_says_that_it_is_generated_and_shows_everything(self, results):
        results.rows.append(row(INSTALLED, "usps", 2, ratio=None, ari=0.0, error="ScriptError: no"))
        text = page(results)
        assert text.startswith("<!-- Written by benchmarks/peers.py")
        assert all(f"| {name} " in text for name in ("DPMoGHard", INSTALLED, ABSENT, *UNPACKAGED))
        assert "ScriptError: no" in text
        assert "(1 of 3 failed)" in text
        assert "Seeds: 2." in text
        assert max(map(len, text[: text.index("## K-means cost")].splitlines())) < 200


class TestCommand:
    @pytest.fixture
    def arguments(self, tmp_path, rng, monkeypatch):
        pytest.importorskip("pyarrow")
        y = rng.integers(0, 2, 600)
        X = np.array([[-9.0, 0, 0], [9.0, 0, 0]])[y] + rng.normal(size=(600, 3))
        _write_parquet(LabelledData("usps", X, y, (X.min(axis=0), X.max(axis=0))), tmp_path / "usps.parquet")
        monkeypatch.setattr(peers, "states", lambda: LIBRARIES)
        monkeypatch.setattr(peers, "own_methods", lambda: ("DPMoGHard",))
        monkeypatch.setattr(_peer_runs, "_compile", lambda _: None)
        monkeypatch.setattr(_peer_runs, "fit_peer", lambda _, X, k, *__: (X[:k], 0.1))
        paths = ["--data", tmp_path, "--out", tmp_path / "out" / "a.json", "--results", tmp_path / "peers.md"]
        return [*map(str, paths), "--seeds", "1", "--datasets", "usps"]

    @pytest.mark.long
    def test_it_writes_tables_json_and_a_page_and_runs_nothing_twice(
        self, tmp_path, arguments, capsys, monkeypatch
    ):
        peers.main(arguments)
        content = json.loads((tmp_path / "out" / "a.json").read_text())
        assert [run["error"] for run in content["rows"]] == [None] * 3
        assert content["settings"]["peers"] == LIBRARIES
        printed, text = capsys.readouterr().out, (tmp_path / "peers.md").read_text()
        assert all(name in printed and name in text for name in ("DPMoGHard", INSTALLED, ABSENT))
        assert str(tmp_path) not in text + json.dumps(content)
        monkeypatch.setattr(peers, "run", lambda *_, **__: pytest.fail("run again"))
        peers.main(arguments)
        assert json.loads((tmp_path / "out" / "a.json").read_text()) == content

    def test_another_version_of_a_library_is_run_again(self, arguments, tmp_path):
        options = Namespace(data=tmp_path, datasets=("usps",), seeds=1, epsilon=1.0)
        newer = [{**LIBRARIES[0], "version": "0.6.7"}, *LIBRARIES[1:]]
        before, after = peers.tasks(options, LIBRARIES), peers.tasks(options, newer)
        changed = [task.method for task, other in zip(before, after, strict=True) if task != other]
        assert changed == [INSTALLED]
