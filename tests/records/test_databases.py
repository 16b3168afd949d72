"""Records in databases and lazy tables: the model of the same numbers in memory, from one state of the data."""

import sqlite3
from types import SimpleNamespace

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone

import dpmorse.privacy.mechanism as mechanism_module
from described_tables import SCHEMA, columns
from dpmorse import (
    Budget,
    DataFiles,
    DPMoGHard,
    DPMorse,
    DPMorseError,
    InvalidParameterError,
    InvalidTypeError,
    Ledger,
    Numeric,
    Query,
)
from dpmorse.records import open_matching, open_records
from every_base import OF_NUMBERS, WAYS
from needed import needed
from parts_read import arrays_of

NAMES = ["age", "height", "weight"]
N = 600


@pytest.fixture(autouse=True)
def _many_small_batches(monkeypatch):
    """Nothing is kept between passes: every pass asks the database."""
    monkeypatch.setattr("dpmorse.records.streams._KEPT_BYTES", 0)
    for module in ("arrow_tables", "query"):
        monkeypatch.setattr(f"dpmorse.records.databases.{module}.rows_of_a_batch", lambda *_: 200)


@pytest.fixture(scope="module")
def table():
    X = np.random.default_rng(3).normal(size=(N, 3)) * 0.3
    return pa.table({**{name: X[:, i] for i, name in enumerate(NAMES)}, "person": np.arange(N) % 200})


@pytest.fixture(scope="module")
def X(table):
    return np.column_stack([table[name] for name in NAMES])


@pytest.fixture
def duck(table):
    with duckdb.connect() as connection:
        connection.register("given", table)
        connection.execute("create table visits as select * from given")
        yield connection


@pytest.fixture
def lite(table, tmp_path):
    """The path of a database of SQLite."""
    path = tmp_path / "visits.db"
    with sqlite3.connect(path) as connection:
        connection.execute("pragma journal_mode = wal")  # readers and writers do not wait for each other
        connection.execute("create table visits (age real, height real, weight real, person integer)")
        rows = zip(*(table[name].to_pylist() for name in table.column_names), strict=True)
        connection.executemany("insert into visits values (?, ?, ?, ?)", rows)
    connection.close()
    return path


class Stream:
    """An object of another library that makes Arrow streams."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def adbc_like(path):
    """A connection whose cursors return Arrow batches, as those of ADBC do."""
    connection = sqlite3.connect(path)

    class Cursor:
        def execute(self, sql):
            self.rows = connection.execute(sql)

        def fetch_record_batch(self):
            names = [column[0] for column in self.rows.description]
            batches = pa.table(dict(zip(names, zip(*self.rows.fetchall(), strict=True), strict=True)))
            return pa.RecordBatchReader.from_batches(batches.schema, batches.to_batches(300))

        def close(self):
            self.rows.close()

    return SimpleNamespace(cursor=Cursor, close=connection.close)


def sources(table, duck, lite, wanted="age, height, weight"):
    names = [name.strip() for name in wanted.split(",")]
    sql = f"select {wanted} from visits"
    return {
        "relation": duck.sql(sql),
        "lazy frame": pl.from_arrow(table).lazy().select(names),
        "sqlite": Query(lambda: sqlite3.connect(lite), sql),
        "duckdb": Query(duck.cursor, sql),
        "adbc": Query(lambda: adbc_like(lite), sql),
        "stream": Stream(table.select(names)),
    }


def model(kind=DPMoGHard, **options):
    return kind(3, epsilon=1.0, bounds=(-1, 1), random_state=0, **options)


@pytest.mark.parametrize("name", [*OF_NUMBERS, "described numbers"])
def test_every_base_releases_the_model_of_the_array(name, table, X, duck, lite):
    way, named = WAYS[name], {}
    if name not in OF_NUMBERS:
        named = {"columns": {column: Numeric(-1, 1) for column in NAMES}}
    base = way.short(3, random_state=0, **named)
    expected = base.fit(X).mixture_
    for X_there in sources(table, duck, lite).values():
        assert clone(base).fit(X_there).mixture_ == expected


def test_labels_are_an_array_in_the_order_of_the_rows(table, X, duck, lite):
    fitted = model(DPMorse).fit(table.select(NAMES))
    for X_there in sources(table, duck, lite).values():
        assert np.array_equal(fitted.predict(X_there), fitted.predict(table.select(NAMES)))
    wide = duck.sql("select person, weight, height, age from visits")
    assert np.array_equal(fitted.predict(wide), fitted.predict(table.select(NAMES))), "found by name"


def test_persons(table, X, duck, lite):
    expected = model(max_rows_per_group=2).fit(X, groups=np.asarray(table["person"])).mixture_
    for X_there in sources(table, duck, lite, "age, height, weight, person").values():
        assert model(max_rows_per_group=2).fit(X_there, groups="person").mixture_ == expected
        named = DataFiles(X_there, columns=NAMES, unit="person")
        assert model(max_rows_per_group=2).fit(named).mixture_ == expected


def test_private_bounds(X, lite):
    X_there = Query(lambda: sqlite3.connect(lite), "select age, height, weight from visits")
    private = DPMoGHard(3, epsilon=1.0, bounds="private", random_state=0)
    assert private.fit(X_there).mixture_ == DPMoGHard(**private.get_params()).fit(X).mixture_


def test_categories_dates_and_holes(tmp_path, duck):
    described = columns(400)
    expected = open_records(pd.DataFrame(described), schema=SCHEMA).read(None)
    fitted = SimpleNamespace(
        schema_=SCHEMA, n_features_in_=7, feature_names_in_=np.array(SCHEMA.names, dtype=object)
    )
    duck.register("given", pa.table(described))
    duck.execute("create table held as select * from given")
    path = tmp_path / "described.db"
    with sqlite3.connect(path) as connection:
        connection.execute(f"create table held ({', '.join(described)})")
        texts = {**described, "joined": [day and day.isoformat() for day in described["joined"]]}
        connection.executemany(
            "insert into held values (?, ?, ?, ?, ?, ?, ?)", zip(*texts.values(), strict=True)
        )
    connection.close()
    categories = pl.DataFrame(described).with_columns(pl.col("status").cast(pl.Categorical))
    for X_there in (
        duck.sql("select * from held"),
        categories.lazy(),
        Stream(categories),
        Query(duck.cursor, "select * from held"),
        Query(
            lambda: sqlite3.connect(path),
            "select status, age, grade, case smoker when 1 then 'true' when 0 then 'false' end as smoker, "
            "joined, height, ward from held",
        ),
    ):
        records = open_records(X_there, schema=SCHEMA)
        assert np.array_equal(np.concatenate(arrays_of(records.read(None))), expected)
        assert np.array_equal(open_matching(X_there, fitted).each(None, lambda array: array), expected)


def test_missing_values_are_refused_or_dropped(duck, table, X):
    holes = "select nullif(age, (select max(age) from visits)) as age, height, weight from visits"
    for X_there in (duck.sql(holes), Query(duck.cursor, holes)):
        with pytest.raises(InvalidParameterError, match="missing in the column 'age'"):
            model().fit(X_there)
        complete = np.delete(X, np.argmax(X[:, 0]), axis=0)
        assert model().fit(DataFiles(X_there, missing="drop")).mixture_ == model().fit(complete).mixture_


@pytest.fixture
def draws(monkeypatch):
    """The number of releases."""
    drawn = []
    original = mechanism_module.Mechanism.release

    def release(self, *args, **options):
        drawn.append(1)
        return original(self, *args, **options)

    monkeypatch.setattr(mechanism_module.Mechanism, "release", release)
    return drawn


def test_passes_that_differ_are_refused_with_no_second_draw(lite, draws):
    """Rows change by themselves, where no transaction helps: after the check and the first round."""
    ledger, calls = Ledger(Budget(1.0, 1e-6)), []

    def connect():
        connection = sqlite3.connect(lite)
        connection.create_function("tick", 0, lambda: calls.append(1) or len(calls))
        return connection

    changing = Query(connect, f"select age + (tick() > {2.5 * N}) as age, height from visits")
    estimator = model(ledger=ledger)
    with pytest.raises(InvalidParameterError, match="changed between two passes"):
        estimator.fit(changing)
    assert len(draws) == len(ledger.events) == 1
    assert not hasattr(estimator, "mixture_")


def test_a_relation_whose_table_changes_is_refused(duck, table, monkeypatch):
    relation, passes = duck.sql("select age, height, weight from visits"), []
    original = DataFiles.reads

    def reads(self):
        yield from original(self)
        passes.append(1)
        duck.execute("insert into visits values (0, 0, 0, 0)")

    monkeypatch.setattr(DataFiles, "reads", reads)
    with pytest.raises(InvalidParameterError, match="changed between two passes"):
        model().fit(relation)
    assert len(passes) == 2


@pytest.mark.parametrize("database", ["sqlite", "duckdb"])
def test_a_query_sees_one_state_of_the_database(database, duck, lite, X, table, monkeypatch):
    """Another connection changes the table after every pass: this fit does not see it, the next one does."""
    X_there = sources(table, duck, lite)[database]
    original, other = DataFiles.reads, sqlite3.connect(lite) if database == "sqlite" else duck

    def reads(self):
        yield from original(self)
        other.execute("insert into visits values (0, 0, 0, 0)")
        if database == "sqlite":
            other.commit()

    expected = model().fit(X).mixture_
    monkeypatch.setattr(DataFiles, "reads", reads)
    assert model().fit(X_there).mixture_ == expected
    assert len(model().fit(table.select(NAMES)).predict(X_there)) > N
    if database == "sqlite":
        other.close()


def test_connections_are_closed(lite, X):
    opened = []

    def connect():
        opened.append(sqlite3.connect(lite))
        return opened[-1]

    X_there = Query(connect, "select age, height, weight from visits")
    model().fit(X_there).predict(X_there)
    with pytest.raises(InvalidParameterError, match="'age'"):
        model().fit(Query(connect, "select null as age from visits"))
    assert len(opened) > 2
    for connection in opened:
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            connection.execute("select 1")


def test_text_is_refused_by_its_type_with_all_names(duck, lite):
    sql = "select age, 'SECRET' as name, height, 'SECRET' as ward from visits"
    with sqlite3.connect(lite) as connection:
        connection.execute("create table texts (age real, name text, ward varchar(9))")
    connection.close()
    for X_there in (
        duck.sql(sql),
        Query(duck.cursor, sql),
        pl.LazyFrame({"age": [1.0], "name": ["SECRET"], "ward": ["SECRET"]}),
        Query(lambda: sqlite3.connect(lite), "select age, name, ward from texts"),
    ):
        with pytest.raises(InvalidTypeError, match="these do not: 'name', 'ward'"):
            model().fit(X_there)
    with pytest.raises(InvalidTypeError, match="numbers in the column 'name', 'ward'") as raised:
        model().fit(Query(lambda: sqlite3.connect(lite), sql))
    assert "SECRET" not in str(raised.value)


def test_types_that_a_driver_tells_by_a_code(lite, monkeypatch):
    """As PEP 249 has it: a code is equal to STRING of the module."""
    import sys

    class Cursor:
        description = (("age", 7), ("name", 9))

        def execute(self, sql):
            pass

        def close(self):
            pass

    class Connection:
        cursor, close = Cursor, Cursor.close

    Connection.__module__ = "invented_driver"
    monkeypatch.setitem(sys.modules, "invented_driver", SimpleNamespace(STRING=9, NUMBER=7))
    with pytest.raises(InvalidTypeError, match="these do not: 'name'"):
        model().fit(Query(Connection, "select age, name from visits"))


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("select age, height as age from visits", "distinct column names"),
        ("select age, height from visits where age > 99", "0 sample"),
        ("select age, null as height from visits", "'height'"),
        ("select age, 1e999 as height from visits", "infinity is in the column 'height'"),
        ('select age as "1.5", height as "2.5" from visits', "looks like a record"),
        ("select SECRET from nowhere", "names a table or a function that the database does not have"),
        ("select no_such_column from visits", "names a column that is not there"),
        ("selekt SECRET", "has a mistake in its SQL"),
    ],
)
def test_hostile_queries(sql, message, duck, lite):
    for connect in (lambda: sqlite3.connect(lite), duck.cursor):
        with pytest.raises(DPMorseError, match=message) as raised:
            model().fit(Query(connect, sql))
        assert "SECRET" not in str(raised.value)
        assert raised.value.__cause__ is None


def test_no_rows_have_no_labels(duck, X, table):
    fitted = model().fit(table.select(NAMES))
    with pytest.raises(InvalidParameterError, match="0 sample"):
        fitted.predict(duck.sql("select * from visits where age > 99"))


def test_numbers_of_every_kind(duck, lite):
    """Decimals, whole numbers above 2^53 and booleans are the floats nearest to them."""
    big = [2**53 + 1, 2**62 + 3, -(2**63) + 5, 7]
    duck.execute("create table odd (big bigint, huge hugeint, money decimal(18, 4), flag boolean)")
    duck.executemany("insert into odd values (?, ?, ?, ?)", [(i, i, 0.125, i > 7) for i in big])
    with sqlite3.connect(lite) as connection:
        connection.execute("create table odd (big, huge, money, flag)")
        connection.executemany("insert into odd values (?, ?, ?, ?)", [(i, i, 0.125, i > 7) for i in big])
    connection.close()
    expected = np.array([[float(i), float(i), 0.125, i > 7] for i in big])
    for X_there in (duck.sql("select * from odd"), Query(lambda: sqlite3.connect(lite), "select * from odd")):
        assert np.array_equal(np.concatenate(arrays_of(open_records(X_there).read(None))), expected)


def test_ids_of_several_types_are_compared_as_they_are_written(lite, X, table):
    """A whole number and the text that writes it are one person; what is neither has no owner."""
    sql = "select age, height, weight, {} as person from visits"
    persons = model(max_rows_per_group=1).fit(X, groups=np.asarray(table["person"])).mixture_
    for ids in ("case when age > 0 then person else cast(person as text) end", "cast(person as real)"):
        X_there = Query(lambda: sqlite3.connect(lite), sql.format(ids))
        assert model(max_rows_per_group=1).fit(X_there, groups="person").mixture_ == persons
    blobs = Query(lambda: sqlite3.connect(lite), sql.format("case when age > 0 then person else x'00ff' end"))
    with pytest.raises(InvalidParameterError, match="values are missing in the column 'person'"):
        model(max_rows_per_group=1).fit(blobs, groups="person")


def test_what_can_be_read_only_once_is_refused(table, duck, lite):
    for once, message in (
        (table.to_reader(), "RecordBatchReader, which can be read only once"),
        (duck.execute("select * from visits"), "Give a relation"),
    ):
        with pytest.raises(InvalidTypeError, match=message):
            model().fit(once)


@pytest.mark.parametrize(
    ("connect", "sql", "message"),
    [
        ("visits.db", "select 1", "connect must be a function"),
        (sqlite3.connect, None, "sql must be the text of a query"),
        (sqlite3.connect, " ", "sql must be the text of a query"),
    ],
)
def test_bad_parameters(connect, sql, message):
    with pytest.raises(InvalidTypeError, match=message):
        Query(connect, sql)


def test_nothing_of_a_failed_connection_is_told(lite):
    def connect():
        raise ConnectionError("postgres://ann:SECRET@host refused")

    connection = sqlite3.connect(lite)
    closed = Query(lambda: connection, "select age, height from visits")
    with pytest.raises(InvalidParameterError, match="Run it by itself to see why") as raised:
        model().fit(Query(connect, "select 'SECRET'"))
    assert "SECRET" not in f"{raised.value} {Query(connect, 'SECRET')!r}"
    with pytest.raises(InvalidParameterError, match="connect must open a new one each time"):
        model().fit(closed)


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")  # of Ibis itself
def test_ibis(lite, X):
    """A connection that is lent to a fit is afterwards what it was before."""
    backend = needed("ibis").sqlite.connect(lite)
    visits = backend.table("visits").select(NAMES)
    fitted = model().fit(visits)
    assert fitted.mixture_ == model().fit(X).mixture_
    assert np.array_equal(fitted.predict(visits), model().fit(X).predict(X))
    assert backend.con.text_factory is str
    assert not backend.con.in_transaction
    backend.con.execute("begin transaction")
    backend.con.execute("update visits set age = 0")
    fitted.predict(visits)
    assert backend.con.in_transaction
    backend.con.rollback()


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")  # of Ibis itself
def test_ibis_on_duckdb(duck, X):
    visits = needed("ibis").duckdb.from_connection(duck).table("visits").select(NAMES)
    assert model().fit(visits).mixture_ == model().fit(X).mixture_
