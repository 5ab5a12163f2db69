"""`seal verify` for files with their proofs: what is printed, and how missing headers are had."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sealbench.cli.console import Console
from sealbench.cli.workspace import settings_anywhere

if TYPE_CHECKING:
    from sealbench.config import Settings
    from sealbench.stages.verify_files import CheckedFile, CheckedFiles
    from sealbench.timestamps.check import ProofReport
    from sealbench.verification.policy import Policy


def verify_file_targets(
    console: Console,
    targets: Sequence[Path],
    policy: Policy,
    *,
    batteries: Sequence[Path],
    offline: bool,
    as_json: bool,
    named: str = "",
) -> int:
    """Check all files the targets stand for, print the result, give the exit code.

    Parameters
    ----------
    named : what the user called a folder that was made for this check and is gone afterwards; its files
        are then shown by their names alone.
    """
    from sealbench.stages.verify_files import stamped_files, verify_files

    paths = list(dict.fromkeys(path for target in targets for path in stamped_files(target)))
    settings = settings_anywhere(None)
    found = verify_files(paths, policy, settings, offline=offline, batteries=batteries)
    if named:
        found = replace(found, files=tuple(replace(one, path=Path(one.path.name)) for one in found.files))
    if as_json:
        single = len(found.files) == 1 and not batteries and not found.requirements
        single = single and not targets[0].is_dir()
        console.json(_file_json(found.files[0], policy) if single else _files_json(found, policy))
        return found.exit_code
    for one in found.files:
        _print_file(console, one, policy)
    for battery in found.batteries:
        matches = ", ".join(path.name for path in battery.matches)
        console.result(f"{battery.path}: {battery.fault or f'is what {matches} commits to'}")
    for required in found.requirements:
        console.result(f"{required.name}: {required.status}: {required.detail}")
    _print_end(console, found, named or shlex.join(map(str, targets)), settings, offline=offline)
    if not named:
        _print_next(console, found, targets)
    return found.exit_code


def _print_file(console: Console, one: CheckedFile, policy: Policy) -> None:
    report = one.report
    if report is None:
        console.result(f"{one.path}: {one.fault}")
    else:
        console.result(f"{one.path}: {_sentence(report, policy)}")
    if one.commitment:
        console.result(f"  {one.commitment.sentence}")
    if report is None:
        return
    for graded in (one for one in report.graded if one.grade != "needs header"):
        price = f"; a forger pays {graded.forgery_cost}" if graded.forgery_cost else ""
        console.result(f"  block {graded.height}: {graded.grade}{price}")
    for other in report.other:
        where = f" block {other.height}" if other.height is not None else f" attestation {other.tag}"
        console.result(f"  {other.kind}{where}: named, not checked")
    if report.weak_hash:
        console.result("  made with SHA-1 or RIPEMD-160: it may commit to two files")


def _sentence(report: ProofReport, policy: Policy) -> str:
    """As the report says it; how to get headers is said once, for all files together."""
    return report.sentence(policy.rules, policy.minimum_grade).partition("; fetch headers")[0]


def _print_end(
    console: Console, found: CheckedFiles, named: str, settings: Settings, *, offline: bool
) -> None:
    """The count of a long list, and the exact commands for missing headers."""
    if len(found.files) > 1:
        counts: dict[str, int] = {}
        for one in found.files:
            counts[one.status] = counts.get(one.status, 0) + 1
        parts = ", ".join(f"{number} {status}" for status, number in sorted(counts.items()))
        console.result(f"{len(found.files)} files: {parts}")
    for note in found.notes:
        console.note(note)
    if found.missing:
        _print_missing(console, found.missing, named, settings, offline=offline)
    if any(one.status == "explorer" for one in found.files):
        console.next_step(f"seal headers update, then seal verify {named} (or accept --min-grade explorer)")


def _print_next(console: Console, found: CheckedFiles, targets: Sequence[Path]) -> None:
    """What the files' owner does next."""
    statuses = {one.status for one in found.files}
    if "pending" in statuses:
        console.next_step("seal upgrade " + shlex.join(map(str, targets)))
    if "unstamped" in statuses:
        console.next_step(
            "seal stamp " + shlex.join(str(f.path) for f in found.files if f.status == "unstamped")
        )


def _print_missing(
    console: Console, heights: Sequence[int], named: str, settings: Settings, *, offline: bool
) -> None:
    listed = " ".join(map(str, heights))
    console.result(f"headers needed of {len(heights)} block{'s' * (len(heights) != 1)}: {listed}")
    sources = [*settings.explorers, *([settings.core_rpc] if settings.core_rpc else []), *settings.electrum]
    if offline and sources:
        console.result(f"to fetch them (asks {', '.join(sources)}):\n    seal verify {named}")
    if settings.explorers and settings.network == "mainnet":
        base = settings.explorers[0]
        console.result(
            "or on another machine, by hand:\n"
            f"    for h in {listed}; do\n"
            f'      echo "$h $(curl -s {base}/block/$(curl -s {base}/block-height/$h)/header)"\n'
            f"    done > headers.txt\n"
            f"    seal verify {named} --offline --headers headers.txt"
        )


def _file_json(one: CheckedFile, policy: Policy) -> dict[str, Any]:
    report = one.report
    result: dict[str, Any] = {
        "schema": "sealbench/verify-file/v1",
        "file": str(one.path),
        "status": one.status,
        "network": policy.network,
        "hash": report.hash_name if report else None,
        "digest": report.digest.hex() if report else None,
        "attestations": [
            {
                "grade": graded.grade,
                "height": graded.height,
                "height_proved": graded.height_proved,
                "time": graded.time.isoformat() if graded.time else None,
                "detail": graded.detail,
                "forgery_cost": graded.forgery_cost,
            }
            for graded in (report.graded if report else ())
        ],
        "pending": list(report.pending) if report else [],
        "other": [
            {"kind": other.kind, "tag": other.tag, "height": other.height}
            for other in (report.other if report else ())
        ],
        "weak_hash": report.weak_hash if report else None,
        "detail": _sentence(report, policy) if report else one.fault,
    }
    if one.commitment:
        result["commitment"] = {
            "name": one.commitment.name,
            "recipe": one.commitment.recipe or None,
            "sha256": one.commitment.sha256 or None,
            "items": one.commitment.count,
            "source_file": one.commitment.source or None,
        }
    return result


def _files_json(found: CheckedFiles, policy: Policy) -> dict[str, Any]:
    return {
        "schema": "sealbench/verify-files/v1",
        "verdict": found.verdict,
        "network": policy.network,
        "files": [_file_json(one, policy) for one in found.files],
        "batteries": [
            {
                "file": str(one.path),
                "matches": [str(path) for path in one.matches],
                "status": "fail" if one.fault else "ok",
                "detail": one.fault or "the commitment's hash",
            }
            for one in found.batteries
        ],
        "requirements": [one.to_json() for one in found.requirements],
        "missing_headers": list(found.missing),
        "asked": list(found.asked),
        "notes": list(found.notes),
    }
