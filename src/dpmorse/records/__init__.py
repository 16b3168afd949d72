"""Private tower, part 4: where records are, from arrays to clusters. Each kind brings the engine it needs."""

from dpmorse.records.base import Columns as Columns
from dpmorse.records.base import Records as Records
from dpmorse.records.opening import open_matching as open_matching
from dpmorse.records.opening import open_records as open_records
