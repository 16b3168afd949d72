"""The six public datasets of the literature on private clustering, downloaded or read from a folder.

Each fetcher takes ``folder`` and ``cache``. With ``folder`` it reads ``<folder>/<name>.parquet``, which has
float columns f0, f1, ... and an integer column label. Otherwise the raw files are downloaded once
into ``cache`` (by default the user's cache of dpmorse), their checksums are verified on every use, and the
records are made from them.

Records are unscaled and in the order of the source, where classes often follow each other. Bounds are
minimum and maximum of every published column. They come from the data; as in the literature they are assumed
public, which an application to private data has to earn.
"""

import numpy as np
from sklearn.manifold import TSNE

from benchmarks.public.files import Folder, download, read_parquet
from benchmarks.public.sources import EMG, MAGIC, PULSAR, SHUTTLE, SLOAN, USPS, Download
from dpmorse.datasets import LabelledData, widened_bounds
from dpmorse.exceptions import InvalidParameterError
from dpmorse.typing import FloatArray, IntArray


def fetch_shuttle(folder: Folder = None, cache: Folder = None) -> LabelledData:
    """Sensors of a space shuttle's radiators: 43,500 records, 9 columns, 7 classes, one of them 78 %.

    Statlog (Shuttle) of the UCI repository, training part. Column f0 is the time.

    Parameters
    ----------
    folder : path, optional
        Folder with ``shuttle.parquet``; nothing is downloaded then.
    cache : path, optional
        Folder that keeps what is downloaded.

    Returns
    -------
    data : LabelledData
        Classes 1 to 7. The bounds come from the data and are assumed public.
    """
    return _fetch(SHUTTLE, folder, cache)


def fetch_emg(folder: Folder = None, cache: Folder = None) -> LabelledData:
    """Muscle currents during six actions: 59,130 records, 8 electrodes, 6 classes.

    EMG Physical Action Data Set of the UCI repository (Theodoridis, 2011): normal actions of subject 1, every
    sample a record. The literature states the size only. It fixes subject, kind and four actions (bowing,
    handshaking, running, standing); clapping and walking are our choice, the two least confused with others.

    Classes: 0 bowing, 1 clapping, 2 handshaking, 3 running, 4 standing, 5 walking, one after the other in
    time. Parameters and bounds are as those of ``fetch_shuttle``.
    """
    return _fetch(EMG, folder, cache)


def fetch_magic(folder: Folder = None, cache: Folder = None) -> LabelledData:
    """Showers seen by a gamma telescope: 19,020 records, 10 columns, 2 classes that overlap.

    MAGIC Gamma Telescope of the UCI repository. The records are simulated.

    Classes: 0 gamma, 1 hadron, one after the other. Parameters and bounds are as those of ``fetch_shuttle``.
    """
    return _fetch(MAGIC, folder, cache)


def fetch_sloan(folder: Folder = None, cache: Folder = None) -> LabelledData:
    """Stars, galaxies and quasars of the Sloan sky survey: 10,000 records, 16 columns, 3 classes.

    Sloan Digital Sky Survey, release 14, as published at Kaggle. Of the 17 columns beside the class the
    constant one, rerun, is left out. Column f0, an identifier near 1.2e18, varies in its sixth digit:
    subtract the minimum before anything else, in float64.

    Classes: 0 star, 1 galaxy, 2 quasar. Parameters and bounds are as those of ``fetch_shuttle``.
    """
    return _fetch(SLOAN, folder, cache)


def fetch_pulsar(folder: Folder = None, cache: Folder = None) -> LabelledData:
    """Candidates for pulsars: 9,273 records, 8 columns, 2 classes, one of them 9 %.

    Training part of a competition at Kaggle made from HTRU2 of the UCI repository. Records with a missing
    entry, 3,255 of 12,528, are left out.

    Classes: 0 no pulsar, 1 pulsar. Parameters and bounds are as those of ``fetch_shuttle``.
    """
    return _fetch(PULSAR, folder, cache)


def fetch_usps(folder: Folder = None, cache: Folder = None) -> LabelledData:
    """Handwritten digits embedded in three columns: 7,291 records, 10 classes.

    Training part of the USPS digits as published with *The Elements of Statistical Learning*. Without
    ``folder`` the 256 pixels are downloaded and embedded by t-SNE (three components, principal
    components first, seed 0), which takes some minutes. t-SNE is not reproducible bit by bit: the result
    differs from machine to machine and from the embedding used in the literature.

    The embedding is computed from the images without noise. Nothing computed from it is private
    with respect to the images; it is a benchmark of clustering only.

    Classes are the digits. Parameters are as those of ``fetch_shuttle``: ``folder`` holds an embedding; the
    pixels are kept in ``cache``, but no embedding is. The bounds are those of the embedding.
    """
    if folder is not None:
        return _fetch(USPS, folder, cache)
    pixels, y = _raw_records(USPS, cache)
    X = TSNE(n_components=3, init="pca", random_state=0).fit_transform(pixels).astype(np.float64)
    return LabelledData(USPS.name, X, y, widened_bounds(X, margin=0.0))


def _fetch(source: Download, folder: Folder, cache: Folder) -> LabelledData:
    if folder is None:
        X, y = _raw_records(source, cache)
    else:
        X, y = read_parquet(source.name, folder, source.n_features)
    return LabelledData(source.name, X, y, _bounds(source, X))


def _raw_records(source: Download, cache: Folder) -> tuple[FloatArray, IntArray]:
    return source.read([download(source.name, file, cache) for file in source.files])


def _bounds(source: Download, X: FloatArray) -> tuple[FloatArray, FloatArray]:
    if not source.ranges:
        return widened_bounds(X, margin=0.0)
    lower, upper = np.array(source.ranges, dtype=np.float64).T
    if not (np.all(lower <= X) and np.all(upper >= X)):
        raise InvalidParameterError(
            f"folder must contain the records of {source.name}, got values outside the published ranges. "
            f"Leave folder out to download the dataset."
        )
    return lower, upper
