"""Targets of mutants and the tests that watch them: names that several mutants share."""

AUDITED = "tests/audit/test_bases.py::test_all_releases_of_a_base_spend_what_they_claim"
MOVED = "tests/audit/test_mechanisms.py::test_worst_pairs_move_as_far_as_is_paid_for_and_no_further"
MOMENTS = "tests/audit/test_mechanisms.py::test_moments_spend_what_they_claim"
OTHERS = (
    "tests/audit/test_mechanisms.py::test_counts_histograms_leaves_and_laplace_noise_spend_what_they_claim"
)
QUESTIONS = "tests/audit/test_bases.py::test_questions_depend_on_answers_only"
CLIPPED = "tests/audit/test_bases.py::test_only_clipped_records_are_looked_at"
GROUPS = "tests/audit/test_bases.py::test_groups_of_rows_are_protected_as_claimed"
COMPARED = "tests/audit/test_kernels.py"
PERSONS = "tests/audit/test_bases.py::test_persons_are_protected_in_every_release_of_the_default_base"
TABLE_NEIGHBOURS = "tests/statistics/test_tables.py::test_neighbours_never_differ_by_more_than_declared"

EM = "dpmorse.bases.em.rounds:PrivateEM"
L2 = "dpmorse.statistics.sensitivity:RecordBounds.squared_l2"
CELLS = "dpmorse.statistics.moments:CellMoments"
LEVELS = "dpmorse.statistics.levels:LevelCounts"
RELEASE = "dpmorse.privacy.mechanism:Mechanism.release"
KERNELS = "dpmorse.engine._kernels"
