"""What a dishonest author (or a stranger with a key of their own) can do: make a whole workspace again.

`reforge` takes changed contents and repairs everything that a person with a signing key can repair:
hash chains, references, registry lines, checkpoints, signatures, the report, the file list. It cannot
repair what stands in blocks, so proofs are left out unless the caller keeps them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sealbench.analysis.evaluate import evaluate
from sealbench.crypto.digest import sha256_hex
from sealbench.crypto.signature import AuthorKey
from sealbench.formats.base import FileHash, Record
from sealbench.formats.battery import Battery, Commitment
from sealbench.formats.draft import Draft
from sealbench.formats.preregistration import Preregistration
from sealbench.formats.registry import NO_LINE, Checkpoint, PublicFiles, RegistryLine
from sealbench.formats.report import Report
from sealbench.formats.run import LogLine, Run, read_log
from sealbench.publishing.bundle_archive import archive_sha256
from sealbench.publishing.bundle_items import canary_text, item_lines
from sealbench.store import ALLOWED_SIGNERS, CHECKPOINTS, FILES, REGISTRY
from sealbench.verification.roles import Kind, role_of, run_of
from sealbench.verification.tree import PublicTree

Change = Callable[[dict[str, bytes]], None]
_SIGNED: dict[Kind, type[Record]] = {
    "commitment": Commitment,
    "draft": Draft,
    "plan": Preregistration,
    "run": Run,
}


def relist(tree: PublicTree) -> PublicTree:
    """The tree with `files.json` made again, as anyone can who changes a file."""
    finished = {line.subject for line in lines_of(tree) if line.event in ("run_end", "run_abort")}
    files = [
        FileHash(path=path, sha256=sha256_hex(data))
        for path, data in tree.items()
        if path != FILES and (run_of(path) is None or run_of(path) in finished)
    ]
    return tree.with_file(FILES, PublicFiles(files=tuple(files)).to_bytes())


def lines_of(tree: PublicTree) -> list[RegistryLine]:
    """The registry's lines, chain unchecked; none if it does not parse."""
    try:
        return [RegistryLine.from_bytes(raw) for raw in (tree.get(REGISTRY) or b"").split(b"\n")[:-1]]
    except Exception:  # noqa: BLE001 (a damaged registry has no lines here)
        return []


def rechain(lines: list[RegistryLine]) -> bytes:
    """Registry lines numbered and chained again."""
    out, previous = b"", NO_LINE
    for seq, line in enumerate(lines):
        raw = line.model_copy(update={"seq": seq, "prev": previous}).to_bytes()
        previous = sha256_hex(raw)
        out += raw + b"\n"
    return out


def reforge(
    tree: PublicTree,
    key: AuthorKey,
    change: Change | None = None,
    *,
    change_lines: Callable[[list[RegistryLine]], list[RegistryLine]] | None = None,
    keep_proofs: bool = False,
    report_again: bool = True,
) -> PublicTree:
    """The workspace after `change` (contents) and `change_lines` (events), consistent again under `key`."""
    files = dict(tree.items())
    if change is not None:
        change(files)
    lines = lines_of(tree)
    if change_lines is not None:
        lines = change_lines(lines)
    if not keep_proofs:
        files = {path: data for path, data in files.items() if not path.endswith(".ots")}
    _rewrite(files, lines, key, report_again)
    return relist(PublicTree(files))


def _rewrite(files: dict[str, bytes], lines: list[RegistryLine], key: AuthorKey, report_again: bool) -> None:
    hashes: list[str] = []
    out = b""
    written: set[str] = set()
    for seq, line in enumerate(lines):
        update: dict[str, Any] = {"seq": seq, "prev": hashes[-1] if hashes else NO_LINE}
        if line.event == "key":
            update["subject"] = key.public.fingerprint
            update["detail"] = {**line.detail, "public_key": key.public.openssh}
        order = sorted(line.files, key=lambda file: not file.path.endswith("/run.json"))
        for file in order:
            if file.path in files and file.path not in written:
                written.add(file.path)
                _rewrite_file(files, file.path, hashes, key, report_again)
        update["files"] = tuple(
            FileHash(path=file.path, sha256=sha256_hex(files[file.path])) if file.path in files else file
            for file in line.files
        )
        if line.event == "retire":
            renew_bundle(files, line.subject, out, hashes, key)
            update |= retire_event(files, line)
        raw = line.model_copy(update=update).to_bytes()
        hashes.append(sha256_hex(raw))
        out += raw + b"\n"
    files[REGISTRY] = out
    files[ALLOWED_SIGNERS] = (key.public.allowed_signer + "\n").encode()
    for path in [path for path in files if path.startswith(CHECKPOINTS) and path.endswith(".json")]:
        size = int(role_of(path).name)
        if size > len(hashes):
            for suffix in ("", ".sig", ".ots"):
                files.pop(path + suffix, None)
            continue
        _write_checkpoint(files, size, hashes, key)
    _write_checkpoint(files, len(hashes), hashes, key)


def renew_bundle(
    files: dict[str, bytes], name: str, registry: bytes, hashes: list[str], key: AuthorKey
) -> None:
    """Everything in a retired battery's folder that follows from other files, made again from them."""
    folder = f"batteries/{name}/"
    record = f"{folder}record/"
    lines = registry.split(b"\n")[:-1]
    while lines and RegistryLine.from_bytes(lines[-1]).event == "retire":
        lines.pop()
    files[ALLOWED_SIGNERS] = (key.public.allowed_signer + "\n").encode()
    for path in [path for path in files if path.startswith(record)]:
        source = path.removeprefix(record)
        role = role_of(source.removesuffix(".sig"))
        if role.kind == "checkpoint" and int(role.name) <= len(lines):
            _write_checkpoint(files, int(role.name), hashes, key)
        late = role.kind == "checkpoint" and int(role.name) > len(lines)
        if source == REGISTRY:
            files[path] = b"".join(line + b"\n" for line in lines)
        elif source in files and not late:
            files[path] = files[source]
        else:
            del files[path]
    digest = sha256_hex(files[f"commitments/{name}.json"])
    files[f"{folder}CANARY.txt"] = canary_text(digest).encode() + b"\n"
    battery = Battery.from_bytes(files[f"{folder}battery.json"])
    files[f"{folder}items.jsonl"] = item_lines(battery.items, canary_text(digest))
    files[f"{folder}SHA256SUMS"] = sums(files, folder)


def retire_event(files: Mapping[str, bytes], line: RegistryLine) -> dict[str, Any]:
    """The files and the archive that the event of a retired battery's folder as it is now names."""
    folder = f"batteries/{line.subject}/"
    own = {path.removeprefix(folder): data for path, data in files.items() if path.startswith(folder)}
    named = tuple(FileHash(path=folder + path, sha256=sha256_hex(own[path])) for path in sorted(own))
    return {
        "files": named,
        "detail": {**line.detail, "archive_sha256": archive_sha256(line.subject, own)},
    }


def _write_checkpoint(files: dict[str, bytes], size: int, hashes: list[str], key: AuthorKey) -> None:
    checkpoint = Checkpoint(
        author=key.public.fingerprint, registry=hashes[0], size=size, head=hashes[size - 1]
    )
    _sign(files, f"{CHECKPOINTS}/{size}.json", checkpoint, key)


def _sign(files: dict[str, bytes], path: str, document: Record, key: AuthorKey) -> None:
    files[path] = document.to_bytes()
    files[path + ".sig"] = key.sign(files[path])


def _rewrite_file(
    files: dict[str, bytes], path: str, hashes: list[str], key: AuthorKey, report_again: bool
) -> None:
    role = role_of(path)
    if role.kind in _SIGNED:
        document = _SIGNED[role.kind].from_bytes(files[path], path)
        size = min(getattr(document, "registry_size"), len(hashes))  # noqa: B009
        update: dict[str, Any] = {
            "author": key.public.fingerprint,
            "registry": hashes[0],
            "registry_size": size,
            "registry_head": hashes[size - 1],
        }
        for field in ("sealed", "draft", "commitment", "plan", "supersedes"):
            named = getattr(document, field, None)
            if isinstance(named, FileHash) and named.path in files:
                update[field] = FileHash(path=named.path, sha256=sha256_hex(files[named.path]))
        _sign(files, path, document.model_copy(update=update), key)
    elif role.kind == "log":
        files[path] = rechain_log(files[path], sha256_hex(files[f"runs/{role.name}/run.json"]))
    elif role.kind == "report" and report_again:
        files[path] = recomputed_report(files, role.name)


def rechain_log(data: bytes, first_prev: str) -> bytes:
    """Log lines numbered and chained again."""
    out, previous = b"", first_prev
    for seq, raw in enumerate(data.split(b"\n")[:-1]):
        line = LogLine.from_bytes(raw).model_copy(update={"seq": seq, "prev": previous}).to_bytes()
        previous = sha256_hex(line)
        out += line + b"\n"
    return out


def recomputed_report(files: Mapping[str, bytes], name: str) -> bytes:
    """An honest report of whatever the files now say."""
    run = Run.from_bytes(files[f"runs/{name}/run.json"])
    plan = None if run.plan is None else Preregistration.from_bytes(files[run.plan.path])
    old = Report.from_bytes(files[f"runs/{name}/report.json"])
    anchors = [anchor.model_copy(update={"sha256": sha256_hex(files[anchor.path])}) for anchor in old.anchors]
    lines = tuple(read_log(files[f"runs/{name}/log.jsonl"], run.digest()))
    outside: dict[str, Any] = {"anchors": anchors, "baselines": old.baselines, "history": old.history}
    return evaluate(run, lines, plan, **outside).to_bytes()


def sums(files: Mapping[str, bytes], folder: str) -> bytes:
    """SHA256SUMS of a retired battery's folder."""
    names = sorted(path for path in files if path.startswith(folder) and not path.endswith("SHA256SUMS"))
    return "".join(f"{sha256_hex(files[path])}  {path.removeprefix(folder)}\n" for path in names).encode()


def edit_log(run: str, number: int, **fields: Any) -> Change:
    """A change of one line of a run's log."""

    def change(files: dict[str, bytes]) -> None:
        path = f"runs/{run}/log.jsonl"
        raw = files[path].split(b"\n")
        raw[number] = LogLine.from_bytes(raw[number]).model_copy(update=fields).to_bytes()
        files[path] = b"\n".join(raw)

    return change


def edit(path: str, model: type[Record], **fields: Any) -> Change:
    """A change of some fields of one document."""

    def change(files: dict[str, bytes]) -> None:
        files[path] = model.from_bytes(files[path]).model_copy(update=fields).to_bytes()

    return change
