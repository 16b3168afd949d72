"""What some tests need beside the library: servers, drivers, Java. Without it they are skipped, or fail."""

import os
from importlib import import_module

import pytest


def skip_or_fail(reason):
    """Skip the test or the module that calls; fail it where DPMORSE_NOTHING_SKIPPED is set, as in .ci/run."""
    __tracebackhide__ = True
    if "DPMORSE_NOTHING_SKIPPED" in os.environ:
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason, allow_module_level=True)


def needed(*modules):
    """Import modules by name; return the one, or a list of several."""
    __tracebackhide__ = True
    imported = [_imported(name) for name in modules]
    return imported[0] if len(imported) == 1 else imported


def _imported(name):
    __tracebackhide__ = True
    try:
        return import_module(name)
    except ImportError as error:  # also of what it needs itself, such as a library of the system
        reason = f"{name} cannot be imported: {error}"
    return skip_or_fail(reason)
