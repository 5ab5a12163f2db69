"""`seal verify`."""

from __future__ import annotations

from pathlib import Path

import click

from sealbench.cli.console import Console
from sealbench.cli.options import json_option, pass_console
from sealbench.errors import UsageError


@click.command("verify")
@click.argument("targets", nargs=-1, type=click.Path(path_type=Path))
@click.option("--network", default="mainnet", show_default=True, help="Bitcoin network whose rules count.")
@click.option(
    "--min-grade", default="proof-of-work", show_default=True, help="Weakest grade that counts as verified."
)
@click.option(
    "--headers",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Block headers of your own: lines or JSON of heights and hex, or packed.",
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
@click.option("--offline", is_flag=True, help="Touch no network, for files either (a workspace never does).")
@click.option(
    "--battery",
    "batteries",
    multiple=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="A file to check against the foreign commitments among the targets.",
)
@click.option("--every", is_flag=True, help="One line for each subject of each step.")
@json_option
@pass_console
def command(
    console: Console,
    targets: tuple[Path, ...],
    network: str,
    min_grade: str,
    headers: Path | None,
    since: Path | None,
    keys: tuple[Path, ...],
    accept_unanchored: bool,
    offline: bool,
    batteries: tuple[Path, ...],
    every: bool,
    as_json: bool,
) -> int:
    """\b
    seal verify                      the workspace around the current folder
    seal verify paper.pdf            any file with its paper.pdf.ots; several, or a folder of them

    Check, in twelve numbered steps, what the public files show: files, signatures, timestamps, the
    battery made again from its key, every certificate, the registry, the order, the log, the report.
    For files outside a workspace, headers that are missing are asked of the configured explorers.
    Exit code 0 verified, 1 false, 3 not yet, 4 could not check.
    """
    from sealbench.cli.verify_files import verify_file_targets
    from sealbench.stages.verify import make_policy, verify_workspace

    policy = make_policy(
        network=network,
        minimum_grade=min_grade,
        keys=keys,
        headers=headers,
        since=since,
        accept_unanchored=accept_unanchored,
    )
    if batteries or len(targets) > 1 or any(_is_file_target(one) for one in targets):
        return verify_file_targets(
            console, targets, policy, batteries=batteries, offline=offline, as_json=as_json
        )
    target = targets[0] if targets else None
    verification = verify_workspace(_root(target), policy=policy)
    if as_json:
        console.json(verification.to_json())
        return verification.exit_code
    from sealbench.cli.verification_text import verification_text

    console.result(verification_text(verification, every=every))
    return verification.exit_code


def _is_file_target(target: Path) -> bool:
    """Whether a target is a file with its proof, or a folder of such files, and no workspace."""
    from sealbench.store import REGISTRY, SETTINGS

    if target.is_dir():
        foreign = any(any(target.glob(kind)) for kind in ("*.ots", "*.commitment.json"))
        return foreign and not (target / REGISTRY).is_file()
    return target.name != SETTINGS and (target.is_file() or target.with_name(target.name + ".ots").is_file())


def _root(target: Path | None) -> Path:
    from sealbench.store import REGISTRY, Workspace

    if target is None:
        here = Path.cwd()
        return here if (here / REGISTRY).is_file() else Workspace.find().root
    if not target.exists():
        raise UsageError(f"{target}: no such file or folder", hint="seal verify FOLDER")
    return target if target.is_dir() else target.parent
