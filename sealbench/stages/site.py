"""Write a workspace as a static site: an index of its batteries, a page for each, the files to download.

The pages follow from the public files alone, so the same files give the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sealbench import store
from sealbench.analysis.limits import ALWAYS
from sealbench.crypto.digest import sha256_hex
from sealbench.errors import CheckFailed, UsageError
from sealbench.formats.battery import Commitment
from sealbench.formats.draft import Draft
from sealbench.formats.registry import Registry, RegistryLine
from sealbench.formats.report import Report
from sealbench.formats.run import Run, read_log
from sealbench.publishing.bundle_archive import archive_parts
from sealbench.publishing.bundle_record import RECORD, BundleScope
from sealbench.publishing.bundle_scan import scan
from sealbench.publishing.publication import read_registry, refuse_damage
from sealbench.publishing.sealing import parent_of
from sealbench.render.html import render_html
from sealbench.render.site import BatteryPage, Download, IndexPage, RunPage, render_battery, render_index
from sealbench.running.known_secrets import forbidden_here
from sealbench.running.timeline import battery_timeline
from sealbench.store import PUBLIC_FOLDERS, Workspace

MARK = ".sealbench-site"  # in a folder that this command may write into again
Files = dict[str, bytes]


@dataclass(frozen=True)
class Site:
    """A written site: its folder, its first page, the batteries shown, the number of files."""

    folder: Path
    index: Path
    batteries: tuple[str, ...]
    files: int


def write_site(workspace: Workspace, folder: Path) -> Site:
    """Write the whole site into a folder that is new, empty, or held a site before.

    Raises
    ------
    UsageError : the folder holds something else, or lies among the public files.
    CheckFailed : a public file was changed, or holds a secret or a local path; nothing was written.
    """
    _refuse_folder(workspace, folder)
    refuse_damage(workspace)
    registry = read_registry(workspace)
    site: Files = {}
    pages = [_battery(workspace, registry, name, site) for name in _names(registry)]
    index = IndexPage(
        network=registry.network,
        facts=_registry_facts(registry),
        batteries=tuple(pages),
        downloads=tuple(_registry_files(workspace, site)),
        limits=ALWAYS,
    )
    site["index.html"] = render_index(index).encode()
    for page in pages:
        site[f"{page.name}/index.html"] = render_battery(page, registry.network).encode()
    _refuse_leaks(workspace, registry, site)
    try:
        store.replace(folder / MARK, b"sealbench/site/v1\n")
        for path, data in site.items():
            store.replace(folder / path, data)
    except OSError as error:
        raise UsageError(f"{folder}: {error.strerror}", hint="seal retire --site OTHER_FOLDER") from error
    return Site(folder, folder / "index.html", tuple(page.name for page in pages), len(site))


def _refuse_folder(workspace: Workspace, folder: Path) -> None:
    inside = folder.resolve()
    for name in (*PUBLIC_FOLDERS, ".seal"):
        if inside.is_relative_to((workspace.root / name).resolve()):
            raise UsageError(f"{folder} lies among the workspace's files", hint="seal retire --site site")
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is no folder", hint="seal retire --site site")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / MARK).is_file():
        raise UsageError(
            f"{folder} holds other files, which this command would mix with its own",
            hint="seal retire --site with a new or empty folder",
        )


def _names(registry: Registry) -> list[str]:
    return list(dict.fromkeys(line.subject for line in registry.events("create")))


def _battery(workspace: Workspace, registry: Registry, name: str, site: Files) -> BatteryPage:
    retired = registry.find("retire", name) is not None
    document = _document(workspace, name)
    parent = parent_of(document) if isinstance(document, Commitment) else None
    scope = BundleScope.of(registry, name, parent)
    downloads = _retired_files(workspace, name, site) if retired else _public_files(workspace, scope, site)
    state = "retired" if retired else "sealed"
    if isinstance(document, Draft):
        state = "void" if registry.find("void", name) else "draft"
    return BatteryPage(
        name=name,
        state=state,
        summary=_summary(document),
        facts=tuple(_facts(document, parent)),
        moments=tuple(battery_timeline(workspace, registry, scope)),
        runs=tuple(_runs(workspace, registry, scope, site)),
        downloads=tuple(one for one in downloads if f"/{RECORD}/" not in one.path),
        record=tuple(one for one in downloads if f"/{RECORD}/" in one.path),
        check=_commands(name, registry.network, retired=retired),
    )


def _document(workspace: Workspace, name: str) -> Commitment | Draft:
    path = workspace.commitment(name)
    if path.exists():
        return Commitment.from_bytes(store.read(path), workspace.relative(path))
    path = workspace.draft(name)
    return Draft.from_bytes(store.read(path), workspace.relative(path))


def _summary(document: Commitment | Draft) -> str:
    families = ", ".join(family.family for family in document.parameters.families)
    if isinstance(document, Draft):
        return f"{families}, to be drawn from block {document.height}"
    return f"{document.items} items, {families}"


def _facts(document: Commitment | Draft, parent: str | None) -> Iterator[tuple[str, str]]:
    yield "families", ", ".join(family.family for family in document.parameters.families)
    yield "wordings", ", ".join(document.parameters.wordings)
    yield "secret commitment", document.secret_commitment
    if isinstance(document, Draft):
        yield "draft", document.digest()
        yield "beacon", f"block {document.height}"
        return
    yield "items", f"{document.items} of {document.instances} problems"
    yield "commitment (SHA-256)", document.digest()
    yield "root", document.root
    if document.beacon is not None:
        yield "beacon", f"block {document.beacon.height}, {document.beacon.hash}"
    if document.supersedes is not None:
        yield "supersedes", document.supersedes.path
    if parent is not None:
        yield "derived from", parent


def _runs(workspace: Workspace, registry: Registry, scope: BundleScope, site: Files) -> Iterator[RunPage]:
    """Each reported run, its report put on a page of its own."""
    for line in registry.events("run_start"):
        name = line.subject
        path = workspace.run(name) / "report.json"
        if name not in scope.runs or registry.find("report", name) is None:
            continue
        report = Report.from_bytes(store.read(path), workspace.relative(path))
        run = Run.from_bytes(store.read(workspace.run(name) / "run.json"), f"runs/{name}/run.json")
        lines = tuple(read_log(store.read(workspace.run(name) / "log.jsonl"), run.digest()))
        site[f"{scope.name}/runs/{name}.html"] = render_html(report, lines).encode()
        yield RunPage(report, lines, f"runs/{name}.html")


def _retired_files(workspace: Workspace, name: str, site: Files) -> list[Download]:
    """The archive and every file of the bundle, copied into the site."""
    folder = workspace.relative(workspace.retired(name)) + "/"
    files = {
        path.removeprefix(folder): store.read(workspace.root / path)
        for path in workspace.public_paths()
        if path.startswith(folder)
    }
    archive = f"{name}.tar"
    site[f"{name}/{archive}"] = b"".join(archive_parts(name, files))
    found = [_download(site, name, archive, archive)]
    for path, data in files.items():
        site[f"{name}/files/{path}"] = data
        found.append(_download(site, name, f"files/{path}", path))
    return found


def _public_files(workspace: Workspace, scope: BundleScope, site: Files) -> list[Download]:
    """What is public of a sealed battery, under the paths of the workspace."""
    found = []
    for path in workspace.public_paths():
        if scope.owns(path):
            site[f"{scope.name}/files/{path}"] = store.read(workspace.root / path)
            found.append(_download(site, scope.name, f"files/{path}", path))
    return found


def _download(site: Files, name: str, path: str, text: str) -> Download:
    data = site[f"{name}/{path}"]
    return Download(path, text, len(data), sha256_hex(data))


def _registry_files(workspace: Workspace, site: Files) -> Iterator[Download]:
    for path in (store.REGISTRY, store.ALLOWED_SIGNERS, store.HEADERS):
        if (workspace.root / path).exists():
            data = site[f"files/{path}"] = store.read(workspace.root / path)
            yield Download(f"files/{path}", path, len(data), sha256_hex(data))


def _registry_facts(registry: Registry) -> tuple[tuple[str, str], ...]:
    keys: list[RegistryLine] = registry.events("key")
    return (
        ("network of the timestamps", registry.network),
        ("signing key", keys[0].subject),
        ("later key events", str(len(keys) - 1)),
        ("events", str(registry.size)),
        ("first line (SHA-256)", registry.first),
        ("last line (SHA-256)", registry.head),
    )


def _commands(name: str, network: str, *, retired: bool) -> tuple[tuple[str, str], ...]:
    option = "" if network == "mainnet" else f" --network {network}"
    if not retired:
        return ((f"seal verify{option} {name}", "in a clone of the author's repository: all that is public"),)
    return (
        (f"tar -xf {name}.tar && cd {name}", "unpacks the archive"),
        ("sha256sum --quiet -c SHA256SUMS", "damage, and nothing else: a forger forges the hashes too"),
        (
            f"python3 PATH/verify.py{option} .",
            "most of all steps, with Python alone; each line says what it leaves",
        ),
        (f"seal verify{option} .", "all steps, the items drawn again from the key"),
    )


def _refuse_leaks(workspace: Workspace, registry: Registry, site: Files) -> None:
    published = {line.subject for line in registry.events("retire")}
    found = scan(site, forbidden_here(workspace, published))
    if found:
        raise CheckFailed(
            f"nothing was written: the site would publish {found[0]}",
            hint="seal verify, and see the file of that name in the workspace",
        )
