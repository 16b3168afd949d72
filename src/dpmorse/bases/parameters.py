"""The parameters that every estimator has that spends a budget."""

from dataclasses import dataclass
from typing import Any

from dpmorse._docstrings import complete
from dpmorse.engine import Engine
from dpmorse.privacy import DEFAULT_DELTA, Ledger
from dpmorse.schema import Schema


@dataclass(eq=False, repr=False, kw_only=True)
class FitParameters:
    """What a fit promises, how its noise is set and drawn, and how sums are computed.

    Estimators are dataclasses without comparison: scikit-learn reads their parameters off the constructor,
    and a parameter that several of them have is written once.

    Parameters
    ----------
    epsilon : float
        Privacy budget of one ``fit``, > 0. It has no default: the caller decides.
    delta : float, default=1e-6
        Probability with which the promise may fail, in (0, 1). Public; it never depends on the data.
        With 0 the promise is pure; ``DPLloyd``, ``DPCube`` and ``DPTree`` can make it, with Laplace noise.
    bounds : dict, pair (lower, upper) or "private"
        Public bounds of the columns, in the units of X. By name: ``{"age": (0, 110), "mmHg": (60, 220)}``.
        Or scalars, or one value per column: ``([0, 60], [110, 220])``. Values outside are clipped.
        Never read from the data, but for "private", which spends 5 % of the budget on finding them.
    columns : dict or None, default=None
        What each column is, in place of ``bounds`` (docs/tables.md): ``Numeric(lower, upper)``,
        ``Ordinal(values)``, ``Nominal(values)``, ``Boolean()`` or ``Date(earliest, latest)``. Bounds and
        lists of values are public: never read off the data. Values that are not listed become "other",
        record by record. ``DPMorse`` and ``PrivateGaussianMixture`` take all kinds of columns, and missing
        values; other bases take numbers.
    neighboring : {"add-remove", "replace-one"}, default="add-remove"
        Whose presence or value is protected; under "replace-one" the number of records is public.
    max_rows_per_group : int or None, default=None
        None protects one record. A number protects all records of one group, such as a person, who are told
        apart by ``fit(X, groups=...)``; of each group at most this many records are used. Which ones depends
        on that group's records alone, not on their order.
    calibration : {"gaussian", "zcdp"}, default="gaussian"
        Which proof sets the noise, see ``dpmorse.privacy.Calibration``. ``DPMoG`` and ``DPMoGHard`` also take
        "paper", the formula of their papers. For experts.
    noise : {"native", "opendp"}, default="native"
        Sampler of the noise; "opendp" needs the extra ``dpmorse[opendp]``. For experts.
    engine : Engine or None, default=None
        Computes the sums; changes speed and memory only. For experts.
    ledger : Ledger or None, default=None
        A ledger shared by several fits, with a total budget none of them may exceed.
    random_state : int, RandomState, Generator or None, default=None
        None draws noise from the operating system. A seed makes the fit reproducible and the model
        **not secure**, which its privacy report says.
    """

    epsilon: float | None = None
    delta: float = DEFAULT_DELTA
    bounds: Any = None
    columns: Any = None
    neighboring: str = "add-remove"
    max_rows_per_group: int | None = None
    calibration: str = "gaussian"
    noise: str = "native"
    engine: Engine | None = None
    ledger: Ledger | None = None
    random_state: Any = None

    def __init_subclass__(cls, **options: Any) -> None:
        """Show shared parameters with every estimator."""
        super().__init_subclass__(**options)
        complete(cls)

    @property
    def _stated_schema(self) -> Schema:
        """What the columns are stated to be, as they will be read; without columns if nothing is."""
        return Schema.of_stated(self.columns)
