"""`seal report` beyond one text: several runs, rows, figures, verbosity, cascade, leaderboard."""

from __future__ import annotations

import csv
import importlib
import json
import re
import struct
import sys
import zlib
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest

from sealbench.render.svg import COLOURS
from tests.conftest import Seal

RUNS = ("primes-plan-1", "pairs-plan-1")


def test_several_runs_are_set_side_by_side(seal: Seal, demo_copy: Path) -> None:
    done = seal("report", *RUNS, "--leaderboard", "--html", "all.html", cwd=demo_copy)
    assert done.code == 0, done.err
    assert "EXPLORATORY: runs side by side" in done.out
    assert "EXPLORATORY: trend over dates" in done.out
    assert "EXPLORATORY: leaderboard" in done.out
    pages = [demo_copy / f"all{end}.html" for end in ("", *(f"-{run}" for run in RUNS))]
    assert all("<main" in page.read_text(encoding="utf-8") for page in pages)
    assert "src=" not in pages[0].read_text(encoding="utf-8")


def test_json_of_several_runs_holds_the_sections_too(seal: Seal, demo_copy: Path) -> None:
    done = seal("report", *RUNS, "--json", "--verbosity", cwd=demo_copy)
    found = json.loads(done.out)
    assert found["schema"] == "sealbench/reports/v1"
    assert [one["run"] for one in found["reports"]] == list(RUNS)
    names = [section["name"] for section in found["across"]]
    measures = ["verbosity", "perplexity", "reasoning"]
    assert names == ["summary", "trend", *measures, *measures, "releases", "limits"]
    assert found["across"][2]["title"] == f"EXPLORATORY: verbosity at cap 4000, run {RUNS[0]}"
    assert any("Cut answers are shorter" in sentence for sentence in found["across"][2]["text"])
    one = json.loads(seal("report", RUNS[0], "--json", cwd=demo_copy).out)
    assert one["schema"] == "sealbench/report/v1"


def test_rows_as_csv(seal: Seal, demo_copy: Path) -> None:
    assert seal("report", *RUNS, "--csv", "rows.csv", cwd=demo_copy).code == 0
    with (demo_copy / "rows.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    logged = [
        json.loads(line)
        for run in RUNS
        for line in (demo_copy / f"runs/{run}/log.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert len(rows) == len(logged)
    for row, line in zip(rows, logged, strict=True):
        assert row["item"] == line["item"]
        assert row["charged_tokens"] == str(line["charged_tokens"])
        assert row["censored"] == str(int(line["end"] in ("cut_reported", "cut_inferred")))
        assert row["mean_logprob"] == ""


def test_figures_as_svg_files(seal: Seal, demo_copy: Path) -> None:
    assert seal("report", RUNS[0], "--figures", "drawn", cwd=demo_copy).code == 0
    files = sorted((demo_copy / "drawn").iterdir())
    assert len(files) == 3
    for file in files:
        root = ElementTree.fromstring(file.read_text(encoding="utf-8"))  # noqa: S314 (our own)
        assert root.find("{http://www.w3.org/2000/svg}desc") is not None


def test_png_without_its_extra_names_it(seal: Seal, demo_copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cairosvg", None)
    done = seal("report", RUNS[0], "--figures", "drawn", "--figure-format", "png", cwd=demo_copy)
    assert done.code == 4
    assert "sealbench[figures]" in done.err
    assert not (demo_copy / "drawn").exists()


def test_png_with_its_extra(seal: Seal, demo_copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The converter is a stand-in: it is given whole SVG without a colour it cannot know."""
    seen: list[dict[str, Any]] = []

    def svg2png(**options: Any) -> bytes:
        seen.append(options)
        return b"\x89PNG"

    monkeypatch.setitem(sys.modules, "cairosvg", SimpleNamespace(svg2png=svg2png))
    done = seal("report", RUNS[0], "--figures", "drawn", "--figure-format", "both", cwd=demo_copy)
    assert done.code == 0, done.err
    kinds = sorted(file.suffix for file in (demo_copy / "drawn").iterdir())
    assert kinds == [".png"] * 3 + [".svg"] * 3
    assert all(b"currentColor" not in options["bytestring"] for options in seen)
    assert all(options["background_color"] == "#ffffff" for options in seen)


def test_a_report_by_another_version_is_shown_as_it_stands(
    seal: Seal, demo_copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its bytes cannot follow from this analysis, which does not make it false."""
    stage = importlib.import_module("sealbench.stages.report")
    monkeypatch.setattr(stage, "ANALYSIS_VERSION", 99)
    monkeypatch.setattr(stage, "evaluate", None)
    done = seal("report", RUNS[0], cwd=demo_copy)
    assert done.code == 0, done.err
    assert "written by analysis version 2, not computed again" in done.err
    assert "Verdicts against the preregistration" in done.out


@pytest.mark.integration
def test_png_by_the_real_converter(seal: Seal, demo_copy: Path) -> None:
    """Whole pictures of the drawn width: opaque, with ink, paper and both classes' colours."""
    pytest.importorskip("cairosvg")
    done = seal("report", RUNS[0], "--figures", "drawn", "--figure-format", "png", cwd=demo_copy)
    assert done.code == 0, done.err
    files = sorted((demo_copy / "drawn").iterdir())
    assert [file.suffix for file in files] == [".png"] * 3
    width, height, pixels = read_png(files[1].read_bytes())  # the costs; reading one takes long enough
    assert (width, height > 500) == (1440, True)
    found = Counter(zip(pixels[0::3], pixels[1::3], pixels[2::3], strict=True))
    assert found.most_common(1)[0][0] == (255, 255, 255)
    for colour in ("1a1a1a", COLOURS[0][1:], COLOURS[1][1:]):
        assert found[tuple(bytes.fromhex(colour))] > 50, colour


def read_png(data: bytes) -> tuple[int, int, bytes]:
    """Width, height and RGB bytes of an 8-bit PNG without transparency (W3C PNG specification)."""
    chunks, place = [], 8
    while place < len(data):
        size = int.from_bytes(data[place : place + 4], "big")
        chunks.append((data[place + 4 : place + 8], data[place + 8 : place + 8 + size]))
        place += 12 + size
    width, height, depth, kind = struct.unpack(">IIBB", chunks[0][1][:10])
    assert (data[:8], depth, kind) == (b"\x89PNG\r\n\x1a\n", 8, 2)
    raw = zlib.decompress(b"".join(body for name, body in chunks if name == b"IDAT"))
    above, out, stride = bytearray(3 * width), bytearray(), 3 * width
    for row in range(height):
        start = row * (stride + 1)
        above = _unfiltered(raw[start], raw[start + 1 : start + 1 + stride], above)
        out += above
    return width, height, bytes(out)


def _unfiltered(method: int, line: bytes, above: bytearray) -> bytearray:
    if method == 0:
        return bytearray(line)
    if method == 2:
        return bytearray((a + b) & 255 for a, b in zip(line, above, strict=True))
    out = bytearray(len(line))
    for index, value in enumerate(line):
        left, corner = (out[index - 3], above[index - 3]) if index >= 3 else (0, 0)
        up = above[index]
        nearest = min((left, up, corner), key=lambda near: abs(left + up - corner - near))
        out[index] = (value + {1: left, 3: (left + up) // 2, 4: nearest}[method]) & 255
    return out


def test_verbosity_and_cascade(seal: Seal, demo_copy: Path) -> None:
    done = seal(
        *("report", RUNS[0], "--verbosity", "--cascade", "reference/constant,reference/reasoner"),
        *("--html", "one.html", "--markdown", "one.md"),
        cwd=demo_copy,
    )
    assert done.code == 0, done.err
    assert "EXPLORATORY: verbosity at cap 4000" in done.out
    assert "16 of 16 calls" in " ".join(done.out.split())
    assert "## EXPLORATORY: cascade" in (demo_copy / "one.md").read_text(encoding="utf-8")
    assert "YapBench" in (demo_copy / "one-more.html").read_text(encoding="utf-8")
    assert "EXPLORATORY: routing by verbosity" in done.out
    assert "no price known" in done.out


def test_sections_of_several_runs_have_anchors_of_their_own(seal: Seal, demo_copy: Path) -> None:
    assert seal("report", *RUNS, "--verbosity", "--html", "all.html", cwd=demo_copy).code == 0
    ids = re.findall(r' id="([^"]+)"', (demo_copy / "all.html").read_text(encoding="utf-8"))
    assert len(ids) == len(set(ids))
    assert {"verbosity", "verbosity-2"} <= set(ids)


DATED = """
[endpoints."reference/constant"]
provider = "reference"
model = "constant"
release_date = 2025-01-31
baseline_tokens = 2
price = { input = 1.0, output = 2.0 }

[endpoints."reference/solver"]
provider = "reference"
model = "another"
release_date = 2026-01-31
"""


def test_what_is_configured_today_is_used_and_named(seal: Seal, demo_copy: Path) -> None:
    """A price of the command line comes first; a name that means another model today tells nothing."""
    path = demo_copy / "sealbench.toml"
    path.write_text(path.read_text(encoding="utf-8") + DATED, encoding="utf-8")
    price = ("--price", "reference/reasoner=1.25,10")
    done = seal("report", RUNS[0], "--verbosity", *price, "--json", "--figures", "drawn", cwd=demo_copy)
    assert done.code == 0, done.err
    sections = {section["name"]: section for section in json.loads(done.out)["across"]}
    _, taxes, *_ = sections["verbosity"]["tables"]
    told = {row[0]: row[2:4] for row in taxes["rows"]}
    assert told["reference/constant"] == ["2", "$2.0 (sealbench.toml today)"]
    assert told["reference/reasoner"] == ["estimated", "$10 (--price)"]
    assert told["reference/solver"] == ["estimated", "no price known"]
    (table,) = sections["releases"]["tables"]
    assert [row[:2] for row in table["rows"]] == [["2025-01-31", "reference/constant"]]
    assert (demo_copy / "drawn" / "releases_primes_4000.svg").exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--cascade", "reference/constant"), "two different endpoints"),
        (("--cascade", "reference/constant,none"), "no endpoint none"),
        (("--price", "reference/constant=1,2"), "--price changes nothing here"),
        (("--verbosity", "--price", "reference/constant=1"), "reference/constant=1: not NAME=INPUT,OUTPUT"),
        (("--verbosity", "--price", "reference/constant=1,-2"), "USD per million tokens"),
        (("--verbosity", "--price", "nan,nan"), "not NAME=INPUT,OUTPUT"),
        (("--verbosity", "--price", "nobody=1,2"), "no endpoint nobody"),
        (("--csv", "absent/rows.csv"), "absent/rows.csv"),
        (("--figures", "sealbench.toml/x"), "sealbench.toml/x"),
    ],
)
def test_what_cannot_be_done_is_said(
    seal: Seal, demo_copy: Path, arguments: tuple[str, ...], told: str
) -> None:
    done = seal("report", RUNS[0], *arguments, cwd=demo_copy)
    assert done.code == 2
    assert told in done.err
