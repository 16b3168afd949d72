"""Columns that are not taken for data unless they are named: row numbers, ids, codes, text in typed files.

Names of columns are public, and so are types where a file states them: no value is looked at.
"""

import re
import unicodedata
from collections.abc import Mapping

_INDEX = re.compile(r"__index_level_\d+__|__null_dask_index__|unnamed: \d+(?:_level_\d+)?|", re.IGNORECASE)
"""Names that pandas and Dask give to columns of row numbers; nothing at all is one of them."""

_ROW_NUMBERS = {"index", "idx", "row", "rownumber", "rownum", "rowno", "rownr", "lfdnr", "obs", "recno"}
"""Whole names that say that a column counts rows, without marks between their words."""

_IDS = {
    *("id", "ids", "uuid", "guid", "mrn", "ssn", "pid", "pidnum", "patid", "subjid", "nhs", "barcode"),
    *("kvnr", "aktenzeichen", "versichertennummer", "nir", "ipp", "iep", "niss", "matricule", "identifiant"),
}
"""Words that say that a column tells who somebody is, in English, German and French."""

_WHOSE = (
    "patient|patienten|pat|person|personal|user|customer|client|subject|case|fall|record|visit|member|employee|"
    "account|sample|study|encounter|kunden|konto|akten|auftrags|rechnungs|matrikel|proben|dossier|sejour|compte"
)
_COUNTED = "no|nr|num|number|nummer|numero"
_JOINED = re.compile(rf"(?:{_WHOSE})(?:id|{_COUNTED})|(?:n|{_COUNTED})(?:de?)?(?:{_WHOSE})")
"""The same in one word, or in two: "patientid", "case number", "numéro de dossier"."""

_POSTAL = {"plz", "postleitzahl", "zip", "zipcode", "postcode", "postalcode", "codepostal"}
"""Whole names that say that a column holds postal codes."""

_NAMES_OF_PEOPLE = {
    *(
        "name",
        "fullname",
        "surname",
        "lastname",
        "familyname",
        "firstname",
        "forename",
        "givenname",
        "maidenname",
    ),
    *(
        "nachname",
        "vorname",
        "familienname",
        "geburtsname",
        "nom",
        "prenom",
        "nomdefamille",
        "apellido",
        "cognome",
    ),
    *(
        "address",
        "street",
        "adresse",
        "anschrift",
        "strasse",
        "rue",
        "email",
        "mail",
        "phone",
        "telephone",
        "telefon",
    ),
}
"""Whole names that say that a column tells who somebody is or where they live."""

_FREE_TEXT = {
    *("comment", "comments", "remark", "remarks", "note", "notes", "freetext", "description"),
    *("kommentar", "bemerkung", "bemerkungen", "notiz", "anmerkung", "freitext", "commentaire", "remarque"),
}
"""Whole names that say that a column holds what somebody wrote."""

ROW_NUMBERS = "row numbers, by its name"
ID = "ids, by its name"
POSTAL = "postal codes, by its name"
NO_NUMBERS = "no numbers, by its type"


def reason_of_name(name: str) -> str | None:
    """Say why a column of this name is not taken for data; None if it is."""
    words = _words(name)
    joined = "".join(words)
    if _INDEX.fullmatch(name.strip()) or joined in _ROW_NUMBERS:
        return ROW_NUMBERS
    if joined in _POSTAL:
        return POSTAL
    return ID if _IDS.intersection(words) or _JOINED.fullmatch(joined) else None


def _words(name: str) -> list[str]:
    """Return the words and numbers of a name, in small letters without accents."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return re.findall(r"[a-z]+|\d+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", plain).lower())


def reason_of_texts(name: str) -> str | None:
    """Say why a column of text under this name is no list of categories; None if it may be one."""
    joined = "".join(_words(name))
    if joined in _NAMES_OF_PEOPLE:
        return "who people are or where they live, by its name"
    return "free text, by its name" if joined in _FREE_TEXT else None


def reasons_to_leave_out(types: Mapping[str, object], numeric: list[str]) -> dict[str, str]:
    """Return the columns of a table that are left out unless they are named, and why each is."""
    reasons = {name: reason_of_name(name) for name in types}
    reasons |= {name: NO_NUMBERS for name in types if name not in numeric and reasons[name] is None}
    return {name: reason for name, reason in reasons.items() if reason is not None}


def in_words(out: Mapping[str, str]) -> str:
    """Return columns and why they are left out, as text."""
    return ", ".join(f"{name!r} ({reason})" for name, reason in out.items())
