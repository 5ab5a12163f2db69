"""What stands in the folder of a retired battery, as bytes by path; nothing is written here.

Source: docs/spec/retired.md. The folder is complete in itself: whoever has only it can check everything
that it claims.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import PurePosixPath

from sealbench import store
from sealbench.crypto.digest import sha256_hex
from sealbench.formats.battery import Battery, BatteryKey, Commitment
from sealbench.formats.registry import Registry
from sealbench.publishing.bundle_items import canary_text, item_lines
from sealbench.publishing.bundle_metadata import Imprint, citation, croissant, license_text
from sealbench.publishing.bundle_readme import readme
from sealbench.publishing.bundle_record import RECORD, BundleScope
from sealbench.publishing.sealing import OpenBattery, parent_of, read_commitment
from sealbench.store import Workspace

SUMS = "SHA256SUMS"


@dataclass(frozen=True)
class Responses:
    """The published form of one run's raw responses, and how many bodies are left out of it."""

    data: bytes
    withheld: int


def bundle_files(
    registry: Registry,
    battery: OpenBattery,
    responses: Mapping[str, Responses],
    record: Mapping[str, bytes],
    imprint: Imprint,
) -> dict[str, bytes]:
    """Every file of `batteries/NAME/` by its path there, SHA256SUMS included.

    Parameters
    ----------
    registry : as it stands before the battery's retire event.
    responses : by run.
    record : the public files that the battery rests on, by their paths in the workspace.
    """
    commitment = battery.commitment
    name = commitment.name
    canary = canary_text(commitment.digest())
    items = item_lines(battery.items, canary)
    withheld = {run: one.withheld for run, one in responses.items() if one.withheld}
    verifier = packaged_verifier()
    files = {
        "battery.json": Battery(name=name, items=battery.items).to_bytes(),
        "key.json": BatteryKey(name=name, secret=battery.secret.hex()).to_bytes(),
        "items.jsonl": items,
        "CANARY.txt": canary.encode() + b"\n",
        "LICENSE": license_text(imprint).encode(),
        "CITATION.cff": citation(commitment, imprint).encode(),
        "croissant.json": croissant(commitment, imprint, canary, sha256_hex(items), len(items)).encode(),
        "README.md": readme(
            commitment,
            imprint,
            canary=canary,
            network=registry.network,
            verifier_sha256=sha256_hex(verifier),
            withheld=withheld,
        ).encode(),
        "verify.py": verifier,
        **{f"responses/{run}.jsonl": one.data for run, one in responses.items()},
        **{f"{RECORD}/{path}": data for path, data in record.items()},
    }
    return {**files, SUMS: sums(files)}


def sums(files: Mapping[str, bytes]) -> bytes:
    """SHA256SUMS of these files, as `sha256sum` writes it, sorted by path."""
    return "".join(f"{sha256_hex(files[path])}  {path}\n" for path in sorted(files)).encode()


def packaged_verifier() -> bytes:
    """The stand-alone verifier of this release."""
    return resources.files("sealbench").joinpath("standalone", "verify.py").read_bytes()


def record_files(workspace: Workspace, registry: Registry, commitment: Commitment) -> dict[str, bytes]:
    """The public files that a battery rests on, by path; the registry as far as `registry` goes.

    Raises
    ------
    FormatError : a public file cannot be read.
    """
    related = _related(workspace, commitment)
    paths = workspace.public_paths()
    scope = BundleScope.of(registry, commitment.name, parent_of(commitment), related)
    scope = scope.with_checkpoints(registry, paths)
    found = {path: store.read(workspace.root / path) for path in paths if scope.holds(path)}
    lines = found[store.REGISTRY].split(b"\n")[: registry.size]
    found[store.REGISTRY] = b"".join(line + b"\n" for line in lines)
    return found


def _related(workspace: Workspace, commitment: Commitment) -> frozenset[str]:
    """The batteries whose commitments this one names, and those that they name in turn."""
    found: set[str] = set()
    waiting = [commitment]
    while waiting:
        one = waiting.pop()
        replaced = PurePosixPath(one.supersedes.path).stem if one.supersedes else None
        for name in (parent_of(one), replaced):
            if name is not None and name not in found:
                found.add(name)
                waiting.append(read_commitment(workspace, name))
    return frozenset(found)
