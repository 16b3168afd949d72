"""What is wrong with a line of a bounds file, in a person's words, and how it is written right.

TOML's own messages say where a reader gave up ("Unclosed inline table"), not what somebody meant who wrote
31.12.2020 or 37,5. The mistakes here are those of people who fill in a template.
"""

import re
from collections.abc import Callable
from datetime import date

from dpmorse.cli.messages import shortened

_LONGEST = 160
"""Characters of a line that are shown."""

_MOST_READ = 1000
"""Characters of a line in which a mistake is looked for."""

_WORDS = {"true": "true", "yes": "true", "false": "false", "no": "false"}
"""What people write for true and false, in lower case, and how it is written."""


def explained(shown: str, text: str, problem: str) -> str:
    """Return the error for a file that is no TOML: the line, what is wrong in it, how it is right.

    ``shown`` is what the file is called, ``problem`` what TOML's reader says. A line is shown only where
    there is a part [bounds] above it: any other file may be one of records.
    """
    lines, found = text.splitlines(), re.search(r"at line (\d+)", problem)
    place = int(found[1]) if found else len(lines)
    if not any(re.match(r"\s*\[\s*bounds\s*\]", line) for line in lines[: place - 1]):
        return f"{shown} is not a TOML file. `dpmorse bounds FILE -o bounds.toml` writes one to fill in."
    line = lines[place - 1].strip()[:_MOST_READ]
    advice = (
        _repeated(problem)
        or _advice(line)
        or (
            "Write such a line as: age = { lower = 0, upper = 120 }, with numbers as 37.5, dates as "
            "2020-12-31 and texts in straight quotation marks."
        )
    )
    return f"line {place} of {shown} cannot be read:\n  {shortened(line, _LONGEST)}\n{advice}"


def _repeated(problem: str) -> str | None:
    """Explain a name that stands twice, of which the line itself does not tell."""
    if problem.startswith("Duplicate inline table key"):
        return f"It says {problem.split()[4]} twice. Keep one of them."
    if problem.startswith(("Cannot overwrite", "Cannot declare", "Cannot mutate")):
        return "What it describes is in the file twice. Keep one line for each column, and one part [bounds]."
    return None


def _advice(line: str) -> str | None:
    """Say what is wrong with a line; None if it is none of the mistakes that are known."""
    bare = re.sub(r'"[^"]*"', lambda text: f'"{"_" * (len(text[0]) - 2)}"', line)  # texts may be anything
    for pattern, advise in _MISTAKES:
        found = re.search(pattern, bare)
        advice = None if found is None else advise(found)
        if advice is not None:
            return advice
    return _unclosed(bare.partition("#")[0].rstrip())


def _unclosed(bare: str) -> str | None:
    """Explain a line with an opening mark that nothing closes."""
    if bare.count("{") > bare.count("}"):
        if bare.endswith(("{", ",")):
            return "All that is said of a column stands in one line, from { to }."
        return "A } is missing at the end of the line."
    return "A ] is missing behind the list of values." if bare.count("[") > bare.count("]") else None


def _of_date(found: re.Match[str]) -> str | None:
    """Explain a date that is not written year-month-day."""
    year = max(map(int, found.groups()))
    first, second = (int(part) for part in found.groups() if len(part) < 4)
    if second > 12 or (len(found[1]) == 4 and first <= 12):
        month, day = first, second
    elif first > 12 or "." in found[0]:  # with points the day stands first
        month, day = second, first
    else:
        return f"A date is written year-month-day, such as {year}-12-31, not {found[0]}."
    try:
        right = date(year, month, day).isoformat()
    except ValueError:
        return f"There is no such day: {found[0]}. A date is written year-month-day, such as 2020-12-31."
    return None if right == found[0] else f"A date is written year-month-day: {right}, not {found[0]}."


def _of_comma(found: re.Match[str]) -> str:
    """Explain a comma inside a number, before decimals or between thousands."""
    given, point = f"{found[1]},{found[2]}", f"{found[1]}.{found[2]}"
    if len(found[2]) == 3:
        whole = f"{found[1]}{found[2]}"
        return f"A number has no mark between thousands: {whole}, or {point} if {given} has decimals."
    return f"A number has a point before its decimals: {point}, not {given}."


def _of_name(found: re.Match[str]) -> str | None:
    """Explain the name of a column that TOML does not take as it is."""
    if re.fullmatch(r"[A-Za-z0-9_.-]+", found[1]):
        return None
    return f'A name with blanks, or letters such as \u00e4, stands in quotation marks: "{found[1]}" = ...'


def _of_text(found: re.Match[str]) -> str | None:
    """Explain a word without quotation marks."""
    if found[1] in {"true", "false", "inf", "nan"}:
        return None
    right = _WORDS.get(found[1].lower()) if found[0].startswith("=") else None
    if right is not None:
        return f"True and false are written in small letters: {right}, not {found[1]}."
    return f'A text stands in quotation marks: "{found[1]}", not {found[1]}.'


_NUMBER = r"[=\[]\s*([+-]?\d[\d_]*(?:\.\d+)?)"

_MISTAKES: tuple[tuple[str, Callable[[re.Match[str]], str | None]], ...] = (
    (
        "[\u201c\u201d\u201e\u201f\u00ab\u00bb\u2018\u2019]",
        lambda found: f'Quotation marks must be straight ones: ", not {found[0]}.',
    ),
    (
        r'^[^"]*(?:"[^"]*"[^"]*)*"[^"]*$',
        lambda _: "A quotation mark is missing: each text has one on both sides.",
    ),
    (r"^([^\"'={\[]+?)\s*=", _of_name),
    (
        r"^\s*(\"[^\"]*\"|[\w-]+)\s*[{\[:]",
        lambda _: "Between the name of a column and its { stands = and nothing else.",
    ),
    (r"(?<![\d.])(\d{1,2})[./-](\d{1,2})[./-](\d{4})(?!\d)", _of_date),
    (r"(?<![\d.])(\d{4})[./-](\d{1,2})[./-](\d{1,2})(?!\d)", _of_date),
    (r"=\s*([+-]?\d+),(\d+)(?=\s*[,}])", _of_comma),
    (
        r"=\s*([+-]?\d{1,3}(?:[.' ]\d{3})+)(?=\s*[,}])",
        lambda found: (
            f"A number has no mark between thousands: {re.sub('[^-+0-9]', '', found[1])}, not {found[1]}."
        ),
    ),
    (r"=\s*([+-]?)\.(\d+)", lambda found: f"A number begins with a digit: {found[1]}0.{found[2]}."),
    (
        r"=\s*([+-]?\d+)\.(?!\d)",
        lambda found: f"Behind a point stands a digit: {found[1]}.0, or {found[1]} alone.",
    ),
    (r"=\s*([+-]?)0+(\d+)", lambda found: f"A number does not begin with 0: {found[1]}{found[2]}."),
    (r"=\s*\u2212(\d)", lambda _: "The minus of a number is the hyphen of the keyboard: -."),
    (
        rf"{_NUMBER}\s*([^\s\d,.}}\]#=+-]+)\s*(?=[,}}])",
        lambda found: f"A number stands alone, in the units of the file: {found[1]}, without {found[2]}.",
    ),
    (r"=\s*\?", lambda _: 'Replace the ? by what you know without the data, such as 120, or write "?".'),
    (
        r"[{,]\s*(\w+)\s*:",
        lambda found: f"Between a word and its value stands =, not a colon: {found[1]} = ...",
    ),
    (r";", lambda _: "Between two statements stands a comma, not a semicolon."),
    (r"=\s*\(", lambda _: "What is said of a column stands between { and }, not between ( and )."),
    (r'[\d"\]e]\s+([A-Za-z_]+)\s*=', lambda found: f"A comma is missing before {found[1]}."),
    (r"[=\[,]\s*([^\W\d][\w-]*)\s*(?=[,\]}]|$)", _of_text),
    (r",\s*\}", lambda _: "The comma before } is one too many."),
    (r"\}\s*[^\s#]", lambda _: "Behind the } of a column stands nothing else. Begin a new line."),
)
"""Mistakes by their form, in the order in which they are looked for, and what is said of them."""
