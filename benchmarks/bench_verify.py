"""`seal verify` on a repository of many commitments and runs, serial and over processes.

    python benchmarks/bench_verify.py [--batteries N] [--runs N] [--jobs N] [--folder DIR]

The repository is made with the real stages on regtest: every battery sealed and stamped, the first N
planned, run against a built-in endpoint, reported and retired. It is kept in --folder if that is given,
and used again; --batteries 1000 --runs 100 takes long to make. Prints seconds for one process and for
several, and whether both said the same.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from sealbench.config import load
from sealbench.stages.create import create
from sealbench.stages.init import init
from sealbench.stages.report import report
from sealbench.stages.retire import retire
from sealbench.stages.run import execute_run
from sealbench.stages.start_run import start_run
from sealbench.testing.calendar import CalendarServer

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from tests.workshop import confirm, planned_from_template

ENDPOINTS, CAPS, PER_CLASS = ("reference/solver", "reference/constant"), (300, 4000), 4


def build(root: Path, batteries: int, runs: int) -> None:
    """The repository; the slow part of this script."""
    began = time.perf_counter()
    with CalendarServer() as calendar:
        made = init(root, network="regtest", calendars=(calendar.url,), explorers=(calendar.url,))
        workspace, settings = made.workspace, load(made.workspace.settings)
        names = [f"battery{number:04d}" for number in range(batteries)]
        for name in names:
            create(workspace, ["primality"], name=name, per_class=PER_CLASS, allow_leaks=True)
        for name in names[:runs]:
            planned_from_template(workspace, settings, name, ENDPOINTS, CAPS)
        confirm(workspace, settings, calendar)
        opened = [start_run(workspace, f"{name}-plan") for name in names[:runs]]
        confirm(workspace, settings, calendar)
        for one in opened:
            execute_run(
                workspace, one.run, one.battery.items, one.battery.secret, one.planned(), settings=settings
            )
            report(workspace, one.run.name)
            retire(workspace, one.run.battery)
        confirm(workspace, settings, calendar)
    print(f"built in {time.perf_counter() - began:.0f} s", flush=True)


def verify(root: Path, *options: str) -> tuple[float, float, bytes]:
    """(seconds, CPU seconds of all its processes, output) of one command."""
    command = [sys.executable, "-m", "sealbench", "verify", str(root), "--network", "regtest", "--json"]
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run([*command, *options], capture_output=True, check=False)
    seconds, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1, 3, 4):
        raise SystemExit(done.stderr.decode())
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, cpu, done.stdout


def main() -> None:
    """Build if need be, verify, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--batteries", type=int, default=100)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        root = options.folder or Path(temporary) / "repository"
        if not (root / "sealbench.toml").exists():
            build(root, options.batteries, options.runs)
        outputs = []
        for jobs in sorted({1, options.jobs}):
            seconds, cpu, output = verify(root, "--jobs", str(jobs))
            outputs.append(output)
            print(f"--jobs {jobs}: {seconds:.1f} s, {cpu:.1f} s of CPU", flush=True)
        verdict = json.loads(outputs[0])["verdict"]
        same = all(output == outputs[0] for output in outputs)
        print(f"verdict {verdict}, {len(outputs[0])} bytes of JSON, the same from each: {same}")
        if not same:
            raise SystemExit(1)


if __name__ == "__main__":
    main()
