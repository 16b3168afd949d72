"""The account of what was spent: append-only, checked before anything is drawn."""

import os
import threading
from collections.abc import Iterable
from typing import NoReturn

from dpmorse.exceptions import BudgetExceededError, InvalidParameterError
from dpmorse.privacy.budget import Budget
from dpmorse.privacy.events import Composition, ReleaseEvent


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
    * An event is written before its noise is drawn: a crash can waste budget, never hide a spend.
    * Thread-safe. A ledger cannot be pickled or copied, and refuses to work in a forked process: a copy
      there would not see what the original spends. ``sklearn.clone`` and ``copy.deepcopy`` share it.
    * The budget holds also if later fits are chosen with knowledge of earlier releases (a privacy
      filter, docs/privacy.md section 6); ``spent`` on the way is an account, not a smaller promise.
    """

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self._events: list[ReleaseEvent] = []
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

    def admit(self, planned: Iterable[ReleaseEvent]) -> None:
        """Raise ``BudgetExceededError`` if these releases would not fit in what is left."""
        with self._lock:
            planned = list(planned)
            self._check_process()
            self._check_relation(planned)
            total = Composition.of([*self._events, *planned]).epsilon(self.budget.delta)
            if total > self.budget.epsilon:
                spent = self.spent.epsilon(self.budget.delta)
                raise BudgetExceededError(
                    f"This would bring the spend to epsilon = {total:.6g} at delta = {self.budget.delta:g}, "
                    f"over the budget of {self.budget.epsilon:g} ({spent:.6g} is spent already). "
                    "Nothing was released. Lower epsilon, or use a ledger with a larger budget."
                )

    def record(self, event: ReleaseEvent) -> None:
        """Admit one event and write it down; call this before drawing its noise."""
        with self._lock:
            self.admit([event])
            self._events.append(event)

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
