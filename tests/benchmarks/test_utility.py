"""The utility experiments: nothing is run twice, nothing that fails is dropped, scores count what they should."""

import json
import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest

import dpmorse
from benchmarks import public
from benchmarks._clusterings import (
    REFERENCES,
    Clustering,
    _estimator,
    cluster,
    private_methods,
    scaled,
)
from benchmarks._experiments import Plan, Task, _score, run, widen
from benchmarks._fingerprint import meaning
from benchmarks._paper import COMPONENTS
from benchmarks._result_tables import failure_table, generated_table, tenth_table, wide_table
from benchmarks._results_page import page
from benchmarks._runner import Store, run_missing
from benchmarks._scores import Results, Score, short
from benchmarks.utility import _write_parquet, keep_in_folder, main, settings
from dpmorse.datasets import LabelledData

TASK = Task("KMeans", "blobs-0", None, None, 0, 1.0, "abc")
MACHINE = {"cores": 1}


def outcome(task, ari=0.5, error=None):
    row = {"ari": ari, "clusters": 2, "labels": 2, "reached": True, "error": error, "seconds": 0.1}
    return {**vars(task), **row}


def results_of(plan, score=lambda task: 0.5):
    rows = [outcome(task, score(task)) for task in plan.tasks()]
    full = replace(plan, configs={"": "abc"})
    content = {"rows": rows, "settings": settings(full), "machine": MACHINE, "command": "run"}
    return Results(json.loads(json.dumps(content)))


@pytest.fixture
def calls():
    return []


@pytest.fixture
def work(calls):
    def count(task):
        calls.append(task)
        return outcome(task)

    return count


@pytest.fixture
def tasks():
    return Plan(("DPMoGHard", "KMeans"), ("usps",), (1.0,), n_seeds=3).tasks()


@pytest.fixture
def plane():
    """Two classes of two records each, and two records of background."""
    X = np.array([[0.0, 1.0], [0.0, 2.0], [4.0, 1.0], [4.0, 2.0], [1.0, 1.0], [3.0, 1.0]])
    return LabelledData(
        "plane", X, np.array([0, 0, 1, 1, -1, -1]), (np.array([0.0, 0.0]), np.array([4.0, 2.0]))
    )


@pytest.fixture
def only_plane(monkeypatch, plane):
    monkeypatch.setattr("benchmarks._experiments.load", lambda *_: plane)


class TestResume:
    def test_the_second_run_works_on_nothing(self, tmp_path, tasks, work, calls):
        store = Store(tmp_path / "partial")
        first = run_missing(tasks, store, work, processes=1)
        assert calls == tasks
        assert run_missing(tasks, store, work, processes=1) == first
        assert calls == tasks

    def test_only_what_is_new_is_run(self, tmp_path, tasks, work, calls):
        store = Store(tmp_path / "partial")
        run_missing(tasks[:4], store, work, processes=1)
        rows = run_missing(tasks, store, work, processes=1)
        assert calls == tasks
        assert [row["seed"] for row in rows] == [task.seed for task in tasks]

    def test_other_code_or_other_records_are_run_again(self, tmp_path, tasks, work, calls):
        store = Store(tmp_path / "partial")
        changed = [replace(task, config="other") for task in tasks]
        run_missing(tasks, store, work, processes=1)
        run_missing(changed, store, work, processes=1)
        assert calls == [*tasks, *changed]

    def test_what_was_done_before_a_crash_is_kept(self, tmp_path, tasks, work, calls):
        def interrupted(task):
            if len(calls) == 2:
                raise KeyboardInterrupt
            return work(task)

        store = Store(tmp_path / "partial")
        with pytest.raises(KeyboardInterrupt):
            run_missing(tasks, store, interrupted, processes=1)
        run_missing(tasks, store, work, processes=1)
        assert calls == tasks

    def test_a_line_cut_short_is_run_again(self, tmp_path, tasks, work, calls):
        path = tmp_path / "partial"
        run_missing(tasks, Store(path), work, processes=1)
        path.write_bytes(path.read_bytes()[:-20])
        assert len(run_missing(tasks, Store(path), work, processes=1)) == len(tasks)
        assert calls == [*tasks, tasks[-1]]
        assert len(Store(path).read()) == len(tasks)

    @pytest.mark.long  # new processes load everything anew
    def test_processes_change_nothing_but_time(self, tmp_path):
        tasks = [replace(TASK, dataset="moons-0", seed=seed) for seed in range(3)]
        found = [
            run_missing(tasks, Store(tmp_path / str(n)), partial(run, folder=None), processes=n)
            for n in (1, 2)
        ]
        assert [row["ari"] for row in found[0]] == [row["ari"] for row in found[1]]


class TestOneRun:
    def test_background_is_not_scored(self, monkeypatch, only_plane):
        labels = np.array([7, 7, 3, 3, 7, 3])
        for background in ([7, 3], [3, 7], [5, 9]):
            labels[4:] = background
            monkeypatch.setattr("benchmarks._experiments.cluster", lambda *_: Clustering(labels, 2))
            assert run(TASK, None)["ari"] == 1.0

    def test_records_that_are_scored_count(self, monkeypatch, only_plane):
        monkeypatch.setattr(
            "benchmarks._experiments.cluster", lambda *_: Clustering(np.array([0, 1, 0, 1, 0, 0]), 2)
        )
        assert run(TASK, None)["ari"] < 0

    def test_some_records_are_scored_against_their_own_classes(self, monkeypatch, only_plane):
        some = Clustering(np.array([1, 0, 0]), 2, rows=np.array([0, 2, 3]))
        monkeypatch.setattr("benchmarks._experiments.cluster", lambda *_: some)
        assert run(TASK, None)["ari"] == 1.0

    def test_a_failure_scores_nothing_and_is_reported(self, monkeypatch, only_plane):
        def fail(*_):
            raise RuntimeError("no | clusters\nand more")

        monkeypatch.setattr("benchmarks._experiments.cluster", fail)
        row = run(TASK, None)
        assert (row["ari"], row["reached"], row["error"]) == (0.0, False, "RuntimeError: no | clusters")
        plan = Plan(("KMeans",), (), instances=())
        results = results_of(plan)
        results.rows.append(row)
        table = failure_table(results)
        assert table.rows == [["KMeans", "blobs-0", "1", "RuntimeError: no \\| clusters"]]
        assert "no \\| clusters" in page(results, [], Path("results.md"))

    def test_fewer_clusters_than_classes_are_noticed(self, monkeypatch, only_plane):
        monkeypatch.setattr("benchmarks._experiments.cluster", lambda *_: Clustering(np.zeros(6, int), 1))
        row = run(TASK, None)
        assert (row["ari"], row["clusters"], row["reached"], row["error"]) == (0.0, 1, False, None)

    def test_missing_data_is_no_failure_of_a_method(self, tmp_path):
        with pytest.raises(dpmorse.InvalidParameterError, match=r"usps\.parquet"):
            run(replace(TASK, dataset="usps"), tmp_path)


class TestBounds:
    @pytest.mark.parametrize("factor", [3.0, 10.0])
    def test_widening_keeps_the_centre(self, plane, factor):
        lower, upper = widen(plane, factor).bounds
        np.testing.assert_allclose(lower + upper, [4.0, 2.0])
        np.testing.assert_allclose(upper - lower, factor * np.array([4.0, 2.0]))

    def test_a_factor_of_one_changes_nothing(self, plane):
        assert widen(plane, 1.0) is plane

    def test_a_run_gets_the_wide_bounds(self, monkeypatch, only_plane):
        seen = []
        monkeypatch.setattr(
            "benchmarks._experiments.cluster", lambda _, data, *__: seen.append(data.bounds[1][0])
        )
        run(replace(TASK, bounds_factor=3.0), None)
        assert seen == [8.0]

    def test_references_see_the_box_as_a_cube(self, plane):
        X = scaled(plane)
        np.testing.assert_allclose(X[:3], [[-1.0, 0.0], [-1.0, 1.0], [1.0, 0.0]])


class DefaultEstimator:
    """Stands in for an estimator that may not be exported: remembers its options, finds one cluster."""

    options: ClassVar = {}

    def __init__(self, **options):
        type(self).options = options

    def fit(self, X):
        return self

    def predict(self, X):
        return np.zeros(len(X), int)


class TestMethods:
    def test_only_what_is_exported_takes_part(self, monkeypatch):
        monkeypatch.setattr("benchmarks._clusterings.dpmorse", SimpleNamespace())
        assert private_methods() == ()
        exported = SimpleNamespace(DPTree=object, DPMorse=object)
        monkeypatch.setattr("benchmarks._clusterings.dpmorse", exported)
        assert private_methods() == ("DPTree", "DPTree-Morse", "DPMorse")

    @pytest.mark.parametrize("n_components", [None, 6])
    def test_the_default_gets_both_numbers(self, monkeypatch, plane, n_components):
        monkeypatch.setattr(dpmorse, "DPMorse", DefaultEstimator, raising=False)
        cluster("DPMorse", plane, n_components, 0.5, 3)
        expected = {"n_clusters": 2, "n_components": n_components, "epsilon": 0.5, "delta": 1e-5}
        expected |= {"bounds": plane.bounds, "random_state": 3}
        assert DefaultEstimator.options == expected

    def test_a_base_alone_has_a_component_for_each_cluster(self, plane):
        alone = _estimator("DPMoGHard", plane, None, 1.0, 0)
        merged = _estimator("DPMoGHard-Morse", plane, 5, 1.0, 0)
        assert (alone.n_components, merged.base.n_components, merged.n_clusters) == (2, 5, 2)

    @pytest.mark.parametrize("name", REFERENCES)
    def test_references_find_separate_groups(self, blobs, name):
        X, y = blobs
        data = LabelledData("blobs", X, y, (np.full(2, -1.0), np.full(2, 1.0)))
        found = cluster(name, data, 6, None, 0)
        assert found.n_clusters == 4
        assert Score.of([_score(data, found)]).mean > 0.95


class TestPlan:
    def test_every_run_is_there_once(self):
        plan = Plan(("DPMoGHard", "DPMoGHard-Morse", "DPMorse", "HDBSCAN"), ("pulsar", "emg"), (10.0, 1.0), 2)
        tasks = replace(plan, bounds_factors=(3.0,)).tasks()
        assert len(set(tasks)) == len(tasks)
        runs = 2 * 2  # seeds and budgets
        # Two sets; K0 = 10, 15, 20, and 6 where the main setting has another number; HDBSCAN once a set;
        # wide bounds at one budget.
        assert len(tasks) == 2 * 3 * runs + (3 + 4) * runs + 2 + 2 * 2

    def test_a_base_has_the_papers_components_and_the_default_its_own(self):
        tasks = Plan(("DPMoGHard", "DPMoGHard-Morse", "DPMorse"), ("emg",), bounds_factors=(3.0,)).tasks()
        components = {(task.method, task.n_components) for task in tasks}
        assert components == {("DPMoGHard", None), ("DPMoGHard-Morse", COMPONENTS["emg"]), ("DPMorse", None)}

    def test_seeds_come_one_after_the_other(self):
        seeds = [task.seed for task in Plan(("DPMoG", "KMeans"), n_seeds=3).tasks()]
        assert seeds == sorted(seeds)

    def test_generated_sets_leave_the_components_to_the_default(self):
        tasks = Plan(("DPMorse", "DPMoG", "KMeans"), (), instances=(100,), n_generated_seeds=1).tasks()
        assert {(task.method, task.epsilon) for task in tasks} == {
            ("DPMorse", 1.0),
            ("DPMorse", 10.0),
            ("KMeans", None),
        }
        assert all(task.n_components is None for task in tasks)


class TestPage:
    METHODS = ("DPMoGHard", "DPMoGHard-Morse", "DPMorse", "KMeans", "GaussianMixture", "HDBSCAN")

    def test_every_method_every_set_and_the_papers_numbers_are_shown(self):
        plan = Plan(self.METHODS, n_seeds=2, bounds_factors=(3.0,), instances=(100,))
        text = page(results_of(plan), [Path("docs/images/a.png")], Path("docs/results.md"))
        assert text.startswith("<!-- Written by")
        assert all(f"| {name} " in text for name in (*self.METHODS, "the paper", "moons", "shuttle"))
        assert all(number in text for number in (".754", ".755", ".767", ".728", ".259", ".250", ".038"))
        assert "](images/a.png)" in text
        assert "```python" not in text

    def test_of_many_tables_and_pictures_a_reader_opens_those_wanted(self):
        plan = Plan(self.METHODS, ("pulsar", "usps"), n_seeds=1)
        pictures = [Path(f"docs/images/{name}.png") for name in "abc"]
        text = page(results_of(plan), pictures, Path("docs/results.md"))
        *folded, rest = re.split(r"<details markdown>\n\n(.*?)\n\n</details>", text, flags=re.DOTALL)
        opened = [part.split("</summary>")[0].removeprefix("<summary>") for part in folded[1::2]]
        assert opened[:3] == ["Each base by itself", "pulsar (K = 2, K0 = 6)", "usps (K = 10, K0 = 13)"]
        assert "(images/a.png)" in folded[0]
        assert all(f"(images/{name}.png)" in folded[1] for name in "bc")
        assert text.count("<details") == text.count("</details>") == len(opened)
        assert "## Mean over the datasets" in "".join([*folded[::2], rest])

    def test_scores_are_put_where_they_belong(self):
        scores = {10.0: 0.9, 1.0: 0.8}

        def score(task):
            wide = 0.1 * (task.bounds_factor - 1)
            return scores.get(task.epsilon, 0.3 if task.method == "KMeans" else 0.4) - wide

        plan = Plan(self.METHODS, ("pulsar",), (10.0, 1.0), 1, bounds_factors=(3.0,), instances=(100,))
        results = results_of(plan, score)
        assert wide_table(results).rows[0] == ["pulsar", ".800 ± .000 (.800)", ".600 ± .000 (.600)"]
        assert wide_table(results).rows[-1] == ["paired difference of the mean", "", "-.200"]
        assert tenth_table(results).rows[0] == ["pulsar", "6", ".754", ".800 ± .000 (.800)", "+0.046"]
        assert generated_table(results).rows[-1] == ["all", ".800", ".900", ".300", ".400", ".400"]

    def test_what_wide_bounds_cost_is_told_seed_by_seed(self):
        def score(task):
            lost = {"usps": 0.1, "pulsar": 0.2}[task.dataset] + 0.1 * (task.seed - 1)
            return 0.3 * task.seed + (0.0 if task.bounds_factor == 1 else -lost)

        plan = Plan(("DPMorse",), ("usps", "pulsar"), (1.0,), 3, bounds_factors=(10.0,))
        last = wide_table(results_of(plan, score)).rows[-1]
        assert last[1:] == ["", f"-.150 ± {0.1 / np.sqrt(3):.3f}".replace("0.", ".")]

    def test_numbers_are_short(self):
        assert [short(value) for value in (0.5, -0.0314, 1.0, -0.00001, 0.9999)] == [
            ".500",
            "-.031",
            "1.000",
            ".000",
            "1.000",
        ]

    def test_spread_and_worst_case_are_over_seeds(self):
        score = Score.of([{"ari": 0.2}, {"ari": 0.4}])
        assert str(score) == ".300 ± .100 (.200)"


def test_comments_and_docstrings_are_not_part_of_a_fingerprint():
    plain = "def f(x):\n    return x + 1\n"
    assert meaning(plain) == meaning('"""Doc."""\ndef f(x):\n    """Doc."""\n    return (x + 1)  # why\n')
    assert meaning(plain) != meaning("def f(x):\n    return x + 2\n")


class TestCommand:
    @pytest.fixture
    def arguments(self, tmp_path, rng):
        parquet = pytest.importorskip("pyarrow.parquet")
        y = rng.integers(0, 3, 600)
        X = np.array([[-9.0, 0, 0], [9.0, 0, 0], [0.0, 9, 9]])[y] + rng.normal(size=(600, 3))
        _write_parquet(LabelledData("usps", X, y, (X.min(axis=0), X.max(axis=0))), tmp_path / "usps.parquet")
        assert parquet.read_table(tmp_path / "usps.parquet").num_rows == 600
        options = "--seeds 1 --epsilons 10,5 --datasets usps --methods DPMoGHard,DPMoGHard-Morse,KMeans"
        paths = [
            "--data",
            tmp_path,
            "--out",
            tmp_path / "out" / "a.json",
            "--figures",
            tmp_path / "docs" / "f",
        ]
        return [*map(str, paths), "--results", str(tmp_path / "docs" / "results.md"), *options.split()]

    def test_it_writes_tables_json_figures_and_a_page(self, tmp_path, arguments, capsys, monkeypatch):
        pytest.importorskip("matplotlib")
        main(arguments)
        content = json.loads((tmp_path / "out" / "a.json").read_text())
        assert [row["error"] for row in content["rows"]] == [None] * 5
        assert "DPMoGHard-Morse" in capsys.readouterr().out
        text = (tmp_path / "docs" / "results.md").read_text()
        assert "](f/utility.png)" in text
        assert (tmp_path / "docs" / "f" / "utility.png").stat().st_size < 200_000
        assert str(tmp_path) not in text
        assert str(tmp_path) not in json.dumps(content)
        monkeypatch.setattr("benchmarks.utility.run", lambda *_, **__: pytest.fail("run again"))
        main(arguments)
        assert json.loads((tmp_path / "out" / "a.json").read_text()) == content

    def test_an_interrupted_run_writes_no_results(self, tmp_path, arguments, monkeypatch):
        def interrupted(task, folder):
            raise KeyboardInterrupt

        monkeypatch.setattr("benchmarks.utility.run", interrupted)
        with pytest.raises(KeyboardInterrupt):
            main(arguments)
        assert [path.name for path in (tmp_path / "out").iterdir()] == ["a.json.partial"]

    def test_a_missing_set_is_fetched_and_kept(self, tmp_path, plane, monkeypatch):
        pytest.importorskip("pyarrow")
        monkeypatch.setattr(public, "fetch_usps", lambda: plane)
        keep_in_folder(tmp_path / "new", ["usps"])
        monkeypatch.delattr(public, "fetch_usps")
        keep_in_folder(tmp_path / "new", ["usps"])
        assert [path.name for path in (tmp_path / "new").iterdir()] == ["usps.parquet"]

    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            ("--datasets iris --data .", "none of"),
            ("--methods DPNothing --data .", "none of"),
            ("--seeds 0 --data .", "integer >= 1"),
            ("--epsilons 0 --data .", "positive"),
            ("--bounds-factor 0.5 --data .", "number >= 1"),
            ("", "--data is missing"),
        ],
    )
    def test_wrong_options_are_explained(self, tmp_path, wrong, message, capsys):
        with pytest.raises(SystemExit):
            main(["--out", str(tmp_path / "a.json"), *wrong.split()])
        assert message in capsys.readouterr().err
