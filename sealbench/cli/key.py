"""`seal key show|backup|restore|rotate|revoke`."""

from __future__ import annotations

from pathlib import Path

import click

from sealbench.cli.console import Console
from sealbench.cli.options import json_option, pass_console, workspace_option
from sealbench.cli.stamping import stamp_now
from sealbench.cli.workspace import open_workspace

passphrase_option = click.option(
    "--passphrase-env",
    default=None,
    metavar="VARIABLE",
    help="Read the passphrase from this variable instead of asking for it.",
)


@click.group("key")
def command() -> None:
    """\b
    seal key show
    seal key backup keys.backup

    The author's signing key, and the secret key K of each battery. Losing a K is final: nobody can
    ever open that battery. Losing the author's key means a new registry.
    """


@command.command("show")
@workspace_option
@json_option
@pass_console
def show(console: Console, folder: Path | None, as_json: bool) -> None:
    """\b
    seal key show

    Every key the registry names, with the line that brought it in and the line that revoked it.
    """
    from sealbench.stages.keys import list_keys

    workspace, _ = open_workspace(folder)
    keys = list_keys(workspace)
    if as_json:
        rows = [
            {
                "fingerprint": key.public.fingerprint,
                "public_key": key.public.openssh,
                "line": key.line,
                "revoked": key.revoked,
                "current": key.current,
            }
            for key in keys
        ]
        console.json({"schema": "sealbench/keys/v1", "keys": rows})
        return
    for key in keys:
        state = f"revoked at line {key.revoked}" if key.revoked else "current" if key.current else "replaced"
        console.result(f"{key.public.fingerprint}  since registry line {key.line}, {state}")
        console.result(f"  {key.public.openssh}")


@command.command("backup")
@click.argument("target", type=click.Path(dir_okay=False, path_type=Path))
@passphrase_option
@workspace_option
@json_option
@pass_console
def backup(
    console: Console, target: Path, passphrase_env: str | None, folder: Path | None, as_json: bool
) -> None:
    """\b
    seal key backup keys.backup

    Write the author's key and every battery's key into one file under a passphrase (scrypt).
    """
    from sealbench.stages.keys import backup_keys

    workspace, _ = open_workspace(folder)
    made = backup_keys(workspace, target, _passphrase(passphrase_env, confirm=True))
    if as_json:
        console.json(
            {"schema": "sealbench/key-backup/v1", "file": str(target), "batteries": list(made.batteries)}
        )
    else:
        console.result(f"written {target}: the author's key and {len(made.batteries)} battery keys")
    console.note("keep it elsewhere; without the passphrase it is lost")


@command.command("restore")
@click.argument("source", type=click.Path(dir_okay=False, path_type=Path))
@passphrase_option
@workspace_option
@json_option
@pass_console
def restore(
    console: Console, source: Path, passphrase_env: str | None, folder: Path | None, as_json: bool
) -> None:
    """\b
    seal key restore keys.backup

    Put back every key that is missing here. Keys that are here are never overwritten.
    """
    from sealbench.stages.keys import restore_keys

    workspace, _ = open_workspace(folder)
    restored = restore_keys(workspace, source, _passphrase(passphrase_env, confirm=False))
    if as_json:
        console.json({"schema": "sealbench/key-restore/v1", "restored": [str(path) for path in restored]})
    else:
        console.result(f"restored {len(restored)} keys")


@command.command("rotate")
@click.option("--no-stamp", is_flag=True, help="Do not submit to calendars now.")
@workspace_option
@json_option
@pass_console
def rotate(console: Console, no_stamp: bool, folder: Path | None, as_json: bool) -> None:
    """\b
    seal key rotate

    Make a new signing key. The old one signs the registry line that names it, and stays valid for
    what it signed.
    """
    from sealbench.stages.keys import rotate_key

    workspace, settings = open_workspace(folder)
    old, new = rotate_key(workspace)
    if not no_stamp:
        stamp_now(console, workspace, settings)
    if as_json:
        console.json({"schema": "sealbench/key-rotate/v1", "old": old.fingerprint, "new": new.fingerprint})
    else:
        console.result(f"{new.fingerprint} replaces {old.fingerprint}")
    console.next_step("seal key backup FILE")


@command.command("revoke")
@click.argument("fingerprint")
@click.option("--no-stamp", is_flag=True, help="Do not submit to calendars now.")
@workspace_option
@json_option
@pass_console
def revoke(console: Console, fingerprint: str, no_stamp: bool, folder: Path | None, as_json: bool) -> None:
    """\b
    seal key revoke SHA256:…

    Revoke a key from now on. What it signed before stays valid; the current key is rotated out.
    """
    from sealbench.stages.keys import revoke_key

    workspace, settings = open_workspace(folder)
    revoke_key(workspace, fingerprint)
    if not no_stamp:
        stamp_now(console, workspace, settings)
    if as_json:
        console.json({"schema": "sealbench/key-revoke/v1", "revoked": fingerprint})
    else:
        console.result(f"revoked {fingerprint}")
    console.next_step("seal key show")


def _passphrase(variable: str | None, *, confirm: bool) -> str:
    import os

    from sealbench.errors import UsageError

    if variable is None:
        typed: str = click.prompt("Passphrase", hide_input=True, confirmation_prompt=confirm, err=True)
        return typed
    value = os.environ.get(variable)
    if not value:
        raise UsageError(f"the variable {variable} is not set", hint=f"export {variable}=…")
    return value
