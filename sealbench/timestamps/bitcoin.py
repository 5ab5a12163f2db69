"""The Bitcoin side of timestamps in one place: networks, headers, links, grades.

The parts: targets.py (difficulty arithmetic), checkpoints.py (the table), networks.py (headers and
rules), links.py (what headers prove about heights), header_store.py (`headers.bin`), grades.py.
"""

from __future__ import annotations

from sealbench.crypto.digest import sha256d
from sealbench.timestamps.checkpoints import CheckpointTable, shipped_checkpoints
from sealbench.timestamps.grades import GRADES, Graded, at_least, grade_attestation
from sealbench.timestamps.header_store import HeaderStore
from sealbench.timestamps.networks import MAINNET, NETWORKS, REGTEST, Header, Network, display

__all__ = [
    "GRADES",
    "MAINNET",
    "NETWORKS",
    "REGTEST",
    "CheckpointTable",
    "Graded",
    "Header",
    "HeaderStore",
    "Network",
    "at_least",
    "display",
    "grade_attestation",
    "sha256d",
    "shipped_checkpoints",
]
