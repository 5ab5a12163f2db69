"""This package against every test vector in tests/vectors: what is valid, what is not, and where."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sealbench.crypto import canonical, derivation, encryption, merkle
from sealbench.crypto.digest import sha256_hex
from sealbench.crypto.signature import PublicKey
from sealbench.crypto.stream import Stream
from sealbench.errors import SealError
from sealbench.formats.battery import Battery, BatteryKey, Item, Parameters, SealedBattery, associated_data
from sealbench.formats.registry import Checkpoint, Registry
from sealbench.formats.run import Run, read_log
from sealbench.publishing.sealing import leaf_hashes
from sealbench.stages.start_run import OpenRun
from sealbench.stages.verify import verify_workspace
from sealbench.timestamps.header_store import HeaderStore

VECTORS = Path(__file__).parents[2] / "vectors"
Expect = dict[str, Any]


class Differs(SealError):
    """The check that a stage would make, made here: what was found is not what must be there."""


def _read(folder: Path, *names: str) -> list[bytes]:
    return [(folder / name).read_bytes() for name in names]


def _canonical(folder: Path, _: Expect) -> Expect:
    (data,) = _read(folder, "input.json")
    return {"sha256": sha256_hex(canonical.encode(canonical.decode(data)))}


def _derivations(folder: Path, expect: Expect) -> Expect:
    key, parameters = _read(folder, "key.json", "parameters.json")
    secret = BatteryKey.from_bytes(key).secret_bytes()
    seed = derivation.battery_seed(secret, Parameters.from_bytes(parameters).to_bytes())
    beacon = bytes.fromhex(expect["beacon"])
    keys, salts = derivation.ItemKeys(secret), derivation.ResponseSalts(secret, expect["run"])
    return {
        "secret_commitment": derivation.secret_commitment(secret).hex(),
        "encryption_key": derivation.encryption_key(secret).hex(),
        "seed": seed.hex(),
        "seed_with_beacon": derivation.battery_seed(secret, parameters, beacon).hex(),
        "item_ids": [keys.item_id(index) for index in range(4)],
        "item_salts": [salt.hex() for salt in keys.salts(4)],
        "instance_ids": {
            family: [derivation.instance_id(secret, family, index) for index in range(3)]
            for family in expect["instance_ids"]
        },
        "response_salts": [salts.salt(line).hex() for line in range(3)],
        "salted_hash_of_hello": derivation.salted_hash(salts.salt(0), b"hello"),
        "item_stream_primality_0": derivation.item_stream(seed, "primality", 0).read(32).hex(),
        "wording_stream_primality_0_plain": derivation.wording_stream(seed, "primality", 0, "plain")
        .read(32)
        .hex(),
        "shuffle_stream": derivation.shuffle_stream(seed).read(32).hex(),
    }


def _stream(_: Path, expect: Expect) -> Expect:
    kinds: dict[str, Callable[[Any], Any]] = {"hex": bytes.fromhex, "text": str, "number": int}
    parts = [kinds[kind](value) for part in expect["parts"] for kind, value in part.items()]
    stream = Stream(expect["label"], *parts)
    draws = []
    for draw in expect["draws"]:
        call, arguments = draw["call"], draw["arguments"]
        if call == "shuffle":
            result: Any = list(range(arguments[0]))
            stream.shuffle(result)
        else:
            result = getattr(stream, call)(*arguments)
        draws.append({**draw, "result": result.hex() if isinstance(result, bytes) else result})
    return {"draws": draws}


def _order(_: Path, expect: Expect) -> Expect:
    """The order by the very function that `seal run` uses, on stand-ins for run and battery."""

    class Named:
        def __init__(self, **fields: Any) -> None:
            self.__dict__.update(fields)

    items = [Named(id=item, wording="plain") for item in reversed(expect["items"])]
    run: Any = Named(
        wordings=("plain",),
        endpoints=[Named(name=name) for name in expect["endpoints"]],
        caps=expect["caps"],
        repeats=expect["repeats"],
        number=expect["run_number"],
        plan=Named(sha256=expect["source_sha256"]),
    )
    battery: Any = Named(items=items)
    calls = OpenRun(run, battery, fresh=True, ended=False).planned()
    assert sorted(calls) == sorted(itertools.product(expect["items"], expect["endpoints"], run.caps, [1]))
    return {"calls": [list(call) for call in calls]}


def _merkle_roots(_: Path, expect: Expect) -> Expect:
    leaves = [merkle.leaf_hash(bytes.fromhex(leaf)) for leaf in expect["leaves"]]
    return {"roots": [merkle.root(leaves[:size]).hex() for size in range(len(leaves) + 1)]}


def _inclusion(_: Path, expect: Expect) -> Expect:
    path = [bytes.fromhex(step) for step in expect["path"]]
    leaf, root = bytes.fromhex(expect["leaf_hash"]), bytes.fromhex(expect["root"])
    merkle.verify_inclusion(leaf, expect["index"], expect["size"], path, root)
    return {}


def _opened_item(folder: Path, expect: Expect) -> Expect:
    (data,) = _read(folder, "item.json")
    leaf = merkle.leaf_hash(Item.from_bytes(data).to_bytes(), bytes.fromhex(expect["salt"]))
    return _inclusion(folder, {**expect, "leaf_hash": leaf.hex()})


def _envelope(folder: Path, expect: Expect) -> Expect:
    key, parameters, sealed, battery = _read(
        folder, "key.json", "parameters.json", "sealed.json", "battery.json"
    )
    secret = BatteryKey.from_bytes(key).secret_bytes()
    envelope = SealedBattery.from_bytes(sealed)
    associated = associated_data(envelope.name, Parameters.from_bytes(parameters))
    if encryption.unseal(secret, envelope.ciphertext_bytes(), associated) != battery:
        raise Differs("another battery")
    leaves = leaf_hashes(secret, [item.to_bytes() for item in Battery.from_bytes(battery).items])
    if merkle.root(leaves).hex() != expect["root"]:
        raise Differs("another root")
    return {
        "leaf_hashes": [leaf.hex() for leaf in leaves],
        "secret_commitment": derivation.secret_commitment(secret).hex(),
    }


def _sshsig(folder: Path, expect: Expect) -> Expect:
    message, signature, signers = _read(folder, "message", "message.sig", "allowed_signers")
    key = PublicKey.from_openssh(" ".join(signers.decode().split()[2:4]))
    assert signers.decode() == key.allowed_signer + "\n"
    key.verify(message, signature)
    return {"fingerprint": key.fingerprint}


def _registry(folder: Path, _: Expect) -> Expect:
    (data,) = _read(folder, "registry.jsonl")
    registry = Registry.from_bytes(data, "registry")
    for path in sorted((folder / "checkpoints").glob("*.json"), key=lambda path: int(path.stem)):
        seen = Checkpoint.from_bytes(path.read_bytes())
        known = registry.hashes[seen.size - 1] if seen.size <= registry.size else ""
        if (seen.registry, seen.head) != (registry.first, known):
            raise Differs(f"checkpoint {seen.size}")
    return {"size": registry.size, "first": registry.first, "head": registry.head}


def _log(folder: Path, _: Expect) -> Expect:
    run, log = _read(folder, "run.json", "log.jsonl")
    lines = list(read_log(log, Run.from_bytes(run).digest(), "log"))
    return {"lines": len(lines), "head": sha256_hex([run, *(line.to_bytes() for line in lines)][-1])}


def _headers(folder: Path, _: Expect) -> Expect:
    (data,) = _read(folder, "headers.bin")
    store = HeaderStore.from_bytes(data)
    return {
        "network": store.network,
        "headers": {str(height): raw.hex() for height, raw in store.items()},
    }


def _workspace(folder: Path, expect: Expect) -> Expect:
    """All but report.json, whose fields and numbers may grow with the package; the rest may not change."""
    found = verify_workspace(folder, network=expect["network"])
    steps = [step for step in found.steps if not step.subject.endswith("/report.json")]
    assert not [step for step in steps if step.status in ("fail", "pending")]
    assert {step.step for step in steps if step.status == "ok"} >= {2, 3, 4, 5, 7, 8, 9, 10}
    items = [
        Battery.from_bytes((folder / f"batteries/{name}/battery.json").read_bytes()).items
        for name in expect["batteries"]
    ]
    return {"items": sum(map(len, items))}


KINDS: dict[str, Callable[[Path, Expect], Expect]] = {
    "canonical": _canonical,
    "derivations": _derivations,
    "stream": _stream,
    "order": _order,
    "merkle_roots": _merkle_roots,
    "inclusion": _inclusion,
    "opened_item": _opened_item,
    "envelope": _envelope,
    "sshsig": _sshsig,
    "registry": _registry,
    "log": _log,
    "headers": _headers,
    "workspace": _workspace,
}
CASES = [path.parent for path in sorted(VECTORS.glob("*/**/expect.json")) if path.parts[-3] != "answers"]


@pytest.mark.parametrize(
    "folder",
    [folder for folder in CASES if "kind" in json.loads((folder / "expect.json").read_text("utf-8"))],
    ids=lambda folder: str(folder.relative_to(VECTORS)),
)
def test_vector(folder: Path) -> None:
    expect = json.loads((folder / "expect.json").read_text(encoding="utf-8"))
    if expect["kind"] not in KINDS:
        pytest.skip(f"vectors of kind {expect['kind']} are another part's")
    check = KINDS[expect["kind"]]
    if expect["valid"]:
        found = check(folder, expect)
        assert found == {key: expect[key] for key in found}
        return
    with pytest.raises(SealError) as caught:
        check(folder, expect)
    if "line" in expect:
        assert f" line {expect['line']}:" in caught.value.message
    if "checkpoint" in expect:
        assert caught.value.message == f"checkpoint {expect['checkpoint']}"


def test_every_kind_has_cases() -> None:
    seen = {json.loads((folder / "expect.json").read_text("utf-8")).get("kind") for folder in CASES}
    assert seen >= set(KINDS)
