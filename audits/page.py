"""docs/audit.md: one part for each section, so that a section can be run anew without the others."""

import re
from collections.abc import Sequence
from pathlib import Path

from audits.section import Findings, Section

_HEAD = """# Audits

What is claimed on the page [Privacy](privacy.md) is attacked here. This page is written by `make audit`,
which takes most of an hour; shorter versions of the same attacks are part of `make test-all`. Every figure is
from the run that wrote it. A certified bound is a lower bound on what a mechanism really spends, at the
stated confidence: it must never exceed the claim, and on the worst pair of neighbours it should come close.
"""


def updated(page: str, sections: Sequence[Section], findings: dict[str, Findings], made: str) -> str:
    """Return the page with the parts of the sections that were run, and those of the others as they were.

    Parameters
    ----------
    page : str
        The page as it is; empty for a new one.
    sections : sequence of Section
        All sections, in their order.
    findings : dict
        Findings by the names of the sections that were run.
    made : str
        Time and effort of the run, in words.
    """
    found = re.finditer(r"<!-- (?P<name>\w+) -->.*?<!-- end (?P=name) -->", page, flags=re.DOTALL)
    kept = {part["name"]: part[0] for part in found}
    written = {
        section.NAME: _part(section, findings[section.NAME], made)
        for section in sections
        if section.NAME in findings
    }
    in_order = [({**kept, **written}).get(section.NAME) for section in sections]
    return "\n\n".join([_HEAD.strip(), *(part for part in in_order if part)]) + "\n"


def _part(section: Section, findings: Findings, made: str) -> str:
    verdict = "Passed" if findings.passed else "**FAILED**"
    return "\n\n".join(
        [
            f"<!-- {section.NAME} -->",
            f"## {section.TITLE}",
            f"*{verdict}; {made}.*",
            str(findings),
            f"<!-- end {section.NAME} -->",
        ]
    )


def read(path: Path) -> str:
    """Return the page, empty where there is none."""
    return path.read_text(encoding="utf-8") if path.exists() else ""
