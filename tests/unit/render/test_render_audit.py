"""An audit's page, figures and texts: alternatives in words, the right marks, nothing that can run."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from sealbench.analysis.audit_asked import Asked
from sealbench.analysis.audit_result import Audit
from sealbench.render.audit import render_audit_html, render_audit_markdown, render_audit_terminal
from sealbench.render.audit_figures import audit_figures
from sealbench.render.svg import Figure
from sealbench.stages.audit import Logs, audit

LOGS = Path(__file__).parents[2] / "data" / "logs"
HOSTILE = "<script>alert(1)</script>|x`\x1b[31m"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def primes() -> Audit:
    """LLMDrift's primes: tokens, two classes, four models."""
    asked = Asked(class_field="is_prime", names={"1": "prime", "0": "composite"})
    return audit(Logs([LOGS / "llmdrift_prime.csv"]), asked)


@pytest.fixture(scope="module")
def silent() -> Audit:
    """Two logs without token counts: one asymmetric, one with nothing empty."""
    names = ("rg_qwq32b_easy_game_of_life_halting.json", "rg_o3mini_easy_game_of_life_halting.json")
    return audit(Logs([LOGS / name for name in names]))


@pytest.fixture
def hostile(tmp_path: Path) -> Audit:
    """A log whose model, task and classes are called so that they would do harm."""
    log = tmp_path / "log.csv"
    lines = [
        f"{n},{HOSTILE},{HOSTILE},{HOSTILE}{n % 2},{'length' if n % 2 else 'stop'},{n + 1}\n"
        for n in range(40)
    ]
    log.write_text("id,model,task,target,finish_reason,tokens\n" + "".join(lines))
    return audit(Logs([log]))


def _tree(figure: Figure) -> ElementTree.Element:
    return ElementTree.fromstring(figure.svg)  # noqa: S314 (our own)


def test_one_bar_per_class_as_long_as_its_share(silent: Audit) -> None:
    (figure,) = audit_figures(silent)  # no tokens, so nothing else to draw; the empty group is left out
    bars = [float(bar.attrib["width"]) for bar in _tree(figure).iter(f"{SVG}rect")]
    assert len(bars) == 2
    assert bars[0] / bars[1] == pytest.approx((66 / 81) / (16 / 69), rel=0.01)
    texts = [text.text for text in _tree(figure).iter(f"{SVG}text")]
    assert "66 of 81 empty" in texts
    assert "16 of 69 empty" in texts
    assert "empty in False 66 of 81, True 16 of 69 responses (asymmetric)" in figure.description


def test_token_figures_show_the_cap_the_open_marks_and_the_curve(primes: Audit) -> None:
    figures = audit_figures(primes)
    assert [figure.name for figure in figures] == [
        "censoring",
        "tokens_1",
        "tokens_2",
        "tokens_3",
        "tokens_4",
    ]
    by_title = {figure.title.split(": ")[1]: figure for figure in figures[1:]}
    figure = by_title["gpt-4-0314, llmdrift_prime, cap 1000"]
    tree = _tree(figure)
    marks = [*tree.iter(f"{SVG}circle"), *tree.iter(f"{SVG}rect")]
    assert sum(mark.attrib["fill"] == "none" for mark in marks) >= 1  # cut, so its cost is larger
    assert len(marks) == 2 * 400 + 2  # thinned, and the legend's
    assert len(list(tree.iter(f"{SVG}polyline"))) == 2
    assert "cap 1000" in [text.text for text in tree.iter(f"{SVG}text")]
    assert "A cap of 100 would cut composite 236, prime 496." in figure.description
    assert "prime: 500 responses of 97 to 1000 tokens, median 231.5, 3 cut." in figure.description
    assert "400 are drawn" in figure.description


def test_the_page_is_one_document_with_unique_ids_and_text_alternatives(primes: Audit) -> None:
    page = render_audit_html(primes)
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="#([^"]+)"', page)) <= set(ids)
    figures = re.findall(r"<svg .*?</svg>", page, re.DOTALL)
    assert len(figures) == 5
    for svg in figures:
        labelled = re.search(r'aria-labelledby="([^"]+)"', svg)
        assert labelled is not None
        assert all(f'id="{name}"' in svg for name in labelled[1].split())
    for outside in ("<script", "http://www.w3.org/1999", "src=", "@import", "url("):
        assert outside not in page
    assert '<meta name="viewport"' in page


def test_names_from_outside_stay_text(hostile: Audit) -> None:
    page = render_audit_html(hostile)
    assert "<script" not in page
    assert "\x1b" not in page
    assert "&lt;script&gt;" in page
    for figure in audit_figures(hostile):
        _tree(figure)
    assert "\x1b" not in render_audit_terminal(hostile)
    table_rows = [line for line in render_audit_markdown(hostile).splitlines() if line.startswith("| ")]
    assert all(re.search(r"(?<!\\)<script", line) is None for line in table_rows)


@pytest.mark.parametrize("width", [80, 100])
def test_the_terminal_keeps_its_width_and_the_worst_group_comes_first(silent: Audit, width: int) -> None:
    text = render_audit_terminal(silent, width=width)
    assert max(map(len, text.splitlines())) <= width
    assert not text.endswith("\n")
    assert text.index("ASYMMETRIC") < text.index("NOTHING CUT")


def test_a_log_of_which_nothing_is_known_has_no_figure(tmp_path: Path) -> None:
    log = tmp_path / "bare.csv"
    log.write_text("id,target\n" + "".join(f"{n},{n % 2}\n" for n in range(20)))
    found = audit(Logs([log]))
    assert audit_figures(found) == ()
    assert "<svg" not in render_audit_html(found)


def test_many_classes_have_marks_but_no_curves(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    lines = [f"{n},{'abcdef'[n % 6]},{'length' if n % 6 == 0 else 'stop'},{n + 1}\n" for n in range(120)]
    log.write_text("id,target,finish_reason,tokens\n" + "".join(lines))
    figure = audit_figures(audit(Logs([log])))[1]
    assert "polyline" not in figure.svg
    assert "f: 20 responses" in figure.description
