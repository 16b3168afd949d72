"""The sections of docs/audit.md, one module each; ``audits.section`` says what such a module holds."""
