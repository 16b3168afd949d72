"""A sealed value gives nothing away, and a base that tries to look at one does not type-check."""

import copy
import operator
import pickle
import sys
import textwrap

import numpy as np
import pytest

from dpmorse import DPMoGHard, InMemoryEngine, InvalidTypeError
from dpmorse.privacy import Exact
from dpmorse.privacy.exact import opened, sealed
from dpmorse.schema import Layout
from dpmorse.statistics import BinaryCodes, CellMoments, ColumnHistograms, Domain, GaussianCells

SECRET = 987_654_321


@pytest.fixture(params=["number", "array", "text"])
def exact(request):
    return sealed({"number": SECRET, "array": np.full(3, SECRET), "text": str(SECRET)}[request.param])


@pytest.mark.parametrize("shown", [repr, str, format, "{}".format, "{!r}".format, ascii, lambda x: f"{x}"])
def test_its_text_is_always_the_same(exact, shown):
    assert shown(exact) == "<exact value>"
    assert str(SECRET) not in shown([exact])


@pytest.mark.parametrize(
    "attempt",
    [
        lambda x: x + 1,
        lambda x: 1 + x,
        lambda x: x - x,
        lambda x: -x,
        lambda x: x * 0,
        lambda x: x[0],
        lambda x: x[:1],
        lambda x: x == SECRET,
        lambda x: x != SECRET,
        lambda x: SECRET == x,  # noqa: SIM300 - the other side is asked first
        lambda x: x < SECRET,
        lambda x: x >= SECRET,
        lambda x: SECRET in x,
        lambda x: x in [SECRET, 0],
        bool,
        int,
        float,
        len,
        list,
        iter,
        hash,
        round,
        operator.index,
        bytes,
        memoryview,
        vars,
        lambda x: x.value,
        lambda x: x.__dict__,
        lambda x: x.__value,
    ],
)
def test_it_has_no_operators_no_items_and_no_attributes(exact, attempt):
    with pytest.raises((TypeError, AttributeError)) as refused:
        attempt(exact)
    assert str(SECRET) not in str(refused.value)


@pytest.mark.parametrize(
    "attempt",
    [
        np.asarray,
        lambda x: np.array(x, dtype=float),
        np.sum,
        np.sort,
        np.isfinite,
        lambda x: np.add(x, 1),
        lambda x: np.arange(3) + x,
        lambda x: np.arange(3) == x,
        lambda x: np.arange(3) @ x,
        lambda x: np.concatenate([x, x]),
        lambda x: np.stack([x]),
    ],
)
def test_it_is_no_array(exact, attempt):
    with pytest.raises(TypeError):
        attempt(exact)


@pytest.mark.parametrize(
    "attempt",
    [copy.copy, copy.deepcopy, pickle.dumps, lambda x: x.__reduce_ex__(2), lambda x: x.__getstate__()],
)
def test_it_cannot_be_copied_or_sent(exact, attempt):
    with pytest.raises(TypeError):
        attempt(exact)


def test_its_size_in_memory_tells_nothing():
    assert sys.getsizeof(sealed(1)) == sys.getsizeof(sealed(np.zeros(10_000)))


def test_only_sealed_values_are_opened():
    assert opened(sealed(SECRET)) == SECRET
    with pytest.raises(TypeError, match="must be sealed"):
        opened(SECRET)


def test_engines_seal_all_that_they_return(rng):
    domain, X = Domain.from_bounds((-1, 1), 2), rng.uniform(-1, 1, (50, 2))
    cells, engine = GaussianCells.nearest(np.zeros((1, 2))), InMemoryEngine()
    answers = (
        engine.reduce(X, CellMoments(domain, 1), cells),
        engine.count(X, ColumnHistograms(Layout((-1.0,) * 2, (1.0,) * 2))),
        engine.tally(X, BinaryCodes.rounded(domain, np.eye(2), 1.0, 3)),
    )
    assert {type(answer) for answer in answers} == {Exact}


def test_an_engine_whose_answers_can_be_looked_at_is_refused(rng):
    class Open(InMemoryEngine):
        def reduce(self, *arguments):
            return opened(super().reduce(*arguments))

    with pytest.raises(InvalidTypeError, match="engine must return values that are sealed"):
        DPMoGHard(2, epsilon=1.0, bounds=(-1, 1), engine=Open()).fit(rng.uniform(-1, 1, (50, 2)))


# -- a base that cheats --------------------------------------------------------------------------------

HONEST = """
    from typing import Any
    from dpmorse.bases import CENTRES, BinaryCodes, CentreBase, CentrePlan, Queries
    from dpmorse.typing import FloatArray
    import numpy as np

    class Base(CentreBase):
        def find_centres(
            self, queries: Queries, plan: CentrePlan, n_records: float, rng: np.random.Generator
        ) -> FloatArray:
            stage, codes = plan[CENTRES], BinaryCodes.rounded(plan.domain, np.eye(2), 1.0, 1)
            tallied = queries.tally(stage.step("grid"), codes)
            {line}
            raise NotImplementedError
"""

CHEATS = {
    "counts: Any = tallied.exact.counts": "has no attribute",
    "counts = tallied.exact + 1": "Unsupported",
    "counts = tallied.exact[0]": "not indexable",
    "counts = float(tallied.exact)": "incompatible type",
    "counts = len(tallied.exact)": "incompatible type",
    "records: Any = queries.records": "has no attribute",
    "records: Any = queries._source.records": "has no attribute",
    "records: Any = queries._source._engine": "has no attribute",
    "counts = queries._mechanism.release(np.arange(3), plan)": "incompatible type",
    "queries.group_counts(stage.step(), np.arange(4), np.arange(4), 2, cost=1.0)": "incompatible type",
    "queries.choose(stage.step(), np.arange(4), 1, 1.0)": "incompatible type",
}


@pytest.mark.long
def test_a_base_that_cheats_does_not_type_check(tmp_path):
    mypy = pytest.importorskip("mypy.api")
    lines = ["pass", *CHEATS]
    for i, line in enumerate(lines):
        (tmp_path / f"base_{i}.py").write_text(textwrap.dedent(HONEST).format(line=line))
    options = [
        "--strict",
        "--no-incremental",
        "--cache-dir",
        str(tmp_path / "cache"),
        "--follow-imports",
        "silent",
    ]
    said = mypy.run([*options, *(str(tmp_path / f"base_{i}.py") for i in range(len(lines)))])[0].splitlines()
    found = {
        i: [line for line in said if f"base_{i}.py" in line and "error" in line] for i in range(len(lines))
    }
    assert found[0] == [], "the base that asks queries only is fine"
    for i, (line, message) in enumerate(CHEATS.items(), start=1):
        assert any(message in error for error in found[i]), f"{line}: {found[i]}"
