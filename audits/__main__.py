"""``python -m audits``: attack everything, and write docs/audit.md.

    python -m audits                       the long run, about an hour
    python -m audits --only mutants        one section; the others stay on the page
    python -m audits --quick               every section in seconds, printed and not written

How to add a section is told in ``section.py``.
"""

import argparse
import importlib
import platform
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from audits import ROOT, page
from audits.section import Effort, Findings, Section

SECTIONS: tuple[str, ...] = (
    "mechanisms",
    "bases",
    "kernels",
    "readers",
    "whole_fits",
    "persons",
    "printed",
    "mutants",
    "power",
    "precision",
    "sampler_law",
    "sensitivity",
    "kills",
    "fuzzing",
)
"""Modules of ``audits.sections``, in the order of the page."""

_PAGE = ROOT / "docs" / "audit.md"


def load_sections() -> list[Section]:
    """Import all sections."""
    modules: list[Section] = [importlib.import_module(f"audits.sections.{name}") for name in SECTIONS]
    return modules


def main(arguments: Sequence[str] | None = None) -> int:
    """Run sections, print what they find, and write the page after each."""
    sections = load_sections()
    options = _parser([section.NAME for section in sections]).parse_args(arguments)
    chosen = [section for section in sections if options.only is None or section.NAME in options.only]
    passed = True
    for section in chosen:
        findings, made = _run(section, quick=options.quick)
        print(
            f"\n## {section.TITLE}\n\n{findings}\n\n{'Passed' if findings.passed else 'FAILED'}.", flush=True
        )
        passed &= findings.passed
        if options.out is not None or not options.quick:
            out = _PAGE if options.out is None else options.out
            text = page.updated(page.read(out), sections, {section.NAME: findings}, made)
            out.write_text(text, encoding="utf-8")
    return 0 if passed else 1


def _run(section: Section, *, quick: bool) -> tuple[Findings, str]:
    sys.stderr.write(f"{section.TITLE} ...\n")
    effort = Effort(quick)
    findings = section.run(effort)
    minutes = (time.monotonic() - effort.started) / 60
    kind = "quick run" if quick else "long run"
    made = f"{kind} of {minutes:.1f} minutes, {time.strftime('%Y-%m-%d')}, Python {platform.python_version()}"
    return findings, made


def _parser(names: Sequence[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m audits", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--only", action="append", choices=names, help="a section; may be repeated")
    parser.add_argument("--quick", action="store_true", help="few runs of everything; nothing is written")
    parser.add_argument("--out", type=Path, help="where to write the page (default: docs/audit.md)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
