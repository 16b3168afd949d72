"""What noise does to the clusters of a fit: said before it is paid for, logged, refused by ``--strict``."""

from dpmorse.bases import PrivateFit, rehearse
from dpmorse.cli.budget_file import budget_to_dict
from dpmorse.cli.job_log import log_event
from dpmorse.cli.messages import warn
from dpmorse.cli.models import Model
from dpmorse.clustering import MorseEstimator
from dpmorse.exceptions import InvalidParameterError
from dpmorse.privacy import FileLedger

_MANY = 20
"""Up to so many clusters it is not computed, before a fit, how many records they need: it takes a second."""

_GUESS = 100
"""Records of each cluster in the first rehearsal. What noise hides grows with the number of records, in
steps; a second one has as many as the first has found to be needed."""


def check_strict(base: PrivateFit) -> None:
    """Refuse ``--strict`` where a fit would release nothing to tell clusters from noise by."""
    if not getattr(base, "profile", False):
        raise InvalidParameterError(
            f"--strict needs sizes with intervals, which --base {type(base).__name__} does not release. "
            "Leave --base or --strict out."
        )


def tell_needed(base: PrivateFit, n_columns: int, clusters: int | str) -> None:
    """Warn, before anything is spent and without data, of how many records so many clusters need."""
    if isinstance(clusters, str) or clusters <= _MANY:
        return
    of_each = _GUESS
    for _ in range(2):
        of_each = rehearse(base, n_columns, clusters * of_each).smallest_cluster
    warn(
        f"--clusters {clusters} needs about {clusters * of_each} records or more, {of_each} in each cluster: "
        "with this budget the noise hides smaller ones. Where there are fewer records, stop this, and ask "
        "for fewer clusters or a larger --epsilon; `dpmorse plan` has the numbers. Nothing is spent yet."
    )


def what_is_noise(model: Model, asked: int | str) -> str | None:
    """Say how many of the clusters asked for may be noise, or are not there; None if all stand out."""
    found = _n_clusters(model)
    wanted = found if isinstance(asked, str) else asked
    lost = len(_hidden(model)) + max(wanted - found, 0)
    return f"{lost} of {wanted} clusters may be noise" if lost else None


def log_fit(model: Model, output: str, ledger: FileLedger | None) -> None:
    """Write into the log what a fit has spent, and what it released, in numbers that may be published."""
    log_event(
        "fitted",
        output=output,
        epsilon=model.privacy_.epsilon,
        delta=model.privacy_.delta,
        clusters=_n_clusters(model),
        may_be_noise=None if model._released.profile_ is None else _hidden(model),
        budget=None if ledger is None else {"file": ledger.path, **budget_to_dict(ledger)},
    )


def _n_clusters(model: Model) -> int:
    return model.n_clusters_ if isinstance(model, MorseEstimator) else model.mixture_.n_components


def _hidden(model: Model) -> list[int]:
    """Return the clusters that may be noise."""
    cautions = [] if model._released.profile_ is None else model.cautions()
    return [note.cluster for note in cautions if note.kind == "size" and note.cluster is not None]
