"""In which container a fitted model hands out its tables: the input's kind, or what ``set_output`` says."""

from typing import Any, ClassVar, Self

import narwhals as nw
import numpy as np
import numpy.typing as npt
from sklearn import get_config

from dpmorse import _validate
from dpmorse.bases.fitted import FittedBase
from dpmorse.profiles import LIBRARIES, first_installed, to_frame
from dpmorse.schema import text_of

_DEFAULT = "default"


class FrameOutput:
    """Mixin of estimators that hand out tables."""

    _sklearn_output_config: dict[str, str]  # scikit-learn's name: its ``clone`` copies what is kept here
    _called: ClassVar[str] = "cluster {}"
    """How a column of probabilities is called, and what a row of the table is about."""

    def set_output(self, *, transform: str | None = None) -> Self:
        """Choose the container of tables: of ``sample``, ``summary`` and ``predict_proba``.

        A clusterer of scikit-learn has no ``transform``, and this method changes nothing there; here it
        speaks of the tables that one would want as frames. Without it, ``sample`` gives a frame of the kind
        that was fitted, and ``predict_proba`` an array.

        Parameters
        ----------
        transform : {"default", "pandas", "polars", "pyarrow"} or None, default=None
            Library of the frames; "default" takes back what was chosen, None changes nothing. The name is
            scikit-learn's; its ``set_config(transform_output=...)`` counts for ``sample`` and ``summary``.
        """
        if transform is not None:
            _validate.choice(transform=transform, among=(_DEFAULT, *LIBRARIES))
            self._sklearn_output_config = {"transform": transform}
        return self

    @property
    def _released(self) -> FittedBase:
        """What has released the mixture."""
        raise NotImplementedError

    @property
    def _chosen_library(self) -> str | None:
        """The library of ``set_output``, if it was called."""
        chosen = getattr(self, "_sklearn_output_config", {}).get("transform", _DEFAULT)
        return None if chosen == _DEFAULT else chosen

    @property
    def _frames_of(self) -> str | None:
        """The library of tables: as chosen here or for all of scikit-learn, or that of the fit, or None."""
        everywhere = get_config().get("transform_output", _DEFAULT)
        everywhere = None if everywhere == _DEFAULT else everywhere
        return self._chosen_library or everywhere or self._released._library  # noqa: SLF001 - of the protocol

    def _framed(self, records: Any) -> Any:
        """Return synthetic records as a frame where their columns have names or a library was chosen.

        Records are an array, or decoded columns by name. Without names, an array stays what it is; without a
        library of frames, both do.
        """
        library = self._frames_of or first_installed()
        if library is None:
            return records
        if isinstance(records, dict):
            mixes = library == "pandas"  # objects of several types in one column
            return to_frame(records if mixes else {n: _of_one_type(c) for n, c in records.items()}, library)
        if self._released._feature_names is None and self._frames_of is None:  # noqa: SLF001 - of the protocol
            return records
        columns = np.ascontiguousarray(records.T)  # each by itself in memory
        return to_frame(dict(zip(self._released.schema_.names, columns, strict=True)), library)

    def _probabilities(self, X: Any, shares: Any) -> Any:
        """Return probabilities as a frame if that was chosen for this estimator; lazy ones stay lazy."""
        if self._chosen_library is None or not isinstance(shares, np.ndarray):
            return shares
        each = enumerate(np.ascontiguousarray(shares.T))
        columns = {self._called.format(i): column for i, column in each}
        frame, given = to_frame(columns, self._chosen_library), nw.from_native(X, pass_through=True)
        index = nw.maybe_get_index(given) if isinstance(given, nw.DataFrame) else None
        if index is not None and hasattr(frame, "index"):
            frame.index = index
        return frame


def _of_one_type(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a column as text where "other" is among values that are no text."""
    if values.dtype.kind != "O" or len({type(value) for value in values if value is not None}) < 2:
        return values
    return np.array([text_of(value) for value in values], dtype=object)
