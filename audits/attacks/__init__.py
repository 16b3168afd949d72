"""The attacks that short tests and long audits share, one module for each thing that is attacked."""
