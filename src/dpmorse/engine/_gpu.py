"""Devices that kernels run on."""

import contextlib
import os
from typing import Any

import torch

_TRIED_ON = {(9, 0)}
"""Compute capabilities that kernels are meant for. Plain torch adds up on all other devices."""


def can_run_on(device: Any) -> bool:
    """Say whether kernels may run on a device."""
    if is_interpreted():
        return True
    on_nvidia = device.type == "cuda" and torch.version.hip is None
    return on_nvidia and torch.cuda.get_device_capability(device) in _TRIED_ON


def is_interpreted() -> bool:
    """Say whether kernels are run by Triton's interpreter, on the CPU."""
    return os.environ.get("TRITON_INTERPRET") == "1"


def processors(device: Any) -> int:
    """Return the number of multiprocessors."""
    if device.type != "cuda":
        return 1
    return int(torch.cuda.get_device_properties(device).multi_processor_count)


def working_on(device: Any) -> Any:
    """Return a context in which kernels are launched on a device."""
    return torch.cuda.device(device) if device.type == "cuda" else contextlib.nullcontext()
