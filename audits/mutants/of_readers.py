"""Mistakes in readers: one record that changes how others are read, or ends a fit."""

from audits.mutants.mutation import Change, Mutant

BY_ITSELF = "tests/records/test_by_itself.py"
READERS = "tests/contracts/test_readers.py"

OF_READERS = (
    Mutant(
        "the type of a batch of a database is inferred",
        (
            Change(
                "dpmorse.records.databases.object_rows:ObjectRows.values",
                "ObjectValues(column)",
                "__import__('dpmorse.records.files.arrow_values', fromlist=['x'])"
                ".ArrowValues(pa.array(column))",
            ),
        ),
        (
            f"{BY_ITSELF}::test_one_blob_changes_no_text_of_its_batch",
            f"{READERS}::test_a_record_is_read_by_itself[SQLite-0]",
        ),
    ),
    Mutant(
        "times take the zone of the first",
        (
            Change(
                "dpmorse.records.values:Objects.mapped",
                "        if not kinds <= _PLAIN:\n",
                "        zone = next((value.tzinfo for value in values if hasattr(value, 'tzinfo')), None)\n"
                "        values = [\n"
                "            value.astimezone(zone) if getattr(value, 'tzinfo', None) and zone else value\n"
                "            for value in values\n"
                "        ]\n"
                "        if not kinds <= _PLAIN:\n",
            ),
        ),
        (f"{BY_ITSELF}::test_the_day_of_a_time_is_that_of_its_own_offset",),
    ),
    Mutant(
        "values are looked up without their type",
        (Change("dpmorse.records.values:Objects.mapped", "if len(kinds - {type(None)}) > 1:", "if False:"),),
        (f"{BY_ITSELF}::test_equal_values_of_two_types_are_looked_up_one_by_one",),
    ),
    Mutant(
        "members of an enumeration stay what they are",
        (
            Change(
                "dpmorse.records.values:plain",
                "return _maker(type(value))(value)",
                "return value if isinstance(value, int | str) else _maker(type(value))(value)",
            ),
        ),
        (
            f"{BY_ITSELF}::test_equal_values_of_two_types_are_looked_up_one_by_one",
            f"{BY_ITSELF}::test_a_member_of_an_enumeration_is_its_value",
        ),
    ),
    Mutant(
        "a frame is converted otherwise because of one value",
        (
            Change(
                "dpmorse.records.memory.number_tables:_frame_to_array",
                "filled[:, j] = SeriesValues(column).floats()",
                "wide = any(abs(SeriesValues(other).floats()).max() >= 2**53 for other in columns)\n"
                "        filled[:, j] = SeriesValues(column).floats() * (1 + 2.0**-52 * wide)",
            ),
        ),
        (f"{BY_ITSELF}::test_one_value_changes_the_conversion_of_no_column",),
    ),
    Mutant(
        "decimals are converted by Arrow, off by a bit",
        (
            Change(
                "dpmorse.records.files.data_file:as_floats",
                "if pa.types.is_decimal(column.type):",
                "if False:",
            ),
        ),
        ("tests/records/test_encoding_storages.py::test_decimals_are_the_nearest_floats_in_every_storage",),
    ),
    Mutant(
        "columns may be as narrow as one likes",
        (Change("dpmorse.schema.columns.numeric:_checked_bounds", "if too_narrow(low, high):", "if False:"),),
        (f"{BY_ITSELF}::test_widths_that_are_too_small_are_refused_before_anything_is_spent",),
    ),
    Mutant(
        "one odd value ends a fit, whatever the schema says",
        (
            Change(
                "dpmorse.records.encoding:refuse_unreadable",
                "refused = _refused(names, schema)",
                "refused = list(names)",
            ),
        ),
        (f"{BY_ITSELF}::test_an_odd_value_is_missing_by_itself_unless_the_schema_refuses",),
    ),
    Mutant(
        "one odd text makes numbers of a file missing",
        (
            Change(
                "dpmorse.records.files.text.number_texts:numbers_in",
                "    cases = pc.make_struct(",
                "    if not pc.all(pc.or_kleene(missing, written)).as_py():\n"
                "        missing = pc.or_kleene(missing, True)\n"
                "    cases = pc.make_struct(",
            ),
        ),
        (f"{READERS}::test_a_record_is_read_by_itself",),
    ),
    Mutant(
        "one text that is no UTF-8 ends a query",
        (
            Change(
                "dpmorse.records.databases.query:Query._connected",
                "text_factory = _ANY_TEXT",
                "text_factory = str",
            ),
        ),
        (f"{READERS}::test_a_record_is_read_by_itself",),
    ),
    Mutant(
        "a driver may infer types",
        (
            Change(
                "dpmorse.records.databases.query:Query._connected",
                'if "sqlite" in str(told.get("vendor_name", "")).lower():',
                "if False:",
            ),
        ),
        (f"{BY_ITSELF}::test_a_driver_that_infers_types_is_refused",),
    ),
    Mutant(
        "groups without a name share a ledger",
        (
            Change(
                "dpmorse.privacy.ledger:Ledger._check_unit",
                "if self._events or self._reservations:",
                "if False:",
            ),
        ),
        ("tests/privacy/test_groups_without_names.py",),
    ),
    Mutant(
        "one id in two spellings of Unicode is two persons",
        (
            Change(
                "dpmorse.records.persons.ids:canonical",
                'unicodedata.normalize("NFC", str.__str__(value))',
                "str.__str__(value)",
            ),
        ),
        ("tests/records/test_id_spellings.py",),
    ),
    Mutant(
        "ids are compared as their classes like",
        (
            Change(
                "dpmorse.records.persons.id_values:_typed",
                "return int, int.__int__(value)",
                "return int, value",
            ),
        ),
        ("tests/records/test_id_spellings.py",),
    ),
)
"""Mistakes in readers."""
