"""Compiled sums against the plain form, record for record, on records that are made to tell them apart."""
