"""Mistakes that were made before: in the literature, in other libraries, in the paper's algorithm."""

from audits.mutants.mutation import Change, Mutant
from audits.mutants.targets import (
    AUDITED,
    CELLS,
    CLIPPED,
    EM,
    KERNELS,
    L2,
    MOMENTS,
    MOVED,
    QUESTIONS,
    RELEASE,
)

KNOWN = (
    Mutant(
        "centred scatter, as the paper prints it",
        (
            Change(
                f"{CELLS}._vector_of",
                "        spare = ",
                "        if self.second_moments is SecondMoments.FULL:\n"
                "            n = np.maximum(exact.counts, 1)[:, None, None]\n"
                "            square = exact.sums[:, :, None] * exact.sums[:, None] // n\n"
                "            exact = replace(exact, second_moments=exact.second_moments - square)\n"
                "        spare = ",
            ),
        ),
        (f"{AUDITED}[DPMoGHard-2-add-remove-1.0]",),
        "add_remove",
    ),
    Mutant(
        "count noise left out",
        (
            Change(
                f"{CELLS}._vector",
                "        vector.flags.writeable = False",
                "        vector[:k] = 1",
            ),
        ),
        (MOVED, MOMENTS),
        "moments",
    ),
    Mutant(
        "replace-one with the noise of add/remove-one",
        (Change(L2, "if neighboring is Neighboring.ADD_REMOVE:", "if True:"),),
        (MOVED, MOMENTS),
        "replace_one",
    ),
    Mutant(
        "k-means with the sensitivity of two cells only",
        (Change(L2, "max(2 * largest_norm, same_cell)", "2 * largest_norm"),),
        (MOVED, MOMENTS),
        "k_means",
    ),
    Mutant(
        "sqrt(tau) dropped",
        (Change(f"{EM}._noise_scales", "plan[ROUNDS].cost / settings.n_iter", "plan[ROUNDS].cost"),),
        (f"{AUDITED}[DPMoGHard-2-add-remove-1.0]",),
        "add_remove",
    ),
    Mutant(
        "clipping unused",
        (Change("dpmorse.engine._rules:_box", "domain.half_width,", "1e3 * domain.half_width,"),),
        (CLIPPED, f"{AUDITED}[DPMoGHard-2-add-remove-1.0]"),
        "clipped",
    ),
    Mutant(
        "clipping unused, in the compiled code",
        (Change(f"{KERNELS}:_clip", "offset if offset < half else half", "offset"),),
        (CLIPPED, "tests/contracts/test_engines.py::test_users_units"),
    ),
    Mutant(
        "off-diagonal entries drawn twice",
        (
            Change(f"{CELLS}._n_second", "d * (d + 1) // 2", "d * d"),
            Change(
                f"{CELLS}._vector_of",
                "        return np.concatenate(blocks)",
                "        return np.concatenate([*blocks, *blocks[3:]])",
            ),
            Change(f"{CELLS}._matrices", "off.reshape(k, -1)", "off.reshape(2, k, -1).mean(axis=0)"),
        ),
        (MOVED, f"{AUDITED}[DPMoGHard-2-add-remove-1.0]"),
        "add_remove",
    ),
    Mutant(
        "noise reused between rounds",
        (
            Change(
                RELEASE,
                "noise.draw(self._sampler, planned.scales)",
                'self.__dict__.setdefault("kept", {}).setdefault('
                "planned.scales.size, noise.draw(self._sampler, planned.scales))",
            ),
        ),
        (f"{AUDITED}[DPMoGHard-2-add-remove-1.0]",),
        "add_remove",
    ),
    Mutant(
        "noise reused between cells",
        (
            Change(
                RELEASE,
                "        drawn = noise.draw(self._sampler, planned.scales)\n",
                "        drawn = noise.draw(self._sampler, planned.scales)\n"
                "        drawn[1::2] = drawn[: 2 * (drawn.size // 2) : 2]\n",
            ),
        ),
        (f"{AUDITED}[DPMoGHard-2-add-remove-1.0]",),
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
        (CLIPPED,),
        "clipped",
    ),
    Mutant(
        "start from the data",
        (
            Change(
                f"{EM}.release",
                "_start(statistic, rng)",
                "replace(_start(statistic, rng), means="
                "__import__('inspect').getclosurevars(queries._source._reduce).nonlocals['records']"
                "[: statistic.n_cells])",
            ),
        ),
        (QUESTIONS, f"{AUDITED}[DPMoGHard-2-add-remove-1.0]"),
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
        (MOMENTS,),
        "moments",
    ),
)
