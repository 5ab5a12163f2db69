"""One file that loads nothing, is well formed, and gives every figure in words too."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from sealbench.render.figures import figures
from sealbench.render.html import render_html
from sealbench.render.svg import LogAxis

_VOID = {"meta", "link", "br", "hr", "img", "input", "wbr"}
_SVG = "{http://www.w3.org/2000/svg}"


def parse(text):
    """Our own SVG, as XML."""
    return ElementTree.fromstring(text)  # noqa: S314 (nothing in it comes from outside unescaped)


class _Page(HTMLParser):
    """Collects tags, ids and references; raises on tags that do not close in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def attributes(self, name):
        return [attrs[name] for _, attrs in self.tags if name in attrs]


@pytest.fixture(scope="module")
def page(demo):
    report, lines = demo
    text = render_html(report, lines)
    return text, _Page(text)


# All a page is made of. What is not here cannot load or run anything, whatever browsers learn to do.
_TAGS = """html head meta title style body a header h1 h2 nav main section p strong s ul li div table caption
thead tbody tr th td figure figcaption svg desc line text rect circle polygon polyline wbr span"""
_ATTRIBUTES = """lang charset name content http-equiv class id href scope tabindex role aria-label
aria-labelledby xmlns viewbox font-family font-size font-weight text-anchor fill fill-opacity stroke
stroke-width stroke-opacity stroke-dasharray points x y x1 y1 x2 y2 cx cy r width height"""
_LOADS = re.compile(r"url\(|src\(|image-set\(|@import|@font-face|expression\(|:\s*//", re.IGNORECASE)


@pytest.mark.parametrize("name", ["demo", "pilot", "empty"])
def test_nothing_is_loaded_from_outside_and_nothing_runs(name, request):
    text = render_html(*request.getfixturevalue(name))
    parsed = _Page(text)
    assert {tag for tag, _ in parsed.tags} <= set(_TAGS.split())
    assert {attribute for _, attrs in parsed.tags for attribute in attrs} <= set(_ATTRIBUTES.split())
    assert all(link.startswith("#") for link in parsed.attributes("href"))
    assert set(parsed.attributes("xmlns")) <= {"http://www.w3.org/2000/svg"}
    assert not [tag for tag, attrs in parsed.tags if "http-equiv" in attrs and tag != "meta"]
    assert parsed.attributes("http-equiv") == ["Content-Security-Policy"]
    (style,) = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    assert not _LOADS.search(style)
    shown = [
        value
        for _, attrs in parsed.tags
        for attribute, value in attrs.items()
        if attribute not in ("xmlns", "aria-label") and value
    ]
    assert not [value for value in shown if _LOADS.search(value)]
    assert "default-src 'none'; style-src 'unsafe-inline'" in text


def test_each_figure_of_the_page_has_a_text_alternative(page):
    text, _ = page
    drawn = re.findall(r"<figure>.*?</figure>", text, re.DOTALL)
    assert len(drawn) == text.count("<svg") == 6
    ids = []
    for figure in drawn:
        root = parse(f"<all>{figure}</all>")
        svg, caption = root.find(f".//{_SVG}svg"), root.find(".//figcaption")
        labels = svg.get("aria-labelledby").split()
        alternative = {node.get("id"): node.text for node in svg if node.get("id")}
        assert list(alternative) == labels
        assert all(len(told) > 10 for told in alternative.values())
        assert svg.get("role") == "img"
        assert "".join(caption.itertext()) == ". ".join(alternative.values())
        ids += labels
    assert len(ids) == len(set(ids))


def test_it_is_one_document_with_unique_ids_and_links_that_lead_somewhere(page):
    _, parsed = page
    ids = parsed.attributes("id")
    assert len(ids) == len(set(ids))
    assert {link[1:] for link in parsed.attributes("href")} <= set(ids)
    labelled = {name for names in parsed.attributes("aria-labelledby") for name in names.split()}
    assert labelled <= set(ids)


def test_it_can_be_read_without_eyes_or_mouse(page):
    text, parsed = page
    tags = [tag for tag, _ in parsed.tags]
    assert ("html", {"lang": "en"}) in parsed.tags
    assert tags.count("h1") == 1
    assert tags.count("main") == 1
    assert tags.count("table") == tags.count("caption")
    assert all(attrs.get("scope") in ("col", "row") for tag, attrs in parsed.tags if tag == "th")
    assert "skip" in parsed.attributes("class")
    scrolling = [attrs for _, attrs in parsed.tags if attrs.get("class") == "wide"]
    assert scrolling
    assert all(attrs.get("tabindex") == "0" and attrs.get("aria-label") for attrs in scrolling)
    assert "prefers-color-scheme:dark" in text.replace(" ", "")
    assert "@media print" in text


def test_exploratory_parts_are_headed_so_and_overstated_ones_struck(page, pilot):
    text, _ = page
    assert '<h2 id="exploratory" class="exploratory">EXPLORATORY' in text
    assert re.search(r"<s>1/\d+ = ", text)
    assert '<h1 class="exploratory">EXPLORATORY' in render_html(*pilot)


def test_hostile_names_stay_text(pilot):
    text = render_html(*pilot)
    parsed = _Page(text)
    assert "script" not in {tag for tag, _ in parsed.tags}
    assert "\x1b" not in text


def test_every_figure_has_a_text_alternative(demo):
    drawn = figures(*demo)
    assert [figure.name for figure in drawn] == [
        f"{kind}_{family}_plain"
        for family in ("primality", "subset_sum")
        for kind in ("costs", "censoring", "survival")
    ]
    for figure in drawn:
        root = parse(figure.svg)
        title, text = root.find(f"{_SVG}title"), root.find(f"{_SVG}desc")
        assert title.text == figure.title
        assert len(text.text) > 80
        assert root.get("role") == "img"
        assert root.get("aria-labelledby") == f"{title.get('id')} {text.get('id')}"


def test_cut_responses_are_open_marks_at_the_cap_and_never_dots(demo):
    report, lines = demo
    root = parse(figures(report, lines)[0].svg)
    marks = [
        node for tag in ("circle", "rect") for node in root.iter(f"{_SVG}{tag}") if node.get("stroke-width")
    ]
    cut = sum(line.censored and line.family == "primality" for line in lines)
    assert cut == 16
    assert len(marks) == cut
    assert all(node.get("fill") == "none" for node in marks)
    assert len({node.get("cx") or node.get("x") for node in marks}) == 1


def test_the_wipe_out_interval_is_shaded_and_told(demo):
    figure = figures(*demo)[0]
    shaded = [n for n in parse(figure.svg).iter(f"{_SVG}rect") if n.get("fill-opacity")]
    assert len(shaded) == 2  # the solver at both caps; the constant endpoint has none
    assert "Any cap from 151 to 599 cuts all of prime and none of composite." in figure.description


def test_figures_name_medians_not_reached_as_such(demo):
    report, lines = demo
    at_300 = report.model_copy(update={"scope": report.scope.model_copy(update={"caps": (300,)})})
    figure = figures(at_300, [line for line in lines if line.cap == 300])[2]
    assert "prime: median > 300 tokens" in figure.description


def test_without_rows_or_usage_there_is_no_figure(demo, empty):
    report, lines = demo
    assert figures(report, ()) == ()
    silent = [line.model_copy(update={"charged_tokens": None}) for line in lines]
    assert figures(report, silent) == ()
    assert "figures" not in _Page(render_html(*empty)).attributes("id")


def test_the_axis_shows_powers_and_stays_inside():
    axis = LogAxis.of([60, 4000], 100, 700)
    assert axis.ticks() == [100, 200, 500, 1000, 2000]
    assert 100 <= axis.x(60) < axis.x(300) < axis.x(4000) <= 700
    assert axis.x(0) == 100
    alone = LogAxis.of([300], 100, 700)
    assert 100 < alone.x(300) < 700
