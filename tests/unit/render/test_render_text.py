"""Terminal, Markdown and the paper's table: complete, readable, and safe with any name."""

from __future__ import annotations

import re

import pytest
from factory import failed, hypothesis, plan, world

from sealbench.analysis import evaluate
from sealbench.formats.base import FileHash
from sealbench.formats.battery import Baseline
from sealbench.formats.report import Anchor
from sealbench.render.html import render_html
from sealbench.render.markdown import render_markdown
from sealbench.render.table import escape_latex, paper_table
from sealbench.render.terminal import render_terminal


@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_line_of_the_terminal_is_wider_than_asked(demo, pilot, empty, width):
    for report, _ in (demo, pilot, empty):
        for line in render_terminal(report, width=width).splitlines():
            assert len(line) <= width, line


def test_names_and_fractions_are_not_broken_at_80_columns(demo):
    text = render_terminal(demo[0])
    assert "reference/solver" in text
    assert "= 7.8e-05" in text
    assert "1/12870" in text


def test_what_must_stand_in_every_report(demo):
    for text in (render_terminal(demo[0], width=200), render_markdown(demo[0])):
        for part in (
            "Verdicts against the preregistration",
            "EXPLORATORY: tests that nobody registered",
            "What this does not prove",
            "Scope",
            "reference endpoints: programs, no models",
            "overstated",
            "always prime",
            "perfect, cut like reference/solver",
            "wipe-out",
        ):
            assert part.lower() in text.lower(), part
    assert "solver-2" in render_markdown(demo[0])


def test_color_is_only_there_when_asked_for(demo):
    assert "\x1b" not in render_terminal(demo[0])
    coloured = render_terminal(demo[0], color=True)
    assert "\x1b[1m" in coloured
    assert re.sub(r"\x1b\[\d+m", "", coloured) == render_terminal(demo[0])


def test_exploratory_runs_are_headed_so(pilot):
    report, _ = pilot
    assert render_terminal(report).startswith("EXPLORATORY")
    assert render_markdown(report).startswith("# EXPLORATORY")
    assert paper_table(report).startswith("**EXPLORATORY")


def test_hostile_names_stay_text(pilot):
    report, _ = pilot
    assert "\x1b" not in render_terminal(report)
    markdown = render_markdown(report)
    assert "\x1b" not in markdown
    assert re.search(r"(?<!\\)<script", markdown) is None
    for line in markdown.splitlines():
        if line.startswith("| http"):
            heads = len(re.findall(r"(?<!\\)\|", line))
            assert heads in (5, 6, 7, 8, 9, 10), line


def test_every_markdown_table_is_rectangular(demo, pilot):
    for report, _ in (demo, pilot):
        tables: list[list[int]] = [[]]
        for line in render_markdown(report).splitlines():
            if line.startswith("|"):
                tables[-1].append(len(re.findall(r"(?<!\\)\|", line)))
            elif tables[-1]:
                tables.append([])
        assert sum(map(len, tables)) > 20
        assert all(len(set(table)) <= 1 for table in tables)


def test_response_level_p_is_struck_through(demo):
    struck = re.findall(r"~~([^~]+)~~", render_markdown(demo[0]))
    assert struck
    assert any("300540195" in text for text in struck)  # C(32, 16) / 2, two-sided over 16 responses a class


def test_the_papers_table(demo):
    markdown = paper_table(demo[0])
    assert "| reference/solver | 16/16 | 0/16 | 1/6435 = 1.6e-04 |" in markdown
    latex = paper_table(demo[0], "latex")
    assert r"reference/solver & 16/16 & 0/16 & 1/6435 = $1.6 \times 10^{-4}$ \\" in latex
    assert latex.count(r"\begin{tabular}{lrrl}") == 4
    assert "subset\\_sum" in latex


def test_latex_escapes():
    assert escape_latex("50% & {x}_1 #~^\\$") == (
        r"50\% \& \{x\}\_1 \#\textasciitilde{}\textasciicircum{}\textbackslash{}\$"
    )


def test_a_report_of_nothing_is_still_a_report(empty):
    report, _ = empty
    assert "The log is empty" in render_terminal(report)
    assert "The log is empty" in render_markdown(report)
    assert paper_table(report) == ""


@pytest.fixture(scope="module")
def rich():
    """A run with everything a report can hold: wordings, three classes, anchors, baselines, an amendment."""
    registered = plan(
        [
            hypothesis("H1", falsifies=("H2",)),
            hypothesis("H2"),
            hypothesis("H3", where={"family": "nowhere"}),
        ],
        ("openai/x",),
        wordings=("inverted", "plain"),
        amends=FileHash(path="preregistrations/plan0.json", sha256="5" * 64),
    )

    def change(fields):
        side = {"prime": "exhaustive", "composite": "witness"}.get(fields["class_label"], "none")
        if fields["class_label"] == "c" and fields["repeat"] == 0 and fields["cap"] == 300:
            return failed(fields)
        return fields | {"search": side, "at_cap": fields["class_label"] == "b"}

    families = {"primality": ("prime", "composite"), "quiz": ("a", "b", "c")}
    run, lines = world(registered, change, families=families)
    anchors = [
        Anchor(
            path=registered.commitment.path,
            sha256="3" * 64,
            status=status,
            grade=grade,
            network="mainnet",
            height=height,
            time=None,
        )
        for status, grade, height in (("anchored", "chained", 955000), ("pending", "pending", None))
    ]
    baselines = [Baseline(family="primality", baseline="odd_means_prime", accuracy="0.75")]
    return evaluate(run, lines, registered, anchors=anchors, baselines=baselines), lines


def test_a_report_that_holds_everything(rich):
    report, lines = rich
    text = render_terminal(report, width=250)
    for part in (
        "amends an earlier one",
        "FALSIFIED",
        "EXPLORATORY: does the cost follow the search or the answer word?",
        "odd means prime",
        "955000",
        "one company (openai)",
        "a 0/8",  # three classes: each cell names its own
        "missing, neither cut nor uncut",
        "reported finished exactly at the cap",
        "applies nowhere",
        "cut by any smaller cap",
    ):
        assert part in text, part
    assert "reference" not in text.split("What this does not prove")[1].lower()
    assert render_html(report, lines).count("<svg") == 12
    for line in render_terminal(report).splitlines():
        assert len(line) <= 80
