"""What a caller can demand besides the twelve steps: small objects, each with lines of its own.

None of them looks only at what a file says of itself: keys are compared with the caller's, hashes with
the caller's, and items count as revealed only where step 6 found them to lead to the committed root.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from sealbench.errors import UsageError
from sealbench.formats.allowed_signers import NamedKey
from sealbench.store import REGISTRY
from sealbench.verification.evidence import Evidence
from sealbench.verification.roles import role_of
from sealbench.verification.scope import Scope
from sealbench.verification.steps import RequirementResult, StepResult

_HASH = re.compile(r"[0-9a-f]{64}\Z")


@dataclass(frozen=True)
class TrustedKeys:
    """The registry must be kept by one of these keys; step 2 says it of every single signature."""

    keys: tuple[NamedKey, ...]

    def check(
        self, evidence: Evidence, scope: Scope | None, results: Sequence[StepResult]
    ) -> list[RequirementResult]:
        """FAIL if none of the registry's keys is among them."""
        periods = evidence.keys.periods if evidence.keys else ()
        for period in periods:
            for named in self.keys:
                if named.key.raw == period.key.raw:
                    whose = f" of {named.whose}" if named.whose else ""
                    told = f"{period.key.fingerprint} keeps this registry: the key{whose} in {named.source}"
                    return [RequirementResult("trusted key", "ok", told)]
        own = ", ".join(period.key.fingerprint for period in periods) or "no readable key"
        given = ", ".join(named.key.fingerprint for named in self.keys)
        return [RequirementResult("trusted key", "fail", f"the registry is kept by {own}, you trust {given}")]


class ExpectedHash:
    """Something in the target must have this SHA-256, which the caller has from elsewhere.

    Parameters
    ----------
    text : 64 hexadecimal digits; UsageError otherwise.
    outside : what else may have it, besides what is in the tree: words and SHA-256.
    """

    def __init__(self, text: str, outside: tuple[tuple[str, str], ...] = ()) -> None:
        self.hash = text.strip().lower()
        self._outside = outside
        if not _HASH.match(self.hash):
            raise UsageError(
                f"--expect-hash {text!r:.80} is no SHA-256: it takes 64 hexadecimal digits",
                hint="sha256sum commitments/NAME.json, or a root as the commitment states it",
            )

    def knowing(self, words: str, sha256: str) -> ExpectedHash:
        """The same, met also by something outside the tree, such as the archive that it came in."""
        return ExpectedHash(self.hash, (*self._outside, (words, sha256)))

    def check(
        self, evidence: Evidence, scope: Scope | None, results: Sequence[StepResult]
    ) -> list[RequirementResult]:
        """OK with every place that has it; FAIL if there is none, or none in the scope."""

        def inside(path: str) -> bool:
            return scope is None or path == REGISTRY or scope.holds(path)

        return [self.among(_hashes(evidence), inside)]

    def among(
        self, hashes: Iterable[tuple[str, str, str | None]], inside: Callable[[str], bool] = lambda path: True
    ) -> RequirementResult:
        """The same over any list of (path, what it is in words, SHA-256)."""
        outside = ((REGISTRY, words, held) for words, held in self._outside)
        every = chain(outside, hashes)
        found = dict.fromkeys((path, words) for path, words, held in every if held == self.hash)
        counted = [words for path, words in found if inside(path)]
        if counted:
            return RequirementResult("expected hash", "ok", f"{self.hash} is {', and '.join(counted)}")
        if found:
            told = (
                f"{self.hash} is {', and '.join(words for _, words in found)}: no part of what was asked for"
            )
            return RequirementResult("expected hash", "fail", told)
        return RequirementResult("expected hash", "fail", f"nothing here has the SHA-256 {self.hash}")


def _hashes(evidence: Evidence) -> Iterator[tuple[str, str, str | None]]:
    """Paths, what of them has a hash, and the hash: files, roots, every state of the registry."""
    originals = {evidence.digest(path) for path in evidence.tree.paths() if role_of(path).kind != "copy"}
    for path in evidence.tree.paths():
        if role_of(path).kind != "copy" or evidence.digest(path) not in originals:
            yield path, f"the file {path}", evidence.digest(path)
    for name, commitment in evidence.commitments.items():
        yield f"commitments/{name}.json", f"the root of battery {name}", commitment.root
    lines = evidence.registry.hashes if evidence.registry else []
    for number, line in enumerate(lines, start=1):
        head = "the registry's head" if number == len(lines) else "an earlier head of the registry"
        yield REGISTRY, f"{head}, line {number} of {len(lines)}", line


class AtLeastRevealed:
    """So many items of every battery judged must be open, by retirement or by reveals.

    Fewer is PENDING, not false: what is sealed today can be opened tomorrow. More than the battery has
    is FAIL, since no reveal can ever make it true; so is a target without any battery.

    Parameters
    ----------
    text : a number of items, or `all`; UsageError otherwise.
    """

    def __init__(self, text: str) -> None:
        if text != "all" and not (text.isascii() and text.isdigit() and int(text) > 0):
            raise UsageError(
                f"--at-least-revealed takes a number of items from 1, or all, not {text!r:.40}",
                hint="seal verify --at-least-revealed all",
            )
        self.count = None if text == "all" else int(text)

    def check(
        self, evidence: Evidence, scope: Scope | None, results: Sequence[StepResult]
    ) -> list[RequirementResult]:
        """One line per battery judged."""
        names = [name for name in evidence.commitments if scope is None or name in scope.batteries]
        if evidence.tree.bundle is not None:
            names = [name for name in names if name == evidence.tree.bundle]
        if not names:
            return [RequirementResult("revealed", "fail", "there is no battery here to reveal items of")]
        shown = {result.subject for result in results if result.step == 6 and result.status == "ok"}
        return [self._check(evidence, name, shown) for name in names]

    def _check(self, evidence: Evidence, name: str, shown: set[str]) -> RequirementResult:
        size = evidence.commitments[name].items
        opened = size if f"batteries/{name}/battery.json" in shown else _opened(evidence, name, shown)
        wanted = size if self.count is None else self.count
        told = f"{opened} of {size} items of {name} are open, wanted are {wanted}"
        if wanted > size:
            return RequirementResult("revealed", "fail", f"{told}: more than there are")
        return RequirementResult("revealed", "ok" if opened >= wanted else "pending", told)


def _opened(evidence: Evidence, name: str, shown: set[str]) -> int:
    """How many different items the reveals that step 6 accepted open."""
    reveals = [one for path, one in evidence.reveals.items() if one.battery == name and path in shown]
    return len({entry.item.id for reveal in reveals for entry in reveal.entries})
