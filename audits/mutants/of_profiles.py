"""Mistakes in counts of profiles and columns: where a record counts, how often, and what is paid for it."""

from audits.mutants.mutation import Change, Mutant
from audits.mutants.targets import AUDITED, COMPARED, KERNELS, MOVED, PERSONS, QUESTIONS

_COUNTS = "dpmorse.statistics.profiles:ProfileCounts"
_PROFILE = "dpmorse.bases.queries:Queries.profile"
_IN_PROFILES = f"{AUDITED}[PrivateGaussianMixture-2-add-remove-1.0]"
_LABELS = "tests/contracts/test_profile_engines.py"

OF_PROFILES = (
    Mutant(
        "a number is counted in two bins",
        (
            Change(
                f"{KERNELS}:_count_bins",
                "        counts[k, start + low] += 1",
                "        counts[k, start + low] += 1\n        counts[k, start] += 1",
            ),
        ),
        (COMPARED,),
    ),
    Mutant(
        "a number at the end of a bin is counted on both sides",
        (
            Change(
                f"{KERNELS}:_count_bins",
                "        counts[k, start + low] += 1",
                "        counts[k, start + low] += 1\n"
                "        if low < edges.size and edges[low] == value:\n"
                "            counts[k, start + low + 1] += 1",
            ),
        ),
        (COMPARED,),
    ),
    Mutant(
        "a missing number is counted in a bin as well",
        (Change(f"{KERNELS}:_count_bins", "            continue\n", ""),),
        (COMPARED,),
    ),
    Mutant(
        "a missing category has the first level as well",
        (
            Change(
                f"{KERNELS}:_count_levels",
                "        if place >= 0:",
                "        if place == missing_at:\n"
                "            counts[labels[r], start] += 1\n"
                "        if place >= 0:",
            ),
        ),
        (COMPARED,),
    ),
    Mutant(
        "profiles are counted in the ball",
        (
            Change(
                f"{KERNELS}:profile_pass",
                "_quantise(X, begin, begin + n, counted.grid, whole)",
                "_clip(X, begin, begin + n, nearest.grid.box, whole)",
            ),
        ),
        (COMPARED,),
    ),
    Mutant(
        "the first record of a block has the cell of the last",
        (
            Change(
                f"{KERNELS}:profile_pass",
                "        for r in range(n):\n            counts[labels[r], 0] += 1",
                "        labels[0] = labels[n - 1]\n"
                "        for r in range(n):\n            counts[labels[r], 0] += 1",
            ),
        ),
        (COMPARED, f"{_LABELS}::test_orders_chunkings_and_thread_counts"),
    ),
    Mutant(
        "a record with missing numbers has the numbers of the one before",
        (
            Change(
                f"{KERNELS}:_integrate_out",
                "y[j] = whitened[j, r] * unit",
                "y[j] = whitened[j, max(r - 1, 0)] * unit",
            ),
        ),
        (COMPARED,),
    ),
    Mutant(
        "a record with missing numbers also lacks those that the one before lacked",
        (
            Change(
                f"{KERNELS}:_integrate_out",
                "    for r in range(n):\n        n_missing = 0\n",
                "    n_missing = 0\n    for r in range(n):\n        n_missing = n_missing % d\n",
            ),
        ),
        (COMPARED,),
    ),
    Mutant(
        "what is missing is integrated out of the first cell only",
        (
            Change(
                f"{KERNELS}:_integrate_out",
                "gaps.products[k]",
                "gaps.products[0]",
            ),
        ),
        (COMPARED,),
    ),
    Mutant(
        "logarithms are another library's, off in the last bits",
        (
            Change(
                f"{KERNELS}:_change",
                "_natural_log(root[a, a])",
                "math.log(root[a, a]) * (1 + 2.0**-50)",
            ),
        ),
        (f"{_LABELS}::test_what_is_integrated_out_is_that_of_the_plain_form_bit_for_bit",),
    ),
    Mutant(
        "a value outside of the bounds is counted at the bound as well",
        (
            Change(
                f"{KERNELS}:count_pass",
                "                else:",
                "                else:\n                    row[last if x > upper else 0] += 1",
            ),
        ),
        (COMPARED,),
    ),
    Mutant(
        "a missing number is counted in the middle of its bounds",
        (
            Change(
                f"{KERNELS}:count_pass",
                "                    continue\n",
                "                    row[last >> 1] += 1\n                    continue\n",
            ),
        ),
        (COMPARED,),
    ),
    Mutant(
        "only values inside the bounds are paid for",
        (
            Change(
                "dpmorse.statistics.counts:ColumnHistograms.counts",
                "GroupCounts(self.n_features * self.n_bins, self.n_features)",
                "GroupCounts(self.n_features * self.n_bins, 0.9 * self.n_features)",
            ),
        ),
        (MOVED,),
        "stages",
    ),
    Mutant(
        "the sizes of a profile are not paid for",
        (
            Change(
                f"{_COUNTS}.plan",
                "sum((Fraction(part.cost) for part in parts), Fraction())",
                "Fraction(parts[1].cost)",
            ),
        ),
        (MOVED,),
        "stages",
    ),
    Mutant(
        "sizes and bins of a profile share one cost",
        (
            Change(f"{_COUNTS}.plan_bins", "(1 - OF_SIZES) * cost", "cost"),
            Change(
                f"{_COUNTS}.plan",
                "sum((Fraction(part.cost) for part in parts), Fraction())",
                "Fraction(max(part.cost for part in parts))",
            ),
        ),
        (MOVED,),
        "stages",
    ),
    Mutant(
        "the bins of all columns are paid for as those of one",
        (
            Change(
                f"{_COUNTS}.plan",
                "GroupCounts(k * n_entries, self.n_counted_columns)",
                "GroupCounts(k * n_entries)",
            ),
        ),
        (MOVED,),
        "stages",
    ),
    Mutant(
        "categories of a profile are free",
        (Change(f"{_COUNTS}.n_counted_columns", " + len(self.counted)", ""),),
        (MOVED,),
        "stages",
    ),
    Mutant(
        "sizes have the noise of bins",
        (
            Change(
                f"{_COUNTS}.plan",
                "np.hstack(list(rows)).ravel()",
                "np.full(k * self.n_bins, of_bins.scales[0])",
            ),
        ),
        (MOVED,),
        "stages",
    ),
    Mutant(
        "a profile spends its stage twice",
        (
            Change(
                "dpmorse.bases.staged.profile:release_profile",
                "queries.profile(stage.step(), statistic, stage.cost)",
                "queries.profile(stage.step(), statistic, 2 * stage.cost)",
            ),
        ),
        (_IN_PROFILES,),
        "profiles",
    ),
    Mutant(
        "the profile of a person for the price of a row",
        (Change(_PROFILE, "planned.for_groups(self._budget)", "planned"),),
        (PERSONS,),
        "profiles_of_persons",
    ),
    Mutant(
        "noise of a profile is that of a row, where persons are protected",
        (Change(_PROFILE, "self.cost_of_a_row(cost)", "cost"),),
        (PERSONS,),
        "profiles_of_persons",
    ),
    Mutant(
        "ends of bins are where records are",
        (
            Change(
                "dpmorse.bases.staged.profile:release_profile",
                "steps = np.clip(np.rint((edges - centre) * per_unit), -farthest, farthest)",
                "steps = np.clip(np.rint((edges - centre) * per_unit), -farthest, farthest)\n"
                "    exact = __import__('inspect').getclosurevars(queries._source._count)\n"
                "    steps[:, 0] -= np.rint(1000 * abs(exact.nonlocals['records'][0, 0]))",
            ),
        ),
        (QUESTIONS,),
        "questions_of_profiles",
    ),
)
"""Mistakes in profiles and histograms."""
