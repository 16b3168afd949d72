"""Records that are read in parts: arrays as such records, and such records as arrays."""

from dpmorse.engine import Checked, Fingerprint, Partitions, Reads


def in_parts(arrays):
    """Return arrays as records that are read one after the other."""
    nothing = Fingerprint()
    reads = Reads(lambda: iter(arrays), lambda rows: Checked(nothing, rows))
    return Partitions(reads, nothing, sum(map(len, arrays)), list)


def arrays_of(records):
    """Return the rows that a pass over records would add up, part by part."""
    return [*(rows.value for rows in records.parts.each(lambda rows: rows)), *records.others()]
