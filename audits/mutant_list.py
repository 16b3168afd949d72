"""The mutants: those of the literature and of the paper's algorithm first, then mistakes of our own."""

from audits.mutations import Change, Mutant

_AUDITED = "tests/audit/test_bases.py::test_all_releases_of_a_base_spend_what_they_claim"
_MOVED = "tests/audit/test_mechanisms.py::test_worst_pairs_move_as_far_as_is_paid_for_and_no_further"
_MOMENTS = "tests/audit/test_mechanisms.py::test_moments_spend_what_they_claim"
_OTHERS = (
    "tests/audit/test_mechanisms.py::test_counts_histograms_leaves_and_laplace_noise_spend_what_they_claim"
)
_QUESTIONS = "tests/audit/test_bases.py::test_questions_depend_on_answers_only"
_CLIPPED = "tests/audit/test_bases.py::test_only_clipped_records_are_looked_at"
_GROUPS = "tests/audit/test_bases.py::test_groups_of_rows_are_protected_as_claimed"

_EM = "dpmorse.estimators._em:PrivateEM"
_L2 = "dpmorse.statistics.sensitivity:RecordBounds.squared_l2"
_MOMENTS_OF_CELLS = "dpmorse.statistics.moments:CellMoments"
_RELEASE = "dpmorse.privacy.mechanism:Mechanism.release"
_KERNELS = "dpmorse.engine._kernels"

LITERATURE = (
    Mutant(
        "centred scatter, as the paper prints it",
        (
            Change(
                f"{_EM}._run",
                "            released = releases.mechanism.release(",
                "            middle = np.rint(parameters.means * 2.0**12).astype(np.int64)\n"
                "            second = exact.second_moments - middle[:, :, None] * exact.sums[:, None]\n"
                "            second -= exact.sums[:, :, None] * middle[:, None]\n"
                "            second += exact.counts[:, None, None] * middle[:, :, None] * middle[:, None]\n"
                "            exact = replace(exact, second_moments=second)\n"
                "            released = releases.mechanism.release(",
            ),
        ),
        (f"{_AUDITED}[DPMoGHard-add-remove-1.0]",),
        "add_remove",
    ),
    Mutant(
        "count noise left out",
        (
            Change(
                f"{_MOMENTS_OF_CELLS}._vector",
                "        vector.flags.writeable = False",
                "        vector[:k] = 1",
            ),
        ),
        (_MOVED, _MOMENTS),
        "moments",
    ),
    Mutant(
        "replace-one with the noise of add/remove-one",
        (Change(_L2, "if neighboring is Neighboring.ADD_REMOVE:", "if True:"),),
        (_MOVED, _MOMENTS),
        "replace_one",
    ),
    Mutant(
        "k-means with the sensitivity of two cells only",
        (Change(_L2, "max(2 * largest_norm, same_cell)", "2 * largest_norm"),),
        (_MOVED, _MOMENTS),
        "k_means",
    ),
    Mutant(
        "sqrt(tau) dropped",
        (Change(f"{_EM}._plan", "rho / settings.n_iter", "rho"),),
        (f"{_AUDITED}[DPMoGHard-add-remove-1.0]",),
        "add_remove",
    ),
    Mutant(
        "clipping unused",
        (Change("dpmorse.engine.in_memory:_grid", "domain.half_width,", "1e3 * domain.half_width,"),),
        (_CLIPPED, f"{_AUDITED}[DPMoGHard-add-remove-1.0]"),
        "clipped",
    ),
    Mutant(
        "clipping unused, in the compiled code",
        (Change(f"{_KERNELS}:_quantise", "offset if offset < half else half", "offset"),),
        (_CLIPPED, "tests/contracts/test_engines.py::test_users_units"),
    ),
    Mutant(
        "off-diagonal entries drawn twice",
        (
            Change(f"{_MOMENTS_OF_CELLS}._n_second", "d * (d + 1) // 2", "d * d"),
            Change(
                f"{_MOMENTS_OF_CELLS}.to_units",
                "        return np.concatenate(blocks)",
                "        return np.concatenate([*blocks, *blocks[3:]])",
            ),
            Change(
                f"{_MOMENTS_OF_CELLS}._matrices", "off.reshape(k, -1)", "off.reshape(2, k, -1).mean(axis=0)"
            ),
        ),
        (_MOVED, f"{_AUDITED}[DPMoGHard-add-remove-1.0]"),
        "add_remove",
    ),
    Mutant(
        "noise reused between rounds",
        (
            Change(
                _RELEASE,
                "exact + draw(planned.scales)",
                'exact + self.__dict__.setdefault("kept", {}).setdefault(exact.size, draw(planned.scales))',
            ),
        ),
        (f"{_AUDITED}[DPMoGHard-add-remove-1.0]",),
        "add_remove",
    ),
    Mutant(
        "noise reused between cells",
        (
            Change(
                _RELEASE,
                "        return exact + draw(planned.scales)",
                "        noise = draw(planned.scales)\n"
                "        noise[1::2] = noise[: 2 * (noise.size // 2) : 2]\n"
                "        return exact + noise",
            ),
        ),
        (f"{_AUDITED}[DPMoGHard-add-remove-1.0]",),
        "add_remove",
    ),
    Mutant(
        "labels from unclipped records",
        (
            Change(
                "dpmorse.engine.in_memory:InMemoryEngine.tally",
                "codes.codes(codes.domain.quantise(X[start:stop]))",
                "codes.codes(np.rint((X[start:stop] - codes.domain.centre)"
                " * codes.domain.steps_per_unit).astype(np.int64))",
            ),
        ),
        (_CLIPPED,),
        "clipped",
    ),
    Mutant(
        "start from the data",
        (
            Change(
                f"{_EM}._release",
                "_start(plan.statistic, rng)",
                "replace(_start(plan.statistic, rng), means=releases.records[: plan.statistic.n_cells])",
            ),
        ),
        (_QUESTIONS, f"{_AUDITED}[DPMoGHard-add-remove-1.0]"),
        "add_remove",
    ),
    Mutant(
        "sigma passed where a variance is wanted",
        (
            Change(
                "dpmorse.privacy.sampler:NativeSampler.gaussian",
                "self._draw(scales,",
                "self._draw(np.sqrt(scales).astype(np.int64),",
            ),
        ),
        (_MOMENTS,),
        "moments",
    ),
)

OUR_OWN = (
    Mutant(
        "the ledger is not written",
        (Change("dpmorse.privacy.mechanism:Mechanism._record", "in self._reservations:", "in ():"),),
        (f"{_AUDITED}[DPMoGHard-add-remove-1.0]",),
        "add_remove",
    ),
    Mutant(
        "the ledger is written after the noise is drawn",
        (
            Change(
                _RELEASE,
                "        self._record(planned.event)\n"
                "        draw = self._sampler.laplace if planned.event.noise is Noise.LAPLACE "
                "else self._sampler.gaussian\n"
                "        return exact + draw(planned.scales)",
                "        draw = self._sampler.laplace if planned.event.noise is Noise.LAPLACE "
                "else self._sampler.gaussian\n"
                "        noise = draw(planned.scales)\n"
                "        self._record(planned.event)\n"
                "        return exact + noise",
            ),
        ),
        ("tests/privacy/test_mechanism.py",),
    ),
    Mutant(
        "sensitivity halved",
        (
            Change(
                _L2,
                "largest_norm = c2 + a2 * P + b2 * M",
                "largest_norm = (c2 + a2 * P + b2 * M) / 4",
            ),
        ),
        (_MOVED, _MOMENTS),
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
        (_OTHERS,),
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
        (_MOVED,),
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
        (_MOVED,),
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
        (_MOVED, _OTHERS),
        "counts",
    ),
    Mutant(
        "all rows of a person for the price of one",
        (
            Change(
                "dpmorse.privacy.events:event_for_groups",
                "m = Fraction(budget.rows)",
                "m = Fraction(1)",
            ),
        ),
        (_GROUPS,),
        "groups",
    ),
    Mutant(
        "the exact number of records",
        (
            Change(
                "dpmorse.estimators._releases:Releases.total",
                "if self.neighboring is Neighboring.REPLACE_ONE:",
                "if True:",
            ),
        ),
        (_QUESTIONS,),
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
        (f"{_AUDITED}[DPMoGHard-add-remove-1.0]",),
        "add_remove",
    ),
    Mutant(
        "bounds for nothing",
        (
            Change(
                "dpmorse.estimators._private_bounds:divide",
                "return total - for_bounds, for_bounds",
                "return total, for_bounds",
            ),
        ),
        ("tests/estimators/test_private_bounds.py", _QUESTIONS),
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
                f"{_KERNELS}:_quantise",
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
        "residuals are not shrunk",
        (
            Change(
                f"{_KERNELS}:_residuals",
                "shrink[r] = np.sqrt(LARGEST_RESIDUAL / max(shrink[r], LARGEST_RESIDUAL))",
                "shrink[r] = 1.0",
            ),
        ),
        (_MOVED,),
    ),
    Mutant(
        "the sphere is left by a step",
        (
            Change(
                f"{_KERNELS}:_shrink_to_ball",
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

MUTANTS = LITERATURE + OUR_OWN
