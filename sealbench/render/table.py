"""The table of the source paper: endpoint by class, cut/total, for pasting into a paper.

Cut is what the source paper counts: lost, that is, cut without a final answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from sealbench.formats.report import Comparison, Report
from sealbench.render.document import Grid, clean, columns, endpoint_text, p_text, where_text
from sealbench.render.markdown import grid

_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "–": "--",
    "…": r"\ldots{}",
}


def paper_table(report: Report, style: Literal["markdown", "latex"] = "markdown") -> str:
    """One table per family, wording and cap; empty text if no family has two classes."""
    groups: dict[tuple[str, int, str, str], list[Comparison]] = {}
    for test in report.tests:
        if test.hypothesis is None and test.measure == "lost":
            groups.setdefault((where_text(test.where), test.cap, test.class1, test.class0), []).append(test)
    tables = [_grid(report, key, tests) for key, tests in groups.items()]
    write = latex if style == "latex" else grid
    return "\n\n".join(write(table) for table in tables) + "\n" if tables else ""


def _grid(report: Report, key: tuple[str, int, str, str], tests: Sequence[Comparison]) -> Grid:
    where, cap, class1, class0 = key
    rows = [
        (
            endpoint_text(test.endpoint, test.reference),
            _cut(test, class1),
            _cut(test, class0),
            p_text(test.p),
        )
        for test in tests
    ]
    head = "EXPLORATORY: " if report.exploratory else ""
    caption = f"{head}{where}, cap {cap}: lost/total by class (two-sided p at instance level)"
    return Grid(caption, ("endpoint", class1, class0, "p"), columns(rows), right=frozenset({1, 2}))


def _cut(test: Comparison, label: str) -> str:
    counts = test.classes[label]
    return f"{counts.lost}/{counts.responses}"


def latex(table: Grid) -> str:
    """A booktabs table."""
    alignment = "".join("r" if column in table.right else "l" for column in range(len(table.header)))
    rows = [_latex_row(table.header), *(_latex_row([str(cell) for cell in row]) for row in table.rows)]
    return "\n".join(
        [
            r"\begin{table}",
            rf"\caption{{{escape_latex(table.caption)}}}",
            rf"\begin{{tabular}}{{{alignment}}}",
            r"\toprule",
            rows[0],
            r"\midrule",
            *rows[1:],
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
        ]
    )


def _latex_row(cells: Sequence[str]) -> str:
    return " & ".join(escape_latex(cell) for cell in cells) + r" \\"


def escape_latex(text: str) -> str:
    """Text with LaTeX's special characters escaped, and powers of ten set as such."""
    escaped = "".join(_LATEX.get(char, char) for char in clean(text))
    return re.sub(r"(\d(?:\.\d+)?)e([+-])0*(\d+)\b", _power, escaped)


def _power(match: re.Match[str]) -> str:
    sign = "-" if match[2] == "-" else ""
    return rf"${match[1]} \times 10^{{{sign}{match[3]}}}$"
