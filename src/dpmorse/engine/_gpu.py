"""Devices that kernels run on, and the sizes and options that they are compiled for."""

import contextlib
import os
from typing import Any

import torch

_TRIED_ON = {(9, 0)}
"""Compute capabilities that kernels are meant for. Plain torch adds up on all other devices."""

_MOST_NARROW = 16
"""Most columns of records whose scores a thread computes by itself; more are products of matrices. A kernel
has D^2 / 2 multiplications in a row, and keeps D numbers for each record in registers."""

MOST_NARROW_MOMENTS = 8
"""The same for moments: a thread keeps all 45 sums of eight columns, and 44 numbers of a cell, in 220 of its
255 registers."""


def can_run_on(device: Any) -> bool:
    """Say whether kernels may run on a device."""
    if os.environ.get("TRITON_INTERPRET") == "1":  # by Triton's interpreter, on the CPU
        return True
    on_nvidia = device.type == "cuda" and torch.version.hip is None
    return on_nvidia and torch.cuda.get_device_capability(device) in _TRIED_ON


def processors(device: Any) -> int:
    """Return the number of multiprocessors."""
    if device.type != "cuda":
        return 1
    return int(torch.cuda.get_device_properties(device).multi_processor_count)


def working_on(device: Any) -> Any:
    """Return a context in which kernels are launched on a device."""
    return torch.cuda.device(device) if device.type == "cuda" else contextlib.nullcontext()


def quantising(d: int) -> dict[str, Any]:
    """Return sizes and options of the kernel that quantises: some thousand numbers at a time."""
    width = _power_of_two(d)
    return {"D": d, "WIDTH": width, "BLOCK": max(16, 1024 // width), **_compilation(4)}


def sizes_of(d: int) -> dict[str, Any]:
    """Return sizes and options of kernels of scores: several records for a thread, or a tile for all."""
    if d <= _MOST_NARROW:  # one warp, so that members are counted without waiting for others
        return {"D": d, "WIDTH": 0, "BLOCK": 128 if d <= 8 else 64, **_compilation(1)}
    return _tiles(d)


def adding_up(d: int, *, round_cells: bool) -> dict[str, Any]:
    """Return sizes and options of kernels of moments: one record for a thread, or a tile for all."""
    if d <= MOST_NARROW_MOMENTS:
        return {"D": d, "ROUND": round_cells, "BLOCK": 128, **_compilation(4)}
    return _tiles(d)


def _tiles(d: int) -> dict[str, Any]:
    width = max(16, _power_of_two(d))  # tensor cores take 16 columns or more
    return {"D": d, "WIDTH": width, "BLOCK": 64, **_compilation(4 if d <= 32 else 8)}


def _power_of_two(n: int) -> int:
    return 1 << (n - 1).bit_length()


def _compilation(warps: int) -> dict[str, Any]:
    """Return options for the compiler; it must not fuse what the plain form rounds one by one."""
    return {"num_warps": warps, "num_stages": 1, "enable_fp_fusion": False}
