"""Two fits that get the same answers: what each asked of its dataset can then be compared."""

import math

import numpy as np

from dpmorse.privacy import CHOICE, LAPLACE, Mechanism


class Replay:
    """Notes what a fit asks; a second fit is answered as the first one was, whatever its data."""

    def __init__(self, monkeypatch):
        self._asked, self._answers, self._recording = [], [], True
        for name in ("release", "choose"):
            monkeypatch.setattr(Mechanism, name, self._answering(getattr(Mechanism, name)))

    def _answering(self, original):
        def answer(mechanism, exact, planned):
            self._asked.append((exact.copy(), planned))
            if self._recording:
                self._answers.append(original(mechanism, exact, planned))
            else:
                mechanism._record(planned.event)
            return self._answers[len(self._asked) - 1]

        return answer

    def distances(self, fit, neighbour_fit):
        """Return name and distance of each question, in units of what its event pays for: 1 is all of it.

        Both fits must ask the same: for the same values, with the same noise, at the same cost.
        """
        self._asked, self._answers, self._recording = [], [], True
        fit()
        before, self._asked, self._recording = self._asked, [], False
        neighbour_fit()
        assert len(before) == len(self._asked), "the number of questions depends on the records"
        for (exact, planned), (other, as_planned) in zip(before, self._asked, strict=True):
            assert same_question(planned, as_planned), f"'{planned.event.name}' depends on the records"
            assert exact.shape == other.shape
        return [
            (planned.event.name, _moved(other - exact, planned))
            for (exact, planned), (other, _) in zip(before, self._asked, strict=True)
        ]


def same_question(planned, other):
    rates = getattr(planned, "rate", None) == getattr(other, "rate", None)
    scales = np.array_equal(getattr(planned, "scales", 0), getattr(other, "scales", 0))
    return planned.event == other.event and rates and scales


def _moved(difference, planned):
    event, difference = planned.event, difference.astype(float)
    if event.noise == CHOICE:
        return float(planned.rate) * np.ptp(difference) / event.pure_epsilon
    if event.noise == LAPLACE:
        return np.abs(difference / planned.scales).sum() / event.pure_epsilon
    return math.sqrt(np.square(difference / planned.scales).sum() / (2 * event.rho))
