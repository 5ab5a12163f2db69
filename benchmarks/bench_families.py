"""Items with certificates per second, beside reasoning-gym's prime_factorization at the same size.

Run by `make bench`. reasoning-gym is measured when it is installed; the ratio is of one run on one
machine. Its items carry no certificate; ours hold one that a separate checker verifies.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable

from sealbench.crypto.derivation import item_stream
from sealbench.tasks.base import get_family

SEED = bytes(32)
CASES = (
    ("primality", {"digits": "6"}, 2000),
    ("primality", {"digits": "12"}, 2000),
    ("primality", {"digits": "20"}, 400),
    ("primality", {"digits": "40"}, 20),
    ("subset_sum", {}, 1000),
    ("subset_sum", {"length": "40", "values": "100..4999"}, 400),
    ("digit_sum_parity", {}, 2000),
    ("satisfiability", {}, 200),
)


def timed(work: Callable[[], int]) -> tuple[int, float]:
    """Items made, and seconds."""
    start = time.perf_counter()
    count = work()
    return count, time.perf_counter() - start


def generate(name: str, given: dict[str, str], items: int) -> int:
    """Draw instances with certificates, and check each with the separate checker."""
    family = get_family(name)
    parameters = family.complete(given)
    slots = family.slots(parameters, items // len(family.slots(parameters, 1)))
    for index, slot in enumerate(slots):
        instance = family.generate(slot, parameters, item_stream(SEED, name, index))
        family.check(instance.params, instance.class_label, instance.certificate)
    return len(slots)


def reasoning_gym(items: int) -> int:
    """The same number of factorization problems at 10^12."""
    import reasoning_gym

    dataset = reasoning_gym.create_dataset(
        "prime_factorization", min_value=10**11, max_value=10**12 - 1, size=items, seed=1
    )
    return sum(1 for index in range(items) if dataset[index]["answer"])


def main() -> None:
    """Print the table."""
    print(f"{'family':<18} {'parameters':<44} {'items':>6} {'s':>8} {'items/s':>9}")
    rates = {}
    for name, given, items in CASES:
        count, seconds = timed(lambda: generate(name, given, items))  # noqa: B023  # called at once
        shown = " ".join(f"{key}={value}" for key, value in given.items()) or "(defaults)"
        rates[name, given.get("digits")] = count / seconds
        print(f"{name:<18} {shown:<44} {count:>6} {seconds:>8.2f} {count / seconds:>9.0f}")
    if importlib.util.find_spec("reasoning_gym") is None:
        print("reasoning-gym is not installed: not measured (pip install reasoning-gym)")
        return
    count, seconds = timed(lambda: reasoning_gym(200))
    shown = "prime_factorization, 12 digits"
    print(f"{'reasoning-gym':<18} {shown:<44} {count:>6} {seconds:>8.2f} {count / seconds:>9.0f}")
    print(f"ratio at 12 digits: {rates['primality', '12'] * seconds / count:.0f} times reasoning-gym")


if __name__ == "__main__":
    main()
