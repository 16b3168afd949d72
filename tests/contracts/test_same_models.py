"""The tool that compares what two versions of the code have released."""

import json

from tools.same_models import WITHOUT, released


def write(folder, name, mixture, profile=None):
    folder.mkdir(exist_ok=True)
    base = {"mixture": mixture, "domain": [0, 1], "privacy": {}, "profile": profile}
    (folder / f"{name}.json").write_text(json.dumps({"base": base}))


def test_equal_folders_have_released_the_same(tmp_path):
    write(tmp_path, "fit", [1.0], profile=[3])
    write(tmp_path, f"fit{WITHOUT}", [2.0])
    assert released(tmp_path, tmp_path) == (2, [])


def test_what_differs_is_named(tmp_path):
    for folder, mixture in (("a", [1.0]), ("b", [1.5])):
        write(tmp_path / folder, "fit", mixture, profile=[3])
        write(tmp_path / folder, "other", [1.0])
    assert released(tmp_path / "a", tmp_path / "b") == (2, ["fit.json"])


def test_code_before_the_profile_is_compared_with_fits_that_make_none(tmp_path):
    write(tmp_path / "before", "fit", [1.0])
    write(tmp_path / "after", "fit", [9.0], profile=[3])
    write(tmp_path / "after", f"fit{WITHOUT}", [1.0])
    assert released(tmp_path / "before", tmp_path / "after") == (1, [])
