"""SIGKILL at system calls that write, in the middle of writes and at random moments: the short form of docs/audit.md."""

import os

import pytest

from audits.section import Effort
from audits.sections import kills

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="children are forked, to be killed quickly"),
]


def test_kills_leave_whole_files_and_no_hidden_spend():
    """Kills of dpmorse leave nothing wrong, and the same kills find out two wrong ways to write."""
    findings = kills.run(Effort(quick=True))
    table, left = findings.tables
    ours, plain_write, write_behind = (dict(zip(table.header, row, strict=True)) for row in table.rows)
    assert ours["kills"] == 40
    assert all(ours[failure] == 0 for failure in table.header[2:])
    assert plain_write["unreadable"] > 0
    assert plain_write["neither"] > 0
    assert write_behind["under-reported"] > 0
    assert left.rows[0][1] == 0
    assert findings.passed
