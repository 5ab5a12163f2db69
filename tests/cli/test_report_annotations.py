"""`seal report --annotate` and `--annotations`: a private sheet goes out, types and agreement come back."""

from __future__ import annotations

import csv
import json
import shutil
import stat
from pathlib import Path

import pytest

from tests.conftest import Seal

RUN = "primes-plan-1"
SHEET = ".seal/annotations/sheet.csv"


def filled(sheet: Path, path: Path, kinds: list[str]) -> None:
    """The sheet as a rater sends it back: without the texts, one kind after the other."""
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["run", "line", "type"])
        for place, row in enumerate(rows):
            writer.writerow([row["run"], row["line"], kinds[place % len(kinds)]])


def test_the_sheet_is_private_and_holds_what_was_said(seal: Seal, demo_copy: Path) -> None:
    before = {path for path in demo_copy.rglob("*") if ".seal" not in path.parts}
    done = seal("report", RUN, "--annotate", SHEET, cwd=demo_copy)
    assert done.code == 0, done.err
    assert f"seal report {RUN} --annotations {SHEET}" in done.err
    assert "private" in done.err
    path = demo_copy / SHEET
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert {own for own in demo_copy.rglob("*") if ".seal" not in own.parts} == before
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    log = (demo_copy / f"runs/{RUN}/log.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(rows) == 32
    for row in rows:
        line = json.loads(log[int(row["line"])])
        assert len(row["answer"]) == line["visible_characters"]
        assert len(row["minimal_answer"]) == line["minimal_characters"]
        assert "prime number?" in row["prompt"]
        assert line["first_line_tokens"] >= 4
    assert "reference/" not in path.read_text(encoding="utf-8")


def test_a_sheet_is_never_overwritten(seal: Seal, demo_copy: Path) -> None:
    assert seal("report", RUN, "--annotate", SHEET, cwd=demo_copy).code == 0
    done = seal("report", RUN, "--annotate", SHEET, cwd=demo_copy)
    assert done.code == 2
    assert "never overwritten" in done.err


@pytest.mark.parametrize(
    "place", ["sheet.csv", f"runs/{RUN}/sheet.csv", "batteries/sheet.csv", "link/sheet.csv"]
)
def test_nowhere_it_could_be_published(seal: Seal, demo_copy: Path, tmp_path: Path, place: str) -> None:
    (tmp_path / "link").symlink_to(demo_copy / "commitments")
    target = tmp_path / place if place.startswith("link") else demo_copy / place
    done = seal("report", RUN, "--annotate", str(target), cwd=demo_copy)
    assert done.code == 2
    assert "could be published" in done.err
    assert f"--annotate {demo_copy / '.seal/annotations' / RUN}.csv" in done.err
    assert not target.exists()


def test_outside_the_workspace_it_may_lie(seal: Seal, demo_copy: Path, tmp_path: Path) -> None:
    assert seal("report", RUN, "--annotate", str(tmp_path / "sheet.csv"), cwd=demo_copy).code == 0
    assert stat.S_IMODE((tmp_path / "sheet.csv").stat().st_mode) == 0o600


def test_without_the_texts_there_is_no_sheet(seal: Seal, demo_copy: Path) -> None:
    shutil.rmtree(demo_copy / ".seal/runs")
    shutil.rmtree(demo_copy / "batteries/primes")
    done = seal("report", RUN, "--annotate", SHEET, cwd=demo_copy)
    assert done.code == 4
    assert "not on this machine" in done.err
    assert not (demo_copy / SHEET).exists()


def test_a_changed_response_is_no_answer_of_this_log(seal: Seal, demo_copy: Path) -> None:
    path = demo_copy / f".seal/runs/{RUN}/responses.jsonl"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"first_line_tokens":1', '"first_line_tokens":2'), encoding="utf-8")
    done = seal("report", RUN, "--annotate", SHEET, cwd=demo_copy)
    assert done.code == 1
    assert "is not the one of its log line" in done.err


def test_two_raters_come_back(seal: Seal, demo_copy: Path, tmp_path: Path) -> None:
    assert seal("report", RUN, "--annotate", SHEET, cwd=demo_copy).code == 0
    names = {"anna": ["enumeration", "verbose_details"], "ben": ["enumeration", "none"]}
    for name, kinds in names.items():
        filled(demo_copy / SHEET, tmp_path / f"{name}.csv", kinds)
    sheets = [part for name in names for part in ("--annotations", str(tmp_path / f"{name}.csv"))]
    done = seal("report", RUN, *sheets, "--json", "--markdown", str(tmp_path / "r.md"), cwd=demo_copy)
    assert done.code == 0, done.err
    section = json.loads(done.out)["across"][0]
    counts, kappa = section["tables"]
    assert section["name"] == "annotations"
    assert counts["header"] == ["endpoint", "type", "anna", "ben"]
    judged = [row for row in counts["rows"] if row[1] == "enumeration"]
    assert sum(int(row[2]) for row in judged) == 16
    # Half alike; by chance 1/2·1/2.
    assert kappa["rows"] == [["anna, ben", "Cohen 0.33", "32", "50.0%", "25.0%", "1/3"]]
    assert "Agreement of the raters" in (tmp_path / "r.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "code", "told"),
    [
        ("run,line,type\nother,1,none\n", 1, "judges run other"),
        (f"run,line,type\n{RUN},9999,none\n", 1, "no verbose answer"),
        (f"run,line,type\n{RUN},1,padding\n", 1, "type is 'padding'"),
        (None, 1, "cannot be read"),
    ],
)
def test_a_sheet_that_cannot_be_counted(
    seal: Seal, demo_copy: Path, tmp_path: Path, text: str | None, code: int, told: str
) -> None:
    path = tmp_path / "anna.csv"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    done = seal("report", RUN, "--annotations", str(path), cwd=demo_copy)
    assert done.code == code
    assert told in done.err


def test_one_name_one_rater_one_run(seal: Seal, demo_copy: Path, tmp_path: Path) -> None:
    path = tmp_path / "anna.csv"
    path.write_text(f"run,line,type\n{RUN},1,\n", encoding="utf-8")
    done = seal("report", RUN, "--annotations", str(path), "--annotations", str(path), cwd=demo_copy)
    assert (done.code, "two sheets are named anna" in done.err) == (2, True)
    done = seal("report", RUN, "pairs-plan-1", "--annotate", SHEET, cwd=demo_copy)
    assert (done.code, "sheet of one run" in done.err) == (2, True)


def test_a_retired_battery_is_judged_from_what_was_published(seal: Seal, demo_copy: Path) -> None:
    assert (demo_copy / "batteries/primes").is_dir()
    shutil.rmtree(demo_copy / ".seal/runs")
    shutil.rmtree(demo_copy / ".seal/keys")
    done = seal("report", RUN, "--annotate", SHEET, cwd=demo_copy)
    assert done.code == 0, done.err
    assert "32 answers" in done.err
