"""Exact statistics for censoring and cost by class: every p-value a fraction, its unit stated.

Names are loaded when first used, so that importing this package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {
    "contingency": (
        "censoring_difference",
        "fisher_exact",
        "barnard_exact",
        "freeman_halton",
        "stratified_exact",
        "odds_ratio",
    ),
    "permutation": ("mean_difference", "rank_sum"),
    "agreement": ("cohen_kappa", "fleiss_kappa"),
    "completeness": ("separation",),
    "correlation": ("rank_correlation",),
    "caps": ("max_over_caps",),
    "survival": ("permutation_logrank", "gehan", "kaplan_meier", "restricted_mean"),
    "paired": ("sign_flip", "mcnemar_exact", "signed_rank"),
    "inversion": ("inversion_control",),
    "bounds": ("score_bounds", "rank_intervals"),
    "planning": ("smallest_p", "items_needed", "power", "safe_cap"),
    "intervals": ("clopper_pearson",),
    "effects": ("shift_interval", "ratio_of_means"),
    "multiplicity": ("holm", "westfall_young"),
    "montecarlo": ("monte_carlo",),
    "pvalue": ("PValue",),
    "results": ("TestResult", "Interval", "ClassSize"),
    "values": ("DataError",),
}
_MODULE_OF = {name: module for module, names in _HOMES.items() for name in names}
__all__ = sorted(_MODULE_OF)  # noqa: PLE0605 (names are resolved lazily)


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
