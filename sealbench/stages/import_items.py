"""Seal a person's own items: a JSON Lines or CSV file becomes a battery like any other.

The answers are asserted by the author, not computed, and are called so wherever ground truth is checked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sealbench import store
from sealbench.analysis.leaks import own_baselines
from sealbench.clock import Clock, system_clock
from sealbench.crypto.derivation import (
    ItemKeys,
    battery_seed,
    instance_id,
    new_secret,
    shuffle_stream,
)
from sealbench.crypto.digest import sha256_hex
from sealbench.formats.battery import FamilyParameters, Item, Parameters
from sealbench.publishing.committing import Created, check_battery_name, commit_battery
from sealbench.store import Workspace
from sealbench.tasks import imported
from sealbench.tasks.battery import make_item
from sealbench.tasks.imported import ImportedItem


def import_battery(
    workspace: Workspace,
    source: Path,
    *,
    name: str,
    supersedes: str | None = None,
    clock: Clock = system_clock,
) -> Created:
    """Read the rows, shuffle them under a fresh K, and commit to them.

    Parameters
    ----------
    source : a .jsonl, .csv or .tsv file; columns as in `sealbench.tasks.imported`.

    Raises
    ------
    FormatError : the file does not parse; the message names the line.
    UsageError : a row has no prompt, two rows are the same, an answer cannot be read back.
    """
    check_battery_name(workspace, name)
    rows = imported.read_rows(
        store.read(source, hint="seal create --import FILE.csv --name NAME"), source.name
    )
    entries = imported.import_items(rows)
    parameters = Parameters(
        families=(
            FamilyParameters(
                family=imported.FAMILY_NAME,
                version=imported.FAMILY_VERSION,
                source_sha256=sha256_hex(Path(imported.__file__).read_bytes()),
                per_class=0,
                # Nothing of the content: an unsalted hash of a small file would give it away.
                parameters={"rows": len(entries)},
            ),
        ),
        wordings=(imported.WORDING,),
    )
    secret = new_secret()
    items = _items(secret, parameters, entries)
    return commit_battery(
        workspace,
        name,
        secret,
        parameters,
        items,
        baselines=own_baselines(items),
        supersedes=supersedes,
        clock=clock,
    )


def _items(secret: bytes, parameters: Parameters, entries: Sequence[ImportedItem]) -> list[Item]:
    order = list(range(len(entries)))
    shuffle_stream(battery_seed(secret, parameters.to_bytes())).shuffle(order)
    keys = ItemKeys(secret)
    return [_item(secret, keys.item_id(place), row, entries[row]) for place, row in enumerate(order)]


def _item(secret: bytes, item_id: str, row: int, entry: ImportedItem) -> Item:
    family, rendered = imported.FAMILY_NAME, entry.rendered
    named = replace(rendered, category=imported.label_of(rendered.category) or family)
    ids = item_id, instance_id(secret, family, row)
    return make_item(*ids, family, imported.WORDING, entry.instance, named)
