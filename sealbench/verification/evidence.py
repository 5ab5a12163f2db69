"""Everything that the steps look at: the parsed files of one tree, each read at most once.

A file that does not parse is simply absent here: step 1 reports it, and whatever would need it says
so. Expected hashes come from the registry and the commitments, never from the file under test.
"""

from __future__ import annotations

from functools import cached_property
from typing import TypeVar

from sealbench.crypto.digest import sha256_hex
from sealbench.errors import FormatError, ProofFailed, SealError
from sealbench.formats.base import Identity, Record
from sealbench.formats.battery import Commitment
from sealbench.formats.draft import Draft
from sealbench.formats.preregistration import Preregistration
from sealbench.formats.registry import Checkpoint, Registry, RegistryLine
from sealbench.formats.reveal import Reveal, Subset
from sealbench.formats.run import Run
from sealbench.publishing.bundle_record import BundleScope
from sealbench.publishing.sealing import parent_of
from sealbench.store import HEADERS, REGISTRY
from sealbench.timestamps.check import ProofReport, check_file
from sealbench.timestamps.header_store import HeaderStore
from sealbench.timestamps.networks import NETWORKS
from sealbench.verification.keys import KeyRing
from sealbench.verification.memo import Memo
from sealbench.verification.policy import Policy
from sealbench.verification.roles import Kind, role_of
from sealbench.verification.tree import PublicTree

M = TypeVar("M", bound=Record)
RegistryLines = tuple[RegistryLine, ...]


class Evidence:
    """One tree under one policy. Properties are computed when first asked for."""

    def __init__(self, tree: PublicTree, policy: Policy, memo: Memo) -> None:
        self.tree = tree
        self.policy = policy
        self.memo = memo
        self._subjects: dict[tuple[str, ...], dict[str, RegistryLine]] = {}

    def digest(self, path: str) -> str | None:
        """SHA-256 (hex) of a file's bytes, None if it is missing."""
        data = self.tree.get(path)
        return None if data is None else self.memo.call(sha256_hex, data)

    @cached_property
    def bundle_scope(self) -> BundleScope | None:
        """What belongs to the battery whose bundle this is; None for a workspace, which holds everything."""
        name = self.tree.bundle
        if name is None or self.registry is None:
            return None
        commitment = self.commitments.get(name)
        return BundleScope.of(self.registry, name, None if commitment is None else parent_of(commitment))

    def is_elsewhere(self, path: str) -> bool:
        """Whether a missing file is another battery's, which this bundle need not hold."""
        return path not in self.tree and self.bundle_scope is not None and not self.bundle_scope.owns(path)

    def require(self, path: str) -> bytes:
        """A file's bytes; FormatError if it is missing."""
        data = self.tree.get(path)
        if data is None:
            raise FormatError(f"{path}: is missing")
        return data

    def document(self, model: type[M], path: str) -> M | None:
        """A parsed file, None if it is missing or does not parse (step 1 says which)."""
        data = self.tree.get(path)
        if data is None:
            return None
        try:
            return self.memo.call(parse_document, model, data, path)
        except SealError:
            return None

    def paths(self, kind: Kind) -> list[str]:
        """All paths with this role, sorted."""
        return self._paths_by_kind.get(kind, [])

    @cached_property
    def _paths_by_kind(self) -> dict[Kind, list[str]]:
        found: dict[Kind, list[str]] = {}
        for path in self.tree.paths():
            found.setdefault(role_of(path).kind, []).append(path)
        return found

    def _documents(self, kind: Kind, model: type[M]) -> dict[str, M]:
        parsed = {role_of(path).name: self.document(model, path) for path in self.paths(kind)}
        return {name: document for name, document in parsed.items() if document is not None}

    def _by_path(self, kind: Kind, model: type[M]) -> dict[str, M]:
        parsed = {path: self.document(model, path) for path in self.paths(kind)}
        return {path: document for path, document in parsed.items() if document is not None}

    @cached_property
    def identities(self) -> dict[str, Identity]:
        """Every signed file that names its registry, by path."""
        return {
            **{f"commitments/{name}.json": one for name, one in self.commitments.items()},
            **{f"commitments/{name}.draft.json": one for name, one in self.drafts.items()},
            **self.reveals,
            **self.subsets,
            **{f"preregistrations/{name}.json": one for name, one in self.plans.items()},
            **{f"runs/{name}/run.json": one for name, one in self.runs.items()},
        }

    @cached_property
    def registry(self) -> Registry | None:
        """The registry with its chain checked, None if that fails (`registry_error` says why)."""
        data = self.tree.get(REGISTRY)
        if data is None:
            return None
        try:
            return self.memo.call(Registry.from_bytes, data)
        except SealError:
            return None

    @cached_property
    def registry_error(self) -> str:
        """Why there is no registry; empty if there is one."""
        data = self.tree.get(REGISTRY)
        if data is None:
            return "there is no registry"
        try:
            self.memo.call(Registry.from_bytes, data)
        except SealError as error:
            return error.message
        return ""

    @cached_property
    def keys(self) -> KeyRing | None:
        """The registry's keys, None without a readable registry (`keys_error` says why)."""
        try:
            return None if self.registry is None else KeyRing.of(self.registry)
        except SealError:
            return None

    @cached_property
    def keys_error(self) -> str:
        """Why there is no key to check signatures with; empty if there is one."""
        if self.registry is None:
            return self.registry_error
        try:
            KeyRing.of(self.registry)
        except SealError as error:
            return error.message
        return ""

    @cached_property
    def commitments(self) -> dict[str, Commitment]:
        """Commitments by battery name."""
        return self._documents("commitment", Commitment)

    @cached_property
    def drafts(self) -> dict[str, Draft]:
        """Drafts of beacon mode by battery name."""
        return self._documents("draft", Draft)

    @cached_property
    def reveals(self) -> dict[str, Reveal]:
        """Opened items by their file's path; a battery may have several."""
        return self._by_path("reveal", Reveal)

    @cached_property
    def subsets(self) -> dict[str, Subset]:
        """Proofs that a derived battery is part of its parent, by their file's path."""
        return self._by_path("subset", Subset)

    @cached_property
    def plans(self) -> dict[str, Preregistration]:
        """Plans by name."""
        return self._documents("plan", Preregistration)

    @cached_property
    def runs(self) -> dict[str, Run]:
        """run.json of each run by name."""
        return self._documents("run", Run)

    @cached_property
    def checkpoints(self) -> dict[int, Checkpoint]:
        """Registry checkpoints by the size in their file name, smallest first."""
        found = self._documents("checkpoint", Checkpoint)
        return dict(sorted((int(name), checkpoint) for name, checkpoint in found.items()))

    @cached_property
    def labelled_network(self) -> str:
        """The network that the registry's first line declares; mainnet unless it says otherwise."""
        return "mainnet" if self.registry is None else self.registry.network

    @cached_property
    def bound_files(self) -> dict[str, tuple[str, int]]:
        """Paths that registry lines name, with the hash that counts and its line (from 1).

        A report may be written again, so the latest line counts; nothing else may change.
        """
        bound: dict[str, tuple[str, int]] = {}
        for line in self.registry.lines if self.registry else ():
            for file in line.files:
                if line.event == "report" or file.path not in bound:
                    bound[file.path] = (file.sha256, line.seq + 1)
        return bound

    def line_of(self, path: str) -> int | None:
        """The line (from 0) that first names a file; None if no line does."""
        return self._first_lines.get(path)

    @cached_property
    def _first_lines(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for line in self.registry.lines if self.registry else ():
            for file in line.files:
                found.setdefault(file.path, line.seq)
        return found

    def subjects(self, *events: str) -> dict[str, RegistryLine]:
        """The first line with one of these events for each subject; not to be changed."""
        found = self._subjects.get(events)
        if found is None:
            found = {}
            for line in self.registry.lines if self.registry else ():
                if line.event in events:
                    found.setdefault(line.subject, line)
            self._subjects[events] = found
        return found

    def run_events(self, *events: str) -> dict[str, RegistryLine]:
        """As `subjects`, for the runs that this tree is answerable for: in a bundle the battery's own."""
        found = self.subjects(*events)
        if self.bundle_scope is None:
            return found
        return {name: line for name, line in found.items() if name in self.bundle_scope.runs}

    @cached_property
    def headers(self) -> HeaderStore:
        """The verifier's own headers with those the workspace carries, if these may be used."""
        own = self.policy.headers or HeaderStore(network=self.policy.network)
        if self.headers_error:
            return own
        data = self.tree.get(HEADERS)
        return own if data is None else self.memo.call(merge_headers, data, own)

    @cached_property
    def headers_error(self) -> str:
        """Why the workspace's headers cannot be used; empty if they can, or if it carries none."""
        data = self.tree.get(HEADERS)
        if data is None:
            return ""
        try:
            carried = self.memo.call(HeaderStore.from_bytes, data)
            own = self.policy.headers or HeaderStore(network=self.policy.network)
            if carried.network != self.policy.network:
                return f"holds headers of {carried.network!r:.20}, not of {self.policy.network}"
            self.memo.call(merge_headers, data, own)
        except SealError as error:
            return error.message
        return ""

    def proof(self, path: str) -> ProofReport | None:
        """What the proof beside a file shows; None if there is no proof or it does not parse."""
        data, proof = self.tree.get(path), self.tree.get(path + ".ots")
        if data is None or proof is None:
            return None
        try:
            return self._report(data, proof)
        except SealError:
            return None

    def check_proof(self, path: str, proof: bytes, where: str) -> ProofReport:
        """What some proof of a file shows; FormatError if it does not parse or is not its own re-encoding."""
        try:
            report = self._report(self.require(path), proof)
        except FormatError as error:
            raise FormatError(f"{where}: {error.message}") from error
        if not report.canonical:
            raise FormatError(f"{where}: differs from its own re-encoding")
        return report

    def _report(self, data: bytes, proof: bytes) -> ProofReport:
        return self.memo.call(check_own_file, data, proof, self.headers, self.policy.network)


def parse_document(model: type[M], data: bytes, path: str) -> M:
    """One whole file through its model."""
    return model.from_bytes(data, path)


def parse_again(memo: Memo, model: type[M], data: bytes, path: str) -> M:
    """As `parse_document`, inside a remembered check: what was parsed before is not parsed again."""
    return memo.call(parse_document, model, data, path)


def merge_headers(data: bytes, own: HeaderStore) -> HeaderStore:
    """Packed headers together with the verifier's; ProofFailed where they disagree."""
    carried = HeaderStore.from_bytes(data)
    if not len(own):
        return carried
    try:
        return own.merge(carried)
    except ProofFailed as error:
        raise ProofFailed(f"against your own headers: {error.message}", hint=error.hint) from error


def check_own_file(data: bytes, proof: bytes, headers: HeaderStore, network: str) -> ProofReport:
    """Steps 3 and 4 for one file that this program made."""
    return check_file(data, proof, headers, NETWORKS[network], own=True)
