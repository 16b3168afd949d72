"""Too little memory, told without the sizes in the messages of allocators: they tell the number of rows."""

from collections.abc import Iterator
from contextlib import contextmanager

_MESSAGE = (
    "There is not enough memory for these records. Give them as files, as batches or as a Dask collection, "
    "or use fewer columns. (Sizes are not shown: they would tell how many records there are.)"
)


@contextmanager
def without_sizes() -> Iterator[None]:
    """Replace the message of a MemoryError, and of what other libraries raise instead."""
    try:
        yield
    except MemoryError:
        raise MemoryError(_MESSAGE) from None
    except RuntimeError as error:
        if _is_of_memory(error):
            raise MemoryError(_MESSAGE) from None
        raise


def _is_of_memory(error: RuntimeError) -> bool:
    """Say whether torch, on a device or on the host, got no memory."""
    text = str(error)
    return (
        type(error).__name__ == "OutOfMemoryError" or "out of memory" in text or "DefaultCPUAllocator" in text
    )
