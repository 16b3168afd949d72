"""``PrivacyReport``, the attribute ``privacy_``: the promise in words and as a table, and its claims.

The claims are what NIST SP 800-226 asks a claim of differential privacy to state, point by point.
"""

from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal, localcontext
from html import escape

from dpmorse.privacy.accounting import Calibration
from dpmorse.privacy.budget import Budget
from dpmorse.privacy.events import Composition, ReleaseEvent
from dpmorse.privacy.noise import GaussianNoise, LaplaceNoise, Noise, RandomChoice

_NOT_SECURE = (
    "NOT SECURE: the noise was drawn from a seed (random_state), so that whoever knows the seed can "
    "remove it. Use this model for tests and benchmarks only."
)

_SCOPE = (
    "Everything computed from the model alone is covered by the same promise. Not covered: the labels of "
    "training records (each is a function of that person's own record); the bounds and other parameters, "
    "and any scaling, projection or selection applied to the records before (taken to be public); side "
    "channels such as running time."
)

_LAWS = {
    GaussianNoise: "Discrete Gaussian noise on sums of integers",
    LaplaceNoise: "Discrete Laplace noise on sums of integers",
    RandomChoice: "random choices by the exponential mechanism",
}

_COMPOSITION = (
    "The {n_releases} releases of this fit are added up in these parameters, each chosen with knowledge of "
    "those before. What is computed from the model costs nothing more. Other releases about the same people "
    "add to the loss, and are not counted here."
)
_PROOF = (
    "Records are rounded to a grid and added up as integers, exactly, so that no rounding error of a "
    "computer enters the proof. Sensitivities, noise and accounting are proved in docs/privacy.md of dpmorse "
    "(Theorems 1 to 9)."
)
_SYSTEM = "From the operating system's generator for cryptography, drawn once for each number."
_SEEDED = "NOT SECURE: from a seed. Whoever knows the seed can remove the noise."
_TRUST = (
    "Central: whoever ran the fit saw the records, added the noise and is trusted not to keep them. Readers "
    "of the result need not be trusted."
)
_UNPROTECTED = (
    "What was taken to be public: names of columns, bounds, lists of values, parameters, and any choice or "
    "scaling made before. Labels of the people the model was fitted on. Facts about groups: that people like "
    "somebody have a property can be learnt whether or not they took part. Side channels such as running "
    "time."
)


@dataclass(frozen=True, repr=False)
class PrivacyReport:
    """The promise of a fit, derived from the cost reserved for it, and the account of the releases made.

    The cost was reserved before the records were read, so that the promise does not depend on them. The
    releases may have cost less, depending on released values; that is no smaller promise (docs/privacy.md,
    section 1).

    Attributes
    ----------
    budget : Budget
        The budget asked for, and its unit.
    reserved : tuple of ReleaseEvent
        Releases whose cost was set aside before the records were read.
    events : tuple of ReleaseEvent
        Releases that were made, in order; they cost no more.
    calibration : Calibration
        The proof by which the noise was set.
    secure : bool
        False if the noise came from a seed.
    """

    budget: Budget
    reserved: tuple[ReleaseEvent, ...]
    events: tuple[ReleaseEvent, ...]
    calibration: Calibration
    secure: bool

    def __repr__(self) -> str:
        return (
            f"PrivacyReport(epsilon={upwards(self.epsilon)}, delta={self.delta:g}, "
            f"neighboring={self.neighboring!r}, {len(self.events)} releases, secure={self.secure})"
        )

    @property
    def delta(self) -> float:
        """The delta of the promise."""
        return self.budget.delta

    @property
    def neighboring(self) -> str:
        """The neighbouring relation, "add-remove" or "replace-one"."""
        return self.budget.neighboring.value

    @property
    def rho(self) -> float:
        """Total zCDP cost that was reserved."""
        return self._promised.rho

    @property
    def epsilon(self) -> float:
        """Epsilon promised at ``delta``: the smallest of the proved conversions, never above the budget."""
        return self._promised.epsilon(self.delta)

    @property
    def epsilon_zcdp(self) -> float:
        """Epsilon at ``delta`` by the zCDP conversion alone."""
        return self._promised.epsilon_zcdp(self.delta)

    @property
    def used(self) -> Composition:
        """Cost of the releases that were made: an account, not a smaller promise."""
        return Composition.of(self.events)

    @property
    def _promised(self) -> Composition:
        return Composition.of(self.reserved)

    @property
    def statement(self) -> str:
        """The promise in plain language."""
        sums = [event for event in self.events if isinstance(event.noise, Noise)]
        n_choices, n_numbers = len(self.events) - len(sums), sum(event.n_draws for event in sums)
        choices = f" and {_counted(n_choices, 'random choice')}" if n_choices else ""
        if self.budget.is_pure:
            reserved = "Their epsilons add up; the promise never fails (delta = 0)."
            used = f"epsilon = {upwards(self.used.pure_epsilon)}"
        else:
            reserved = (
                f"Reserved before the records were read: rho = {upwards(self.rho)} (zCDP); by the zCDP "
                f"conversion alone epsilon is {upwards(self.epsilon_zcdp)}."
            )
            used = f"rho = {upwards(self.used.rho)}"
        promise = (
            f"This model is ({upwards(self.epsilon)}, {self.delta:g})-differentially private with respect to "
            f"{self.relation}."
        )
        account = (
            f"It was made by {_counted(len(sums), 'release')} of noisy sums, {n_numbers} numbers in "
            f"all{choices}. "
            f"{reserved} Used: {used}, an account, not a smaller promise."
        )
        lines = [promise, account, _SCOPE]
        return "\n".join(lines if self.secure else [_NOT_SECURE, *lines])

    @property
    def unit(self) -> str:
        """Who is protected, in a few words."""
        return self.budget.protects.short

    @property
    def claims(self) -> dict[str, str]:
        """The points that a claim of differential privacy must state according to NIST SP 800-226."""
        parameters = f"epsilon = {upwards(self.epsilon)} and delta = {self.delta:g}"
        if self.budget.is_pure:
            parameters += ": pure differential privacy, which never fails."
        else:
            parameters += (
                f"; rho = {upwards(self.rho)} of zero-concentrated differential privacy was set aside."
            )
        laws = [
            text for law, text in _LAWS.items() if any(isinstance(event.noise, law) for event in self.events)
        ]
        return {
            "Unit of privacy": self.budget.protects.protected,
            "Neighbours": self.budget.protects.neighbours,
            "Parameters": parameters,
            "Composition": _COMPOSITION.format(n_releases=len(self.events)),
            "Mechanism and proof": f"{' and '.join(laws)}. {_PROOF}",
            "Randomness": _SYSTEM if self.secure else _SEEDED,
            "Trust model": _TRUST,
            "Not protected": _UNPROTECTED,
        }

    @property
    def relation(self) -> str:
        """What the promise is with respect to, in words."""
        return self.budget.protects.relation

    def to_dicts(self) -> list[dict[str, object]]:
        """Return the ledger as rows, ready for ``pandas.DataFrame``."""
        return [
            {
                "release": event.name,
                "values": event.n_draws,
                "rho": event.rho,
                **{f"noise_stddev_{block}": value for block, value in event.noise_stddev.items()},
            }
            for event in self.events
        ]

    def _repr_html_(self) -> str:
        """Show the promise and the ledger in a notebook; names are escaped: a file may have brought them."""
        paragraphs = "".join(f"<p>{escape(line)}</p>" for line in self.statement.splitlines())
        rows = self.to_dicts()
        names = list(dict.fromkeys(name for row in rows for name in row))
        head = "".join(f"<th>{escape(name.replace('_', ' '))}</th>" for name in names)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(_shown(row.get(name, '')))}</td>" for name in names) + "</tr>"
            for row in rows
        )
        return f"{paragraphs}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    @property
    def table(self) -> str:
        """The ledger as text: one line per release, what they used in all, and what was promised."""
        blocks = list(dict.fromkeys(block for event in self.events for block in event.noise_stddev))
        width = max([24, *(len(event.name) + 2 for event in self.events)])
        header = f"{'release':<{width}}{'values':>8}{'rho':>12}" + "".join(
            f"{'noise ' + block:>22}" for block in blocks
        )
        rows = [_row(event, blocks, width) for event in self.events]
        totals = [_total("used (account)", self.events, width), _total("promised", self.reserved, width)]
        return "\n".join([header, *rows, *totals])


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def upwards(cost: float) -> str:
    """Write a cost with six digits, never less than it is."""
    with localcontext(Context(prec=6, rounding=ROUND_CEILING)):
        return f"{(+Decimal(cost)).normalize():f}"


def _total(name: str, events: tuple[ReleaseEvent, ...], width: int) -> str:
    n_values = sum(event.n_draws for event in events)
    return f"{name:<{width}}{n_values:>8}{upwards(Composition.of(events).rho):>12}"


def _shown(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _row(event: ReleaseEvent, blocks: list[str], width: int) -> str:
    """Write one release; blocks that it lacks stay empty."""
    start = f"{event.name:<{width}}{event.n_draws:>8}{event.rho:>12.4g}"
    values = (_shown(event.noise_stddev.get(block, "")) for block in blocks)
    return (start + "".join(f"{value:>22}" for value in values)).rstrip()
