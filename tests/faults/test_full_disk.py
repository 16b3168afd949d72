"""Disks that are full or read-only: an error that says so, old files as they were, nothing drawn that is not paid."""

import errno
import os
import sys
import warnings
from contextlib import contextmanager, suppress

import numpy as np
import pytest

from audits.kills.nursery import strays
from audits.kills.server import _CALLS, _FILES, Pieces, SmallWrites
from dpmorse import Budget, DPMoGHard, _atomic, load
from dpmorse.privacy import ledger_file
from dpmorse.privacy.ledger_file import FileLedger

X = np.random.default_rng(0).uniform(-1, 1, size=(60, 2))


def model(ledger=None):
    return DPMoGHard(2, epsilon=0.01, bounds=(-1, 1), n_iter=2, ledger=ledger)


class FullDisk:
    """Lets the n-th system call that writes fail; counts them without n."""

    def __init__(self, n=None):
        self.n, self.passed, self.failed = n, 0, False

    def __call__(self, frame, event, called):
        if event != "c_call" or frame.f_code.co_filename not in _FILES:
            return
        if getattr(called, "__name__", "") in _CALLS - {"flock", "unlink"}:  # a full disk can still delete
            self.passed += 1
            if self.passed == self.n:
                self.failed = True
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    @contextmanager
    def on(self):
        sys.setprofile(self)
        try:
            yield self
        finally:
            sys.setprofile(None)


@pytest.fixture
def small_writes(monkeypatch):
    monkeypatch.setattr(ledger_file, "FileIO", SmallWrites)
    monkeypatch.setattr(_atomic.os, "fdopen", Pieces)


def spend_and_save(folder):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the end of the fit could not be written
        model(FileLedger(folder / "b", Budget(1e3))).fit(X).save(folder / "m.json")


@pytest.mark.long
@pytest.mark.parametrize("begun", [False, True], ids=["nothing there", "old files there"])
def test_no_space_at_any_write(begun, tmp_path, small_writes):
    """There is no space for the n-th write, for every n."""
    with FullDisk().on() as counted:
        spend_and_save(tmp_path)
    for n in range(1, counted.passed + 1):
        if not begun:
            (tmp_path / "b").unlink(missing_ok=True)
            (tmp_path / "m.json").unlink(missing_ok=True)
        before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
        with suppress(OSError), FullDisk(n).on() as disk:
            spend_and_save(tmp_path)
        assert disk.failed or begun  # there is less to write where a file has begun
        assert strays(tmp_path) == []
        if (tmp_path / "b").exists():
            assert (tmp_path / "b").read_bytes().startswith(before.get("b", b""))
            assert FileLedger(tmp_path / "b").account()
        if (tmp_path / "m.json").exists():
            load(tmp_path / "m.json")


@pytest.mark.skipif(os.name != "posix", reason="a limit on the size of files is POSIX")
def test_files_that_may_not_grow(tmp_path):
    """The operating system refuses in the middle of a write, at sizes in and between lines."""
    import resource

    ledger = FileLedger(tmp_path / "b", Budget(1e3))
    fitted = model(ledger).fit(X)
    fitted.save(tmp_path / "m.json")
    old, usual = (tmp_path / "m.json").read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    line = len((tmp_path / "b").read_bytes().splitlines(keepends=True)[1])
    for extra in (0, 1, line // 2, line - 1):
        account = (tmp_path / "b").read_bytes()
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(account) + extra, usual[1]))
        try:
            with pytest.raises(OSError, match="File too large"):
                model(ledger).fit(X)
            resource.setrlimit(resource.RLIMIT_FSIZE, (extra, usual[1]))
            with pytest.raises(OSError, match="File too large"):
                fitted.save(tmp_path / "m.json")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, usual)
        assert (tmp_path / "b").read_bytes() == account
        assert (tmp_path / "m.json").read_bytes() == old
        assert strays(tmp_path) == []


@pytest.mark.skipif(os.name != "posix", reason="a limit on the size of files is POSIX")
def test_no_space_for_the_end_of_a_fit_costs_no_model(tmp_path):
    import resource

    ledger = FileLedger(tmp_path / "b", Budget(1e3))
    model(ledger).fit(X)
    account, usual = (tmp_path / "b").read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    line = len(account.splitlines(keepends=True)[1])
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(account) + line + 50, usual[1]))
    try:
        with pytest.warns(RuntimeWarning, match="stays spent"):
            fitted = model(ledger).fit(X)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)
    assert ledger.events[-2:] == fitted.privacy_.events
    assert len(ledger.account().unfinished) == 1


def test_a_folder_that_is_read_only(tmp_path, monkeypatch):
    """Simulated, since root may write everywhere: nothing is drawn for a budget that cannot be written."""
    ledger = FileLedger(tmp_path / "b", Budget(1e3))
    fitted = model().fit(X)
    refusal = OSError(errno.EROFS, os.strerror(errno.EROFS))

    class ReadOnly(ledger_file.FileIO):
        def __init__(self, path, mode="r"):
            if mode != "r":
                raise refusal
            super().__init__(path, mode)

    def refuse(*args, **options):
        raise refusal

    monkeypatch.setattr(ledger_file, "FileIO", ReadOnly)
    monkeypatch.setattr(_atomic.tempfile, "mkstemp", refuse)
    monkeypatch.setattr("dpmorse.bases.base.read_numbers", lambda *_: pytest.fail("data was read"))
    unfitted = model(ledger)
    with pytest.raises(OSError, match="Read-only"):
        unfitted.fit(X)
    assert not hasattr(unfitted, "mixture_")
    assert ledger.events == ()
    with pytest.raises(OSError, match="Read-only"):
        fitted.save(tmp_path / "m.json")
    with pytest.raises(OSError, match="Read-only"):
        FileLedger(tmp_path / "another", Budget(1.0))
    assert [path.name for path in tmp_path.iterdir()] == ["b"]


@pytest.mark.skipif(getattr(os, "geteuid", int)() == 0, reason="root may write everywhere")
def test_a_folder_without_permission(tmp_path):
    fitted = model().fit(X)
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(PermissionError):
            fitted.save(tmp_path / "m.json")
        with pytest.raises(PermissionError):
            FileLedger(tmp_path / "b", Budget(1.0))
    finally:
        tmp_path.chmod(0o700)


def test_a_command_whose_model_cannot_be_written_says_what_it_cost(tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from dpmorse.cli.application import app

    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.csv").write_text("a,b\n" + "0.5,0.5\n" * 50)
    monkeypatch.setattr("dpmorse.persistence.model_file._atomic.write_bytes", _no_space)
    args = ["fit", "x.csv", "--epsilon", "1", "--bounds", "0,1", "--base", "DPMoGHard", "-o", "m.json"]
    result = CliRunner().invoke(app, args)
    assert result.exit_code == 1
    assert "the budget is spent, but the model could not be written" in " ".join(result.output.split())
    assert os.listdir() == ["x.csv"]


def _no_space(*args, **options):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


# -- what killed writers leave ------------------------------------------------------------------------


def test_old_temporary_files_are_removed_and_young_ones_are_not(tmp_path):
    names = [".m.json.abcdefgh.part", ".m.json.12345678.part.csv", ".m.json.young123.part"]
    others = [".m.json", ".m.json.mine", "m.json.part", ".other.json.abcdefgh.part"]
    for name in [*names, *others]:
        (tmp_path / name).touch()
        if "young" not in name:
            os.utime(tmp_path / name, (0, 0))
    model().fit(X).save(tmp_path / "m.json")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*others, names[2], "m.json"])


def test_names_as_long_as_the_system_allows(tmp_path):
    name = "m" * 250 + ".json"
    model().fit(X).save(tmp_path / name)
    assert os.listdir(tmp_path) == [name]
    assert load(tmp_path / name)
