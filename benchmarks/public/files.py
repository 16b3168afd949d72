"""Where files come from: a cache filled from the internet, or a folder of parquet files."""

from os import PathLike
from pathlib import Path

import numpy as np
import pooch
from pyarrow import ArrowInvalid, parquet

from benchmarks.public.sources import RawFile
from dpmorse._validate import describe
from dpmorse.exceptions import DPMorseError, InvalidParameterError
from dpmorse.typing import FloatArray, IntArray

Folder = str | PathLike[str] | None


def download(dataset: str, file: RawFile, cache: Folder) -> Path:
    """Return the path of a raw file in the cache, downloaded if it is not there, its checksum verified."""
    folder = pooch.os_cache("dpmorse") if cache is None else Path(cache)
    name = f"{dataset}-{file.url.rsplit('/', 1)[-1]}"
    try:
        return Path(pooch.retrieve(file.url, f"sha256:{file.sha256}", fname=name, path=folder))
    except ValueError as error:  # what pooch raises for a wrong checksum
        raise DPMorseError(
            f"Checksum mismatch: {file.url} does not have the SHA-256 {file.sha256} that {dataset} "
            f"was published with, so it was not used."
        ) from error
    except OSError as error:
        raise DPMorseError(
            f"{dataset} could not be downloaded from {file.url}: {error}. "
            f"Give folder=... if you have {dataset}.parquet."
        ) from error


def read_parquet(dataset: str, folder: str | PathLike[str], n_features: int) -> tuple[FloatArray, IntArray]:
    """Read the columns f0, f1, ... and label of ``<folder>/<dataset>.parquet``."""
    path = Path(folder) / f"{dataset}.parquet"
    if not path.is_file():
        raise InvalidParameterError(
            f"folder must contain {dataset}.parquet, got {describe(str(folder))}. "
            f"Leave folder out to download the dataset."
        )
    columns = [f"f{i}" for i in range(n_features)]
    try:
        table = parquet.read_table(path)
    except ArrowInvalid as error:
        raise InvalidParameterError(f"folder must contain {path.name} as parquet: {error}.") from error
    if sorted(table.column_names) != sorted([*columns, "label"]):
        raise InvalidParameterError(
            f"folder must contain {dataset}.parquet with columns f0 to f{n_features - 1} and label, "
            f"got columns {describe(table.column_names)}."
        )
    X = np.column_stack([table[name].to_numpy() for name in columns]).astype(np.float64, copy=False)
    return X, table["label"].to_numpy().astype(np.int64, copy=False)
