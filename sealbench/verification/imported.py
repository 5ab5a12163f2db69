"""Step 6 for imported items: no draw makes them again, but K still decides their ids and their order."""

from __future__ import annotations

from sealbench.crypto.derivation import ItemKeys, battery_seed, instance_id, shuffle_stream
from sealbench.errors import CertificateFailed
from sealbench.formats.battery import Battery, Commitment, Parameters
from sealbench.verification.evidence import parse_again
from sealbench.verification.memo import Memo

IMPORTED = "imported"


def is_imported(parameters: Parameters) -> bool:
    """Whether the items came from a person's file instead of draws."""
    return any(family.family == IMPORTED for family in parameters.families)


def check_imported_order(memo: Memo, commitment: Commitment, secret: bytes, battery_bytes: bytes) -> None:
    """Item ids, instance ids and the shuffle follow from K, so nobody placed a row by hand.

    Raises
    ------
    CertificateFailed : they do not, or computed and imported families stand in one battery.
    """
    items = parse_again(memo, Battery, battery_bytes, f"batteries/{commitment.name}/battery.json").items
    families = commitment.parameters.families
    if len(families) != 1 or families[0].parameters != {"rows": len(items)}:
        raise CertificateFailed(f"its parameters are not those of {len(items)} imported rows")
    order = list(range(len(items)))
    shuffle_stream(battery_seed(secret, commitment.parameters.to_bytes())).shuffle(order)
    keys = ItemKeys(secret)
    for place, (row, item) in enumerate(zip(order, items, strict=True)):
        expected = (keys.item_id(place), instance_id(secret, IMPORTED, row), IMPORTED)
        if (item.id, item.instance, item.family) != expected:
            raise CertificateFailed(
                f"item {place + 1} does not have the id and place that K gives row {row + 1}"
            )
