"""`seal verify`."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sealbench.cli.console import Console
from sealbench.cli.options import GroupedCommand, json_option, pass_console
from sealbench.cli.workers_option import available_cores, dask_cluster, dask_option
from sealbench.errors import CheckFailed, CouldNotCheck, UsageError

if TYPE_CHECKING:
    from sealbench.cli.verify_targets import Target, WorkspaceTarget
    from sealbench.stages.fetch import Fetched
    from sealbench.verification.policy import Policy
    from sealbench.verification.steps import Verification

_FILE = click.Path(dir_okay=False, path_type=Path)
_GROUPS = {
    "Whom and what you trust": ("keys", "allowed_signers", "expected_hashes", "since"),
    "Time": ("network", "min_grade", "headers", "accept_unanchored"),
    "What must be open": ("at_least_revealed",),
    "Other people's commitments": ("batteries",),
    "Network": ("offline", "allow_file"),
    "Work": ("jobs", "dask"),
    "Output": ("explain", "every", "as_json"),
}


@click.command("verify", cls=GroupedCommand, groups=_GROUPS)
@click.argument("targets", nargs=-1, metavar="[TARGET]...")
@click.option(
    "--key", "keys", multiple=True, type=_FILE, help="A public key that you know to be the author's."
)
@click.option(
    "--allowed-signers",
    multiple=True,
    type=_FILE,
    help="An OpenSSH allowed_signers file of yours: principals, options and keys.",
)
@click.option(
    "--expect-hash",
    "expected_hashes",
    multiple=True,
    metavar="SHA256",
    help="Of a commitment, file, root or registry head, as you have it from paper: must be here.",
)
@click.option("--since", type=_FILE, help="A checkpoint you kept: the registry must contain it.")
@click.option("--network", default="mainnet", show_default=True, help="Bitcoin network whose rules count.")
@click.option(
    "--min-grade", default="proof-of-work", show_default=True, help="Weakest grade that counts as verified."
)
@click.option(
    "--headers", type=_FILE, help="Block headers of your own: lines or JSON of heights and hex, or packed."
)
@click.option("--accept-unanchored", is_flag=True, help='Let missing proofs of time pass: "ok except time".')
@click.option(
    "--at-least-revealed",
    metavar="N|all",
    help="So many items of each battery must be open; fewer is exit 3.",
)
@click.option(
    "--battery",
    "batteries",
    multiple=True,
    type=_FILE,
    help="A file to check against the foreign commitments among the targets.",
)
@click.option(
    "--offline", is_flag=True, help="Touch no network; without it only addresses and missing headers do."
)
@click.option("--allow-file", is_flag=True, help="Clone file:// addresses too.")
@click.option(
    "--explain",
    is_flag=False,
    flag_value="",
    metavar="[STEP]",
    help="Say what a step means and how to check it by hand; without STEP list them.",
)
@click.option(
    "--jobs",
    type=click.IntRange(1),
    default=None,
    help="Processes, at most, for a workspace's costly checks (default: as many as this machine has cores).",
)
@dask_option
@click.option("--every", is_flag=True, help="One line for each subject of each step.")
@json_option
@pass_console
def command(
    console: Console,
    targets: tuple[str, ...],
    keys: tuple[Path, ...],
    allowed_signers: tuple[Path, ...],
    expected_hashes: tuple[str, ...],
    since: Path | None,
    network: str,
    min_grade: str,
    headers: Path | None,
    accept_unanchored: bool,
    at_least_revealed: str | None,
    batteries: tuple[Path, ...],
    offline: bool,
    allow_file: bool,
    explain: str | None,
    jobs: int | None,
    dask: str | None,
    every: bool,
    as_json: bool,
) -> int:
    """\b
    seal verify                        the workspace around the current folder
    seal verify wave1                  one battery, plan or run of it, and what that rests on
    seal verify commitments/wave1.json runs/wave1-plan-1
    seal verify paper.pdf              any file with its paper.pdf.ots; several, or a folder of them
    seal verify https://HOST/REPOSITORY
    seal verify bundle.tar             or .tar.gz, .zip, here or at an https address
    seal verify --explain 4            what step 4 means, and how to check it by hand

    Check, in twelve numbered steps, what the public files show: files, signatures, timestamps, the
    battery made again from its key, every certificate, the registry, the order, the log, the report.
    For files outside a workspace, headers that are missing are asked of the configured explorers.
    Exit code 0 verified, 1 false, 3 not yet, 4 could not check.
    """
    if explain is not None:
        from sealbench.cli.verify_explain import explain_steps

        return explain_steps(console, explain, as_json=as_json)
    from sealbench.cli.verify_targets import choose_target
    from sealbench.stages.verify import make_policy

    policy = make_policy(
        network=network,
        minimum_grade=min_grade,
        keys=keys,
        allowed_signers=allowed_signers,
        headers=headers,
        since=since,
        accept_unanchored=accept_unanchored,
        expected_hashes=expected_hashes,
        at_least_revealed=at_least_revealed,
    )
    if batteries and not targets:
        raise UsageError(
            "--battery needs a commitment to check it against",
            hint="seal verify FILE.commitment.json --battery FILE",
        )
    if offline and dask is not None:
        raise UsageError("a Dask cluster is reached over the network", hint="leave --offline or --dask out")
    kept = (*keys, *allowed_signers, *((since,) if since else ()))
    asked = Asked(policy, batteries, kept, offline, allow_file, every, as_json, jobs, dask)
    return _verify(console, choose_target(targets), asked)


@dataclass(frozen=True)
class Asked:
    """What stood on the command line besides the target. `kept`: files that the caller trusts."""

    policy: Policy
    batteries: tuple[Path, ...]
    kept: tuple[Path, ...]
    offline: bool
    allow_file: bool
    every: bool
    as_json: bool
    jobs: int | None
    dask: str | None


def _verify(console: Console, target: Target, asked: Asked) -> int:
    """Check one target of any kind."""
    from sealbench.cli.verify_files import verify_file_targets
    from sealbench.cli.verify_targets import ArchiveTarget, FilesTarget, RemoteTarget

    # What fetches needs an HTTP library, and nothing else here does.
    if isinstance(target, RemoteTarget):
        from sealbench.fetching.downloads import shown_address
        from sealbench.stages.fetch import check_remote, fetched

        check_remote(target.url, allow_file=asked.allow_file)  # before the address is shown anywhere
        if asked.offline:
            raise _no_network(target.url)
        console.note(f"fetching {shown_address(target.url)}")
        with fetched(target.url, allow_file=asked.allow_file) as found:
            return _verify_fetched(console, found, shown_address(target.url), asked)
    if isinstance(target, ArchiveTarget):
        from sealbench.stages.fetch import unpacked

        with unpacked(target.path) as found:
            return _verify_fetched(console, found, str(target.path), asked)
    if isinstance(target, FilesTarget):
        if asked.dask is not None:
            raise UsageError("--dask is for workspaces; files are checked here", hint="leave --dask out")
        return verify_file_targets(
            console,
            target.paths,
            asked.policy,
            batteries=asked.batteries,
            offline=asked.offline,
            as_json=asked.as_json,
        )
    if asked.batteries:
        raise UsageError(
            "--battery is for other people's commitments; a workspace's batteries are checked anyway",
            hint=f"seal verify {target.root}",
        )
    _refuse_own_evidence(target.root, asked.kept)
    return _verify_workspace(console, target, asked)


def _verify_fetched(console: Console, found: Fetched, named: str, asked: Asked) -> int:
    """What lies in a folder that was just made: a workspace, a bundle, or files with proofs."""
    from sealbench.cli.verify_files import verify_file_targets
    from sealbench.cli.verify_targets import WorkspaceTarget, target_at
    from sealbench.stages.verify import knowing_archive

    policy = asked.policy if found.sha256 is None else knowing_archive(asked.policy, named, found.sha256)
    target = target_at(found.folder)
    if isinstance(target, WorkspaceTarget):
        return _verify_workspace(console, target, replace(asked, policy=policy), source=found.source)
    if not any(any(found.folder.glob(kind)) for kind in ("*.ots", "*.commitment.json")):
        raise CheckFailed(
            f"{named} holds no workspace, no retired battery, and no file with a proof",
            hint="unpack or clone it by hand, then: seal verify FOLDER, if one in it does",
        )
    if not asked.as_json:
        console.result(f"target: {found.source}")
    return verify_file_targets(
        console,
        [found.folder],
        policy,
        batteries=asked.batteries,
        offline=asked.offline,
        as_json=asked.as_json,
        named=named,
    )


def _verify_workspace(console: Console, target: WorkspaceTarget, asked: Asked, source: str = "") -> int:
    from sealbench.cli.verification_text import verification_text

    found = replace(_check_workspace(console, target, asked), source=source)
    if asked.as_json:
        console.json(found.to_json())
    else:
        console.result(verification_text(found, every=asked.every, width=console.width))
        if found.failures:
            console.next_step(f"seal verify --explain {found.failures[0].step}")
    return found.exit_code


def _check_workspace(console: Console, target: WorkspaceTarget, asked: Asked) -> Verification:
    from sealbench.stages.verify import verify_workspace

    with dask_cluster(console, asked.dask) as cluster:
        jobs, executor = asked.jobs or available_cores(), None
        if cluster is not None:
            jobs, executor = cluster.slots(), cluster.executor()
        return verify_workspace(
            target.root, policy=asked.policy, parts=target.parts, jobs=jobs, executor=executor
        )


def _no_network(url: str) -> CouldNotCheck:
    from sealbench.fetching.downloads import shown_address
    from sealbench.stages.fetch import is_archive_address

    shown = shown_address(url)
    if is_archive_address(url):
        by_hand = f"curl -L -o FILE {shlex.quote(shown)}, then: seal verify FILE --offline"
    else:
        by_hand = f"git clone --depth 1 {shlex.quote(shown)} FOLDER, then: seal verify FOLDER --offline"
    return CouldNotCheck(f"{shown} is not on this machine, and --offline forbids the network", hint=by_hand)


def _refuse_own_evidence(root: Path, given: tuple[Path, ...]) -> None:
    """A key or checkpoint out of the workspace under test would vouch for itself."""
    for path in given:
        if path.resolve().is_relative_to(root.resolve()):
            raise UsageError(
                f"{path} is part of what is to be checked, so it vouches for nothing",
                hint="name a file that you have from the author, or kept, outside of that folder",
            )
