"""`seal audit` on generated logs: rows a second and the largest memory, for CSV, JSONL and one JSON array.

python benchmarks/bench_audit.py [--rows N]
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

AUDIT = """
import resource, sys, time
import sealbench
start = time.perf_counter()
found = sealbench.audit(sys.argv[1], keep_rows=sys.argv[2] == "rows")
seconds = time.perf_counter() - start
print(sum(group.responses for group in found.groups), seconds, found.groups[0].test.p_item.text())
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def _rows(count: int) -> Iterator[dict[str, Any]]:
    """Two classes, one response an item, 1 in 37 cut at 1000 tokens."""
    for n in range(count):
        cut = n % 37 == 0
        yield {
            "id": f"item{n}",
            "target": str(n % 2),
            "finish_reason": "length" if cut else "stop",
            "output_tokens": 1000 if cut else n % 990,
            "max_tokens": 1000,
            "correct": int(not cut),
        }


def _write_csv(path: Path, count: int) -> None:
    with path.open("w") as stream:
        for place, row in enumerate(_rows(count)):
            if not place:
                stream.write(",".join(row) + "\n")
            stream.write(",".join(str(value) for value in row.values()) + "\n")


def _write_jsonl(path: Path, count: int) -> None:
    with path.open("w") as stream:
        for row in _rows(count):
            stream.write(json.dumps(row) + "\n")


def _write_inspect(path: Path, count: int) -> None:
    with path.open("w") as stream:
        stream.write('{"version":2,"status":"success","eval":{"task":"t","model":"m"},')
        stream.write('"plan":{"config":{"max_tokens":1000}},"samples":[')
        for place, row in enumerate(_rows(count)):
            stop = "max_tokens" if row["finish_reason"] == "length" else "stop"
            choice = {"message": {"content": "x"}, "stop_reason": stop}
            output = {"choices": [choice], "usage": {"output_tokens": row["output_tokens"]}}
            sample = {"id": row["id"], "epoch": 1, "target": row["target"], "output": output}
            stream.write(("," if place else "") + json.dumps(sample))
        stream.write("]}")


def main() -> None:
    """Write each log, audit it in a process of its own, print one line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=200_000)
    count = parser.parse_args().rows
    start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{count} rows; the interpreter alone: {start} MB")
    writers = {"csv": _write_csv, "jsonl": _write_jsonl, "json": _write_inspect}
    with tempfile.TemporaryDirectory() as folder:
        for suffix, write in writers.items():
            path = Path(folder) / f"log.{suffix}"
            write(path, count)
            size = path.stat().st_size / 1e6
            for kept in ("", "rows"):
                began = time.perf_counter()
                done = subprocess.run(
                    [sys.executable, "-c", AUDIT, str(path), kept], capture_output=True, text=True, check=True
                )
                (responses, seconds, *p), (kilobytes,) = map(str.split, done.stdout.splitlines())
                print(
                    f"{suffix:5} {size:6.0f} MB{', rows kept' if kept else '':11}: {float(seconds):6.1f} s, "
                    f"{int(responses) / float(seconds):8.0f} rows/s, at most {int(kilobytes) // 1024:4} MB "
                    f"(whole process {time.perf_counter() - began:.1f} s; p = {' '.join(p)})"
                )
            path.unlink()


if __name__ == "__main__":
    main()
