"""Private tower, part 3: how exact sums are computed. An engine never adds noise."""

from dpmorse.engine.base import Cells as Cells
from dpmorse.engine.base import Engine as Engine
from dpmorse.engine.in_memory import InMemoryEngine as InMemoryEngine
from dpmorse.engine.streamed import StreamedEngine as StreamedEngine
