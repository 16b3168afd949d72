"""An error message is an output: whatever enters one where records pass by was looked at, and is public."""

from pathlib import Path

import pytest

from raised_messages import findings

SOURCE = Path(__file__).parents[2] / "src/dpmorse"
PACKAGES = ("records", "engine", "statistics", "bases", "clustering", "persistence")
MODULES = sorted(path for package in PACKAGES for path in (SOURCE / package).rglob("*.py"))

COLUMNS = "names or positions of columns, or how many there are: published with a model"
TYPE = "a type, in words that tell no width and no value"
DIMENSIONS = "a number of dimensions, not of rows"
PARAMETER = "a parameter of the caller, which is public"
STRUCTURE = "how many lines of titles or names a file has: its form, not its records"
PLACE = "where the records are: a path, a device"
ADDRESS = "an address without user, password and options"
KNOWN = "another library's error is looked at for a few known phrases, and ours is said instead of it"
FIXED = "a constant of the library"
RELEASED = "a released value, or computed from such"
WORDS = "one of a few texts, written where the function is called and looked at there"

REVIEWED = {
    "bases/pipelines.py": {"learners = _learners(steps[:-1])": "names of classes in a pipeline"},
    "engine/dask_partitions.py": {
        "given = dask.config.get(_SETTING, _DEFAULT)": PARAMETER,
        "patience": PARAMETER,
        "patience = longest_without_workers()": PARAMETER,
    },
    "records/base.py": {
        "self.n_features_in_": COLUMNS,
        "estimator.n_features_in_": COLUMNS,
        "len(schema.names)": COLUMNS,
        "listed(absent)": COLUMNS,
        "listed(others)": COLUMNS,
        "n_columns": COLUMNS,
        "type(estimator).__name__": TYPE,
        "name = type(estimator).__name__": TYPE,
    },
    "records/clusters/dask.py": {
        "OTHER_INDEX": FIXED,
        "X.ndim": DIMENSIONS,
        "groups.ndim": DIMENSIONS,
        "type(X).__name__": TYPE,
    },
    "records/databases/arrow_tables.py": {"type(X).__name__": TYPE},
    "records/files/data_file.py": {
        "COMPRESSIONS": FIXED,
        "_what_is_wrong(error)": "translates what pyarrow says; what it returns is listed here",
        "store = wrong_with_store(error) if isinstance(path, RemotePath) else None": KNOWN,
        "chained to MemoryError": "told anew by records/foreign_errors.py, without sizes",
        "listed(twice)": COLUMNS,
        "os.path.basename(path)": PLACE,
        "path": PLACE,
        "path = remote_file(path) if is_address(path) else path": PLACE,
    },
    "records/files/packed.py": {
        "TEXT_ENDINGS = ('.csv', '.tsv', '.txt')": FIXED,
        "chained to ModuleNotFoundError": "a module that is missing has seen no record",
        "listed(names)": "names of the files in an archive",
        "names[0]": "the name of the file in an archive",
        "path": PLACE,
        "self.path": PLACE,
    },
    "records/files/reading.py": {
        "_OTHER_SIGN[sign]": PARAMETER,
        "_validate.describe(na)": PARAMETER,
        "_validate.describe(number)": PARAMETER,
        "_validate.describe(remove)": PARAMETER,
        "_validate.describe(text)": PARAMETER,
        "encoding": PARAMETER,
        "name": "the name of a parameter, or of a column for which codes are given",
        "separator": PARAMETER,
        "sign = self.decimal or '.'": PARAMETER,
    },
    "records/files/text/text_file.py": {
        "message": "of pyarrow; records/files/data_file.py catches and translates it",
        "path": PLACE,
        "above = lines_above(below, usual) if packed.reading.skip is None else 0": STRUCTURE,
        "path = (packed.path, packed.text_reading)": PLACE,
        "skip = reading.skip or stated is not None": STRUCTURE,
    },
    "records/files/text/refusals.py": {
        "(f\"{name!r} ({' and '.join(sorted(of))})\" for name, of in kinds.items())": "names, and kinds of values",
        "encoding.upper()": PARAMETER,
        "hints = []": "texts of ours, with names of columns and the path",
        "hints = _of_numbers(every)": "texts of ours, with codes and units of public lists",
        "_found_by_inspect(path)": PLACE,
        "likely": "one of two encodings",
        "n_lines": STRUCTURE,
        "path": PLACE,
        "shlex.quote(path)": PLACE,
    },
    "records/files/text/structure.py": {"path": PLACE},
    "records/files/workbook.py": {
        "chained to (DPMorseError, FileNotFoundError, PermissionError, MemoryError)": "told where files are opened",
        "wanted": PARAMETER,
        "(f'--sheet {shlex.quote(sheet.title)}' for sheet in filled)": "names of the sheets of a workbook",
        "filled[0].title": "the name of a sheet of a workbook",
        "path": PLACE,
    },
    "records/files/data_files.py": {
        "in_words(self.left_out)": COLUMNS,
        "type(groups).__name__": TYPE,
    },
    "records/files/locations.py": {
        "ENDINGS[:5]": "endings of names of files",
        "READING_OPTIONS": "names of parameters",
        "named = shown_address(source) if is_address(source) else source": PLACE,
    },
    "records/foreign_errors.py": {
        "chained to (DPMorseError, MemoryError)": "our own errors, and one that is told without sizes",
        "chained to RuntimeError": "an error that is not about memory stays what it is",
        "found = _said(f'{type(error).__name__}: {error}', _OF_QUERIES) or _OTHERWISE": KNOWN,
        "name": "what a kind of table is called, such as the relation",
    },
    "records/persons/ids.py": {"name": COLUMNS},
    "records/memory/table.py": {
        "len(array.shape)": DIMENSIONS,
        "name": PARAMETER,
        "type(X).__name__": TYPE,
    },
    "records/memory/number_tables.py": {
        "_NOT_NUMBERS[kind.kind]": TYPE,
        "_listed_where(odd, frame)": COLUMNS,
        "_listed_where(missing, frame)": COLUMNS,
        "[name for name, is_so in zip(shown(frame.columns), found, strict=True) if is_so]": COLUMNS,
        "listed(bad)": COLUMNS,
        "type(X).__name__": TYPE,
        "what": WORDS,
    },
    "records/databases/object_rows.py": {"listed(odd)": COLUMNS, "path": "what the table is called"},
    "records/names.py": {"what": WORDS, "hint": WORDS},
    "records/opening.py": {
        "chained to ModuleNotFoundError": "a module that is missing has seen no record",
        "extra": FIXED,
        "library": FIXED,
    },
    "records/clusters/spark.py": {
        "name = _new_column(function(np.zeros((1, self.columns.width))))": "one of three names",
        "type(X).__name__": TYPE,
    },
    "records/files/arrow_values.py": {"unit": COLUMNS},
    "records/encoding.py": {
        "listed(odd)": COLUMNS,
        "listed(refused)": COLUMNS,
    },
    "records/persons/arrow_ids.py": {
        "called(name)": COLUMNS,
        "str(column.type).partition('<')[0]": TYPE,
    },
    "records/persons/id_values.py": {
        "STORE": FIXED,
        "_KINDS.get(kind, 'other values')": TYPE,
        "found": WORDS,
        "kind": WORDS,
        "name": COLUMNS,
        "sorted((kind.__name__ for kind in kinds if not _is_id(kind)))": TYPE,
        "str(kind).partition('(')[0]": TYPE,
        "type(groups).__name__": TYPE,
        "values.dtype.name": "float16, float32 or float64: a type of numbers, not of text",
        "values.ndim": DIMENSIONS,
    },
    "records/persons/owners.py": {
        "name": COLUMNS,
        "sorted(types)": TYPE,
    },
    "records/databases/query.py": {
        "_validate.describe(type(self.connect))": TYPE,
        "_validate.describe(type(text))": TYPE,
    },
    "records/files/remote.py": {
        "error": KNOWN,
        "name": ADDRESS,
        "name = shown_address(address)": ADDRESS,
        "parts.netloc.rpartition('@')[2]": ADDRESS,
        "parts.path": ADDRESS,
        "parts.scheme": ADDRESS,
        "shown_address(address)": ADDRESS,
        "wrong = wrong_with_store(error) or 'cannot be read from where it is. Is the address right?'": KNOWN,
    },
    "records/files/rows.py": {
        "what": "how a sentence begins",
        "data.path": PLACE,
        "hint": WORDS,
        "listed(data.names)": COLUMNS,
        "_validate.did_you_mean(unknown[0], data.names)": COLUMNS,
        "listed(infinite)": COLUMNS,
        "listed(rows.missing)": COLUMNS,
        "listed(text)": COLUMNS,
        "listed(unknown)": COLUMNS,
        "excluded(text)": COLUMNS,
        "in_words(out) or 'all'": COLUMNS,
        "text = [name for name in names if name not in data.numeric]": COLUMNS,
    },
    "records/tensors/tensors.py": {
        "REPLACE": FIXED,
        "listed(list(np.flatnonzero(bad).tolist()))": COLUMNS,
        "groups.dtype": TYPE,
        "self._tensor.device": PLACE,
        "tensor.ndim": DIMENSIONS,
        "what": WORDS,
    },
    "engine/spark_jobs.py": {
        "chained to PythonException": "a task that failed; what tasks of this library refuse, they return instead",
        "value": "an error that a task has returned, of this library, whose words are listed here",
    },
    "engine/tensors.py": {
        "_validate.describe(type(records))": TYPE,
        "chained to ModuleNotFoundError": "a module that is missing has seen no record",
    },
    "statistics/domain.py": {
        "_validate.describe(bounds)": PARAMETER,
        "_validate.describe(radius)": PARAMETER,
        "_validate.describe(values)": PARAMETER,
        "array.shape": "the shape of a bound, which is a parameter",
        "LARGEST_BOUND": FIXED,
        "_called(column, names)": COLUMNS,
        "column": COLUMNS,
        "names[column]": COLUMNS,
        "least = least_width(lower, upper)[column]": PARAMETER,
        "lower[column]": PARAMETER,
        "upper[column]": PARAMETER,
        "width[column]": PARAMETER,
        "n_features": COLUMNS,
        "name": "lower or upper",
    },
    "statistics/scales.py": {
        "field.name": FIXED,
        "total = self.count + self.sum + self.second_moment": PARAMETER,
    },
    "bases/registry.py": {"kind": TYPE, "name": "the name of a class"},
    "bases/centres/base.py": {
        "1 - 2 * _SHARE_OF_SIZE": FIXED,
        "name": "the name of a parameter",
        "share = _validate.open_unit_interval(**{name: value})": PARAMETER,
    },
    "bases/base.py": {
        "1 / len(data)": "told under replace-one only, where the number of records is public",
        "_validate.describe(engine)": PARAMETER,
        "_validate.describe(self.ledger)": PARAMETER,
        "budget.delta": PARAMETER,
        "budget.max_rows_per_group": PARAMETER,
        "self.settings_type.__name__": TYPE,
        "sorted(missing)": "names of parameters",
        "type(self).__name__": TYPE,
    },
    "bases/plan.py": {
        "map(repr, stages)": "names of stages",
        "name": "the name of a stage",
        "names = [stage.name for stage in shares]": "names of stages",
    },
    "bases/private_bounds.py": {
        "map(str, columns[:10])": "positions of columns, by what was released of them",
        "what": "one of two texts, which are written where it is called",
    },
    "bases/mixture_estimator.py": {"_validate.describe(n_clusters)": PARAMETER},
    "bases/numbers.py": {
        "type(self).__name__": TYPE,
        "in_one_text(found, _MOST_SENTENCES)": "sentences about clusters and columns, by what was released",
    },
    "bases/queries.py": {
        "type(cells).__name__": TYPE,
        "type(codes).__name__": TYPE,
        "type(statistic).__name__": TYPE,
    },
    "bases/em/rounds.py": {"_validate.describe(value)": PARAMETER, "name": "the name of a parameter"},
    "clustering/base.py": {
        "chained to Exception": "an error of the tree, which sees the released mixture only",
        "self.n_clusters": PARAMETER,
        "tree.n_leaves": RELEASED,
        "type(base).__name__": TYPE,
        "type(self.base_).__name__": TYPE,
    },
    "bases/randomness.py": {"_validate.describe(random_state)": PARAMETER},
    "bases/settings.py": {
        "_validate.describe(pair)": PARAMETER,
        "_validate.describe(bounds)": PARAMETER,
        "listed(unknown)": PARAMETER,
        "listed(without)": COLUMNS,
        "_validate.did_you_mean(unknown[0], without)": COLUMNS,
        "name": PARAMETER,
        "len(schema.names)": COLUMNS,
        "1 << 21": FIXED,
        "settings.n_components": PARAMETER,
        "n_features": COLUMNS,
        "n_values = settings.n_components * settings.values_of_a_component": COLUMNS,
    },
    "bases/centres/dp_cube.py": {"value": PARAMETER},
    "clustering/dp_morse.py": {
        "most = _validate.positive_int(n_components=self.n_components)": PARAMETER,
        "self.n_clusters": PARAMETER,
    },
    "clustering/morse_clustering.py": {
        "_validate.describe(self.base)": PARAMETER,
        "n_components = getattr(self.base, 'n_components', None)": PARAMETER,
        "wanted = int(self.n_clusters)": PARAMETER,
    },
}

WHAT_TO_DO = (
    "enters the message of an error or a warning and was not looked at. A value, a row, a number of rows, a width of "
    "text or another library's message must not: say it in other words, or raise `from None`. If it is public, "
    "add it to REVIEWED in tests/architecture/test_errors.py with the reason."
)


def in_messages():
    """Return what enters a message, each with its module."""
    return {
        (path.relative_to(SOURCE).as_posix(), expression)
        for path in MODULES
        for expression in findings(path.read_text(encoding="utf-8"))
    }


def test_all_that_enters_a_message_was_looked_at():
    found = in_messages()
    reviewed = {
        (module, expression) for module, expressions in REVIEWED.items() for expression in expressions
    }
    assert len(found) > 100
    assert not found - reviewed, f"{sorted(found - reviewed)} {WHAT_TO_DO}"
    gone = sorted(reviewed - found)
    assert not gone, f"in no message any more, so take them out of REVIEWED: {gone}"


CHEATS = {
    "an f-string": ('raise ValueError(f"got {len(X)} rows")', "len(X)"),
    "a format": ('raise ValueError(f"got {X[0]!r:>9}")', "X[0]"),
    "a variable": ('text = f"got {X.shape} "\n    raise ValueError(text)', "X.shape"),
    "a longer variable": ('text = "got "\n    text += f"{X.shape}"\n    raise ValueError(text)', "X.shape"),
    "a number in a variable": ('n = len(X)\n    raise ValueError(f"got {n}")', "n = len(X)"),
    "percent": ('raise ValueError("got %d of %s" % (len(X), X.dtype))', "X.dtype"),
    "str.format": ('raise ValueError("got {}".format(X[0]))', "X[0]"),
    "a sum": ('raise ValueError("got " + str(X[0]))', "X[0]"),
    "a second argument": ('raise ValueError("got", X[0])', "X[0]"),
    "a condition": ('raise ValueError("a" if not X else f"b {X[0]}")', "X[0]"),
    "a helper": ("raise ValueError(_shown(X))", "X.mean()"),
    "an error of a helper": ("raise _error(X)", "X.max()"),
    "a variable error": ('error = ValueError(f"{X[0]}")\n    raise error', "X[0]"),
    "a warning": ('warnings.warn(f"got {len(X)}", UserWarning)', "len(X)"),
    "a note": ('ValueError().add_note(f"got {len(X)}")', "len(X)"),
    "another's words": ("try:\n        X.f()\n    except OSError as error:\n        raise ValueError(str(error)) from None", "error"),
    "a cause": ('try:\n        X.f()\n    except OSError as error:\n        raise ValueError("no") from error', "chained to OSError"),
    "a context": ('try:\n        X.f()\n    except OSError:\n        raise ValueError("no")', "chained to OSError"),
    "an error let through": ("try:\n        X.f()\n    except OSError:\n        raise", "chained to OSError"),
    "a call to a refusal": ('refuse_names([], f"the names {X[0]}", "")', "X[0]"),
}  # fmt: skip

MODULE = """
def f(X):
    {}

def _shown(X):
    return f"mean {{X.mean()}}"

def _error(X):
    return ValueError(f"{{X.max()}}")
"""


@pytest.mark.parametrize("name", CHEATS)
def test_cheats_are_found(name):
    """The walker sees a value by whatever way it gets into a message."""
    code, expression = CHEATS[name]
    assert expression in findings(MODULE.format(code))


@pytest.mark.parametrize(
    "code",
    ['raise ValueError("no rows")', 'try:\n        X.f()\n    except OSError:\n        raise ValueError("no") from None'],
)  # fmt: skip
def test_plain_messages_are_not_found(code):
    assert findings(MODULE.format(code)) == set()
