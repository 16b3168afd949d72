"""What makes a cluster, and how it is said: only what noise does not explain, in units that can be ranked."""

from dataclasses import replace

import numpy as np
import pytest

from dpmorse import Boolean, Date, Nominal, Numeric, Ordinal, Schema
from dpmorse.densities import ProductMixture
from dpmorse.profiles import Interval, beyond_noise, group_table
from dpmorse.report.columns import Measured, ShownColumn, table_columns
from dpmorse.report.sentences import compared, described, sentence
from dpmorse.report.traits import About, Trait, Traits
from mixture_profiles import invented_profile

SCHEMA = Schema.of(
    {
        "age": Numeric(0, 100, missing="ignore"),
        "pain": Ordinal(["none", "some", "strong"]),
        "admitted": Date("2000-01-01", "2020-01-01"),
        "ward": Nominal(["surgery", "medicine"], missing="ignore"),
        "smoker": Boolean(),
    }
)
# Levels: surgery, medicine, other; false, true, other.
LEVELS = [[0.1, 0.88, 0.02, 0.49, 0.49, 0.02], [0.8, 0.18, 0.02, 0.09, 0.89, 0.02]]


PLACES = {name: place for place, name in enumerate(SCHEMA.names)}


def measured(
    *, counts=(8000, 2000), levels=LEVELS, ages=(40.0, 60.0), missing=0.0, noise=2.0, pains=(1.0, 1.0)
):
    """Two components: ages differ by two standard deviations, pain and days do not."""
    means = [[age, pain, 3000.0] for age, pain in zip(ages, pains, strict=True)]
    covariances = np.tile(np.diag([100.0, 0.04, 1e6]), (2, 1, 1))
    weights = np.array(counts) / np.sum(counts)
    mixture = ProductMixture(weights, means, covariances, levels, SCHEMA.layout)
    columns = table_columns(SCHEMA)
    stated = {"size_stddev": noise, "entry_stddev": noise}
    profile = invented_profile(mixture, counts, schema=SCHEMA, missing=missing, **stated)
    return Measured(profile, columns, np.arange(len(columns)), SCHEMA)


def by_column(traits):
    return {trait.column.name: trait for trait in traits}


def test_differences_are_those_of_medians_to_the_rest_in_robust_deviations_of_all():
    of_model = measured()
    found = by_column(Traits(of_model, np.eye(2)).of(1))
    assert set(found) == {"age", "ward", "smoker"}, "what does not differ is not there"
    everybody = group_table(of_model.profile, np.ones((1, 2)))
    unit = (everybody.q3.value - everybody.q1.value)[0, 0] / 1.349
    own, others = group_table(of_model.profile, np.eye(2)[::-1]).median.value[:, 0]
    assert (found["age"].own, found["age"].others) == pytest.approx((own, others))
    assert found["age"].difference == pytest.approx((own - others) / unit)
    assert found["age"].difference == pytest.approx(20 / unit, rel=0.02)
    surgery = 0.8 * 0.1 + 0.2 * 0.8  # among all records
    assert found["ward"].level == 0
    assert found["ward"].difference == pytest.approx(0.7 / np.sqrt(surgery * (1 - surgery)), rel=0.02)
    assert found["smoker"].level == 1, "what is true is said, not what is false"


def test_columns_are_ranked_by_the_size_of_the_difference():
    traits = Traits(measured(), np.eye(2)).of(1)
    sizes = [abs(trait.difference) for trait in traits]
    assert sizes == sorted(sizes, reverse=True)
    assert len(traits) >= 3


def test_what_noise_explains_is_not_a_trait():
    loud = measured(noise=900.0)
    assert Traits(loud, np.eye(2)).of(1) == [], "the cluster itself may be noise"
    assert Traits(loud, np.eye(2)).clear_levels(1) == [[], []]
    close = measured(levels=[LEVELS[0], LEVELS[0]], ages=(40.0, 40.01))
    assert Traits(close, np.eye(2)).of(0) == []


N_COMPARED = 5 + 6 + 2
"""Columns, levels, and columns that may be missing."""


@pytest.mark.parametrize("noise", [5.0, 20.0, 60.0, 120.0])
@pytest.mark.parametrize("apart", [0.3, 1.0, 3.0, 10.0])
def test_a_statement_stands_beyond_the_noise_of_both_sides(apart, noise):
    """The noise of a side is a 1.96th of its interval, towards the other side."""
    of_model = measured(ages=(40.0, 40.0 + apart), noise=noise)
    tables = [group_table(of_model.profile, np.eye(2)[k : k + 1]) for k in (1, 0)]
    (own, others), z = [table.median.at(0, 0) for table in tables], beyond_noise(N_COMPARED)
    stddev = np.hypot(own.value - own.low, others.high - others.value) / 1.96
    stated = "age" in by_column(Traits(of_model, np.eye(2)).of(1))
    over = (own.value - others.value) / stddev
    assert z > 3
    if stated:
        assert over > 0.8 * z  # the width of an interval grows a little less than with z
    elif not np.isnan(over):
        assert over < 1.25 * z


def test_noise_alone_makes_hardly_any_statement():
    """Two clusters that are alike, 300 times: in one of 500 something is said, at most, of either."""
    exact, rng = (
        measured(levels=[LEVELS[0], LEVELS[0]], ages=(40.0, 40.0), noise=20.0),
        np.random.default_rng(0),
    )
    n_said = 0
    for _ in range(300):
        noisy = replace(
            exact.profile,
            sizes=exact.profile.sizes + rng.normal(0, 20.0, 2),
            entries=exact.profile.entries + rng.normal(0, 20.0, exact.profile.entries.shape),
        )
        traits = Traits(replace(exact, profile=noisy), np.eye(2))
        n_said += any(traits.of(k) for k in (0, 1))
    assert n_said <= 3


def test_clear_levels_are_those_of_traits():
    of_model = measured(noise=30.0)
    traits = Traits(of_model, np.eye(2))
    ward, smoker = traits.clear_levels(1)
    found = by_column(traits.of(1))
    assert found["ward"].level in ward
    assert found["smoker"].level in smoker
    assert 2 not in ward, "as many have another ward"


def test_ranks_of_which_most_are_one_are_measured_in_steps():
    """Quartiles of all records are one rank; a cluster whose median is another one differs by a step."""
    of_model = measured(pains=(0.0, 2.0), counts=(9000, 900))
    everybody = group_table(of_model.profile, np.ones((1, 2)))
    assert everybody.q1.value[0, 1] == everybody.q3.value[0, 1] == 0
    trait = by_column(Traits(of_model, np.eye(2)).of(1))["pain"]
    assert (trait.own, trait.others, trait.half) == (2, 0, (2, 2))
    assert trait.difference == pytest.approx(2 * 1.349)
    assert compared(trait) == "median strong, others none"
    assert described([trait]) == "for half of them pain is strong (others: none)"


def test_all_records_have_nothing_to_be_compared_with():
    assert Traits(measured(), np.ones((1, 2))).of(0) == []


@pytest.mark.parametrize(("column", "place"), [("age", 0), ("ward", 3)])
def test_missing_values_are_a_trait(column, place):
    missing = np.zeros((2, 5))
    missing[1, place] = 0.5
    of_model = measured(levels=[LEVELS[0], LEVELS[0]], ages=(40.0, 40.0), missing=missing)
    traits = Traits(of_model, np.eye(2))
    trait = by_column(traits.of(1))[column]
    if column == "ward":  # its levels are parts of all records: half of them are not there
        assert 3 in traits.clear_levels(1)[0]
    assert trait.about is About.MISSING
    assert compared(trait) == "missing 50\N{NO-BREAK SPACE}%, others 0\N{NO-BREAK SPACE}%"
    said = f"{column} more often missing (50 %, others 0 %)"
    assert described([trait]).replace("\N{NO-BREAK SPACE}", " ") == said


# -- words -------------------------------------------------------------------------------------------

AGE = ShownColumn("age", "number", 0)
DAY = ShownColumn("admitted", "date", 1, first_day=0)
PAIN = ShownColumn("pain", "rank", 2, levels=("none", "some", "strong"))
WARD = ShownColumn("ward", "category", 0, levels=("surgery", "medicine"))


def trait(column, difference, own, *, half=None, level=0, decimals=0):
    about = About.MEDIAN if column.is_number else About.LEVEL
    return Trait(column, 0, about, level, difference, own, 0.0, half, decimals)


PRESSURE = replace(AGE, name="bp", label="blood pressure", unit="mmHg")
YEARS = replace(AGE, unit="years")


@pytest.mark.parametrize(
    ("one", "words"),
    [
        (trait(AGE, 1.0, 72.4), "age in the middle 72 (others: about 0)"),
        (
            trait(AGE, 1.0, 72.4, half=(66.2, 78.1)),
            "half of them have age between 66 and 78 (others: about 0)",
        ),
        (
            trait(YEARS, 1.0, 72.4, half=(66.2, 78.1)),
            "half of them are between 66 and 78 years old (others: about 0)",
        ),
        (
            trait(PRESSURE, 1.0, 120, half=(110, 130)),
            "half of them have blood pressure between 110 and 130 mmHg (others: about 0)",
        ),
        (
            trait(AGE, 1.0, 0.5, half=(0.312, 0.421), decimals=4),
            "half of them have age between 0.31 and 0.42 (others: about 0.00)",
        ),
        (trait(AGE, -2.0, -3.25, decimals=1), "age in the middle \N{MINUS SIGN}3.2 (others: about 0.0)"),
        (trait(DAY, 0.6, 31.0), "admitted in the middle 1970-02-01 (others: 1970-01-01)"),
        (
            trait(DAY, -1.6, 0.0, half=(0, 31)),
            "for half of them admitted is between 1970-01-01 and 1970-02-01 (others: 1970-01-01)",
        ),
        (
            trait(PAIN, 1.0, 2.0, half=(1, 2)),
            "for half of them pain is between some and strong (others: none)",
        ),
        (trait(PAIN, 1.0, 2.0, half=(2, 2)), "for half of them pain is strong (others: none)"),
        (trait(WARD, 1.0, 0.7), "ward mostly surgery (70 %, others 0 %)"),
        (trait(WARD, 1.0, 0.3, level=1), "ward more often medicine (30 %, others 0 %)"),
        (trait(WARD, -1.0, 0.1), "ward less often surgery (10 %, others 0 %)"),
        (trait(WARD, -1.0, 0.004), "ward hardly ever surgery (0.4 %, others 0 %)"),
        (
            trait(AGE, 0.3, 50.0),
            "much like the other records; the clearest difference: age in the middle 50 (others: about 0)",
        ),
    ],
)
def test_phrases(one, words):
    assert described([one]).replace("\N{NO-BREAK SPACE}", " ") == words


@pytest.mark.parametrize(
    ("share", "words"),
    [
        ((0.132, 0.120, 0.144), "13 % of the records"),
        ((0.132, 0.100, 0.164), "13 % of the records, give or take 3 %"),
        ((0.5, 0.3, 0.7), "50 % of the records, give or take 20 %"),
        ((0.004, 0.003, 0.005), "0.4 % of the records, give or take 0.1 %"),
        ((1.0, 1.0, 1.0), "100 % of the records"),
    ],
)
def test_sizes(share, words):
    said = sentence([trait(AGE, 1.0, 72.0)], Interval(*share)).replace("\N{NO-BREAK SPACE}", " ")
    assert said == f"{words}: age in the middle 72 (others: about 0)."


def test_sentences_are_short_and_say_what_is_left_out():
    many = [trait(replace(AGE, name=f"c{i}"), 2.0 - i / 10, 1.0) for i in range(7)]
    assert described(many[:2]) == "c0 in the middle 1 (others: about 0); c1 in the middle 1 (others: about 0)"
    assert described(many).endswith("; and 4 more columns differ")
    assert described(many[:4]).endswith("; and 1 more column differs")
    assert described([]) == "no column stands out from the noise"
    noise = sentence(many, Interval(0.01, 0.0, 0.02), supported=False)
    assert noise.endswith(": may be noise, too small to be told from it.")


def test_the_interval_of_a_difference_has_the_noise_of_both_sides():
    of_model = measured(noise=20.0)
    trait = by_column(Traits(of_model, np.eye(2)).of(1))["age"]
    tables = [group_table(of_model.profile, np.eye(2)[k : k + 1]) for k in (1, 0)]
    halves = [(one.median.high - one.median.low)[0, 0] / 2 for one in tables]
    unit = (trait.own - trait.others) / trait.difference
    assert trait.give * unit == pytest.approx(np.hypot(*halves), rel=0.25)
