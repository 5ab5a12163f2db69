"""Step 7's core: what the certificates of some items show, by arithmetic alone."""

from __future__ import annotations

from collections.abc import Sequence

from sealbench.errors import CertificateFailed, SealError
from sealbench.formats.battery import FamilyParameters, Item, Parameters
from sealbench.verification.imported import IMPORTED


def certify(items: Sequence[Item]) -> str:
    """Check each instance's certificate once; what they show, in words.

    Imported items carry no certificate but the author's word, and are called so.

    Raises
    ------
    CertificateFailed : names the item.
    """
    from sealbench.tasks.certificates import is_asserted

    seen: dict[str, tuple[object, ...]] = {}
    asserted = 0
    for item in items:
        content = (item.family, item.class_label, item.params, item.certificate)
        if seen.setdefault(item.instance, content) != content:
            raise CertificateFailed(f"item {item.id}: its instance is another problem in another wording")
        if seen[item.instance] is content:
            asserted += is_asserted(item.certificate)
            try:
                _check(item)
            except SealError as error:
                raise CertificateFailed(f"item {item.id}: {error.message}") from error
    if asserted == len(seen):
        return f"the answers of {asserted} instances are asserted, not computed: the author's word"
    return f"the certificates of {len(seen)} instances hold, by arithmetic alone"


def missing_families(parameters: Parameters) -> str:
    """Which families are not installed in the version committed to, in words; empty if none is missing."""
    reasons = (_not_installed(family) for family in parameters.families if family.family != IMPORTED)
    return "; ".join(reason for reason in reasons if reason)


def _not_installed(family: FamilyParameters) -> str:
    from sealbench.tasks.base import get_family

    try:
        installed = get_family(family.family)
    except SealError:
        return f"the task family {family.family} is not installed"
    if installed.version != family.version:
        return f"{family.family} is installed in version {installed.version}, committed was {family.version}"
    return ""


def _check(item: Item) -> None:
    from sealbench.tasks import imported
    from sealbench.tasks.base import get_family

    if item.family == IMPORTED:
        imported.check_imported(item.params, item.certificate)
    else:
        get_family(item.family).check(item.params, item.class_label, item.certificate)
