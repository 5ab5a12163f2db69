"""What each public path is: its role, whose it is, its model, whether it is signed and stamped.

The path decides, never the content: a file that calls itself something else fails.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from sealbench.formats.base import Record
from sealbench.formats.battery import Battery, BatteryKey, Commitment, SealedBattery
from sealbench.formats.draft import Draft
from sealbench.formats.preregistration import Preregistration
from sealbench.formats.registry import Checkpoint, PublicFiles, RegistryLine
from sealbench.formats.report import Report
from sealbench.formats.reveal import Reveal, Subset
from sealbench.formats.run import LogLine, PublishedResponse, Run

Kind = Literal[
    "registry",
    "files",
    "headers",
    "signers",
    "checkpoint",
    "commitment",
    "draft",
    "reveal",
    "subset",
    "sealed",
    "battery",
    "key",
    "responses",
    "sums",
    "items",
    "canary",
    "verifier",
    "copy",
    "plan",
    "run",
    "log",
    "report",
    "signature",
    "proof",
    "other",
]
SIGNED: frozenset[Kind] = frozenset({"commitment", "draft", "reveal", "subset", "plan", "run", "checkpoint"})
STAMPED: frozenset[Kind] = frozenset({"commitment", "draft", "plan", "checkpoint"})


@dataclass(frozen=True)
class Role:
    """A path's role.

    Attributes
    ----------
    kind : what the file is.
    name : the battery, plan, run or checkpoint size it belongs to; for signatures and proofs the
        path of the file they are about; else empty.
    model : the model of the whole file or, with `lines`, of each of its lines.
    """

    kind: Kind
    name: str = ""
    model: type[Record] | None = None
    lines: bool = False


_NAME = r"([a-z0-9][a-z0-9_-]{0,63})"
_FORMS: tuple[tuple[str, Kind, type[Record] | None, bool], ...] = (
    # First: a copy has no role but to equal its original.
    (rf"batteries/{_NAME}/record/.+", "copy", None, False),
    (r"(.+)\.sig", "signature", None, False),
    (r"(.+)\.ots", "proof", None, False),
    (r"commitments/registry\.jsonl()", "registry", RegistryLine, True),
    (r"commitments/files\.json()", "files", PublicFiles, False),
    (r"commitments/headers\.bin()", "headers", None, False),
    (r"commitments/allowed_signers()", "signers", None, False),
    (r"commitments/checkpoints/([0-9]{1,16})\.json", "checkpoint", Checkpoint, False),
    (rf"commitments/{_NAME}\.draft\.json", "draft", Draft, False),
    (rf"commitments/reveals/{_NAME}-[0-9]{{1,9}}\.json", "reveal", Reveal, False),
    (rf"commitments/reveals/{_NAME}-subset\.json", "subset", Subset, False),
    (rf"commitments/{_NAME}\.json", "commitment", Commitment, False),
    (rf"batteries/{_NAME}\.sealed\.json", "sealed", SealedBattery, False),
    (rf"batteries/{_NAME}/battery\.json", "battery", Battery, False),
    (rf"batteries/{_NAME}/key\.json", "key", BatteryKey, False),
    (rf"batteries/{_NAME}/responses/[a-z0-9][a-z0-9_-]*\.jsonl", "responses", PublishedResponse, True),
    (rf"batteries/{_NAME}/SHA256SUMS", "sums", None, False),
    (rf"batteries/{_NAME}/items\.jsonl", "items", None, False),
    (rf"batteries/{_NAME}/CANARY\.txt", "canary", None, False),
    (rf"batteries/{_NAME}/verify\.py", "verifier", None, False),
    (rf"preregistrations/{_NAME}\.json", "plan", Preregistration, False),
    (rf"runs/{_NAME}/run\.json", "run", Run, False),
    (rf"runs/{_NAME}/log\.jsonl", "log", LogLine, True),
    (rf"runs/{_NAME}/report\.json", "report", Report, False),
)
_PATTERNS = tuple((re.compile(form), kind, model, lines) for form, kind, model, lines in _FORMS)


@lru_cache(maxsize=65_536)
def role_of(path: str) -> Role:
    """The role of a public path; `other` for what no format of this package describes."""
    for pattern, kind, model, lines in _PATTERNS:
        match = pattern.fullmatch(path)
        if match:
            return Role(kind, match.group(1), model, lines)
    return Role("other")


def run_of(path: str) -> str | None:
    """The run whose folder a path lies in, if any."""
    parts = path.split("/")
    return parts[1] if parts[0] == "runs" and len(parts) > 2 else None


def battery_of(path: str) -> str | None:
    """The retired battery whose folder a path lies in, if any."""
    parts = path.split("/")
    return parts[1] if parts[0] == "batteries" and len(parts) > 2 else None
