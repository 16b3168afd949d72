"""What makes a cluster, and how it is said: only what noise does not explain, in units that can be ranked."""

from dataclasses import replace

import numpy as np
import pytest

from dpmorse import Boolean, Date, Nominal, Numeric, Ordinal, Schema
from dpmorse.densities import ProductMixture
from dpmorse.profiles import Interval, group_table
from dpmorse.report.columns import Measured, ShownColumn, table_columns
from dpmorse.report.traits import About, Trait, Traits, described, sentence
from table_models import table_profile

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


def measured(*, counts=(8000, 2000), levels=LEVELS, ages=(40.0, 60.0), stddev=10.0):
    """Two components: ages differ by two standard deviations, pain and days do not."""
    means = [[ages[0], 1.0, 3000.0], [ages[1], 1.0, 3000.0]]
    covariances = np.tile(np.diag([100.0, 0.25, 1e6]), (2, 1, 1))
    weights = np.array(counts) / np.sum(counts)
    mixture = ProductMixture(weights, means, covariances, levels, SCHEMA.layout)
    columns = table_columns(SCHEMA)
    profile = table_profile(mixture, counts, missing=0.0, stddev=stddev)
    return Measured(profile, columns, np.arange(len(columns)), SCHEMA)


def test_differences_are_to_the_rest_and_in_standard_deviations_of_all():
    of_model = measured()
    found = {trait.column.name: trait for trait in Traits(of_model, np.eye(2)).of(1)}
    assert set(found) == {"age", "ward", "smoker"}, "what does not differ is not there"
    spread = group_table(of_model.profile, np.ones((1, 2))).spread.value[0, 0]
    assert found["age"].difference == pytest.approx(20 / spread, rel=0.02)
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
    loud = measured(stddev=900.0)
    assert Traits(loud, np.eye(2)).of(1) == [], "the cluster itself may be noise"
    assert Traits(loud, np.eye(2)).clear_levels(1) == [[], []]
    close = measured(levels=[LEVELS[0], LEVELS[0]], ages=(40.0, 40.01))
    assert Traits(close, np.eye(2)).of(0) == []


def test_intervals_that_overlap_decide():
    """Every trait has intervals that do not overlap, and every level that is called clear."""
    of_model, members = measured(stddev=60.0), np.eye(2)
    own, others = (group_table(of_model.profile, groups) for groups in (members, 1 - members))
    clear = {level for levels in Traits(of_model, members).clear_levels(1)[:1] for level in levels}
    apart = (own.levels.share.low[1] > others.levels.share.high[1]) | (
        own.levels.share.high[1] < others.levels.share.low[1]
    )
    assert clear == set(np.flatnonzero(apart[:3]))


def test_all_records_have_nothing_to_be_compared_with():
    assert Traits(measured(), np.ones((1, 2))).of(0) == []


def test_missing_values_are_a_trait():
    of_model = measured(levels=[LEVELS[0], LEVELS[0]], ages=(40.0, 40.0))
    levels = of_model.profile.levels
    gaps = replace(levels, holes=np.array([[0.0], [1000.0]]))
    of_model = replace(of_model, profile=replace(of_model.profile, levels=gaps))
    (trait,) = Traits(of_model, np.eye(2)).of(1)
    assert trait.about is About.MISSING
    assert trait.numbers_in_words == "missing 50\N{NO-BREAK SPACE}%, others 0\N{NO-BREAK SPACE}%"
    assert described([trait]) == "age more often missing (50\N{NO-BREAK SPACE}%)"


# -- words -------------------------------------------------------------------------------------------

AGE = ShownColumn("age", "number", 0)
DAY = ShownColumn("admitted", "date", 1, first_day=0)
PAIN = ShownColumn("pain", "rank", 2, levels=("none", "some", "strong"))
WARD = ShownColumn("ward", "category", 0, levels=("surgery", "medicine"))


def trait(column, difference, own, *, level=0, decimals=0):
    about = About.CENTRE if column.is_number else About.LEVEL
    return Trait(column, 0, about, level, difference, own, 0.0, decimals)


@pytest.mark.parametrize(
    ("one", "words"),
    [
        (trait(AGE, 1.0, 72.4), "high age (72)"),
        (trait(AGE, -2.0, -3.25, decimals=1), "very low age (\N{MINUS SIGN}3.2)"),
        (trait(DAY, 0.6, 31.0), "admitted late (1970-02-01)"),
        (trait(DAY, -1.6, 0.0), "admitted very early (1970-01-01)"),
        (trait(PAIN, 1.0, 1.8), "high pain (near strong)"),
        (trait(WARD, 1.0, 0.7), "ward mostly surgery (70 %)"),
        (trait(WARD, 1.0, 0.3, level=1), "ward more often medicine (30 %)"),
        (trait(WARD, -1.0, 0.1), "ward less often surgery (10 %)"),
        (trait(WARD, -1.0, 0.004), "ward hardly ever surgery (0.4 %)"),
        (trait(AGE, 0.3, 50.0), "close to the other records; slightly high age (50)"),
    ],
)
def test_phrases(one, words):
    assert described([one]).replace("\N{NO-BREAK SPACE}", " ") == words


@pytest.mark.parametrize(
    ("share", "words"),
    [
        ((0.132, 0.120, 0.144), "13 % of the records, give or take 1 %"),
        ((0.132, 0.128, 0.136), "13.2 % of the records, give or take 0.4 %"),
        ((0.5, 0.3, 0.7), "50 % of the records, give or take 20 %"),
        ((0.5, 0.499999, 0.500001), "50.00 % of the records, give or take 0.01 %"),
        ((1.0, 1.0, 1.0), "100 % of the records"),
    ],
)
def test_sizes(share, words):
    said = sentence([trait(AGE, 1.0, 72.0)], Interval(*share)).replace("\N{NO-BREAK SPACE}", " ")
    assert said == f"High age (72); {words}."


def test_sentences_are_short_and_say_what_is_left_out():
    many = [trait(replace(AGE, name=f"c{i}"), 2.0 - i / 10, 1.0) for i in range(7)]
    assert described(many[:2]) == "very high c0 (1) and very high c1 (1)"
    assert described(many).endswith(", and 3 more columns")
    assert described(many[:5]).endswith(", and 1 more column")
    assert described([]) == "no column stands out from the noise"
    assert sentence(many, Interval(0.01, 0.0, 0.02), supported=False).startswith("May be noise")
