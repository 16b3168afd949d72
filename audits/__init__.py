"""Attacks on what the library claims: ``python -m audits`` runs all of them long and writes docs/audit.md.

``attacks``, ``kernels``, ``kills`` and ``fuzzing`` hold the attacks, one module for each thing that is
attacked, and ``mutants`` the mistakes that the tests must notice. Each is defined once and has two users:
a test in ``tests/`` is a short run of it, a module of ``sections`` is a long run of it and its part of the
page. What users of the library can run on their own estimators is in ``dpmorse.audit``, which all attacks
build on.
"""

from pathlib import Path

ROOT = Path(__file__).parents[1]
"""The root of the repository."""

SOURCE = ROOT / "src"
"""The folder of the library's sources."""
