"""All ways into the library for records, in one list; each must pass all tests of readers."""

from audits.readers.clusters import CLUSTERS
from audits.readers.databases import DATABASES
from audits.readers.files import FILES
from audits.readers.in_memory import IN_MEMORY
from audits.readers.reader import Reader as Reader
from audits.readers.reader import Shelf as Shelf
from audits.readers.reader import shelf as shelf

READERS: tuple[Reader, ...] = (*IN_MEMORY, *FILES, *DATABASES, *CLUSTERS)
"""Every reader. What the library reads, and none of them covers, fails tests/contracts/test_readers.py."""
