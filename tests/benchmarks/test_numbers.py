import json

import numpy as np
import pytest

from benchmarks import _drawn, numbers
from benchmarks._drawn import SHAPES
from benchmarks._tables_drawn import MOST_ROWS, Setting
from benchmarks.numbers import FIRST_SETTING

SMALL = [i for i in range(400) if (s := Setting.draw(i)).n_records == 2_000 and s.n_columns <= 4]


def test_a_setting_is_its_number():
    assert Setting.draw(3) == Setting.draw(3)
    assert len({Setting.draw(i) for i in range(20)}) == 20


def test_settings_have_all_that_tables_have():
    drawn = [Setting.draw(i) for i in range(FIRST_SETTING, FIRST_SETTING + 60)]
    for name in ("shape", "n_columns", "n_records", "epsilon", "gaps", "distance", "persons"):
        assert len({getattr(setting, name) for setting in drawn}) > 1, name
    assert {setting.missing for setting in drawn} == {0.0, 0.1, 0.3, 0.5}
    assert {setting.n_categories for setting in drawn} == {0, 1, 3, 8}


@pytest.mark.parametrize("shape", SHAPES)
def test_noise_has_mean_0_and_variance_1(shape):
    values = _drawn.noise(shape, (400_000, 1), np.random.default_rng(0))
    assert values.mean() == pytest.approx(0, abs=0.02)
    if shape != "t3":  # whose variance converges slowly
        assert values.var() == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize("number", SMALL[:12])
def test_a_table_is_what_its_setting_says(number):
    setting = Setting.draw(number)
    table = setting.table(0)
    assert table.numbers.shape == (2000, setting.n_columns)
    assert table.codes.shape == table.holes[:, setting.n_columns :].shape == (2000, setting.n_categories)
    assert np.all(table.codes.max(axis=0, initial=0) < table.n_levels)
    assert (table.holes.mean() > 0) == (setting.missing > 0 and table.holes.shape[1] > 0)
    lower, upper = table.bounds
    assert np.mean((table.numbers < lower) | (table.numbers > upper)) < 0.01
    if setting.persons:
        assert np.bincount(table.owners).max() <= MOST_ROWS


def test_a_short_run_prints_tables_and_writes_json(tmp_path, capsys):
    out = tmp_path / "numbers.json"
    given = ["--out", str(out), "--settings", "1", "--seeds", "1", "--first", str(SMALL[0]), "--jobs", "1"]
    given += ["--statements", "1"]
    assert numbers.main(given) == 0
    written = json.loads(out.read_text())
    everything = written["summary"]["all: settings"]
    assert 0 <= everything["coverage"]["share"] <= 1
    assert everything["off"] < 1e-9
    assert everything["synthetic"]["outside"] == 0
    printed = capsys.readouterr().out
    assert "| all: settings | 1 |" in printed
    assert len(written["small and far"]) == 8
    assert "| 1 | 1 of 1 fits | 0 of 1 fits |" in printed
    assert "| 2 % at distance 10, columns | isolated |" in printed
