"""Makes `workspace/`, one complete retired workspace: `python tests/vectors/make_workspace.py`.

The real stages make it, over loopback HTTP against the reference endpoints and the regtest calendar, so
K, the author's key and the times are new each time. Make it again only when a format changes; the
bytes that are here are what later versions must still verify.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path

from sealbench.config import load
from sealbench.stages.create import create
from sealbench.stages.init import init
from sealbench.stages.report import report
from sealbench.stages.retire import retire
from sealbench.stages.run import execute_run
from sealbench.stages.start_run import start_run
from sealbench.store import PUBLIC_FOLDERS
from sealbench.testing.calendar import CalendarServer

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.workshop import confirm, planned_from_template

TARGET = Path(__file__).parent / "workspace"


def build(root: Path) -> None:
    """Primality and subset sum, two per class and kind, planned, run, reported and retired."""
    with CalendarServer() as calendar:
        made = init(root, network="regtest", calendars=(calendar.url,), explorers=(calendar.url,))
        workspace, settings = made.workspace, load(made.workspace.settings)
        create(workspace, ["primality", "subset_sum"], name="mixed", per_class=2)
        planned_from_template(workspace, settings, "mixed", ("reference/solver",), (300,))
        confirm(workspace, settings, calendar)
        opened = start_run(workspace, "mixed-plan")
        confirm(workspace, settings, calendar)
        battery = opened.battery
        execute_run(workspace, opened.run, battery.items, battery.secret, opened.planned(), settings=settings)
        report(workspace, opened.run.name)
        confirm(workspace, settings, calendar)  # a bundle keeps its proofs as they are when it is made
        retire(workspace, "mixed")
        confirm(workspace, settings, calendar)


def main() -> None:
    """Build in a temporary folder and keep the public folders."""
    with tempfile.TemporaryDirectory() as folder:
        build(Path(folder) / "built")
        shutil.rmtree(TARGET, ignore_errors=True)
        for name in PUBLIC_FOLDERS:
            shutil.copytree(Path(folder) / "built" / name, TARGET / name)
    expect = {"kind": "workspace", "valid": True, "network": "regtest", "batteries": ["mixed"], "items": 8}
    (TARGET / "expect.json").write_text(json.dumps(expect, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
