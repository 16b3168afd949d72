"""Whole fits, of any storage, unit and estimator: the second gets the answers of the first.

``dpmorse.audit.recording`` watches the steps of a base on an array. Here ``Mechanism`` itself is patched, so
that ``fit`` runs as users call it: on files, batches, Dask collections and tensors, with groups, and inside
meta-estimators.
"""

from collections.abc import Callable
from typing import Any

import pytest

from dpmorse.audit import Asked, Pair, same_question
from dpmorse.privacy import Mechanism
from dpmorse.privacy.exact import opened


class Replay:
    """Notes what fits ask of the mechanism, as long as ``monkeypatch`` lasts."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._asked: list[Asked] = []
        self._earlier: list[Asked] | None = None
        for name in ("release", "choose"):
            monkeypatch.setattr(Mechanism, name, self._answering(getattr(Mechanism, name)))

    def distances(self, fit: Callable[[], Any], neighbour_fit: Callable[[], Any]) -> list[tuple[str, float]]:
        """Return name and distance of each question, in units of what its event pays for: 1 is all of it.

        Both fits must ask the same: for the same values, with the same noise, at the same cost.
        """
        first = self._questions_of(fit, None)
        second = self._questions_of(neighbour_fit, first)
        assert len(first) == len(second), "the number of questions depends on the records"
        for a, b in zip(first, second, strict=True):
            assert same_question(a, b), f"'{a.planned.event.name}' depends on the records"
        pairs = [Pair(a.planned, a.exact, b.exact) for a, b in zip(first, second, strict=True)]
        return [(pair.planned.event.name, pair.moved) for pair in pairs]

    def _questions_of(self, fit: Callable[[], Any], earlier: list[Asked] | None) -> list[Asked]:
        self._asked, self._earlier = [], earlier
        fit()
        return self._asked

    def _answering(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def answer(mechanism: Mechanism, exact: Any, planned: Any) -> Any:
            if self._earlier is None:
                answered = original(mechanism, exact, planned)
            else:
                mechanism._record(planned.event)  # noqa: SLF001 - the cost is written, only the noise is not drawn
                answered = self._earlier[len(self._asked)].answer
            self._asked.append(Asked(planned, opened(exact).copy(), answered))
            return answered

        return answer
