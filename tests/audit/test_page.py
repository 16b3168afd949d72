"""docs/audit.md is made of parts that can be written one at a time."""

from types import SimpleNamespace

import pytest

from audits.__main__ import load_sections, main
from audits.page import updated
from audits.section import Findings, Table

FIRST, SECOND = (SimpleNamespace(NAME=name, TITLE=name.title()) for name in ("first", "second"))


def findings(value, *, passed=True):
    return Findings("What was done.", Table(("a", "b"), [(value, 0.123456)]), passed=passed)


def test_a_section_that_is_run_anew_replaces_its_part_only():
    page = updated("", [FIRST, SECOND], {"second": findings(1)}, "made today")
    page = updated(page, [FIRST, SECOND], {"first": findings(22)}, "made today")
    page = updated(page, [FIRST, SECOND], {"second": findings(33, passed=False)}, "made today")
    assert page.count("## First") == page.count("## Second") == 1
    assert page.index("## First") < page.index("| 22 | 0.123 |") < page.index("## Second")
    assert "| 33 | 0.123 |" in page
    assert "| 1 | 0.123 |" not in page
    assert page.count("**FAILED**") == page.count("*Passed; made today.*") == 1


def test_sections_have_different_names_and_titles():
    sections = load_sections()
    assert len({section.NAME for section in sections}) == len({section.TITLE for section in sections})
    assert len({section.NAME for section in sections}) == len(sections)


def test_the_command_explains_itself(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "--only" in capsys.readouterr().out
