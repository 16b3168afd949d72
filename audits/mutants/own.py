"""Mistakes that we could make."""

from audits.mutants.mutation import Change, Mutant
from audits.mutants.targets import AUDITED, GROUPS, KERNELS, L2, MOMENTS, MOVED, OTHERS, QUESTIONS, RELEASE

OWN = (
    Mutant(
        "the ledger is not written",
        (Change("dpmorse.privacy.mechanism:Mechanism._record", "in self._reservations:", "in ():"),),
        (f"{AUDITED}[DPMoGHard-2-add-remove-1.0]",),
        "add_remove",
    ),
    Mutant(
        "the ledger is written after the noise is drawn",
        (
            Change(
                RELEASE,
                "        self._record(planned.event)\n"
                "        drawn = noise.draw(self._sampler, planned.scales)\n",
                "        drawn = noise.draw(self._sampler, planned.scales)\n"
                "        self._record(planned.event)\n",
            ),
        ),
        ("tests/privacy/test_mechanism.py",),
    ),
    Mutant(
        "sensitivity halved",
        (
            Change(
                L2,
                "largest_norm = c2 + a2 * P + b2 * M",
                "largest_norm = (c2 + a2 * P + b2 * M) / 4",
            ),
        ),
        (MOVED, MOMENTS),
        "moments",
    ),
    Mutant(
        "noise five percent too small",
        (
            Change(
                "dpmorse.privacy.sampler:NativeSampler.gaussian",
                "self._draw(scales,",
                "self._draw((0.95 * scales).astype(np.int64),",
            ),
        ),
        ("tests/privacy/test_sampler.py::test_an_error_of_one_percent_in_the_scale_is_rejected",),
        "many_runs",
    ),
    Mutant(
        "Laplace noise half as wide",
        (
            Change(
                "dpmorse.privacy.sampler:NativeSampler.laplace",
                "self._draw(scales,",
                "self._draw(scales // 2,",
            ),
        ),
        (OTHERS,),
        "laplace",
    ),
    Mutant(
        "choices twice as sharp",
        (
            Change(
                "dpmorse.statistics.swaps:SwapCosts.plan",
                "PlannedChoice(log_range / moved, event)",
                "PlannedChoice(2 * log_range / moved, event)",
            ),
        ),
        (MOVED,),
        "choices",
    ),
    Mutant(
        "choices under replace-one paid for once",
        (
            Change(
                "dpmorse.statistics.swaps:SwapCosts.plan",
                "limit * (1 if neighboring is Neighboring.ADD_REMOVE else 2)",
                "limit",
            ),
        ),
        (MOVED,),
        "choices",
    ),
    Mutant(
        "counts under replace-one paid for once",
        (
            Change(
                "dpmorse.statistics.counts:GroupCounts.moved",
                "(1 if neighboring is Neighboring.ADD_REMOVE else 2)",
                "1",
            ),
        ),
        (MOVED, OTHERS),
        "counts",
    ),
    Mutant(
        "all rows of a person for the price of one",
        (
            Change(
                "dpmorse.privacy.events:event_for_groups",
                "cost_of_rows(Fraction(event.cost), budget.rows)",
                "cost_of_rows(Fraction(event.cost), 1)",
            ),
        ),
        (GROUPS,),
        "groups",
    ),
    Mutant(
        "the exact number of records",
        (
            Change(
                "dpmorse.engine.source:Source.public_size",
                "budget.neighboring is Neighboring.REPLACE_ONE",
                "True",
            ),
        ),
        (QUESTIONS,),
        "questions",
    ),
    Mutant(
        "releases cost as much as the dearest of them",
        (
            Change(
                "dpmorse.privacy.events:Composition.of",
                "gaussian_rho=math.fsum(event.gaussian_rho for event in listed)",
                "gaussian_rho=max((event.gaussian_rho for event in listed), default=0.0)",
            ),
        ),
        (f"{AUDITED}[DPMoGHard-2-add-remove-1.0]",),
        "add_remove",
    ),
    Mutant(
        "bounds for nothing",
        (
            Change(
                "dpmorse.bases.plan:Plan.of",
                "left = total - for_bounds",
                "left = total",
            ),
        ),
        ("tests/bases/test_private_bounds.py", QUESTIONS),
        "questions",
    ),
    Mutant(
        "a release may cost twice what was reserved",
        (
            Change(
                "dpmorse.privacy.events:Composition.covers",
                "slack = 1 + 1e-9",
                "slack = 2.0",
            ),
        ),
        ("tests/audit/test_mutants.py::test_unchanged_code_passes[reservations]",),
        "reservations",
    ),
    Mutant(
        "NaN passes the clipping",
        (
            Change(
                f"{KERNELS}:_clip",
                "offset = offset if offset < half else half  # noqa: FURB136 - NaN must not pass, "
                "see privacy.md\n"
                "            offset = offset if offset > -half else -half  # noqa: FURB136",
                "offset = half if offset >= half else offset\n"
                "            offset = -half if offset <= -half else offset",
            ),
        ),
        ("tests/contracts/test_engines.py::test_nan_cannot_pass_the_clipping",),
    ),
    Mutant(
        "NaN passes the clipping of codes",
        (
            Change(
                "dpmorse.statistics.domain:Domain.quantise",
                "inside = np.where(offset < self.half_width, offset, self.half_width)",
                "inside = np.clip(offset, -self.half_width, self.half_width)",
            ),
        ),
        ("tests/contracts/test_engines.py::test_nan_cannot_pass_the_clipping_of_codes_either",),
    ),
    Mutant(
        "residuals are not shrunk",
        (
            Change(
                f"{KERNELS}:_residuals",
                "shrink[r] = np.sqrt(LARGEST_RESIDUAL / max(shrink[r], LARGEST_RESIDUAL))",
                "shrink[r] = 1.0",
            ),
        ),
        (MOVED,),
    ),
    Mutant(
        "the sphere is left by a step",
        (
            Change(
                f"{KERNELS}:_shrink_to_ball",
                "np.trunc(np.float64(column[r]) * shrink[r])",
                "np.rint(np.float64(column[r]) * shrink[r])",
            ),
        ),
        ("tests/contracts/test_engines.py::test_sums_equal_the_plain_form",),
    ),
    Mutant(
        "minus zero counts as zero",
        (
            Change(
                "dpmorse.privacy.sampler:NativeSampler._propose",
                "accepted &= ~(negative & (values == 0))",
                "accepted &= ~(negative & (values < 0))",
            ),
        ),
        ("tests/privacy/test_sampler.py::test_signs_are_fair_and_zero_is_not_doubled",),
    ),
    Mutant(
        "seeded noise is called secure",
        (
            Change(
                "dpmorse.privacy.sampler:NativeSampler.__init__",
                "self.secure = source.secure",
                "self.secure = True",
            ),
        ),
        ("tests/privacy/test_sampler.py::test_secure_follows_the_source",),
    ),
)
