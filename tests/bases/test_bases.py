"""Bases of other packages: found by name, saved and loaded, and never in the place of one of ours."""

import importlib

import numpy as np
import pytest

from dpmorse import DPTree, InvalidTypeError, ModelFormatError, MorseClustering, load
from dpmorse.bases import BASES, available_bases
from every_base import WAYS
from toy_base import GridKMeans


@pytest.fixture
def declare(tmp_path, monkeypatch):
    """Install a package that declares bases, as far as Python's metadata can tell."""

    def install(*lines):
        info = tmp_path / "site" / "another_package-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: another-package\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text("[dpmorse.bases]\n" + "\n".join(lines) + "\n")
        monkeypatch.syspath_prepend(tmp_path / "site")
        importlib.invalidate_caches()

    return install


def test_the_bases_of_this_package_are_there_without_any_other():
    assert available_bases() == BASES


def test_every_base_is_made_in_some_way():
    """All suites go by one list; a base that is not in it would be tested by none of them."""
    assert {way.kind for way in WAYS.values()} == {*BASES.values(), GridKMeans}


def test_a_base_of_another_package_is_found_saved_and_loaded(declare, blobs, tmp_path):
    model = MorseClustering(GridKMeans(6, epsilon=2.0, bounds=(-1, 1), random_state=0), n_clusters=4).fit(
        blobs[0]
    )
    model.save(tmp_path / "model.json")
    with pytest.raises(ModelFormatError, match="does not know: 'GridKMeans'"):
        load(tmp_path / "model.json")
    declare("GridKMeans = toy_base:GridKMeans")
    assert available_bases()["GridKMeans"] is GridKMeans
    again = load(tmp_path / "model.json")
    assert type(again.base_) is GridKMeans
    assert again.privacy_ == model.privacy_
    assert np.array_equal(again.predict(blobs[0]), model.predict(blobs[0]))


def test_a_name_of_ours_cannot_be_taken(declare, blobs, tmp_path):
    declare("DPTree = toy_base:GridKMeans")
    DPTree(3, epsilon=1.0, bounds=(-1, 1), random_state=0).fit(blobs[0]).save(tmp_path / "model.json")
    assert type(load(tmp_path / "model.json")) is DPTree
    with pytest.raises(InvalidTypeError, match="the entry point 'DPTree'"):
        available_bases()


@pytest.mark.parametrize("what", ["toy_base:KMeans", "toy_base:np", "toy_base:GridKMeans"])
def test_what_is_no_base_is_refused(what, declare):
    declare(f"Something = {what}")
    with pytest.raises(InvalidTypeError, match="must be a class of that name that derives from"):
        available_bases()


def test_a_file_cannot_load_what_nobody_declared(blobs, tmp_path):
    path = tmp_path / "model.json"
    DPTree(3, epsilon=1.0, bounds=(-1, 1), random_state=0).fit(blobs[0]).save(path)
    path.write_text(path.read_text().replace('"DPTree"', '"os.system"'))
    with pytest.raises(ModelFormatError):
        load(path)
