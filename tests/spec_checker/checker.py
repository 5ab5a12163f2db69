"""A second implementation of docs/spec, in one file, with Python's standard library alone.

    python checker.py FOLDER        check the public files of a workspace, or of a copy of one

It was written from docs/spec and shares no code with the package it checks. Ed25519 is left to
`ssh-keygen`, and is NOT CHECKED where there is none. Not here at all: OpenTimestamps proofs, drawing the
items from K again, certificates, and the numbers of a report. Exit code 0: nothing is false; 1: something
is. `vectors.py` beside it runs the same code over the test vectors.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import itertools
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

ZEROS = "0" * 64
IDENTITY = "schema author registry registry_size registry_head name"
FIELDS = {
    "event": "key create preregister amend run_start run_end run_abort deviation expose report reveal"
    " supersede void retire",
    "registry line": "seq prev at event subject files detail",
    "log line": "seq prev item instance family class_label kind stratum search wording category endpoint"
    " model cap cap_parameter repeat end answer stop at_cap not_binding charged_tokens visible_tokens"
    " reasoning_tokens prompt_tokens visible_characters characters_without_markdown minimal_characters"
    " first_line_tokens longest_step mean_logprob parsed attempts response_id_hash body_hash fingerprint",
    "response": "seq response_id body text",
    "item": "id instance family class_label kind stratum search wording category prompt answer answer_type"
    " minimal_answer params certificate",
    "sealbench/battery/v1": "schema name items",
    "sealbench/sealed/v1": "schema name cipher ciphertext",
    "sealbench/key/v1": "schema name secret",
    "sealbench/files/v1": "schema files",
    "sealbench/checkpoint/v1": "schema author registry size head",
    "sealbench/commitment/v1": IDENTITY + " created_at tool_version mode draft beacon parameters"
    " secret_commitment items instances root sealed baselines supersedes supersedes_void derived_from",
    "sealbench/preregistration/v1": IDENTITY + " created_at tool_version battery commitment amends endpoints"
    " caps repeats wordings parser stopping_rule exclusions hypotheses void_conditions alpha correction"
    " equivalence_margins access funding reveal",
    "sealbench/run/v1": IDENTITY
    + " number exploratory battery commitment plan require tool_version started_at"
    " block endpoints caps repeats wordings parser planned_calls",
}
OPTIONAL = {"sealbench/preregistration/v1": {"underpowered"}}


class Wrong(Exception):
    """What was checked is false. `where` is a line or a checkpoint's size, counted from 1."""

    def __init__(self, message: str, **where: int) -> None:
        super().__init__(message)
        self.where = where


def need(condition: object, message: str, **where: int) -> None:
    if not condition:
        raise Wrong(message, **where)


# Canonical JSON -------------------------------------------------------------------------------------

ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}


def canonical(value: Any, depth: int = 0) -> str:
    need(depth <= 64, "nested deeper than 64 levels")
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int):
        need(abs(value) < 2**53, "an integer beyond 2^53 - 1")
        return str(value)
    if isinstance(value, str):
        return '"' + "".join(ESCAPES.get(c, f"\\u{ord(c):04x}" if c < " " else c) for c in value) + '"'
    if isinstance(value, list):
        return "[" + ",".join(canonical(one, depth + 1) for one in value) + "]"
    for key in value:
        need(re.fullmatch("[a-z0-9_]+", key, re.ASCII), f"the key {key!r:.40}")
    return "{" + ",".join(f'"{key}":{canonical(value[key], depth + 1)}' for key in sorted(value)) + "}"


def read(data: bytes, kind: str = "") -> Any:
    """Parse canonical JSON; `kind` names the fields that an object must have, no more and no fewer."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        need(len(dict(pairs)) == len(pairs), "a key twice in one object")
        return dict(pairs)

    def refuse(text: str) -> None:
        raise Wrong(f"{text:.20} is no integer")

    def integer(text: str) -> int:
        need(len(text) <= 17, "an integer beyond 2^53 - 1")
        return int(text)

    try:
        value = json.loads(
            data.decode(),
            object_pairs_hook=unique,
            parse_float=refuse,
            parse_int=integer,
            parse_constant=refuse,
        )
        need(canonical(value).encode() == data, "not in canonical form")
    except (ValueError, RecursionError) as error:
        raise Wrong(f"not JSON: {error!s:.80}") from error
    if kind:
        need(isinstance(value, dict), f"{kind}: not an object")
        optional = {"underpowered"} if kind.startswith("sealbench/preregistration/") else set()
        differing = (set(value) ^ set(FIELDS[kind].split())) - optional
        need(not differing, f"{kind}: fields missing or unknown: {sorted(differing)}")
        need(value.get("schema", kind) == kind, f"{kind}: its schema is {value.get('schema')!s:.60}")
    return value


# Hashes, keys, streams ------------------------------------------------------------------------------


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def parts(*values: bytes | str | int) -> bytes:
    plain = (
        value.encode()
        if isinstance(value, str)
        else value.to_bytes(8, "big")
        if isinstance(value, int)
        else value
        for value in values
    )
    return b"".join(len(part).to_bytes(4, "big") + part for part in plain)


def mac(key: bytes, message: bytes) -> bytes:
    return hmac.new(key, message, hashlib.sha256).digest()


def hkdf(key: bytes, *info: bytes | str | int, salt: bytes = b"") -> bytes:
    return mac(mac(salt or bytes(32), key), parts(*info) + b"\x01")


def numbered(key: bytes, index: int) -> bytes:
    return mac(key, index.to_bytes(8, "big"))


def keys_of(secret: bytes) -> tuple[bytes, bytes]:
    return hkdf(secret, "sealbench/v1/id"), hkdf(secret, "sealbench/v1/salt")


# Merkle trees ---------------------------------------------------------------------------------------


def leaf_hash(data: bytes) -> bytes:
    return hashlib.sha256(b"\x00" + data).digest()


def tree_root(leaves: list[bytes]) -> bytes:
    if len(leaves) < 2:
        return leaves[0] if leaves else hashlib.sha256(b"").digest()
    split = 1 << ((len(leaves) - 1).bit_length() - 1)
    return hashlib.sha256(b"\x01" + tree_root(leaves[:split]) + tree_root(leaves[split:])).digest()


# Envelope: ChaCha20-Poly1305 of RFC 8439 with a nonce of zeros ----------------------------------------


def chacha_block(key: bytes, counter: int) -> bytes:
    start = [0x61707865, 0x3320646E, 0x79622D32, 0x6B206574]
    start += [int.from_bytes(key[i : i + 4], "little") for i in range(0, 32, 4)] + [counter, 0, 0, 0]
    s = list(start)
    for _ in range(10):
        for a, b, c, d in (
            *((i, i + 4, i + 8, i + 12) for i in range(4)),
            *((i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4) for i in range(4)),
        ):
            for x, y, z, turn in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
                s[x] = (s[x] + s[y]) & 0xFFFFFFFF
                s[z] ^= s[x]
                s[z] = ((s[z] << turn) | (s[z] >> (32 - turn))) & 0xFFFFFFFF
    return b"".join(((a + b) & 0xFFFFFFFF).to_bytes(4, "little") for a, b in zip(s, start, strict=True))


def decrypt(key: bytes, sealed: bytes, associated: bytes) -> bytes:
    text, tag = sealed[:-16], sealed[-16:]
    one = chacha_block(key, 0)
    r = int.from_bytes(one[:16], "little") & 0x0FFFFFFC0FFFFFFC0FFFFFFC0FFFFFFF
    padded = [data + bytes(-len(data) % 16) for data in (associated, text)]
    message = b"".join(padded) + b"".join(len(data).to_bytes(8, "little") for data in (associated, text))
    total = 0
    for at in range(0, len(message), 16):
        total = (total + int.from_bytes(message[at : at + 16] + b"\x01", "little")) * r % (2**130 - 5)
    expected = (total + int.from_bytes(one[16:32], "little")) % 2**128
    need(expected.to_bytes(16, "little") == tag, "K does not open the ciphertext")
    blocks = (chacha_block(key, 1 + at // 64) for at in range(0, len(text), 64))
    return bytes(a ^ b for a, b in zip(text, itertools.chain.from_iterable(blocks), strict=False))


def open_battery(key: bytes, parameters: bytes, sealed: bytes, battery: bytes) -> dict[str, Any]:
    """Decrypt an envelope, compare it with the published battery, and hash its leaves."""
    secret = bytes.fromhex(read(key, "sealbench/key/v1")["secret"])
    envelope = read(sealed, "sealbench/sealed/v1")
    ciphertext = base64.b64decode(envelope["ciphertext"], validate=True)
    need(base64.b64encode(ciphertext).decode() == envelope["ciphertext"], "base64 in another spelling")
    associated = parts(envelope["name"], parameters)
    plain = decrypt(hkdf(secret, "sealbench/v1/encryption"), ciphertext, associated)
    need(plain == battery, "the envelope holds another battery than the published one")
    items = read(battery, "sealbench/battery/v1")["items"]
    id_key, salt_key = keys_of(secret)
    leaves = []
    for index, item in enumerate(items):
        data = canonical(item).encode()
        need(read(data, "item")["id"] == numbered(id_key, index)[:8].hex(), f"the id of item {index}")
        leaves.append(leaf_hash(numbered(salt_key, index) + data))
    return {
        "secret_commitment": sha256(parts("sealbench/v1/secret", secret)),
        "root": tree_root(leaves).hex(),
        "leaf_hashes": [leaf.hex() for leaf in leaves],
        "items": items,
        "secret": secret,
    }


# Signatures -----------------------------------------------------------------------------------------


def check_signature(message: bytes, armoured: bytes, signers: bytes, author: str) -> bool:
    """The layout here, the curve by ssh-keygen; False where there is none to ask."""
    lines = armoured.decode("ascii", "replace").split("\n")
    need(len(lines) > 3 and lines[-1] == "", "not an armoured signature")
    try:
        blob = base64.b64decode("".join(lines[1:-2]), validate=True)
    except binascii.Error as error:
        raise Wrong("not an armoured signature") from error
    text = base64.b64encode(blob).decode()
    body = [text[at : at + 70] for at in range(0, len(text), 70)]
    usual = "\n".join(["-----BEGIN SSH SIGNATURE-----", *body, "-----END SSH SIGNATURE-----", ""])
    need(usual.encode() == armoured, "not in the one usual layout")
    named = [line.split() for line in signers.decode().splitlines() if line.startswith(author + " ")]
    need(named and named[0][1:3] == ['namespaces="sealbench"', "ssh-ed25519"], f"no allowed signer {author}")
    wire = base64.b64decode(named[0][3])
    print_ = base64.b64encode(hashlib.sha256(wire).digest()).decode().rstrip("=")
    need(f"SHA256:{print_}" == author, "the principal is not the key's fingerprint")
    head = b"SSHSIG\x00\x00\x00\x01" + parts(wire, "sealbench", "", "sha512")
    inner = len(parts("ssh-ed25519", bytes(64))).to_bytes(4, "big") + parts("ssh-ed25519")
    need(
        blob[:-68] == head + inner and blob[-68:-64] == b"\x00\x00\x00\x40", "another key, namespace or hash"
    )
    program = shutil.which("ssh-keygen")
    if program is None:
        return False
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "signers").write_bytes(signers)
        (Path(folder) / "sig").write_bytes(armoured)
        command = [program, "-Y", "verify", "-f", f"{folder}/signers", "-I", author, "-n", "sealbench"]
        done = subprocess.run(
            [*command, "-s", f"{folder}/sig"], input=message, capture_output=True, check=False
        )
    need(done.returncode == 0, "ssh-keygen: the signature does not belong to these bytes")
    return True


# Chains ---------------------------------------------------------------------------------------------


def read_chain(data: bytes, kind: str, first: str) -> tuple[list[Any], list[str]]:
    """The lines of a registry or a log, and the hash of each."""
    lines, hashes = [], [first]
    for number, raw in enumerate(data.split(b"\n"), start=1):
        last = number == data.count(b"\n") + 1
        if last and not raw:
            break
        need(not last, "torn", line=number)
        try:
            line = read(raw, kind)
        except Wrong as error:
            raise Wrong(str(error), line=number) from error
        need(line["seq"] == number - 1 and line["prev"] == hashes[-1], "the chain breaks", line=number)
        need(line.get("event", "key") in FIELDS["event"].split(), "an unknown event", line=number)
        lines.append(line)
        hashes.append(sha256(raw))
    return lines, hashes[1:]


def read_registry(data: bytes, checkpoints: dict[int, bytes]) -> tuple[list[Any], list[str]]:
    lines, hashes = read_chain(data, "registry line", ZEROS)
    need(lines and lines[0]["event"] == "key", "it does not begin with a key", line=1)
    for size, raw in sorted(checkpoints.items()):
        seen = read(raw, "sealbench/checkpoint/v1")
        need(seen["size"] == size and 1 <= size <= len(lines), "the tail was cut off", checkpoint=size)
        agrees = seen["head"] == hashes[size - 1] and seen["registry"] == hashes[0]
        need(agrees, "the registry was rewritten", checkpoint=size)
    return lines, hashes


def read_headers(data: bytes) -> dict[str, Any]:
    need(data[:8] == b"SEALHDR\x01" and len(data) >= 9, "not packed headers")
    at = 9 + data[8]
    network = data[9:at].decode("ascii", "replace")
    need(network in ("mainnet", "regtest"), "an unknown network")
    count, at, headers, end = int.from_bytes(data[at : at + 4], "big"), at + 4, {}, -1
    for _ in range(count):
        need(at < len(data), "cut short")
        first, number = (int.from_bytes(data[at + i : at + i + 4], "big") for i in (0, 4))
        need(first > end and number, "segments out of order, touching or empty")
        need(at + 8 + 80 * number <= len(data), "cut short")
        at, end = at + 8, first + number
        for height in range(first, end):
            headers[str(height)] = data[at : at + 80].hex()
            at += 80
    need(at == len(data) and end <= 2**32, "bytes left over")
    return {"network": network, "headers": headers}


# A whole workspace ----------------------------------------------------------------------------------

Tree = dict[str, bytes]
PUBLIC = ("batteries", "commitments", "preregistrations", "runs")
# What a retired battery's folder repeats of other files, in their form or in one for other programs.
DERIVED = re.compile(r"batteries/[^/]+/(record/.*|croissant\.json|items\.jsonl)")


def load(root: Path) -> Tree:
    """The public files by their relative paths."""
    paths = [path for folder in PUBLIC for path in (root / folder).rglob("*") if path.is_file()]
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in paths
        if not path.name.startswith(".")
    }


class Workspace:
    """The files of one workspace and what has been found about them: status, subject, detail."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.found: list[tuple[str, str, str]] = []
        self.lines: list[Any] = []
        self.hashes: list[str] = []
        self.bound: dict[str, tuple[str, int]] = {}  # path: hash and line of the event that names it

    def check(self) -> list[tuple[str, str, str]]:
        """Everything this checker knows, in the order of docs/spec."""
        for path in sorted(self.tree):
            if path.endswith((".json", ".jsonl")) and not DERIVED.fullmatch(path):
                self._try(path, lambda path=path: self._parses(path))
        self._try("commitments/headers.bin", lambda: read_headers(self.tree["commitments/headers.bin"]))
        self._try("commitments/files.json", self._listed)
        self._try("commitments/registry.jsonl", self._registry)
        for path in [path[:-4] for path in sorted(self.tree) if path.endswith(".sig")]:
            if DERIVED.fullmatch(path):
                continue
            self._try(path, lambda path=path: self._signed(path))
        for name in [line["subject"] for line in self.lines if line["event"] == "create"]:
            self._try(f"battery {name}", lambda name=name: self._battery(name))
        for line in [line for line in self.lines if line["event"] in ("run_end", "run_abort")]:
            self._try(f"run {line['subject']}", lambda line=line: self._run(line))
        proofs = sum(path.endswith(".ots") for path in self.tree)
        self.found.append(
            ("NOT CHECKED", f"{proofs} proofs, certificates, reports", "out of this checker's scope")
        )
        return self.found

    def _try(self, subject: str, check: Callable[[], object]) -> None:
        try:
            said = check()
        except Wrong as error:
            self.found.append(("FAIL", subject, f"{error} {error.where or ''}".strip()))
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            self.found.append(("FAIL", subject, f"{type(error).__name__}: {error!s:.80}"))
        else:
            self.found.append(
                ("NOT CHECKED", subject, "no ssh-keygen") if said is False else ("OK", subject, "")
            )

    def _parses(self, path: str) -> None:
        data = self.tree[path]
        if path.endswith(".json"):
            schema = read(data).get("schema")
            read(data, schema if schema in FIELDS else "")
            return
        kind = (
            "log line"
            if path.startswith("runs/")
            else "response"
            if "/responses/" in path
            else "registry line"
        )
        need(not data or data.endswith(b"\n"), "torn")
        for raw in data.split(b"\n")[:-1]:
            read(raw, kind)

    def _listed(self) -> None:
        entries = read(self.tree["commitments/files.json"])["files"]
        paths = [entry["path"] for entry in entries]
        need(paths == sorted(set(paths)), "not sorted, or a path twice")
        for entry in entries:
            need(sha256(self.tree.get(entry["path"], b"")) == entry["sha256"], f"{entry['path']} was changed")
        left = set(self.tree) - set(paths) - {"commitments/files.json"}
        need(not [path for path in left if not path.startswith("runs/")], f"not listed: {sorted(left)}")

    def _registry(self) -> None:
        form = re.compile(r"commitments/checkpoints/([0-9]+)\.json")
        found = [match for path in self.tree if (match := form.fullmatch(path))]
        checkpoints = {int(match[1]): self.tree[match[0]] for match in found}
        self.lines, self.hashes = read_registry(self.tree["commitments/registry.jsonl"], checkpoints)
        for line in self.lines:
            for file in line["files"]:
                if line["event"] == "report" or file["path"] not in self.bound:
                    self.bound[file["path"]] = (file["sha256"], line["seq"])
        for path, (digest, seq) in self.bound.items():
            need(sha256(self.tree.get(path, b"")) == digest, f"{path} is not the file named", line=seq + 1)

    def _signed(self, path: str) -> bool:
        document = read(self.tree[path])
        need(self.hashes, "there is no sound registry to hold it against")
        need(document["registry"] == self.hashes[0], "belongs to another registry")
        if "registry_size" in document:
            size = document["registry_size"]
            need(1 <= size <= self.bound[path][1], "was written after the event that names it")
            need(document["registry_head"] == self.hashes[size - 1], "was written beside another history")
        signers, signature = self.tree["commitments/allowed_signers"], self.tree[path + ".sig"]
        return check_signature(self.tree[path], signature, signers, document["author"])

    def _battery(self, name: str) -> None:
        sealed, folder = self.tree[f"batteries/{name}.sealed.json"], f"batteries/{name}/"
        commitment = read(self.tree[f"commitments/{name}.json"], "sealbench/commitment/v1")
        need(sha256(sealed) == commitment["sealed"]["sha256"], "the ciphertext is not the one committed to")
        if folder + "key.json" not in self.tree:
            return
        parameters = canonical(commitment["parameters"]).encode()
        key, battery = self.tree[folder + "key.json"], self.tree[folder + "battery.json"]
        opened = open_battery(key, parameters, sealed, battery)
        for field in ("secret_commitment", "root"):
            need(opened[field] == commitment[field], f"another {field} than committed")
        counts = len(opened["items"]), len({item["instance"] for item in opened["items"]})
        need(counts == (commitment["items"], commitment["instances"]), "another number of items")
        for line in self.tree[folder + "SHA256SUMS"].decode().splitlines():
            digest, path = line.split("  ")
            need(sha256(self.tree.get(folder + path, b"")) == digest, f"SHA256SUMS: {path}")

    def _run(self, end: Any) -> None:
        name = end["subject"]
        raw = self.tree[f"runs/{name}/run.json"]
        run = read(raw, "sealbench/run/v1")
        lines, _ = read_chain(self.tree[f"runs/{name}/log.jsonl"], "log line", sha256(raw))
        calls = {(line["item"], line["endpoint"], line["cap"], line["repeat"]) for line in lines}
        need(len(calls) == len(lines), "a call twice")
        need(end["event"] == "run_abort" or len(lines) == run["planned_calls"], "calls are missing")
        folder = f"batteries/{run['battery']}/"
        if folder + "key.json" not in self.tree:
            return
        secret = bytes.fromhex(read(self.tree[folder + "key.json"])["secret"])
        salts = hkdf(secret, "sealbench/v1/response", name)
        items = {item["id"]: item for item in read(self.tree[folder + "battery.json"])["items"]}
        responses = self.tree[f"{folder}responses/{name}.jsonl"].split(b"\n")[:-1]
        for line, response in zip(lines, map(read, responses), strict=True):
            salt = numbered(salts, line["seq"])
            for field, digest in (("response_id", "response_id_hash"), ("body", "body_hash")):
                text = response[field]
                expected = None if text is None else sha256(salt + text.encode())
                need(line[digest] == expected, f"another {field}", line=line["seq"] + 1)
            item = items[line["item"]]
            same = all(line[field] == item[field] for field in set(line) & set(item) - {"answer"})
            need(same, "not its item's fields", line=line["seq"] + 1)


def main(arguments: list[str]) -> int:
    found = Workspace(load(Path(arguments[0]))).check()
    for status, subject, detail in found:
        sys.stdout.write(f"{status:<12} {subject}  {detail}\n")
    return 1 if any(status == "FAIL" for status, _, _ in found) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
