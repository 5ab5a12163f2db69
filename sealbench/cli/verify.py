"""`seal verify`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from sealbench.cli.console import Console
from sealbench.cli.options import json_option, pass_console
from sealbench.errors import UsageError

if TYPE_CHECKING:
    from sealbench.verification.policy import Policy

_EXIT_OF_STATUS = {"anchored": 0, "wrong file": 1, "mismatch": 1, "pending": 3, "none": 3}


@click.command("verify")
@click.argument("target", type=click.Path(path_type=Path), required=False)
@click.option("--network", default="mainnet", show_default=True, help="Bitcoin network whose rules count.")
@click.option(
    "--min-grade", default="proof-of-work", show_default=True, help="Weakest grade that counts as verified."
)
@click.option(
    "--headers",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Block headers of your own: JSON of heights to hex, or packed.",
)
@click.option(
    "--since",
    type=click.Path(dir_okay=False, path_type=Path),
    help="A checkpoint you kept: must be contained.",
)
@click.option(
    "--key",
    "keys",
    multiple=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="A public key (or allowed_signers file) that you know to be the author's.",
)
@click.option("--accept-unanchored", is_flag=True, help='Let missing proofs of time pass: "ok except time".')
@click.option("--offline", is_flag=True, help="Touch no network (this version never does in verify).")
@click.option("--every", is_flag=True, help="One line for each subject of each step.")
@json_option
@pass_console
def command(
    console: Console,
    target: Path | None,
    network: str,
    min_grade: str,
    headers: Path | None,
    since: Path | None,
    keys: tuple[Path, ...],
    accept_unanchored: bool,
    offline: bool,
    every: bool,
    as_json: bool,
) -> int:
    """\b
    seal verify                      the workspace around the current folder
    seal verify paper.pdf            any file with its paper.pdf.ots

    Check, in twelve numbered steps, what the public files show: files, signatures, timestamps, the
    battery made again from its key, every certificate, the registry, the order, the log, the report.
    Exit code 0 verified, 1 false, 3 not yet, 4 could not check.
    """
    from sealbench.stages.verify import make_policy, verify_workspace
    from sealbench.store import SETTINGS

    policy = make_policy(
        network=network,
        minimum_grade=min_grade,
        keys=keys,
        headers=headers,
        since=since,
        accept_unanchored=accept_unanchored,
    )
    if target is not None and target.is_file() and target.name != SETTINGS:
        return _verify_file(console, target, policy, as_json)
    verification = verify_workspace(_root(target), policy=policy)
    if as_json:
        console.json(verification.to_json())
        return verification.exit_code
    from sealbench.cli.verification_text import verification_text

    console.result(verification_text(verification, every=every))
    return verification.exit_code


def _root(target: Path | None) -> Path:
    from sealbench.store import REGISTRY, Workspace

    if target is None:
        here = Path.cwd()
        return here if (here / REGISTRY).is_file() else Workspace.find().root
    if not target.exists():
        raise UsageError(f"{target}: no such file or folder", hint="seal verify FOLDER")
    return target if target.is_dir() else target.parent


def _verify_file(console: Console, path: Path, policy: Policy, as_json: bool) -> int:
    from sealbench.stages.verify import verify_file

    found = verify_file(path, policy)
    status = found.status(policy.minimum_grade)
    code = _EXIT_OF_STATUS.get(status, 4)
    if as_json:
        console.json(
            {
                "schema": "sealbench/verify-file/v1",
                "file": str(path),
                "status": status,
                "network": policy.network,
                "hash": found.hash_name,
                "digest": found.digest.hex(),
                "attestations": [
                    {"grade": one.grade, "height": one.height, "detail": one.detail} for one in found.graded
                ],
                "pending": list(found.pending),
            }
        )
    else:
        console.result(f"{path}: {found.sentence(policy.rules, policy.minimum_grade)}")
        for one in found.graded:
            price = f"; a forger pays {one.forgery_cost}" if one.forgery_cost else ""
            console.result(f"  block {one.height}: {one.grade}{price}")
        if found.weak_hash:
            console.result("  made with SHA-1 or RIPEMD-160: it may commit to two files")
    if status == "needs header":
        console.next_step(f"seal upgrade {path}, or seal verify {path} --headers FILE")
    return code
