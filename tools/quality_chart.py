"""Draw and print what README says of quality: ``python -m tools.quality_chart``.

The numbers are those of the pages that benchmarks write: the means of docs/results.md at epsilon 1, and
means over the datasets of docs/peers.md for libraries of others. The picture is docs/images/quality.svg.
"""

import re
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
PICTURE = DOCS / "images/quality.svg"

_WIDTH, _BAR, _STEP, _LEFT = 480, 20, 30, 158
_PER_UNIT = (_WIDTH - _LEFT - 50) / Decimal("0.6")
_OURS, _PRIVATE, _OPEN = "#3f51b5", "#8790b8", "#c3c6cf"


def cell(page: str, heading: str, row: str, column: str) -> str:
    """Return a cell of the table under a heading of a page that a benchmark writes."""
    text = (DOCS / page).read_text(encoding="utf-8")
    section = re.split(r"^#+ ", text.split(f"# {heading}\n", 1)[1], maxsplit=1, flags=re.MULTILINE)[0]
    header, _, *rows = [
        [part.strip() for part in line.strip("| ").split("|")]
        for line in section.splitlines()
        if line.startswith("|")
    ]
    (values,) = [values for values in rows if values[0] == row]
    return values[header.index(column)]


def two_digits(number: str | Decimal) -> str:
    """Round as people do, half up: .365 is .37."""
    return str(Decimal(number).quantize(Decimal("0.01"), ROUND_HALF_UP)).removeprefix("0")


def of_peer(name: str) -> str:
    """Return the mean over the datasets of a row of docs/peers.md."""
    datasets = ("shuttle", "emg", "magic", "sloan", "pulsar", "usps")
    cells = [cell("peers.md", "Adjusted Rand index", name, dataset) for dataset in datasets]
    return two_digits(sum((Decimal(text.split(" ")[0]) for text in cells), Decimal(0)) / len(cells))


def of_mean(name: str) -> str:
    """Return the mean of a method at epsilon 1 in docs/results.md."""
    return two_digits(cell("results.md", "Mean over the datasets", name, "eps 1"))


def groups() -> list[tuple[str, str, dict[str, str]]]:
    """Return what is compared: a heading, a colour, and the adjusted Rand index of each method."""
    ours = {"DPMorse": of_mean("DPMorse")}
    peers = {"diffprivlib": of_peer("diffprivlib KMeans"), "Google": of_peer("Google LSH clustering")}
    without = {"Gaussian mixture": "GaussianMixture", "k-means": "KMeans", "HDBSCAN": "HDBSCAN"}
    return [
        ("Private, epsilon 1", _PRIVATE, ours | peers),
        ("Without any privacy", _OPEN, {name: of_mean(row) for name, row in without.items()}),
    ]


def picture() -> str:
    """Return the chart as SVG: bars on a white ground, for light pages and dark ones."""
    parts, y = [], 34
    for heading, colour, methods in groups():
        parts.append(f'<text x="16" y="{y}" font-weight="600">{heading}</text>')
        for name, value in methods.items():
            y += _STEP
            length = round(Decimal(value) * _PER_UNIT)
            fill, weight = (_OURS, "600") if name == "DPMorse" else (colour, "400")
            parts += [
                f'<text x="{_LEFT - 8}" y="{y}" text-anchor="end" font-weight="{weight}">{name}</text>',
                f'<rect x="{_LEFT}" y="{y - 15}" width="{length}" height="{_BAR}" rx="2" fill="{fill}"/>',
                f'<text x="{_LEFT + length + 6}" y="{y}" font-weight="{weight}">{value}</text>',
            ]
        y += _STEP + 10
    y -= 6
    parts.append(
        f'<text x="16" y="{y}" font-size="12" fill="#555">Adjusted Rand index with known classes: '
        "mean of six public datasets</text>"
    )
    shape = f'width="{_WIDTH}" height="{y + 16}" viewBox="0 0 {_WIDTH} {y + 16}"'
    opening = f'<svg xmlns="http://www.w3.org/2000/svg" {shape} font-family="sans-serif" font-size="14">'
    ground = f'<rect width="{_WIDTH}" height="{y + 16}" rx="6" fill="#fff"/>'
    return "\n".join([opening, ground, *parts, "</svg>\n"])


def main() -> None:
    """Print the numbers, and write the picture."""
    for heading, _, methods in groups():
        print(heading)
        for name, value in methods.items():
            print(f"  {name:18}{value}")
    PICTURE.write_text(picture(), encoding="utf-8")


if __name__ == "__main__":
    main()
