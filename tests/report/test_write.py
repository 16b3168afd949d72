"""Files: whole or not at all, and never over what is there unless that is asked for."""

import os

import pytest

from dpmorse import _atomic
from dpmorse.exceptions import DPMorseError, InvalidTypeError, OutputExistsError
from dpmorse.report import render, write_report


def test_what_is_written_is_the_page(hard_model, tmp_path):
    write_report(hard_model, tmp_path / "page.html", n_samples=50)
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == render(hard_model, n_samples=50)
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_a_file_that_exists_is_refused_before_any_work(hard_model, tmp_path):
    path = tmp_path / "page.html"
    path.write_text("precious")
    with pytest.raises(OutputExistsError, match=r"path must be a new file, got .*force=True"):
        write_report(None, path)
    assert path.read_text() == "precious"
    assert issubclass(OutputExistsError, DPMorseError)
    assert issubclass(OutputExistsError, FileExistsError)
    write_report(hard_model, path, force=True)
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize("links", [True, False])
def test_a_file_that_appears_while_the_page_is_made_is_not_lost(hard_model, tmp_path, monkeypatch, links):
    path = tmp_path / "page.html"
    if not links:
        monkeypatch.setattr(_atomic.os, "link", lambda *names: (_ for _ in ()).throw(OSError(95, "no links")))
    flush = os.fsync

    def meanwhile(descriptor):
        path.write_text("precious")
        flush(descriptor)

    monkeypatch.setattr(_atomic.os, "fsync", meanwhile)
    with pytest.raises(OutputExistsError):
        write_report(hard_model, path)
    monkeypatch.undo()
    assert path.read_text() == "precious"
    assert [file.name for file in tmp_path.iterdir()] == ["page.html"]


def test_a_file_system_without_links(hard_model, tmp_path, monkeypatch):
    monkeypatch.setattr(_atomic.os, "link", lambda *names: (_ for _ in ()).throw(OSError(95, "no links")))
    write_report(hard_model, tmp_path / "page.html")
    assert [file.name for file in tmp_path.iterdir()] == ["page.html"]


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failed_write_leaves_the_old_file_whole(hard_model, tmp_path, monkeypatch, step):
    path = tmp_path / "page.html"
    path.write_text("precious")

    def fail(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(_atomic.os, step, fail)
    with pytest.raises(OSError, match="No space left"):
        write_report(hard_model, path, force=True)
    monkeypatch.undo()
    assert path.read_text() == "precious"
    assert [file.name for file in tmp_path.iterdir()] == ["page.html"]


def test_a_folder_that_does_not_exist(hard_model, tmp_path):
    with pytest.raises(FileNotFoundError):
        write_report(hard_model, tmp_path / "nowhere" / "page.html")


def test_force_is_yes_or_no(hard_model, tmp_path):
    with pytest.raises(InvalidTypeError, match="force must be True or False"):
        write_report(hard_model, tmp_path / "page.html", force="yes")
