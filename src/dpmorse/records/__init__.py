"""Private tower, part 4: where records are, from arrays to clusters. Each kind brings the engine it needs."""

from dpmorse.records.base import Columns as Columns
from dpmorse.records.base import Function as Function
from dpmorse.records.base import Records as Records
from dpmorse.records.base import refuse_no_columns as refuse_no_columns
from dpmorse.records.in_memory import Table as Table
from dpmorse.records.memory import without_sizes as without_sizes
from dpmorse.records.opening import open_matching as open_matching
from dpmorse.records.opening import open_records as open_records
from dpmorse.records.opening import unowned as unowned
