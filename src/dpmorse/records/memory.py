"""Errors about too little memory, without the sizes that allocators report, which reveal numbers of rows."""

from collections.abc import Iterator
from contextlib import contextmanager

_MESSAGE = (
    "There is not enough memory for these records. Give them as files, as batches or as a Dask collection, "
    "or use fewer columns. (Sizes are not shown: they would tell how many records there are.)"
)
"""The error in place of an allocator's own."""


@contextmanager
def without_sizes() -> Iterator[None]:
    """Replace the message of a MemoryError, and of the errors that other libraries raise instead of it."""
    try:
        yield
    except MemoryError:
        raise MemoryError(_MESSAGE) from None
    except RuntimeError as error:
        if _is_of_memory(error):
            raise MemoryError(_MESSAGE) from None
        raise


def _is_of_memory(error: RuntimeError) -> bool:
    """Say whether an error of torch, on a device or on the host, is about memory."""
    text = str(error)
    return (
        type(error).__name__ == "OutOfMemoryError" or "out of memory" in text or "DefaultCPUAllocator" in text
    )
