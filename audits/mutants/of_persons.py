"""Mistakes in the promise to persons: rows that are used, identities, and units of budgets."""

from audits.mutants.mutation import Change, Mutant

_ATTACKS = "tests/records/test_person_attacks.py"

OF_PERSONS = (
    Mutant(
        "one row more of a person than the cap",
        (Change("dpmorse.records.persons.row_choice:RowChoice.used", "hashes < limits", "hashes <= limits"),),
        ("tests/records/test_row_choice.py",),
    ),
    Mutant(
        "equal rows of a person slip through the cap",
        (
            Change(
                "dpmorse.records.persons.row_choice:AtLimit.repeated",
                "copies = choice",
                "copies = 2 * choice",
            ),
        ),
        ("tests/records/test_row_choice.py",),
    ),
    Mutant(
        "passes are not compared",
        (
            Change(
                "dpmorse.engine.fingerprint:Fingerprint.check_same",
                "self != other",
                "self.n_rows != other.n_rows",
            ),
        ),
        (_ATTACKS,),
    ),
    Mutant(
        "hashes without the owner",
        (
            Change(
                "dpmorse.records.persons._kernels:hash_rows",
                "words[i] = seeds[begin + i]",
                "words[i] = np.uint64(begin * 0)",
            ),
        ),
        (_ATTACKS,),
    ),
    Mutant(
        "a number and its text are two persons",
        (
            Change(
                "dpmorse.records.persons.ids:canonical", "return int(text) if _USUAL", "return text if _USUAL"
            ),
        ),
        ("tests/records/test_owners.py", _ATTACKS),
    ),
    Mutant(
        "doubles beyond 2^53 are ids",
        (Change("dpmorse.records.persons.id_values:_whole", "52) + 1)", "52) + 2)"),),
        ("tests/records/test_owners.py",),
    ),
    Mutant(
        "one number in two spellings is taken",
        (
            Change(
                "dpmorse.records.persons.owners:check_spelling", "if ids.spell_a_number_twice():", "if False:"
            ),
        ),
        (_ATTACKS,),
    ),
    Mutant(
        "unequal indices are taken",
        (
            Change(
                "dpmorse.records.memory.table:Table.check_index_of", "not ours.equals(theirs[rows])", "False"
            ),
        ),
        (_ATTACKS,),
    ),
    Mutant(
        "fits for another unit are paid for",
        (Change("dpmorse.privacy.unit:Unit.check_pays_for", "fit.name != self.name", "False"),),
        ("tests/privacy/test_units.py",),
    ),
    Mutant(
        "the promise is what was used",
        (
            Change(
                "dpmorse.privacy.report:PrivacyReport",
                "return Composition.of(self.reserved)",
                "return Composition.of(self.events)",
            ),
        ),
        ("tests/bases/test_promise.py",),
    ),
)
