"""Long audits of what the library claims; ``python -m audits`` writes docs/audit.md. See ``section.py``."""
