"""Writes the fixed log of `tests/data/report` and the report of it; run as a script.

The log is made once and kept. The report is written anew only under a higher ANALYSIS_VERSION: other bytes
under the same version are what test_analysis_version.py is there to catch.
"""

from __future__ import annotations

import json
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from factory import CLASSES, SOLVER, calls, cut, failed, hypothesis, log, plan, run_of, void_condition

from sealbench.analysis import ANALYSIS_VERSION, evaluate
from sealbench.formats.base import FileHash
from sealbench.formats.battery import Baseline
from sealbench.formats.preregistration import Preregistration
from sealbench.formats.report import Anchor, Report
from sealbench.formats.report_history import RelatedEvent
from sealbench.formats.run import Run, read_log

FOLDER = Path(__file__).parents[2] / "data" / "report"
INPUTS = ("plan.json", "run.json", "log.jsonl")


def reports() -> dict[str, Report]:
    """The report of the fixed log, with the usual limit of work and with one so small that it samples."""
    run = Run.from_bytes((FOLDER / "run.json").read_bytes())
    lines = tuple(read_log((FOLDER / "log.jsonl").read_bytes(), run.digest()))
    registered = Preregistration.from_bytes((FOLDER / "plan.json").read_bytes())
    outside: dict[str, Any] = {"anchors": _anchors(run), "baselines": _BASELINES, "history": _HISTORY}
    return {
        "usual": evaluate(run, lines, registered, **outside),
        "sampled": evaluate(run, lines, registered, **outside, time_limit=0),
    }


_BASELINES = (Baseline(family="primality", baseline="odd_means_prime", accuracy="0.7500"),)
_HISTORY = (
    RelatedEvent(event="amend", line=5, after_start=False, earlier="plan0", later="plan1", void=None),
    RelatedEvent(
        event="supersede",
        line=9,
        after_start=True,
        earlier="demo",
        later="demo-2",
        void="run1: H3 void by V1",
    ),
)


def _anchors(run: Run) -> tuple[Anchor, ...]:
    assert run.plan is not None
    return tuple(
        Anchor(
            path=file.path,
            sha256=file.sha256,
            status="anchored",
            grade="chained",
            network="mainnet",
            height=height,
            time="2026-11-30T11:00:00Z",
        )
        for file, height in ((run.commitment, 899_990), (run.plan, 899_995))
    )


def _make_log() -> None:
    """Two endpoints and wordings, all verdicts; cut, missing, wrong, at the cap, absent, another model."""
    registered = plan(
        [
            hypothesis("H1"),
            hypothesis("H2", measure="charged_tokens", cap=4000, falsifies=("H4",)),
            hypothesis("H3", cap=4000),
            hypothesis("H4", measure="accuracy", direction="less", where={"endpoint": SOLVER}),
            hypothesis("H5", measure="accuracy", direction="less", bound={"at_least": "1.5"}),
            hypothesis("H6", class1="even"),
        ],
        (SOLVER, "openai/x"),
        wordings=("inverted", "plain"),
        amends=FileHash(path="preregistrations/plan0.json", sha256="5" * 64),
        void_conditions=(void_condition(where={"wording": "plain"}, cap=4000, voids=("H3",)),),
    )
    planned = calls(registered, per_class=6, families={"primality": CLASSES["primality"]})
    run = run_of(registered, len(planned) + 1)
    (FOLDER / "plan.json").write_bytes(registered.to_bytes())
    (FOLDER / "run.json").write_bytes(run.to_bytes())
    lines = log(run, [_varied(place, fields) for place, fields in enumerate(planned)])
    (FOLDER / "log.jsonl").write_bytes(b"".join(line.to_bytes() + b"\n" for line in lines))


def _varied(place: int, fields: dict[str, Any]) -> dict[str, Any]:
    model = fields["endpoint"] == "openai/x"
    changed = fields | {"search": "exhaustive" if fields["class_label"] in ("prime", "no") else "witness"}
    if model:
        changed |= {"charged_tokens": (changed["charged_tokens"] or 0) + 60 * (place % 11), "model": "x-2026"}
        changed = cut(changed) if changed["charged_tokens"] > changed["cap"] else changed
    if model and place % 37 == 5:
        return failed(changed)
    if model and place % 29 == 3 and changed["end"] == "finished":
        changed |= {"answer": "wrong"}
    return changed | {"at_cap": changed["end"] == "finished" and place % 41 == 1}


def main() -> None:
    """Make the log if there is none, and the report if the version has risen."""
    if not (FOLDER / "log.jsonl").exists():
        _make_log()
    expect = FOLDER / "expect.json"
    old = json.loads(expect.read_text()) if expect.exists() else {"analysis_version": 0}
    if old["analysis_version"] >= ANALYSIS_VERSION:
        raise SystemExit(f"version {ANALYSIS_VERSION} is stored already: raise ANALYSIS_VERSION first")
    made = reports()
    (FOLDER / "report.json").write_bytes(made["usual"].to_bytes())
    found = {name: sha256((FOLDER / name).read_bytes()).hexdigest() for name in INPUTS}
    found |= {name: report.digest() for name, report in made.items()}
    expect.write_text(json.dumps({"analysis_version": ANALYSIS_VERSION, "sha256": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
