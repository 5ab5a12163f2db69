"""Check files against the proofs beside them: one, many, or a folder of other people's commitments.

One pass over the list: each file and proof is read once, graded with the headers at hand, and what then
still lacks a header is fetched once per height, all side by side, unless that is forbidden. A file that
does not parse costs only itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sealbench import store
from sealbench.anchoring import configured_sources, proof_path
from sealbench.config import Settings
from sealbench.crypto.digest import sha256_file
from sealbench.errors import FormatError, SealError, UsageError
from sealbench.formats.recipes import ForeignCommitment, Recomputed, read_commitment, recompute
from sealbench.timestamps.check import ProofReport, check_file
from sealbench.timestamps.header_store import HeaderStore
from sealbench.verification.policy import Policy
from sealbench.verification.requirements import ExpectedHash, TrustedKeys
from sealbench.verification.steps import RequirementResult

COMMITMENT = ".commitment.json"
_WORKSPACE = "seal verify FOLDER, of a workspace"
_VERDICTS = {0: "ok", 1: "fail", 3: "pending", 4: "unchecked"}
_CODE_OF_STATUS = {
    "anchored": 0,
    "wrong file": 1,
    "mismatch": 1,
    "unreadable": 1,
    "pending": 3,
    "unstamped": 3,
}


@dataclass(frozen=True)
class CheckedFile:
    """One file: its proof's report (None with a `fault` or no proof), and what it commits to, if foreign.

    `status` is that of the report, or `unreadable`, or `unstamped`.
    """

    path: Path
    status: str
    report: ProofReport | None = None
    commitment: ForeignCommitment | None = None
    fault: str = ""

    @property
    def exit_code(self) -> int:
        """0 anchored, 1 false, 3 not yet, 4 could not check (needs a header, or too weak a grade)."""
        return _CODE_OF_STATUS.get(self.status, 4)


@dataclass(frozen=True)
class CheckedBattery:
    """A candidate battery: which commitments it is, and why not if none (`fault`)."""

    path: Path
    matches: tuple[Path, ...]
    fault: str = ""


@dataclass(frozen=True)
class CheckedFiles:
    """All files. `missing`: heights whose header is still wanted; `asked`: sources that were asked."""

    files: tuple[CheckedFile, ...]
    batteries: tuple[CheckedBattery, ...]
    missing: tuple[int, ...]
    asked: tuple[str, ...]
    notes: tuple[str, ...]
    requirements: tuple[RequirementResult, ...] = ()

    @property
    def exit_code(self) -> int:
        """The worst of all, in the order 1, 3, 4, 0."""
        codes = {one.exit_code for one in self.files} | {1 for one in self.batteries if one.fault}
        codes |= {1 for one in self.requirements if one.status == "fail"}
        return next((code for code in (1, 3, 4) if code in codes), 0)

    @property
    def verdict(self) -> str:
        """The exit code in a word."""
        return _VERDICTS[self.exit_code]


def stamped_files(target: Path) -> list[Path]:
    """The files to check for a target: itself, the file of a `.ots`, or those of a folder.

    Of a folder: every file with a proof, every proof without its file, every `*.commitment.json`;
    subfolders are not entered. UsageError if there is none.
    """
    if target.suffix == ".ots" and not proof_path(target).exists():
        target = target.with_suffix("")
    if not target.is_dir():
        return [target]
    proofs = {path.with_suffix("") for path in target.glob("*.ots")}
    found = sorted(proofs | set(target.glob("*" + COMMITMENT)))
    if not found:
        raise UsageError(
            f"{target} is no workspace, and no file in it has a proof",
            hint="seal verify FOLDER with a commitments/registry.jsonl, or FILE with FILE.ots",
        )
    return found


def verify_files(
    paths: Sequence[Path],
    policy: Policy,
    settings: Settings,
    *,
    offline: bool = False,
    batteries: Sequence[Path] = (),
) -> CheckedFiles:
    """Check each file against its proof, and each candidate battery against the commitments among them.

    Raises
    ------
    UsageError : the policy demands what no proof of a file can show.
    ProofFailed : two sources give different headers for one height; both are shown.
    """
    expected = _expected_hashes(policy)
    headers, notes = _headers_at_hand(paths, policy)
    files = [_checked(path, headers, policy) for path in paths]
    missing = _missing(files)
    asked: tuple[str, ...] = ()
    if missing and not offline and settings.network != policy.network:
        notes.append(f"no headers fetched: the configured sources are for {settings.network}")
    elif missing and not offline:
        headers, asked = asyncio.run(_fetched(headers, missing, policy, settings, notes))
        files = [_checked(one.path, headers, policy) if _needs(one) else one for one in files]
    checked = tuple(_candidate(path, files) for path in batteries)
    hashes = [
        (str(path), f"{path.name}: {words}", sha256) for path, words, sha256 in _hashes(files, batteries)
    ]
    required = tuple(one.among(hashes) for one in expected)
    return CheckedFiles(tuple(files), checked, _missing(files), asked, tuple(notes), required)


def _expected_hashes(policy: Policy) -> list[ExpectedHash]:
    """What is demanded of files; a demand that nothing here would check is refused, never passed over."""
    if policy.since is not None:
        raise UsageError("--since is about a workspace's registry; here are only files", hint=_WORKSPACE)
    expected = [one for one in policy.requirements if isinstance(one, ExpectedHash)]
    for demand in policy.requirements:
        if isinstance(demand, TrustedKeys):
            raise UsageError(
                "a proof of a file carries no signature, so a trusted key shows nothing about it",
                hint="ssh-keygen -Y verify -f allowed_signers -n NAMESPACE -I WHO -s FILE.sig < FILE",
            )
        if not isinstance(demand, ExpectedHash):
            raise UsageError("--at-least-revealed is about a battery; here are only files", hint=_WORKSPACE)
    return expected


def _hashes(files: Sequence[CheckedFile], batteries: Sequence[Path]) -> Iterator[tuple[Path, str, str]]:
    """The SHA-256 of every file and candidate battery, and of what foreign commitments commit to."""
    for path in dict.fromkeys([*(one.path for one in files), *batteries]):
        if path.is_file():
            yield path, "the file itself", sha256_file(path)
    for one in files:
        if one.commitment is not None and one.commitment.sha256:
            yield one.path, f"what it commits to ({one.commitment.recipe})", one.commitment.sha256


def _headers_at_hand(paths: Sequence[Path], policy: Policy) -> tuple[HeaderStore, list[str]]:
    """The caller's headers, and those in a `headers.bin` beside a file or of the workspace around it."""
    headers = policy.headers or HeaderStore(network=policy.network)
    notes: list[str] = []
    for path in dict.fromkeys(one for folder in {path.parent for path in paths} for one in _beside(folder)):
        try:
            found = HeaderStore.from_bytes(store.read(path))
        except FormatError as error:
            notes.append(f"{path}: not used: {error.message}")
            continue
        if found.network == policy.network:
            headers = headers.merge(found)
        else:
            notes.append(f"{path}: not used: it holds headers of {found.network}")
    return headers, notes


def _beside(folder: Path) -> list[Path]:
    around = (parent / store.HEADERS for parent in (folder, *folder.absolute().parents))
    nearest = next((path for path in around if path.is_file()), None)
    own = folder / Path(store.HEADERS).name
    return [path for path in (own, nearest) if path is not None and path.is_file()]


def _checked(path: Path, headers: HeaderStore, policy: Policy) -> CheckedFile:
    try:
        data = store.read(path)
        foreign = path.name.endswith(COMMITMENT)
        commitment = read_commitment(data, path.name) if foreign else None
        proof = proof_path(path)
        if not proof.is_file():
            return CheckedFile(path, "unstamped", None, commitment, f"it has no proof {proof.name} beside it")
        report = check_file(data, store.read(proof), headers, policy.rules)
    except FormatError as error:
        return CheckedFile(path, "unreadable", fault=error.message)
    return CheckedFile(path, report.status(policy.minimum_grade), report, commitment)


def _needs(one: CheckedFile) -> bool:
    return one.report is not None and any(graded.grade == "needs header" for graded in one.report.graded)


def _missing(files: Iterable[CheckedFile]) -> tuple[int, ...]:
    """Heights without a header, each once, in order."""
    graded = (attestation for one in files if one.report for attestation in one.report.graded)
    return tuple(sorted({one.height for one in graded if one.grade == "needs header"}))


async def _fetched(
    headers: HeaderStore, heights: Sequence[int], policy: Policy, settings: Settings, notes: list[str]
) -> tuple[HeaderStore, tuple[str, ...]]:
    """The headers with what the configured sources have for these heights, and the sources' names."""
    from sealbench.http import new_client
    from sealbench.timestamps.header_sources import fitting
    from sealbench.timestamps.headers import complete_headers

    async with new_client() as client, configured_sources(client, fitting(settings)) as sources:
        found = await complete_headers(headers, heights, sources, policy.rules, note=notes.append)
        return found, tuple(source.name for source in sources)


def _candidate(path: Path, files: Sequence[CheckedFile]) -> CheckedBattery:
    """Which of the commitments this file is the opening of, by the commitments' hashes alone."""
    committed = [(one.path, one.commitment) for one in files if one.commitment and one.commitment.recipe]
    if not committed:
        return CheckedBattery(path, (), "no commitment here names a recipe to check it by")
    try:
        data = store.read(path)
    except SealError as error:
        return CheckedBattery(path, (), error.message)
    made: dict[str, Recomputed] = {}
    faults: list[str] = []
    for recipe in dict.fromkeys(commitment.recipe for _, commitment in committed):
        try:
            made[recipe] = recompute(recipe, data, path.name)
        except FormatError as error:
            faults.append(error.message)
    matches = [
        (where, commitment)
        for where, commitment in committed
        if commitment.recipe in made and made[commitment.recipe].sha256 == commitment.sha256
    ]
    result = CheckedBattery(path, tuple(where for where, _ in matches))
    for where, commitment in matches:
        count = made[commitment.recipe].count
        if count is not None and commitment.count is not None and count != commitment.count:
            fault = f"it holds {count} items, {where.name} states {commitment.count}"
            return replace(result, fault=fault)
    if matches:
        return result
    hashes = [f"{recipe} gives {one.sha256}" for recipe, one in made.items()]
    return replace(result, fault="; ".join(["it is none of the batteries committed to", *hashes, *faults]))
