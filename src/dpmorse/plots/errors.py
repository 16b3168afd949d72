"""Error rates of an attacker, compared with the lowest rates that a claim allows."""

from dataclasses import dataclass, field
from typing import Any, Self

from dpmorse.plots._drawing import LINE_COLOUR, axes
from dpmorse.typing import FloatArray


@dataclass(eq=False)
class AuditDisplay:
    """Error rates of the attacker of an audit, and the lowest rates that the claim allows.

    If the claim holds, no attacker is below its line, except by chance: one that is refutes the claim.

    Attributes
    ----------
    false_positives, false_negatives : ndarray
        Rates at many thresholds.
    claimed_curve : pair of ndarray
        Rates of false positives, and the lowest rates of false negatives that the claim allows.
    title, claim : str
        The object of the attack, and the claim about it.
    """

    false_positives: FloatArray
    false_negatives: FloatArray
    claimed_curve: tuple[FloatArray, FloatArray]
    title: str
    claim: str
    ax_: Any = field(default=None, init=False, repr=False)
    figure_: Any = field(default=None, init=False, repr=False)

    @classmethod
    def from_result(cls, result: Any) -> Self:
        """Compute the picture of an ``AuditResult``."""
        unit = result.claim.unit.value
        certified = f"certified {unit} >= {result.certified:.3g}"
        return cls(
            result.false_positives,
            result.false_negatives,
            result.claimed_curve,
            f"{result.subject}: {certified}",
            f"claim: {unit} <= {result.claimed:.3g}",
        )

    def plot(self, ax: Any = None) -> Self:
        """Draw on ``ax``, or on a new figure."""
        self.figure_, self.ax_ = axes(ax)
        levels, fewest = self.claimed_curve
        self.ax_.fill_between(levels, 0, fewest, color="0.9")
        self.ax_.plot(levels, fewest, color=LINE_COLOUR, label=self.claim)
        self.ax_.plot(self.false_positives, self.false_negatives, color="#D55E00", label="attacker")
        self.ax_.plot([0, 1], [1, 0], color="0.7", linestyle=":", label="guessing")
        self.ax_.set(xlabel="rate of false positives", ylabel="rate of false negatives", title=self.title)
        self.ax_.legend()
        return self
