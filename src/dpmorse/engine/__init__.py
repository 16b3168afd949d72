"""Private tower, part 3: how exact sums are computed. An engine never adds noise."""

from dpmorse.engine.base import Cells as Cells
from dpmorse.engine.base import Engine as Engine
from dpmorse.engine.in_memory import InMemoryEngine as InMemoryEngine
from dpmorse.engine.rehearsal import NotingMechanism as NotingMechanism
from dpmorse.engine.rehearsal import invented_source as invented_source
from dpmorse.engine.source import Source as Source
from dpmorse.engine.streamed import StreamedEngine as StreamedEngine
