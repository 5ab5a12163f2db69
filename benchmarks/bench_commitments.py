"""A battery of 100,000 items: sealed, one item opened, and everything verified again after its reveal.

    python benchmarks/bench_commitments.py [--items N]

The items are given (drawing them is bench_families.py's business). Verification is that of leaves and
root: decrypting, parsing, hashing; certificates and drawing again are apart.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from sealbench.clock import system_clock
from sealbench.crypto.derivation import ItemKeys, instance_id, new_secret
from sealbench.formats.battery import Battery, BatteryKey, FamilyParameters, Item, Parameters
from sealbench.formats.reveal import check_opened
from sealbench.publishing.committing import commit_battery
from sealbench.publishing.sealing import open_battery, open_items
from sealbench.stages.init import init
from sealbench.verification.battery import check_opening
from sealbench.verification.memo import Memo


def given_items(secret: bytes, count: int) -> list[Item]:
    """Items as a family makes them, without the making."""
    keys = ItemKeys(secret)
    return [
        Item(
            id=keys.item_id(index),
            instance=instance_id(secret, "primality", index),
            family="primality",
            class_label="prime" if index % 2 else "composite",
            kind="small_factor",
            stratum="all",
            search="exhaustive" if index % 2 else "witness",
            wording="plain",
            category="primality",
            prompt=f"Is {1_000_003 + index} a prime number? Answer with Yes or No.",
            answer="Yes" if index % 2 else "No",
            answer_type="yes_no",
            minimal_answer="Yes" if index % 2 else "No",
            params={"n": 1_000_003 + index},
            certificate={"type": "factor", "factor": 3},
        )
        for index in range(count)
    ]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--items", type=int, default=100_000)
    count = parser.parse_args().items
    family = FamilyParameters(
        family="primality", version=1, source_sha256="0" * 64, per_class=count // 2, parameters={}
    )
    parameters = Parameters(families=(family,), wordings=("plain",))
    secret = new_secret()
    items = given_items(secret, count)
    with tempfile.TemporaryDirectory() as folder:
        workspace = init(Path(folder), network="regtest", calendars=()).workspace
        start = time.perf_counter()
        created = commit_battery(
            workspace, "large", secret, parameters, items, baselines=(), supersedes=None, clock=system_clock
        )
        print(f"{count} items, given to committed: {time.perf_counter() - start:.2f} s")
        start = time.perf_counter()
        battery = open_battery(workspace, "large")
        print(f"opened by its author:              {time.perf_counter() - start:.2f} s")
        start = time.perf_counter()
        entries = open_items(battery, [count // 3])
        made = 1000 * (time.perf_counter() - start)
        print(f"one inclusion proof made:          {made:.1f} ms, the battery being open")
        start = time.perf_counter()
        check_opened(entries, count, created.commitment.root)
        print(f"one inclusion proof checked:       {1000 * (time.perf_counter() - start):.3f} ms")
        contents = (
            workspace.commitment("large").read_bytes(),
            BatteryKey(name="large", secret=secret.hex()).to_bytes(),
            Battery(name="large", items=tuple(items)).to_bytes(),
            workspace.sealed("large").read_bytes(),
        )
        start = time.perf_counter()
        check_opening(Memo(), "large", *contents)
        print(f"verified after reveal:             {time.perf_counter() - start:.2f} s")
        if battery.tree.root.hex() != created.commitment.root:
            raise SystemExit("the opened battery has another root")


if __name__ == "__main__":
    main()
