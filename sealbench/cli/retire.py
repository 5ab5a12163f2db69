"""`seal retire`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from sealbench.cli.console import Console
from sealbench.cli.options import json_option, pass_console, workspace_option
from sealbench.cli.stamping import stamp_now
from sealbench.cli.workspace import open_workspace
from sealbench.errors import UsageError

if TYPE_CHECKING:
    from sealbench.store import Workspace


@click.command("retire")
@click.argument("name", required=False)
@click.option("--confirm", default=None, metavar="NAME", help="Repeat the name instead of being asked.")
@click.option("--license", default="CC-BY-4.0", show_default=True, help="SPDX identifier for the data.")
@click.option(
    "--author", "authors", multiple=True, metavar="NAME", help="A name to cite; several if need be."
)
@click.option(
    "--withhold",
    multiple=True,
    metavar="RUN:LINE",
    help="Leave out one raw response; it is counted, and its run no longer checks in full.",
)
@click.option(
    "--site",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Retire nothing: write the batteries of this workspace as static pages.",
)
@click.option("--no-stamp", is_flag=True, help="Do not submit to calendars now.")
@workspace_option
@json_option
@pass_console
def command(
    console: Console,
    name: str | None,
    confirm: str | None,
    license: str,
    authors: tuple[str, ...],
    withhold: tuple[str, ...],
    site: Path | None,
    no_stamp: bool,
    folder: Path | None,
    as_json: bool,
) -> None:
    """\b
    seal retire primes               publish one battery, for good
    seal retire --site site          the whole workspace as static pages, to put anywhere

    Publish a battery in full, in one folder that anyone can check by itself: its secret key, every item
    with its answer and certificate, the raw responses of its runs, and all that these rest on. There is
    no way back; it cannot be run as sealed again. Whatever holds a key or a path of this machine is
    refused with its place, and nothing is written.
    """
    from sealbench.stages.retire import retire, unproved_files, waiting_derived

    if name is not None and site is not None:
        raise UsageError("--site retires nothing, so it takes no battery", hint=f"seal retire --site {site}")
    workspace, settings = open_workspace(folder)
    if site is not None:
        _site(console, workspace, site, as_json=as_json)
        return
    if name is None:
        raise UsageError("no battery named", hint="seal retire NAME, or seal retire --site DIR")
    derived = waiting_derived(workspace, name)
    if derived:
        console.note(f"published with it, because they share its items: {', '.join(derived)}")
    unproved = unproved_files(workspace)
    if unproved:
        console.note(
            f"{len(unproved)} files have no proof that leads into a block yet, such as {unproved[0]}; the "
            "bundle keeps proofs as they are now: `seal stamp` and later `seal upgrade` come first"
        )
    typed = confirm if confirm is not None else click.prompt(f"Type {name} to publish it for good", err=True)
    if typed != name:
        raise UsageError(f"{typed!r} is not {name!r}; nothing was published", hint=f"seal retire {name}")
    done = retire(workspace, name, license=license, authors=authors, withhold=withhold)
    stamped = None if no_stamp else stamp_now(console, workspace, settings)
    if as_json:
        console.json(
            {
                "schema": "sealbench/retire/v1",
                "name": name,
                "folder": str(done.folder),
                "files": [workspace.relative(path) for path in done.files],
                "runs": list(done.runs),
                "derived": list(done.derived),
                "archive": str(done.archive),
                "archive_sha256": done.archive_sha256,
                "withheld": dict(done.withheld),
                "stamped": stamped,
            }
        )
    else:
        console.result(f"published {done.folder} ({len(done.files)} files, {len(done.runs)} runs)")
        console.result(f"archive {done.archive} (sha256 {done.archive_sha256})")
        for run, count in done.withheld:
            console.result(f"withheld of the responses of {run}: {count}; its log no longer checks in full")
        for one in done.derived:
            console.result(f"published {workspace.retired(one)} with it")
    console.next_step(f"seal verify {workspace.relative(done.folder)}")


def _site(console: Console, workspace: Workspace, folder: Path, *, as_json: bool) -> None:
    from sealbench.stages.site import write_site

    done = write_site(workspace, folder)
    if as_json:
        console.json(
            {
                "schema": "sealbench/site/v1",
                "folder": str(done.folder),
                "index": str(done.index),
                "batteries": list(done.batteries),
                "files": done.files,
            }
        )
    else:
        console.result(f"written {done.index} ({len(done.batteries)} batteries, {done.files} files)")
    console.next_step("open it in a browser, or put the folder on any web server")
