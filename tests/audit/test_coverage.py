"""Nothing is released that the audits do not attack: a new base, statistic or question fails here until it is."""

import ast
import inspect
import sys
import warnings
from pathlib import Path

import pytest

import dpmorse
from audits.attacks.bases import WITH_PURE, base, every_base, further
from audits.attacks.mechanisms import all_choices, all_moments, all_others, all_tables
from audits.attacks.sampler import seeded
from audits.attacks.stages import all_stages
from audits.kernels.comparing import compare
from audits.kernels.hostile import KINDS
from audits.kernels.paths import PATHS
from audits.sections.whole_fits import ATTACKED
from dpmorse import bases, statistics
from dpmorse.audit import invented_records, watched_fit
from dpmorse.audit.invented import base_of
from dpmorse.bases import BASES, PrivateMixtureEstimator, Queries
from dpmorse.clustering.base import MorseEstimator

QUESTIONS = ("histograms", "profile", "group_counts", "total", "moments", "choose")
"""What ``Queries`` releases: a tally alone is sealed."""

NOT_RELEASED = {
    *("neighboring", "noise", "public_size", "tally", "rounds", "calibrate"),
    *("cost_of_a_row", "noise_of_counts", "noise_of_bins"),
}
"""What ``Queries`` says of plans, or keeps sealed."""


def public_classes(module):
    named = [getattr(module, name) for name in module.__all__]
    return {one for one in named if inspect.isclass(one) and one.__module__.startswith("dpmorse")}


def released_statistics():
    """Statistics that can be planned, and histograms, which are planned as counts or by themselves."""
    return {one for one in public_classes(statistics) if hasattr(one, "plan") or hasattr(one, "counts")}


def rules():
    """What decides, of a record, where it counts: cells, codes, projections, what integrates out."""
    methods = ("labels", "codes", "apply", "change")
    return {
        one
        for one in public_classes(statistics)
        if any(callable(getattr(one, name, None)) for name in methods)
    }


def attacked_estimators():
    """What the section of bases fits; records of tables are encoded, for a base that derives from theirs."""
    kinds = {kind for kind, *_ in every_base()} | {type(attack.estimator) for attack in further()}
    return {ancestor for kind in kinds for ancestor in kind.__mro__}


def test_the_lists_below_are_not_empty():
    assert {"CellMoments", "SwapCosts", "ProfileCounts", "ColumnHistograms", "GroupCounts"} <= {
        one.__name__ for one in released_statistics()
    }
    assert {"GaussianCells", "GapRule", "PrefixCells", "NearestCubes", "BinaryCodes", "Projection"} <= {
        one.__name__ for one in rules()
    }


def test_every_question_is_known_to_release_or_not_to():
    public = {name for name in vars(Queries) if not name.startswith("_")}
    assert public == {*QUESTIONS, *NOT_RELEASED}


def test_every_base_is_attacked():
    ours = set(BASES.values())
    public = {one for one in public_classes(dpmorse) if issubclass(one, PrivateMixtureEstimator)}
    assert public == ours, "a base that is public is one that can be loaded"
    assert ours <= attacked_estimators()


def test_every_estimator_is_attacked_through_its_releases_and_through_its_model():
    public = {one for one in public_classes(dpmorse) if callable(getattr(one, "fit", None))}
    assert {one for one in public if not issubclass(one, PrivateMixtureEstimator | MorseEstimator)} == set()
    assert public <= attacked_estimators()
    assert public <= {kind for attacked in ATTACKED for kind in attacked.kinds}


def test_every_statistic_and_rule_is_attacked_as_a_mechanism():
    makers = [*all_moments(1), *all_others(), *all_tables(), *all_stages(), *all_choices()]
    attacked = {part for make in makers for part in make().attacked}
    assert released_statistics() | rules() <= attacked


def test_every_statistic_and_rule_is_compared_with_its_plain_form():
    attacked = {part for path in PATHS for part in compare(path, len(KINDS), seed=5).attacked}
    assert released_statistics() | rules() <= attacked


def places_of_questions():
    """Where the bases ask something of the records: file, function and question."""
    folder, found = Path(bases.__file__).parent, set()
    for path in folder.rglob("*.py"):
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(function, ast.FunctionDef):
                asked = {node.func.attr for node in ast.walk(function) if _is_question(node)}
                found |= {(str(path.relative_to(folder)), function.name, question) for question in asked}
    return found


def _is_question(node):
    """Whether this is ``queries.moments(...)``, or the same of an attribute."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
        return False
    owner = node.func.value
    name = owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")
    return node.func.attr in QUESTIONS and name == "queries"


@pytest.fixture
def asked_in(monkeypatch):
    """Where something was asked, while the test runs."""
    found, folder = set(), Path(bases.__file__).parent

    def noting(name, original):
        def question(self, *arguments, **options):
            caller = sys._getframe(1).f_code
            found.add((str(Path(caller.co_filename).relative_to(folder)), caller.co_name, name))
            return original(self, *arguments, **options)

        return question

    for name in QUESTIONS:
        monkeypatch.setattr(Queries, name, noting(name, getattr(Queries, name)))
    return found


@pytest.mark.long
def test_every_question_of_every_base_is_asked_in_an_attacked_fit(asked_in):
    """A stage that only some columns or settings have is attacked with these, or fails here."""
    assert len(places_of_questions()) > 15
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for kind, n_features, relation, mu in every_base():
            watch(base(kind, relation, mu), n_features)
        for attack in further():
            watch(attack.estimator, attack.X.shape[1], attack.X)
        for kind in WITH_PURE:
            watch(base(kind, "add-remove", 1.0, epsilon=2.0, delta=0.0), 2)
    assert places_of_questions() - asked_in == set()


def watch(estimator, n_features, X=None):
    records = invented_records(estimator, n_features) if X is None else X
    watched_fit(base_of(estimator, n_features), records, seeded(1))
