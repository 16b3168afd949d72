"""Public lists of what often stands in tables: codes for missing values, units, words of a line of sums.

Whatever is said of a file may name these, because they are no values of records but what everybody writes.
"""

NUMBER_CODES = (
    *(-1.0, -7.0, -8.0, -9.0, -77.0, -88.0, -99.0, -888.0, -999.0, -9999.0, -99999.0),
    *(7.0, 8.0, 9.0, 77.0, 88.0, 96.0, 97.0, 98.0, 99.0),
    *(777.0, 888.0, 997.0, 998.0, 999.0, 9998.0, 9999.0, 99999.0, 999999.0),
)
"""Numbers that often stand for a missing value."""

TEXT_CODES = (
    *("?", ".", "-", "--", "---", "*", "unknown", "unk", "missing", "none", "nil", "na", "n.a."),
    *("not available", "not known", "not recorded", "not applicable", "not done", "nd", "refused"),
    *("don't know", "dk", "no answer", "unbekannt", "k.a.", "k. a.", "keine angabe", "weiß nicht"),
    *("inconnu", "nc", "n.c.", "non renseigné", "ne sait pas", "manquant"),
    *("#null!", "#div/0!", "#value!", "#ref!", "#num!", "#name?", "null", "(null)", "\\n", "na()"),
)
"""Texts that often stand for a missing value, in lower case."""

CURRENCIES = ("€", "$", "£", "eur", "usd", "gbp", "chf", "kr")
"""What often stands before a number, too, in lower case."""

UNITS = (
    *(*CURRENCIES, "%", "‰"),
    *("kg", "g", "mg", "µg", "ug", "lb", "lbs", "oz", "t"),
    *("km", "m", "cm", "mm", "µm", "in", "ft", "m²", "m2"),
    *(
        "l",
        "dl",
        "ml",
        "mmhg",
        "bpm",
        "/min",
        "mg/dl",
        "mmol/l",
        "g/dl",
        "µmol/l",
        "u/l",
        "iu",
        "kcal",
        "kwh",
    ),
    *("kg/m²", "kg/m2", "°c", "°f", "°", "h", "min", "s", "sec", "ms", "d", "days", "day", "tage", "jours"),
    *("weeks", "wochen", "months", "monate", "mois", "years", "year", "yrs", "yr", "y", "jahre", "ans"),
)
"""What often stands beside a number, in lower case."""

SUMS = (
    *("sum", "sums", "total", "totals", "grand total", "subtotal", "mean", "average"),
    *("summe", "gesamt", "gesamtsumme", "insgesamt", "mittelwert", "durchschnitt"),
    *("somme", "totaux", "total général", "moyenne"),
)
"""What often heads a line of sums below the records, in lower case."""
