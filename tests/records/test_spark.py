"""Spark DataFrames, in a real local session: the same model, also when tasks fail, and one draw a release."""

import os
import shutil
import sys
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from needed import skip_or_fail

# Not in .venv. make test-engines runs this file alone, and pytest fails where a file has no tests left.
pytest.importorskip("pyspark", reason="Spark is not installed: make test-engines has it")
if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
    skip_or_fail("Spark needs Java, and there is none")

import pyarrow as pa
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession, functions

from audits.attacks.tables import TABLES
from described_tables import SCHEMA, columns
from dpmorse import (
    Budget,
    DPCube,
    DPLloyd,
    DPMoG,
    DPMoGHard,
    DPMorse,
    DPTree,
    FileLedger,
    InvalidParameterError,
    InvalidTypeError,
    Ledger,
    PrivateGaussianMixture,
)
from dpmorse.engine import Checked, Fingerprint, Partitions, SparkEngine, SparkParts, spark_jobs
from dpmorse.privacy.sampler import NativeSampler
from dpmorse.records import open_records
from dpmorse.records.clusters import spark as spark_frames
from dpmorse.records.clusters import spark_packing
from dpmorse.statistics import Domain
from own_process import printed_by
from profile_checks import check, records_of_table, table_profile

pytestmark = pytest.mark.filterwarnings("ignore")  # Spark's own, of pandas and of sockets

N = 400
ROWS = np.random.default_rng(3).normal(size=(N, 3)) * 0.3
FRAME = pd.DataFrame(ROWS, columns=["a", "b", "c"])
TABLE = "status string, age double, grade string, smoker boolean, joined date, height double, ward long"


@pytest.fixture(scope="module")
def spark():
    """Two tasks at a time, each tried four times: as on a cluster, whose executors are processes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        options = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "2"}
        session = SparkSession.builder.master("local[2,4]").config(map=options).getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        yield session
        session.stop()


def in_partitions(spark, rows, n=3, schema="a double, b double, c double"):
    return spark.createDataFrame(spark.sparkContext.parallelize(rows, n), schema)


@pytest.fixture(scope="module")
def lazy(spark):
    return in_partitions(spark, ROWS.tolist()).cache()


def model(kind=DPMoGHard, **options):
    few = {"n_iter": 2} if kind in {DPMoG, DPMoGHard, DPLloyd} else {}
    return kind(3, **{"epsilon": 1.0, "bounds": (-1, 1), "random_state": 0, **few, **options})


def values(frame, name):
    return np.array([row[name] for row in frame.select(name).collect()])


@pytest.mark.parametrize("kind", [DPMorse, DPMoGHard, DPMoG, DPLloyd, DPCube, DPTree])
def test_every_base_gives_the_model_of_memory(lazy, kind):
    fitted, expected = model(kind).fit(lazy), model(kind).fit(FRAME)
    assert fitted.mixture_ == expected.mixture_
    assert fitted.feature_names_in_.tolist() == ["a", "b", "c"]
    assert fitted.privacy_.events == expected.privacy_.events


def test_labels_stand_beside_the_columns(lazy):
    fitted = model().fit(FRAME)
    more = lazy.withColumn("name", functions.lit("x")).filter("a > 0").dropna()
    kept = FRAME[FRAME["a"] > 0]
    labelled = fitted.predict(more)
    assert labelled.columns == ["a", "b", "c", "name", "cluster"]
    assert labelled.schema["cluster"].dataType.simpleString() == "tinyint"
    rows = labelled.collect()
    assert np.array_equal([row["a"] for row in rows], kept["a"]), "in order"
    assert np.array_equal([row["cluster"] for row in rows], fitted.predict(kept))
    assert np.array_equal(values(fitted.predict_proba(lazy), "probability"), fitted.predict_proba(FRAME))
    assert np.array_equal(values(fitted.score_samples(lazy), "log_density"), fitted.score_samples(FRAME))
    with pytest.raises(InvalidParameterError, match="must not have a column 'cluster'"):
        fitted.predict(lazy.withColumn("Cluster", functions.lit(1)))


def test_persons_with_many_rows_and_partitions_without_any(spark):
    """Rows of a person are in several partitions, some of them equal; a filter leaves one partition empty."""
    frame = pd.concat([FRAME, FRAME[:60], FRAME[:60], FRAME[:60]]).assign(id=lambda f: np.arange(len(f)) % 60)
    expected = model(max_rows_per_group=3).fit(frame, groups="id")
    rows = [(*record, str(owner)) for *record, owner in frame.itertuples(index=False)]
    lazy = in_partitions(spark, rows, 4, "a double, b double, c double, id string")
    holes = lazy.withColumn("part", functions.spark_partition_id()).repartition(7, "part").drop("part")
    fitted = model(max_rows_per_group=3)
    labelled = fitted.fit_predict(holes, groups="id")
    assert fitted.mixture_ == expected.mixture_
    assert fitted.privacy_.budget.unit == "id"
    assert labelled.columns == ["a", "b", "c", "id", "cluster"]
    label_of = dict(zip(frame["a"], expected.predict(frame[["a", "b", "c"]]), strict=True))
    found = labelled.collect()
    assert len(found) == len(frame)
    assert all(row["cluster"] == label_of[row["a"]] for row in found)


def test_categories_dates_and_holes(spark):
    table = columns(N)
    frame, lazy = pd.DataFrame(table), in_partitions(spark, list(zip(*table.values(), strict=True)), 3, TABLE)
    mixture = PrivateGaussianMixture(2, epsilon=1.0, columns=dict(SCHEMA.columns), random_state=0)
    expected = mixture.fit(frame).mixture_
    fitted = mixture.fit(lazy)
    assert fitted.mixture_ == expected
    assert np.array_equal(values(fitted.predict(lazy), "cluster"), fitted.predict(frame))


def test_profiles_are_counted_as_the_plain_form_does(spark, rng):
    """Records with missing values of every kind, which executors find the cells of."""
    table = TABLES["numbers, categories, missing values"]
    statistic, E = table_profile(rng, table, 5), records_of_table(rng, table, N)
    named = ", ".join(f"c{j} double" for j in range(E.shape[1]))
    records = open_records(in_partitions(spark, E.tolist(), 3, named))
    check(records.engine(None), records.read(None), E, statistic)


def test_private_bounds_whole_numbers_and_one_partition(spark):
    frame = pd.DataFrame({"a.b": np.arange(N) % 17, "yes": np.arange(N) % 3 == 0})
    rows = [(i % 17, i % 3 == 0) for i in range(N)]
    lazy = in_partitions(spark, rows, 1, "`a.b` long, yes boolean")
    private = model(bounds="private", delta=1e-5)
    expected = private.fit(frame).mixture_
    fitted = private.fit(lazy)
    assert fitted.mixture_ == expected
    assert fitted.predict(lazy).columns == ["a.b", "yes", "cluster"]
    assert fitted.predict(lazy).count() == N


def test_many_partitions_are_added_up_by_executors(spark, lazy, monkeypatch):
    monkeypatch.setattr(spark_jobs, "_FAN_IN", 2)
    assert model().fit(lazy.repartition(5)).mixture_ == model().fit(FRAME).mixture_


@pytest.fixture(params=["kept", "read again"])
def kept(request, monkeypatch):
    """Whether executors keep the records while a fit runs; where they cannot, each pass reads them again."""
    if request.param == "read again":
        monkeypatch.setattr(spark_frames, "kept", lambda _: nullcontext())
    return request.param == "kept"


def test_tasks_that_fail_change_nothing(lazy, tmp_path, monkeypatch, kept):
    """Whenever records are read, one process dies and one task raises: one draw a release, one spend."""
    expected, draws = model().fit(FRAME), []
    original = NativeSampler.gaussian
    monkeypatch.setattr(
        NativeSampler, "gaussian", lambda self, scales: draws.append(len(scales)) or original(self, scales)
    )

    def fail_once(batches):
        import os
        import signal

        from pyspark import TaskContext

        task = TaskContext.get()
        for batch in batches:
            yield batch
            if task.attemptNumber() == 0 and task.partitionId() == 0:
                raise OSError("a task that fails after its first batch")
            if task.attemptNumber() == 0 and task.partitionId() == 1:
                os.kill(os.getpid(), signal.SIGKILL)

    ledger = FileLedger(tmp_path / "budget", Budget(9.0))
    fitted = model(ledger=ledger).fit(lazy.mapInArrow(fail_once, lazy.schema))
    assert fitted.mixture_ == expected.mixture_
    assert len(draws) == len(ledger.events) == 2
    assert ledger.events == expected.privacy_.events


def test_a_frame_that_is_another_each_time_is_kept_or_refused(lazy, kept):
    def any_rows(batches):
        import os

        for batch in batches:
            yield batch[ord(os.urandom(1)) % 50 :]

    ledger, another = Ledger(Budget(9.0)), lazy.mapInArrow(any_rows, lazy.schema)
    if kept:
        model(ledger=ledger).fit(another)
        return
    with pytest.raises(InvalidParameterError, match="X changed between two passes"):
        model(ledger=ledger).fit(another)
    assert ledger.events == ()


def test_nothing_is_kept_after_a_fit(spark, lazy):
    lazy.count()
    before = spark.sparkContext._jsc.getPersistentRDDs().size()
    model().fit(lazy)
    with pytest.raises(InvalidParameterError, match="infinity"):
        model().fit(lazy.withColumn("c", functions.lit(float("inf"))))
    assert spark.sparkContext._jsc.getPersistentRDDs().size() == before


def test_spark_hands_over_little_at_a_time_while_a_fit_runs(spark, lazy):
    limit = "spark.sql.execution.arrow.maxBytesPerBatch"
    spark.conf.set(limit, 2**31 - 1)
    try:
        with spark_packing.kept(lazy) as held:
            assert held.blocks.columns == ["block"]
            assert spark.conf.get(limit) == "4194304b"
            with spark_packing.kept(lazy):
                pass
            assert spark.conf.get(limit) == "4194304b", "of the fit that goes on"
        assert spark.conf.get(limit) == f"{2**31 - 1}"
    finally:
        spark.conf.unset(limit)


@pytest.mark.parametrize("kind", ["refused", "old"])
def test_nothing_is_kept_where_spark_cannot(lazy, monkeypatch, kind):
    if kind == "refused":
        monkeypatch.setattr(spark_packing, "_in_memory", lambda _: refuse())
    else:
        monkeypatch.setattr(spark_packing, "_major_version", lambda _: 3)
    with spark_packing.kept(lazy) as held:
        assert held is None
    assert model().fit(lazy).mixture_ == model().fit(FRAME).mixture_


def test_soft_rounds_share_integers_that_are_kept(spark, lazy, monkeypatch):
    """They are made once for a domain, and only those of the last domain are kept."""
    made, original = [], spark_packing.Kept.instead
    monkeypatch.setattr(
        spark_packing.Kept, "instead", lambda self, frame: made.append(1) or original(self, frame)
    )
    lazy.count()  # which is cached itself
    before = spark.sparkContext._jsc.getPersistentRDDs().size()
    assert model(DPMoG, n_iter=4).fit(lazy).mixture_ == model(DPMoG, n_iter=4).fit(FRAME).mixture_
    assert len(made) == 1
    with spark_packing.kept(lazy) as held:
        one, other = held.instead(lazy.select("a")), held.instead(lazy.select("b"))
        assert (one.storageLevel.useMemory, other.storageLevel.useMemory) == (False, True)
    assert spark.sparkContext._jsc.getPersistentRDDs().size() == before


def test_what_soft_rounds_refuse_is_told_without_a_traceback():
    """Records that changed between passes may be refused while integers are made of them."""

    def parts():
        yield Checked(Fingerprint(1, 7), np.zeros((1, 2)))
        raise InvalidParameterError("values must be finite.")

    domain = Domain.from_bounds((-1, 1), 2)
    blocks = list(spark_jobs._blocks_on_grid(parts(), domain))
    rows = spark_jobs._rows_on_grid(domain, iter(blocks))
    assert next(rows).seen == Fingerprint(1, 7)
    with pytest.raises(InvalidParameterError, match="must be finite"):
        next(rows)


def test_an_engine_of_the_caller_is_given_records():
    """It need not know what integers of a domain are."""
    records = Partitions(SparkParts(None, iter, keep=lambda frame: frame), Fingerprint(), 0, list)
    domain = Domain.from_bounds((-1, 1), 2)
    assert SparkEngine(object()).on_grid(records, domain) is records
    assert SparkEngine().on_grid(replace(records, parts=SparkParts(None, iter)), domain).parts.keep is None


def refuse():
    raise AnalysisException("PERSIST TABLE is not supported on serverless compute")


def test_a_block_is_what_it_was_made_of():
    batches = [pa.RecordBatch.from_pandas(FRAME[start : start + 70]) for start in range(0, N, 70)]
    made = list(spark_packing._packed(iter([*batches[:3], batches[0][:0], *batches[3:]])))
    assert len(made) == 1
    (block,) = spark_packing.unpacked(made)
    assert block.to_pandas().equals(FRAME)
    assert list(spark_packing._packed(iter([]))) == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X: X.withColumn("d", functions.lit("x")), "must hold numbers; these do not: 'd'"),
        (lambda X: X.withColumn("d", functions.struct("a")), "must hold numbers; these do not: 'd'"),
        (lambda X: X.select("a", "a"), "distinct column names"),
        (lambda X: X.filter("a > 99"), "0 sample"),
        (lambda X: X.replace(float(FRAME["b"][7]), float("nan")), "missing in the column 'b'.*X.dropna"),
        (lambda X: X.withColumn("c", functions.lit(float("inf"))), "infinity is in the column 'c'"),
        (lambda X: X.sparkSession.readStream.format("rate").load(), "X is a stream"),
        (lambda X: X.groupBy("a"), "must be a pyspark.sql.DataFrame"),
    ],
)
def test_bad_frames_are_refused_before_anything_is_released(lazy, change, message):
    """In words of their own, without a traceback of an executor, which would be run again."""
    ledger = Ledger(Budget(9.0))
    with pytest.raises((InvalidParameterError, InvalidTypeError), match=message):
        model(ledger=ledger).fit(change(lazy))
    assert ledger.events == ()


def test_ids_must_be_in_a_column(lazy):
    with pytest.raises(InvalidTypeError, match="name of a column where X is in files or in Spark"):
        model(max_rows_per_group=2).fit(lazy, groups=np.arange(N))


def test_executors_without_a_library_are_told(lazy):
    def missing(batches):
        import no_such_library  # noqa: F401

        yield from batches

    with pytest.raises(InvalidParameterError, match="the same version, where executors run Python"):
        model().fit(lazy.mapInArrow(missing, lazy.schema))


@pytest.mark.long
def test_spark_connect():
    """A client that talks to a server, which has no RDDs and no Java objects to reach into."""
    said = printed_by(
        """
        import numpy as np
        import pandas as pd
        from pyspark.sql import SparkSession
        from dpmorse import DPMoGHard, InvalidParameterError

        spark = SparkSession.builder.remote("local[2]").getOrCreate()
        frame = pd.DataFrame(np.random.default_rng(3).normal(size=(400, 3)) * 0.3, columns=["a", "b", "c"])
        lazy = spark.createDataFrame(frame.assign(id=range(400))).repartition(3)
        model = DPMoGHard(3, epsilon=1.0, bounds=(-1, 1), n_iter=2, random_state=0, max_rows_per_group=1)
        fitted = model.fit(lazy, groups="id")
        print(fitted.mixture_ == model.fit(frame.assign(id=range(400)), groups="id").mixture_)
        labelled = fitted.predict(lazy).toPandas().sort_values("id")
        print((labelled["cluster"].to_numpy() == fitted.predict(frame)).all())
        try:
            model.fit(lazy.replace(float(frame["a"][0]), float("nan")), groups="id")
        except InvalidParameterError:
            print("refused")
        spark.stop()
        """,
        PYSPARK_PYTHON=sys.executable,
    )
    assert said.split()[-3:] == ["True", "True", "refused"]
