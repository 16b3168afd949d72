"""Attacks on the claims of the library: ``python -m audits`` makes long runs and writes docs/audit.md.

``attacks``, ``kernels``, ``kills`` and ``fuzzing`` hold the attacks, one module for each thing that is
attacked, and ``mutants`` the mistakes that the tests must notice. Each is defined once and has two users:
a test in ``tests/`` is a short run of it, a module of ``sections`` is a long run of it and its part of the
page. Attacks that users can make on their own estimators are in ``dpmorse.audit``, on which all attacks
build.
"""

from pathlib import Path

ROOT = Path(__file__).parents[1]
"""The root of the repository."""

SOURCE = ROOT / "src"
"""The folder of the library's sources."""
