"""The place of a release in its fit: typed fields, with one text for people and files."""

import re
from dataclasses import dataclass

_TURN = re.compile(r"(?P<rest>.*) (?P<turn>[1-9]\d{0,8}) of (?P<turns>[1-9]\d{0,8})", re.DOTALL)


@dataclass(frozen=True)
class Step:
    """The place of a release in the plan of a fit.

    Attributes
    ----------
    stage : str
        The stage of the plan that pays for it, such as "coreset".
    part : str
        The release within the stage, such as "round"; empty where the stage makes only one.
    turn, turns : int or None
        Number of the repetition, and of all repetitions, where it is repeated.
    """

    stage: str
    part: str = ""
    turn: int | None = None
    turns: int | None = None

    def __str__(self) -> str:
        """Return the text of tables and files: "coreset, round 2 of 3"."""
        name = f"{self.stage}, {self.part}" if self.part else self.stage
        return name if self.turn is None else f"{name} {self.turn} of {self.turns}"

    @classmethod
    def parse(cls, text: str) -> "Step":
        """Parse the text that ``str`` writes; any other text is a stage of that name."""
        turn = _TURN.fullmatch(text)
        rest = turn["rest"] if turn else text
        stage, _, part = rest.partition(", ")
        step = cls(stage, part, *((int(turn["turn"]), int(turn["turns"])) if turn else ()))
        return step if str(step) == text else cls(text)
