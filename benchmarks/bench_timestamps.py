"""Proofs parsed, checked and listed per second, beside the `opentimestamps` library and `otskit`.

    python benchmarks/bench_timestamps.py [--seconds S] [--json]

Parsing is from bytes to a tree with every operation replayed. Checking adds the file's hash, the
re-encoding, and the grade of each Bitcoin attestation; the headers are loaded once, as for a long list. The
list is `seal verify FOLDER` without the printing: 400 files on disk, each with its proof. `otskit` is
measured where it is installed (`pip install otskit`).
"""

from __future__ import annotations

import argparse
import atexit
import importlib
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from opentimestamps.core.serialize import BytesDeserializationContext
from opentimestamps.core.timestamp import DetachedTimestampFile

from sealbench.config import Settings
from sealbench.stages.verify_files import stamped_files, verify_files
from sealbench.timestamps.bitcoin import MAINNET, REGTEST, HeaderStore
from sealbench.timestamps.check import check_file
from sealbench.timestamps.proof import read_proof, serialize
from sealbench.verification.policy import Policy

DATA = Path(__file__).parents[1] / "tests" / "data" / "ots"
SAMPLES = {
    "mainnet, 3.7 KB": "nlnl/swap.commitment.json",
    "regtest, 0.5 KB": "regtest/battery-1.txt",
    "pending, 0.7 KB": "nlnl/pending/long_memory.commitment.json",
}


def rate(action: Callable[[], object], seconds: float) -> float:
    """Calls per second, best of three rounds."""
    best = 0.0
    for _ in range(3):
        count, start = 0, time.perf_counter()
        while (elapsed := time.perf_counter() - start) < seconds / 3:
            action()
            count += 1
        best = max(best, count / elapsed)
    return best


def otskit_parser() -> Callable[[bytes], object] | None:
    """otskit's parser of a detached proof, if that library is installed."""
    try:
        module = importlib.import_module("otskit")
    except ImportError:
        return None
    for name in ("parse", "loads", "deserialize"):
        if callable(found := getattr(module, name, None)):
            return found  # type: ignore[no-any-return]
    proof_class = getattr(module, "DetachedTimestamp", None) or getattr(module, "DetachedTimestampFile", None)
    return getattr(proof_class, "from_bytes", None) or getattr(proof_class, "deserialize", None)


def measure(seconds: float) -> dict[str, dict[str, float]]:
    """Rates by sample and action."""
    regtest = HeaderStore.read((DATA / "regtest" / "headers_regtest.json").read_bytes())
    mainnet = HeaderStore.read((DATA / "headers_mainnet.json").read_bytes())
    packed = regtest.to_bytes()
    other = otskit_parser()
    result: dict[str, dict[str, float]] = {}
    for label, name in SAMPLES.items():
        proof = (DATA / f"{name}.ots").read_bytes()
        content = (DATA / name.replace("pending/", "")).read_bytes()
        headers, network = (regtest, REGTEST) if "regtest" in name else (mainnet, MAINNET)
        parsed = read_proof(proof)

        def library(data: bytes = proof) -> object:
            return DetachedTimestampFile.deserialize(BytesDeserializationContext(data))

        actions: dict[str, Callable[[], object]] = {
            "parse (opentimestamps)": library,
            "parse": lambda data=proof: read_proof(data),  # type: ignore[misc]
            "serialise": lambda one=parsed: serialize(one),  # type: ignore[misc]
            "check": lambda a=content, b=proof, c=headers, d=network: check_file(a, b, c, d),  # type: ignore[misc]
        }
        if other is not None:
            actions["parse (otskit)"] = lambda data=proof, parse=other: parse(data)  # type: ignore[misc]
        result[label] = {action: rate(call, seconds) for action, call in actions.items()}
    result["129 linked headers"] = {
        "read, link and grade": rate(
            lambda: HeaderStore.from_bytes(packed).links(REGTEST).forward.tip, seconds
        )
    }
    result["400 files on disk"] = {"verify the list": 400 * rate(long_list(), seconds)}
    return result


def long_list() -> Callable[[], object]:
    """Checks 400 stamped files in a temporary folder; anything but `anchored` stops the measurement."""
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder)
    source = DATA / "regtest" / "battery-1.txt"
    for number in range(400):
        shutil.copy(source, folder / f"{number}.txt")
        shutil.copy(f"{source}.ots", folder / f"{number}.txt.ots")
    headers = HeaderStore.read((DATA / "regtest" / "headers_regtest.json").read_bytes())
    policy = Policy(network="regtest", headers=headers)

    def verify() -> object:
        found = verify_files(stamped_files(folder), policy, Settings(network="regtest"), offline=True)
        if found.exit_code or len(found.files) != 400:
            raise SystemExit("the list did not verify")
        return found

    return verify


def main() -> None:
    """Measure and write a table, or JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seconds", type=float, default=1.5, help="per action")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rates = measure(options.seconds)
    if options.json:
        sys.stdout.write(json.dumps(rates, indent=1) + "\n")
        return
    for label, actions in rates.items():
        for action, value in actions.items():
            sys.stdout.write(f"{label:22} {action:24} {value:10,.0f} per second\n")


if __name__ == "__main__":
    main()
