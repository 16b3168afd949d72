"""Run a notebook and store its outputs: ``python -m tools.notebook examples/patients.ipynb``.

A notebook is JSON, and what it needs here is little: the value of the last line of a cell, and its figures.
No Jupyter is needed for that, neither here nor in the tests.
"""

import argparse
import ast
import base64
import io
import json
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt

_DPI = 64
"""Dots per inch of figures, which are stored in the notebook."""


def run_notebook(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Run all cells in order; return the notebook with outputs, and what the cells have defined."""
    mpl.use("Agg")
    notebook = json.loads(path.read_text(encoding="utf-8"))
    namespace: dict[str, Any] = {}
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for count, cell in enumerate(cells, 1):
        cell["execution_count"] = count
        cell["outputs"] = list(_outputs("".join(cell["source"]), namespace, count))
    return notebook, namespace


def _outputs(code: str, namespace: dict[str, Any], count: int) -> list[dict[str, Any]]:
    value = _run(code, namespace)
    figures = [
        {"output_type": "display_data", "data": {"image/png": _picture(number)}, "metadata": {}}
        for number in plt.get_fignums()
    ]
    plt.close("all")
    if value is None or code.rstrip().endswith(";"):
        return figures
    data = {kind: text.splitlines(keepends=True) for kind, text in _shown(value).items()}
    result = {"output_type": "execute_result", "execution_count": count, "data": data, "metadata": {}}
    return [result, *figures]


def _run(code: str, namespace: dict[str, Any]) -> Any:
    """Run a cell; return the value of its last line, if that is an expression."""
    tree = ast.parse(code)
    last = tree.body[-1] if tree.body else None
    if not isinstance(last, ast.Expr):
        exec(compile(tree, "cell", "exec"), namespace)  # noqa: S102 - the notebook's own code
        return None
    tree.body.pop()
    exec(compile(tree, "cell", "exec"), namespace)  # noqa: S102
    return eval(compile(ast.Expression(last.value), "cell", "eval"), namespace)  # noqa: S307


def _shown(value: Any) -> dict[str, str]:
    """Return a value as IPython shows it: text, and HTML if it has such."""
    if hasattr(value, "_repr_mimebundle_"):
        return dict(value._repr_mimebundle_())
    html = value._repr_html_() if hasattr(value, "_repr_html_") else None
    return {"text/plain": repr(value)} | ({} if html is None else {"text/html": html})


def _picture(number: int) -> str:
    data = io.BytesIO()
    plt.figure(number).savefig(data, format="png", dpi=_DPI)
    return base64.b64encode(data.getvalue()).decode("ascii")


def main() -> None:
    """Run the notebooks that are named, and write them back with their outputs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("notebooks", nargs="+", type=Path)
    for path in parser.parse_args().notebooks:
        notebook, _ = run_notebook(path)
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
