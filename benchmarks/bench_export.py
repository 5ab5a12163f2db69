"""Ten million rows: the tables by class over all of them, and how fast logs become Parquet.

    python benchmarks/bench_export.py [--rows N] [--log-lines N]

The rows are made by the database itself, in the columns that `seal export` writes: runs of 100,000 rows
(500 instances, 4 endpoints, 5 caps, 10 repeats). The tables are made in a fresh process, whose peak
memory is printed; aim: under 60 s and under 4 GB. The log is a real one, made line by line, chained.
Needs the extra `parquet`.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

from sealbench.analysis.row_tables import COLUMNS, RunLog, write_parquet
from sealbench.crypto.digest import sha256_hex

sys.path.insert(0, str(Path(__file__).resolve().parent))
import bench_report

TABLES = """
import resource, sys, time
from pathlib import Path
from sealbench.analysis.row_tables import class_tables
began = time.perf_counter()
table = class_tables([Path(sys.argv[1])])
seconds = time.perf_counter() - began
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
rows = sum(row["lines"] for row in table)
print(f"tables of {rows} rows, {len(table)} lines: {seconds:.1f} s, peak memory {peak:.0f} MB")
"""
# What differs from row to row; `i` counts from 0. Every other column holds one value.
_VARYING = {
    "run": "'wave-' || lpad(CAST(i // 100000 AS VARCHAR), 4, '0')",
    "seq": "i % 100000",
    "item": "substr(md5(CAST(i % 500 AS VARCHAR)), 1, 16)",
    "instance": "substr(md5(CAST(i % 500 AS VARCHAR)), 1, 16)",
    "class_label": "CASE WHEN i % 2 = 0 THEN 'prime' ELSE 'composite' END",
    "endpoint": "'host/model' || CAST((i // 500) % 4 AS VARCHAR)",
    "cap": "([300, 600, 1200, 2400, 4800])[1 + (i // 2000) % 5]",
    "repeat": "1 + (i // 10000) % 10",
    "end": "CASE WHEN hash(i) % 100 = 0 THEN 'error' "
    "WHEN hash(i) % 3 = 0 THEN 'cut_reported' ELSE 'finished' END",
    "answer": "CASE WHEN hash(i) % 3 = 0 THEN 'empty' ELSE 'right' END",
    "charged_tokens": "hash(i) % 4800",
    "visible_tokens": "hash(i) % 900",
    "prompt_tokens": "20 + i % 7",
    "fingerprint": "substr(md5(CAST(i AS VARCHAR)), 1, 12)",
    "censored": "hash(i) % 3 = 0 AND hash(i) % 100 <> 0",
    "lost": "hash(i) % 3 = 0 AND hash(i) % 100 <> 0",
    "missing": "hash(i) % 100 = 0",
}
_SAME = {"BIGINT": "40", "VARCHAR": "'plain'", "BOOLEAN": "false"}


def make_rows(target: Path, rows: int) -> None:
    """Rows as `seal export` writes them, in runs of 100,000."""
    import duckdb

    chosen = ", ".join(
        f'CAST({_VARYING.get(name, _SAME[kind])} AS {kind}) AS "{name}"'
        for name, (kind, _) in COLUMNS.items()
    )
    with duckdb.connect(config={"memory_limit": "3GB"}) as database:
        database.execute(
            f"COPY (SELECT {chosen} FROM range({rows}) numbers(i)) TO '{target}' "
            "(FORMAT parquet, COMPRESSION zstd)"
        )


def export_log(folder: Path, lines: int) -> None:
    """A chained log of so many lines, and the time that it takes to become Parquet."""
    run = bench_report.make_run(500)
    log = folder / "log.jsonl"
    previous, made = run.digest(), list(bench_report.make_log(run, 500))
    with log.open("wb") as stream:
        for number in range(lines):
            line = made[number % len(made)].model_copy(update={"seq": number, "prev": previous}).to_bytes()
            previous = sha256_hex(line)
            stream.write(line + b"\n")
    began = time.perf_counter()
    write_parquet([RunLog("wave", log)], folder / "log.parquet")
    seconds = time.perf_counter() - began
    size = (folder / "log.parquet").stat().st_size
    print(
        f"a log of {lines} lines, {log.stat().st_size / 1e6:.0f} MB, to Parquet of {size / 1e6:.0f} MB: "
        f"{seconds:.1f} s, {lines / seconds:.0f} lines/s"
    )


def main() -> None:
    """Make, query, export, print."""
    if find_spec("duckdb") is None:
        print("needs the extra: pip install 'sealbench[parquet]'")
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--log-lines", type=int, default=200_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        rows = folder / "rows.parquet"
        began = time.perf_counter()
        make_rows(rows, options.rows)
        made = time.perf_counter() - began
        print(f"{options.rows} rows made in {made:.1f} s: {rows.stat().st_size / 1e6:.0f} MB", flush=True)
        subprocess.run([sys.executable, "-c", TABLES, str(rows)], check=True)
        export_log(folder, options.log_lines)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory of this process {peak:.0f} MB")


if __name__ == "__main__":
    main()
