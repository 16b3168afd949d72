"""Doctests: modules that need an optional library are left out where it is not installed."""

from importlib.util import find_spec

_NEEDS = {
    "pyspark": ["src/dpmorse/engine/spark_jobs.py", "src/dpmorse/records/clusters/spark*.py"],
    "torch": [
        "src/dpmorse/engine/_fused_passes.py",
        "src/dpmorse/engine/_gpu.py",
        "src/dpmorse/engine/_tensor_*.py",
        "src/dpmorse/records/tensors/*.py",
    ],
    "triton": ["src/dpmorse/engine/_fused_*.py", "src/dpmorse/engine/_triton_*.py"],
}

collect_ignore_glob = [
    pattern for library, patterns in _NEEDS.items() if find_spec(library) is None for pattern in patterns
]
