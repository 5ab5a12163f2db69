"""Makes the test vectors beside this file: `python tests/vectors/make.py`.

Every case is a folder with its files and `expect.json`, which says what an implementation must find.
All but `workspace/` come out byte for byte the same every time; `make_workspace.py` makes that one.
The values are computed by this package and checked by the stand-alone verifier (tests/standalone);
the published ones (RFC 6962 trees, the RFC 8785 example) are written down here and compared.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from make_chains import make_headers, make_logs, make_orders, make_registries
from make_plain import (
    CANONICAL_ACCEPTED,
    CANONICAL_REJECTED,
    CT_LEAVES,
    CT_PATHS,
    CT_ROOTS,
    SAMPLE_ITEMS,
    SAMPLE_PARAMETERS,
    STREAMS,
)

from sealbench.crypto import merkle
from sealbench.crypto.derivation import (
    ItemKeys,
    ResponseSalts,
    battery_seed,
    encryption_key,
    instance_id,
    item_stream,
    salted_hash,
    secret_commitment,
    shuffle_stream,
    wording_stream,
)
from sealbench.crypto.digest import sha256_hex
from sealbench.crypto.signature import AuthorKey
from sealbench.crypto.stream import Stream
from sealbench.formats.battery import Battery, BatteryKey, Item, Parameters
from sealbench.publishing.sealing import leaf_hashes, seal_battery

HERE = Path(__file__).parent
SECRET = bytes(range(32))  # K of every vector but the workspace's; it is public
BEACON = bytes.fromhex("6fe28c0ab6f1b372c1a6a246ae63f74f931e8365e15a089c68d6190000000000")
AUTHOR = AuthorKey(Ed25519PrivateKey.from_private_bytes(bytes(range(32, 64))))
STRANGER = AuthorKey(Ed25519PrivateKey.from_private_bytes(bytes(range(64, 96))))


def case(path: str, expect: dict[str, Any], files: dict[str, bytes] | None = None) -> None:
    """Write one case: its files, and `expect.json` with what must be found."""
    folder = HERE / path
    folder.mkdir(parents=True)
    for name, data in (files or {}).items():
        target = folder / name
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(data)
    text = json.dumps(expect, indent=1, ensure_ascii=True, sort_keys=True)
    (folder / "expect.json").write_text(text + "\n", encoding="utf-8")


def make_canonical() -> None:
    """Bytes that are canonical, and bytes that are not, each for one reason."""
    for name, data in CANONICAL_ACCEPTED.items():
        expect = {"kind": "canonical", "valid": True, "sha256": sha256_hex(data)}
        case(f"canonical/{name}", expect, {"input.json": data})
    for name, (data, reason) in CANONICAL_REJECTED.items():
        expect = {"kind": "canonical", "valid": False, "step": 1, "reason": reason}
        case(f"canonical/{name}", expect, {"input.json": data})


def make_derivations() -> None:
    """Everything that follows from K and the parameters alone."""
    parameters = Parameters.from_value(SAMPLE_PARAMETERS)
    keys = ItemKeys(SECRET)
    seed = battery_seed(SECRET, parameters.to_bytes())
    salts = ResponseSalts(SECRET, "primes-plan-1")
    expect = {
        "kind": "derivations",
        "valid": True,
        "secret_commitment": secret_commitment(SECRET).hex(),
        "encryption_key": encryption_key(SECRET).hex(),
        "seed": seed.hex(),
        "beacon": BEACON.hex(),
        "seed_with_beacon": battery_seed(SECRET, parameters.to_bytes(), BEACON).hex(),
        "item_ids": [keys.item_id(index) for index in range(4)],
        "item_salts": [keys.salt(index).hex() for index in range(4)],
        "instance_ids": {
            family: [instance_id(SECRET, family, index) for index in range(3)]
            for family in ("primality", "subset_sum")
        },
        "run": "primes-plan-1",
        "response_salts": [salts.salt(line).hex() for line in range(3)],
        "salted_hash_of_hello": salted_hash(salts.salt(0), b"hello"),
        "item_stream_primality_0": item_stream(seed, "primality", 0).read(32).hex(),
        "wording_stream_primality_0_plain": wording_stream(seed, "primality", 0, "plain").read(32).hex(),
        "shuffle_stream": shuffle_stream(seed).read(32).hex(),
    }
    files = {
        "key.json": BatteryKey(name="sample", secret=SECRET.hex()).to_bytes(),
        "parameters.json": parameters.to_bytes(),
    }
    case("derivations/sample", expect, files)


def make_streams() -> None:
    """Draws from streams: first bytes, and results of a list of calls in order."""
    for name, (label, parts, calls) in STREAMS.items():
        typed = [
            {"hex": part.hex()}
            if isinstance(part, bytes)
            else {"text": part}
            if isinstance(part, str)
            else {"number": part}
            for part in parts
        ]
        stream = Stream(label, *parts)
        draws = []
        for operation, *arguments in calls:
            if operation == "shuffle":
                result: Any = list(range(arguments[0]))
                stream.shuffle(result)
            elif operation == "read":
                result = stream.read(arguments[0]).hex()
            else:
                result = getattr(stream, operation)(*arguments)
            draws.append({"call": operation, "arguments": arguments, "result": result})
        expect = {"kind": "stream", "valid": True, "label": label, "parts": typed, "draws": draws}
        case(f"stream/{name}", expect)


def make_merkle() -> None:
    """The published RFC 6962 trees, salted leaves of ours, and proofs that must fail."""
    leaves = [merkle.leaf_hash(bytes.fromhex(leaf)) for leaf in CT_LEAVES]
    roots = [merkle.root(leaves[:size]).hex() for size in range(len(leaves) + 1)]
    if roots != CT_ROOTS:
        raise SystemExit("the published RFC 6962 roots do not come out")
    case(
        "merkle/rfc6962_roots",
        {"kind": "merkle_roots", "valid": True, "leaves": CT_LEAVES, "roots": CT_ROOTS},
    )
    for index, size, path in CT_PATHS:
        if [step.hex() for step in merkle.Tree(leaves[:size]).inclusion_proof(index)] != path:
            raise SystemExit("a published RFC 6962 path does not come out")
        inclusion(f"merkle/rfc6962_path_{index}_of_{size}", leaves[index], index, size, path, roots[size])
    index, size, path = CT_PATHS[2]
    for name, changed in {
        "wrong_index": (4, size, path),
        "index_outside": (8, size, path),
        "wrong_size": (index, 4, path),
        "too_short": (index, size, path[:-1]),
        "too_long": (index, size, [*path, path[0]]),
        "steps_exchanged": (index, size, [path[1], path[0], path[2]]),
        "bit_flipped": (index, size, [flip(path[0]), *path[1:]]),
    }.items():
        inclusion(f"merkle/{name}", leaves[index], *changed, roots[size], valid=False)
    # A node offered as a leaf: without the 0x00 and 0x01 in front, this would be accepted.
    inclusion("merkle/node_as_leaf", leaves[0], 0, 4, path_of_node(leaves), roots[8], valid=False)


def path_of_node(leaves: list[bytes]) -> list[str]:
    """The path of the first pair's node in the tree of eight, as if the tree had four leaves."""
    pairs = [merkle.node_hash(leaves[i], leaves[i + 1]) for i in range(0, 8, 2)]
    return [step.hex() for step in merkle.Tree(pairs).inclusion_proof(0)]


def flip(text: str) -> str:
    """Hex with its last bit flipped."""
    data = bytearray.fromhex(text)
    data[-1] ^= 1
    return data.hex()


def inclusion(
    path: str, leaf: bytes, index: int, size: int, steps: list[str], root: str, *, valid: bool = True
) -> None:
    """One inclusion proof, to be accepted or refused."""
    proof = {"leaf_hash": leaf.hex(), "index": index, "size": size, "path": steps, "root": root}
    step = {} if valid else {"step": 6}
    case(path, {"kind": "inclusion", "valid": valid, **step, **proof})


def make_batteries() -> None:
    """An envelope, the battery in it, its salted leaves and its root; and what must not open."""
    parameters = Parameters.from_value(SAMPLE_PARAMETERS)
    keys = ItemKeys(SECRET)
    items = tuple(
        Item.from_value({**item, "id": keys.item_id(index)}) for index, item in enumerate(SAMPLE_ITEMS)
    )
    battery = Battery(name="sample", items=items)
    sealed = seal_battery(SECRET, "sample", battery.to_bytes(), parameters)
    leaves = leaf_hashes(SECRET, [item.to_bytes() for item in items])
    root = merkle.root(leaves).hex()
    good = {
        "key.json": BatteryKey(name="sample", secret=SECRET.hex()).to_bytes(),
        "parameters.json": parameters.to_bytes(),
        "battery.json": battery.to_bytes(),
        "sealed.json": sealed.to_bytes(),
    }
    facts = {
        "kind": "envelope",
        "secret_commitment": secret_commitment(SECRET).hex(),
        "root": root,
        "leaf_hashes": [leaf.hex() for leaf in leaves],
    }
    case("envelope/good", {**facts, "valid": True}, good)
    bad = {
        "tag_flipped": ("sealed.json", _flip_ciphertext(sealed.to_bytes()), 6),
        "other_name": ("sealed.json", sealed.to_bytes().replace(b'"sample"', b'"simple"'), 6),
        "other_parameters": (
            "parameters.json",
            parameters.to_bytes().replace(b'"per_class":1', b'"per_class":2'),
            6,
        ),
        "other_key": ("key.json", good["key.json"].replace(b"0001020304", b"0101020304"), 6),
        "item_changed": ("battery.json", good["battery.json"].replace(b"Is 97", b"Is 89"), 6),
    }
    for name, (file, data, step) in bad.items():
        if data == good[file]:
            raise SystemExit(f"envelope/{name}: nothing was changed")
        case(f"envelope/{name}", {**facts, "valid": False, "step": step}, {**good, file: data})
    proof = {"salt": keys.salt(1).hex(), "index": 1, "size": len(items), "root": root}
    steps = [step.hex() for step in merkle.Tree(leaves).inclusion_proof(1)]
    opened = {"kind": "opened_item", "valid": True, **proof, "path": steps}
    case("envelope/opened_item", opened, {"item.json": items[1].to_bytes()})
    other = {**opened, "valid": False, "step": 6, "salt": keys.salt(2).hex()}
    case("envelope/opened_item_other_salt", other, {"item.json": items[1].to_bytes()})


def _flip_ciphertext(sealed: bytes) -> bytes:
    import base64

    document = json.loads(sealed)
    data = bytearray(base64.b64decode(document["ciphertext"]))
    data[-1] ^= 1
    document["ciphertext"] = base64.b64encode(data).decode()
    return json.dumps(document, separators=(",", ":"), sort_keys=True).encode()


def make_signatures() -> None:
    """SSHSIG files: ours and ssh-keygen's are the same bytes; others must be refused."""
    message = b'{"schema":"sealbench/example/v1"}'
    signature = AUTHOR.sign(message)
    signer = (AUTHOR.public.allowed_signer + "\n").encode()
    if by_ssh_keygen(AUTHOR, message) != signature:
        raise SystemExit("ssh-keygen signs otherwise than this package")
    cases = {
        "good": (message, signature, True),
        "empty_message": (b"", AUTHOR.sign(b""), True),
        "other_message": (message + b"\n", signature, False),
        "other_key": (message, STRANGER.sign(message), False),
        "other_namespace": (message, by_ssh_keygen(AUTHOR, message, "-n", "file"), False),
        "sha256_inside": (message, by_ssh_keygen(AUTHOR, message, "-O", "hashalg=sha256"), False),
        "windows_line_ends": (message, signature.replace(b"\n", b"\r\n"), False),
        "one_long_line": (message, _one_line(signature), False),
        "not_ended": (message, signature[:-1], False),
        "signature_zero": (message, _zero_signature(signature), False),
    }
    for name, (data, armoured, valid) in cases.items():
        expect = {"kind": "sshsig", "valid": valid, "fingerprint": AUTHOR.public.fingerprint}
        if not valid:
            expect["step"] = 2
        files = {"message": data, "message.sig": armoured, "allowed_signers": signer}
        case(f"sshsig/{name}", expect, files)


def by_ssh_keygen(key: AuthorKey, message: bytes, *options: str) -> bytes:
    """What `ssh-keygen -Y sign` makes of the same key and message."""
    given = options if "-n" in options else ("-n", "sealbench", *options)
    with tempfile.TemporaryDirectory() as folder:
        secret = Path(folder) / "key"
        secret.touch(mode=0o600)
        secret.write_bytes(key.to_openssh())
        command = ["ssh-keygen", "-Y", "sign", "-f", str(secret), *given]
        return subprocess.run(command, input=message, capture_output=True, check=True).stdout


def _one_line(signature: bytes) -> bytes:
    lines = signature.split(b"\n")
    return b"\n".join([lines[0], b"".join(lines[1:-2]), *lines[-2:]])


def _zero_signature(signature: bytes) -> bytes:
    import base64

    lines = signature.decode().split("\n")
    blob = bytearray(base64.b64decode("".join(lines[1:-2])))
    blob[-64:] = bytes(64)
    text = base64.b64encode(blob).decode()
    body = [text[start : start + 70] for start in range(0, len(text), 70)]
    return "\n".join([lines[0], *body, lines[-2], ""]).encode()


def main() -> None:
    """Remove every case but the workspace and the answers, and make them again."""
    for name in (
        "canonical",
        "derivations",
        "envelope",
        "headers",
        "log",
        "merkle",
        "order",
        "registry",
        "sshsig",
        "stream",
    ):
        shutil.rmtree(HERE / name, ignore_errors=True)
    make_canonical()
    make_derivations()
    make_streams()
    make_merkle()
    make_batteries()
    make_signatures()
    make_registries(case, AUTHOR)
    make_logs(case, AUTHOR)
    make_orders(case)
    make_headers(case)


if __name__ == "__main__":
    main()
