"""Both verifiers over the same tree, step by step, and where they may differ.

`verify.py` performs less than `seal verify`, and says so on its lines. `LEFT` lists every pair of statuses
that may differ for that reason; everything else must be the same.
"""

from __future__ import annotations

from sealbench.standalone import verify
from sealbench.verification.tree import PublicTree
from sealbench.verification.verifier import Verifier

WORST_FIRST = ("fail", "pending", "not_checked", "ok", "not_due")
# (step, status of `seal verify`, status of verify.py): why.
LEFT: dict[tuple[int, str, str], str] = {
    (1, "fail", "ok"): "what is inside a report's parts; copies in a record of a workspace",
    (6, "fail", "ok"): "items drawn by hand, other baselines",
    (8, "fail", "ok"): "which events may follow which; what a draft binds",
    (10, "fail", "ok"): "fields that the raw response gives otherwise",
    (11, "fail", "ok"): "parts of a report beyond its comparisons",
    (
        11,
        "not_checked",
        "fail",
    ): "a comparison that lacks a field: one calls the report unreadable, one false",
    (12, "ok", "not_checked"): "verify.py says that there are deviations, not which",
    (6, "ok", "not_checked"): "reveals, and leaves shared with a parent",
    (7, "ok", "not_checked"): "items of a reveal",
    (9, "ok", "not_checked"): "beacon mode",
    (9, "not_due", "not_checked"): "drafts",
}


def worst(statuses: list[str]) -> str:
    """The status of a step that has several results."""
    return min(statuses, key=WORST_FIRST.index)


def by_package(verifier: Verifier, tree: PublicTree) -> dict[int, str]:
    """Each step's status as `seal verify` finds it."""
    found = verifier.verify(tree)
    return {step: worst([one.status for one in found.step(step)]) for step in range(1, 13)}


def by_standalone(tree: PublicTree, policy: object) -> dict[int, str]:
    """Each step's status as verify.py finds it."""
    found = verify.Verification(dict(tree.items()), tree.bundle or "", policy).results
    return {step: worst([one[1] for one in found if one[0] == step]) for step in range(1, 13)}


def differences(package: dict[int, str], standalone: dict[int, str]) -> list[tuple[int, str, str]]:
    """The steps with different statuses."""
    return [(step, package[step], standalone[step]) for step in package if package[step] != standalone[step]]
