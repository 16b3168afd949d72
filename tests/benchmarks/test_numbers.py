import json

import numpy as np
import pytest

from benchmarks import _drawn, numbers
from benchmarks._drawn import SHAPES
from benchmarks.numbers import FIRST_SETTING, Setting


@pytest.mark.parametrize("shape", SHAPES)
def test_a_setting_is_its_number(shape):
    assert Setting.draw(3, shape) == Setting.draw(3, shape)
    assert len({Setting.draw(i, shape) for i in range(20)}) == 20


@pytest.mark.parametrize("shape", SHAPES)
def test_noise_has_mean_0_and_variance_1(shape):
    values = _drawn.noise(shape, (400_000, 1), np.random.default_rng(0))
    assert values.mean() == pytest.approx(0, abs=0.02)
    if shape != "t3":  # whose variance converges slowly
        assert values.var() == pytest.approx(1, abs=0.05)


def test_records_have_the_small_cluster_where_the_setting_says():
    setting = Setting(0, "normal", 3, 50_000, 1.0, 0.1, 8.0, 1.0)
    X = setting.records(0)
    far = np.linalg.norm(X, axis=1) > 5
    assert far.mean() == pytest.approx(0.1, abs=0.01)
    assert np.linalg.norm(X[far].mean(axis=0)) == pytest.approx(8, abs=0.1)
    lower, upper = setting.bounds
    assert np.all((lower < X) & (upper > X))


def test_a_short_run_prints_tables_and_writes_json(tmp_path, capsys):
    out = tmp_path / "numbers.json"
    first = next(i for i in range(FIRST_SETTING) if all(_is_small(i, shape) for shape in SHAPES))
    given = ["--out", str(out), "--settings", "1", "--seeds", "1", "--first", str(first), "--jobs", "1"]
    assert numbers.main(given) == 0
    written = json.loads(out.read_text())
    assert {row["shape"] for row in written["rows"]} == set(SHAPES)
    assert all(0 <= of["coverage"]["share"] <= 1 for of in written["summary"].values())
    printed = capsys.readouterr().out
    assert printed.count("| normal |") == 3
    assert printed.count("| t3 |") == 3
    assert len(written["small and far"]) == 8
    assert "| 2 % at distance 10, columns | isolated |" in printed


def _is_small(number, shape):
    setting = Setting.draw(number, shape)
    return setting.n_records == 2_000 and setting.n_columns <= 5
