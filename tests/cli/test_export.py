"""`seal export` and `seal report FILE.parquet`: the same rows in both formats, the report's own counts."""

from __future__ import annotations

import csv
import json
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from sealbench.formats.report import Report
from tests.cli.run_support import log_of
from tests.conftest import Seal

needs_duckdb = pytest.mark.skipif(find_spec("duckdb") is None, reason="needs the extra `parquet`")


def runs_of(root: Path) -> list[str]:
    return sorted(path.parent.name for path in root.glob("runs/*/report.json"))


def test_csv_needs_no_extra_and_holds_every_line_of_every_ended_run(
    demo_folder: Path, tmp_path: Path, seal: Seal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    target = tmp_path / "rows.csv"
    result = seal("export", "--csv", str(target), "--json", cwd=demo_folder)
    assert result.code == 0, result.err
    said = json.loads(result.out)
    with target.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    lines = [(run, line) for run in said["runs"] for line in log_of(demo_folder, run)]
    assert said["schema"] == "sealbench/export/v1"
    assert (said["format"], said["rows"], sorted(said["runs"])) == ("csv", len(lines), runs_of(demo_folder))
    assert [(row["run"], int(row["seq"]), row["item"], row["end"]) for row in rows] == [
        (run, line.seq, line.item, line.end) for run, line in lines
    ]
    assert [int(row["lost"]) for row in rows] == [int(line.lost) for _, line in lines]


@needs_duckdb
def test_parquet_holds_the_same_rows_as_csv(demo_folder: Path, tmp_path: Path, seal: Seal) -> None:
    import duckdb

    wide, flat = tmp_path / "rows.parquet", tmp_path / "rows.csv"
    assert seal("export", "--parquet", str(wide), cwd=demo_folder).code == 0
    assert seal("export", "--csv", str(flat), cwd=demo_folder).code == 0
    with duckdb.connect() as database:
        found = database.execute(f"SELECT * FROM read_parquet('{wide}')")
        names = [column[0] for column in found.description]
        stored = [[_as_csv(value) for value in row] for row in found.fetchall()]
    with flat.open(newline="") as stream:
        header, *rows = csv.reader(stream)
    assert names == header
    assert stored == rows
    assert len(rows) > 50


@needs_duckdb
def test_the_table_over_all_runs_has_the_counts_of_each_report(
    demo_folder: Path, tmp_path: Path, seal: Seal
) -> None:
    target = tmp_path / "rows.parquet"
    assert seal("export", "--parquet", str(target), cwd=demo_folder).code == 0
    result = seal("report", str(target), "--json", cwd=tmp_path)
    assert result.code == 0, result.err
    said = json.loads(result.out)
    assert said["schema"] == "sealbench/row-tables/v1"
    table = {
        (row["run"], row["family"], row["wording"], row["endpoint"], row["cap"], row["class_label"]): row
        for row in said["table"]
    }
    assert len(table) == len(said["table"])
    compared = 0
    for run in runs_of(demo_folder):
        report = Report.from_bytes((demo_folder / "runs" / run / "report.json").read_bytes())
        for test in report.tests:
            if test.hypothesis is not None or set(test.where) != {"family", "wording"}:
                continue
            for label, counts in test.classes.items():
                key = (run, test.where["family"], test.where["wording"], test.endpoint, test.cap, label)
                for name in _SHARED:
                    assert table[key][name] == getattr(counts, name), (key, name)
                compared += 1
    assert compared >= len(table)


@needs_duckdb
def test_the_table_is_printed_and_written_without_a_workspace(
    demo_folder: Path, tmp_path: Path, seal: Seal
) -> None:
    run = runs_of(demo_folder)[0]
    assert seal("export", run, "--parquet", str(tmp_path / "one.parquet"), cwd=demo_folder).code == 0
    result = seal("report", "one.parquet", "--csv", "table.csv", cwd=tmp_path)
    assert result.code == 0, result.err
    assert run in result.out
    assert "p-values" in result.err
    with (tmp_path / "table.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert sum(int(row["lines"]) for row in rows) == len(log_of(demo_folder, run))
    assert not list(tmp_path.glob(".*"))


@needs_duckdb
@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["rows.parquet", "rows.parquet"], 1, "there twice"),
        (["other.parquet"], 1, "no rows of runs"),
        (["text.parquet"], 1, "cannot be read"),
        (["absent.parquet"], 2, "no such file"),
        (["rows.parquet", "wave1-plan-1"], 2, "is a run"),
        (["rows.parquet", "--html", "page.html"], 2, "--html"),
    ],
)
def test_rows_that_cannot_be_counted_are_refused(
    demo_folder: Path, tmp_path: Path, seal: Seal, arguments: list[str], code: int, said: str
) -> None:
    import duckdb

    assert seal("export", "--parquet", str(tmp_path / "rows.parquet"), cwd=demo_folder).code == 0
    with duckdb.connect() as database:
        database.execute(f"COPY (SELECT 1 AS run) TO '{tmp_path / 'other.parquet'}' (FORMAT parquet)")
    (tmp_path / "text.parquet").write_text("no parquet")
    result = seal("report", *arguments, cwd=tmp_path)
    assert (result.code, result.out) == (code, "")
    assert said in result.err
    assert "hint" in result.err


def test_without_the_extra_parquet_says_which_to_install(
    demo_folder: Path, tmp_path: Path, seal: Seal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    result = seal("export", "--parquet", str(tmp_path / "rows.parquet"), cwd=demo_folder)
    assert (result.code, result.out) == (4, "")
    assert "hint: pip install 'sealbench[parquet]', or --csv FILE" in result.err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ([], 2, "which one file"),
        (["--csv", "a.csv", "--parquet", "a.parquet"], 2, "which one file"),
        (["no-such-run", "--csv", "a.csv"], 3, "no ended run no-such-run"),
        (["--csv", "no/such/folder/a.csv"], 2, "there is no folder"),
    ],
)
def test_wrong_calls_write_nothing(
    demo_folder: Path, seal: Seal, arguments: list[str], code: int, said: str
) -> None:
    result = seal("export", *arguments, cwd=demo_folder)
    assert (result.code, result.out) == (code, "")
    assert said in result.err
    assert "hint" in result.err
    assert not (demo_folder / "a.csv").exists()


def test_a_log_that_was_changed_is_refused(demo_copy: Path, tmp_path: Path, seal: Seal) -> None:
    run = runs_of(demo_copy)[0]
    log = demo_copy / "runs" / run / "log.jsonl"
    log.write_bytes(log.read_bytes().replace(b'"finished"', b'"refused"', 1))
    result = seal("export", run, "--csv", str(tmp_path / "rows.csv"), cwd=demo_copy)
    assert result.code == 1
    assert "was changed after the run ended" in result.err
    assert "hint: seal verify" in result.err
    assert not list(tmp_path.glob("rows.csv"))


def test_a_file_that_stands_is_replaced_whole(demo_folder: Path, tmp_path: Path, seal: Seal) -> None:
    target = tmp_path / "rows.csv"
    target.write_text("old\n" * 100_000)
    assert seal("export", "--csv", str(target), cwd=demo_folder).code == 0
    assert target.read_text().startswith("run,seq,")
    assert "old" not in target.read_text()
    shutil.rmtree(tmp_path)


_SHARED = (
    "instances",
    "responses",
    "finished",
    "cut_reported",
    "cut_inferred",
    "cut_other",
    "at_cap",
    "lost",
    "empty",
    "refused",
    "filtered",
    "unknown",
    "missing",
    "instances_cut",
)


def _as_csv(value: object) -> str:
    if value is None:
        return ""
    return str(int(value)) if isinstance(value, bool) else str(value)
