"""Make a smaller battery out of a sealed one: the same items, leaves, salts and K, under a root of its own.

The subset is chosen by a rule that its parameters state and anyone can repeat once the parent is
published; that it is a subset can be proved before (`prove_subset`), opening nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sealbench import __version__
from sealbench.analysis.leaks import own_baselines
from sealbench.clock import Clock, system_clock
from sealbench.crypto import merkle
from sealbench.errors import UsageError
from sealbench.formats.base import format_instant
from sealbench.formats.battery import Commitment, FamilyParameters, Parameters
from sealbench.formats.reveal import SharedLeaf, Subset
from sealbench.publishing.committing import Created, check_battery_name, hash_of_battery
from sealbench.publishing.publication import publish, read_registry, refuse_damage
from sealbench.publishing.sealing import OpenBattery, open_battery, parent_of, read_commitment, select_indices
from sealbench.publishing.superseding import void_verdict_of
from sealbench.store import Workspace


def derive(
    workspace: Workspace,
    families: Sequence[str],
    *,
    parent: str,
    name: str,
    per_class: int,
    supersedes: str | None = None,
    clock: Clock = system_clock,
) -> Created:
    """Commit to the first `per_class` instances of each class and kind of a sealed battery.

    Parameters
    ----------
    families : families of the parent to take; none means all.

    Raises
    ------
    UsageError : the name is taken, the parent is published or derived itself, or has too few instances.
    """
    check_battery_name(workspace, name)
    opened = open_battery(workspace, parent)
    _check_parent(workspace, opened.commitment)
    parameters = _parameters(opened.commitment, families, per_class)
    indices = select_indices(opened.items, parameters.families)
    items = [opened.items[index] for index in indices]
    with publish(workspace, clock) as publication:
        refuse_damage(workspace)
        check_battery_name(workspace, name)
        replaced = hash_of_battery(publication, supersedes)
        commitment = Commitment(
            **publication.identity(),
            name=name,
            created_at=format_instant(publication.clock()),
            tool_version=__version__,
            mode="sealed",
            draft=None,
            beacon=None,
            parameters=parameters,
            secret_commitment=opened.commitment.secret_commitment,
            items=len(items),
            instances=len({item.instance for item in items}),
            root=merkle.root([opened.tree.leaves[index] for index in indices]).hex(),
            sealed=opened.commitment.sealed,
            baselines=own_baselines(items),
            supersedes=replaced,
            supersedes_void=void_verdict_of(workspace, supersedes),
            derived_from=publication.hash_of(workspace.commitment(parent)),
        )
        path = workspace.commitment(name)
        committed = publication.write_signed(path, commitment)
        publication.event("create", name, [committed, commitment.sealed], {"derived_from": parent})
        if supersedes is not None:
            publication.event("supersede", supersedes, [committed], {"by": name})
    return Created(commitment, path, (path,))


def _check_parent(workspace: Workspace, parent: Commitment) -> None:
    name = parent.name
    if parent.derived_from is not None:
        raise UsageError(
            f"{name} is derived itself", hint=f"derive from its parent: --derived-from {parent_of(parent)}"
        )
    if read_registry(workspace).find("retire", name) is not None:
        raise UsageError(
            f"{name} is published, so nothing made of it is sealed",
            hint="seal create FAMILY --name NAME --per-class 8",
        )


def _parameters(parent: Commitment, families: Sequence[str], per_class: int) -> Parameters:
    if per_class < 1:
        raise UsageError(
            f"--per-class {per_class}: at least 1 instance per class is needed", hint="--per-class 2"
        )
    held = [family.family for family in parent.parameters.families]
    unknown = sorted(set(families) - set(held))
    if unknown or len(set(families)) != len(families):
        raise UsageError(
            f"{parent.name} holds no {', '.join(unknown)}" if unknown else "a family is named twice",
            hint=f"its families: {', '.join(held)}",
        )
    chosen = tuple(
        FamilyParameters(
            family=family.family,
            version=family.version,
            source_sha256=family.source_sha256,
            per_class=per_class,
            parameters=family.parameters,
        )
        for family in parent.parameters.families
        if not families or family.family in families
    )
    return Parameters(families=chosen, wordings=parent.parameters.wordings)


def prove_subset(
    workspace: Workspace, name: str, *, parent: str, clock: Clock = system_clock
) -> tuple[Subset, Path]:
    """Write `commitments/reveals/NAME-subset.json`: every leaf of NAME is a leaf of its parent.

    Raises
    ------
    UsageError : NAME is not derived from this parent, or the proof is written already.
    """
    commitment = read_commitment(workspace, name)
    actual = parent_of(commitment)
    if actual != parent:
        told = f"derived from {actual}" if actual else "not derived from any battery"
        raise UsageError(
            f"{name} is {told}, so nothing shows it to be part of {parent}",
            hint=f"seal reveal {name} --subset-of {actual}" if actual else "seal create --derived-from …",
        )
    path = workspace.reveals / f"{name}-subset.json"
    opened = open_battery(workspace, parent)
    with publish(workspace, clock) as publication:
        refuse_damage(workspace)
        if read_registry(workspace).find("reveal", name) is not None and path.exists():
            raise UsageError(f"{workspace.relative(path)} is there already", hint="seal verify")
        document = Subset(
            **publication.identity(),
            battery=name,
            commitment=publication.hash_of(workspace.commitment(name)),
            root=commitment.root,
            parent=parent,
            parent_commitment=publication.hash_of(workspace.commitment(parent)),
            parent_root=opened.commitment.root,
            parent_items=len(opened.items),
            leaves=_shared_leaves(opened, commitment),
        )
        written = publication.write_signed(path, document)
        publication.event("reveal", name, [written], {"subset_of": parent})
    return document, path


def _shared_leaves(parent: OpenBattery, derived: Commitment) -> tuple[SharedLeaf, ...]:
    indices = select_indices(parent.items, derived.parameters.families)
    return tuple(
        SharedLeaf(
            leaf=parent.tree.leaves[index].hex(),
            index=index,
            path=tuple(step.hex() for step in parent.tree.inclusion_proof(index)),
        )
        for index in indices
    )
