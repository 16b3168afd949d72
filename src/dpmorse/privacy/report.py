"""``PrivacyReport``, the attribute ``privacy_``: the promise in words and as a table."""

from dataclasses import dataclass
from html import escape

from dpmorse.privacy.accounting import Calibration
from dpmorse.privacy.budget import Budget
from dpmorse.privacy.claims import claims_of, upwards
from dpmorse.privacy.events import Composition, ReleaseEvent
from dpmorse.privacy.noise import Noise

_USED = "Used: {used}, an account, not a smaller promise."

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
        promise = (
            f"This model is ({upwards(self.epsilon)}, {self.delta:g})-differentially private "
            "with respect to "
            f"{self.relation}."
        )
        lines = [promise, f"{self._releases} {self._account}", _SCOPE]
        return "\n".join(lines if self.secure else [_NOT_SECURE, *lines])

    @property
    def unit(self) -> str:
        """Who is protected, in a few words."""
        return self.budget.protects.short

    @property
    def claims(self) -> dict[str, str]:
        """The points that a claim of differential privacy must state according to NIST SP 800-226."""
        return claims_of(self)

    @property
    def relation(self) -> str:
        """What the promise is with respect to, in words."""
        return self.budget.protects.relation

    @property
    def _releases(self) -> str:
        sums = [event for event in self.events if isinstance(event.noise, Noise)]
        n_choices = len(self.events) - len(sums)
        choices = f" and {n_choices} random choice(s)" if n_choices else ""
        n_numbers = sum(event.n_draws for event in sums)
        return f"It was made by {len(sums)} release(s) of noisy sums, {n_numbers} numbers in all{choices}."

    @property
    def _account(self) -> str:
        if self.budget.is_pure:
            used = f"epsilon = {upwards(self.used.pure_epsilon)}"
            return f"Their epsilons add up; the promise never fails (delta = 0). {_USED.format(used=used)}"
        return (
            f"Reserved before the records were read: rho = {upwards(self.rho)} (zCDP); by the zCDP "
            f"conversion alone epsilon is {upwards(self.epsilon_zcdp)}. "
            f"{_USED.format(used=f'rho = {upwards(self.used.rho)}')}"
        )

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


def _total(name: str, events: tuple[ReleaseEvent, ...], width: int) -> str:
    n_values = sum(event.n_draws for event in events)
    return f"{name:<{width}}{n_values:>8}{upwards(Composition.of(events).rho):>12}"


def _shown(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _row(event: ReleaseEvent, blocks: list[str], width: int) -> str:
    """Write one release; blocks that it lacks stay empty."""
    start = f"{event.name:<{width}}{event.n_draws:>8}{event.rho:>12.4g}"
    values = (event.noise_stddev.get(block) for block in blocks)
    return (start + "".join(f"{'' if value is None else f'{value:.4g}':>22}" for value in values)).rstrip()
