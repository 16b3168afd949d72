"""The ledger of releases: append-only, and checked before any noise is drawn."""

import os
import threading
from collections.abc import Iterable
from dataclasses import replace
from types import TracebackType
from typing import NoReturn, Self

from dpmorse import _validate
from dpmorse.exceptions import BudgetExceededError, InvalidParameterError, InvalidTypeError
from dpmorse.privacy.budget import SMALLEST_DELTA, Budget
from dpmorse.privacy.events import Composition, ReleaseEvent

N_LEVELS = 8
"""Number of epsilons that ``odometer`` may return: the budget and seven levels below it. The grid is public
and fixed, because levels chosen by the cost so far would not be promises."""


class Ledger:
    """Releases made under one budget, and the refusal of any that would go over it.

    A fit keeps a ledger of its own. The same class, passed to several estimators as ``ledger=``,
    holds a total budget over all their fits.

    Parameters
    ----------
    budget : Budget
        The most that may be spent.

    Guarantees
    ----------
    * ``spent`` is derived from the events, never asserted.
    * A fit reserves the cost of all its releases before it touches data, so that concurrent fits cannot
      run out of budget half-way; what a failed fit did not release is given back.
    * An event is written before its noise is drawn: a crash can waste budget, never hide a spend.
    * Thread-safe. A ledger cannot be pickled or copied, and refuses to work in a forked process: a copy
      there would not see what the original spends. ``sklearn.clone`` and ``copy.deepcopy`` share it.
    * The budget holds also if later fits are chosen with knowledge of earlier releases (a privacy
      filter, docs/privacy.md section 6); ``spent`` on the way is an account, not a smaller promise.
      ``odometer()`` is a number on the way that may be published.
    * It is the budget of one unit: rows, or groups of one name, of which fits may use fewer rows but not
      more. Fits for another unit are refused. Groups without a name cannot be told from others: a ledger
      whose budget names no unit pays for one fit by groups, and refuses all others.

    Examples
    --------
    >>> from dpmorse import Budget, Ledger
    >>> Ledger(Budget(epsilon=2.0, delta=1e-6)).spent.epsilon(1e-6)
    0.0
    """

    def __init__(self, budget: Budget) -> None:
        if not isinstance(budget, Budget):
            raise InvalidTypeError(
                f"budget must be a Budget, got {_validate.describe(budget)}. "
                "Write Ledger(Budget(epsilon=1.0, delta=1e-6))."
            )
        self.budget = budget
        self._events: list[ReleaseEvent] = []
        self._reservations: list[Reservation] = []
        self._lock = threading.RLock()
        self._process = os.getpid()

    @property
    def events(self) -> tuple[ReleaseEvent, ...]:
        """The releases so far, in order."""
        return tuple(self._events)

    @property
    def spent(self) -> Composition:
        """Cost of the releases so far."""
        return Composition.of(self._events)

    def odometer(self) -> float:
        """Return an epsilon that may be published now, for all that was released and is being released.

        It is the smallest of eight fixed levels up to the budget that has not been passed (the sum of pure
        epsilons if delta is 0), and holds with the delta of the budget: Theorem 9 of docs/privacy.md.
        """
        with self._lock:
            return publishable_epsilon(self._claimed(), self.budget)

    def reserve(self, planned: Iterable[ReleaseEvent], budget: Budget | None = None) -> "Reservation":
        """Set the cost of these releases aside, or raise ``BudgetExceededError`` if it is not there.

        ``budget`` is that of the fit; one for another unit than the ledger's is refused. None says nothing of
        the unit: on a ledger of groups it stands for groups without a name.
        """
        with self._lock:
            reservation = Reservation(self, planned)
            self._check_process()
            self._check_relation(reservation.planned)
            self._check_unit(budget)
            self._check_budget(reservation)
            self._reservations.append(reservation)
            return reservation

    def _write(self, event: ReleaseEvent, reservation: "Reservation") -> None:
        with self._lock:
            self._check_process()
            self._check_relation([event])
            if not reservation.left.covers(Composition.of([event])):
                raise BudgetExceededError(f"The release '{event.name}' was not reserved. It was not made.")
            reservation.written.append(event)
            self._events.append(event)

    def _give_back(self, reservation: "Reservation") -> None:
        with self._lock:
            self._reservations.remove(reservation)

    def _claimed(self) -> Composition:
        """Return what is spent, and what running fits have reserved."""
        return sum((reserved.left for reserved in self._reservations), start=self.spent)

    def _check_budget(self, wanted: "Reservation") -> None:
        total = (self._claimed() + wanted.left).in_one_curve().epsilon(self.budget.delta)
        if total > self.budget.epsilon:
            spent = self.spent.epsilon(self.budget.delta)
            raise BudgetExceededError(
                f"This would bring the spend to epsilon = {total:.6g} at delta = {self.budget.delta:g}, "
                f"over the budget of {self.budget.epsilon:g} ({spent:.6g} is spent already"
                f"{', more is reserved by fits that are running' if self._reservations else ''}). "
                "Nothing was released. Lower epsilon, or use a ledger with a larger budget."
            )

    def _check_unit(self, fit: Budget | None) -> None:
        """Refuse a fit for another unit, and one for a unit that cannot be told from that of a fit before.

        Privacy
        -------
        Costs add up only if they are costs to the same unit, and units are compared by name. Groups without a
        name may be patients in one fit and households in the next; the sum of both is a promise to neither,
        because the first fit cost a household as much as all its patients. So they meet nobody: once
        something was released, or is reserved by a fit that is running, such a ledger pays for no other fit.
        """
        unit = self.budget.protects
        unit.check_pays_for(replace(unit, name=None) if fit is None else fit.protects)
        if self._events or self._reservations:
            unit.check_pays_for_another()

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            raise BudgetExceededError(
                "This ledger was copied into another process by a fork, where its budget cannot be shared. "
                "Nothing was released. Fit in the process that made the ledger, or use threads."
            )

    def _check_relation(self, planned: Iterable[ReleaseEvent]) -> None:
        relation = self.budget.neighboring
        for event in planned:
            if event.neighboring != relation:
                raise InvalidParameterError(
                    f"neighboring must be '{relation}' as in the ledger, got '{event.neighboring}': "
                    "costs under different neighbouring relations do not add up."
                )

    def __sklearn_clone__(self) -> "Ledger":
        return self

    def __deepcopy__(self, memo: object) -> "Ledger":
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "A Ledger cannot be pickled: a copy in another process would not see what this one spends. "
            "Use threads (joblib's prefer='threads'), or n_jobs=1."
        )

    def __repr__(self) -> str:
        spent = self.spent.epsilon(self.budget.delta)
        return f"Ledger({self.budget!r}, {len(self._events)} releases, epsilon spent {spent:.6g})"


class Reservation:
    """Budget set aside for planned releases; a context manager that gives back what was not used."""

    def __init__(self, ledger: Ledger, planned: Iterable[ReleaseEvent]) -> None:
        self.ledger = ledger
        self.planned = tuple(planned)
        self.written: list[ReleaseEvent] = []

    @property
    def left(self) -> Composition:
        """What is reserved and not yet written."""
        return Composition.of(self.planned) - Composition.of(self.written)

    def record(self, event: ReleaseEvent) -> None:
        """Write an event to the ledger; call this before drawing its noise."""
        self.ledger._write(event, self)  # noqa: SLF001 - the two classes are one mechanism

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.ledger._give_back(self)  # noqa: SLF001


def levels(budget: Budget) -> list[float]:
    """Return the levels below the budget, smallest first."""
    return [budget.epsilon * i / N_LEVELS for i in range(1, N_LEVELS)]


def publishable_epsilon(spent: Composition, budget: Budget) -> float:
    """Return the smallest level that what is spent has not passed; the budget itself holds in any case.

    Each level below the budget is a privacy filter with an eighth of delta, so that all seven hold at once
    with less than delta (Theorem 9 of docs/privacy.md). Where delta is 0 the sum of pure epsilons bounds the
    loss surely, and no grid is needed.
    """
    if budget.is_pure:
        return min(spent.pure_epsilon, budget.epsilon)
    if spent == Composition.of([]):
        return 0.0
    delta = budget.delta / N_LEVELS
    if delta < SMALLEST_DELTA:
        return budget.epsilon
    passed = spent.in_one_curve().epsilon(delta)
    return min((level for level in levels(budget) if passed <= level), default=budget.epsilon)
