#!/usr/bin/env python3
"""Check a published sealbench battery with nothing but Python (3.9 or newer) and this file: python verify.py FOLDER

Take this file from a release, never from the folder under test. It was written from docs/spec/ and shares no code with `seal verify`; it reads
files and touches no network. Ed25519 is asked of `ssh-keygen`; without one, signatures are NOT CHECKED. What it leaves to `seal verify`, its lines
say. To be read whole: 1 canonical JSON and formats, 2 hashes and the cipher, 3 keys and signatures, 4 proofs and block headers, 5 certificates,
6 counts and exact p-values, 7 files, 8 the twelve steps, 9 the command, 10 Bitcoin's checkpoints. Laid out by hand, in at most 900 lines.
"""
from __future__ import annotations
import argparse, base64, functools, hashlib, hmac, itertools, json, math, re, shutil, stat, subprocess, sys, tempfile, uuid, zlib
from collections import Counter, defaultdict, namedtuple
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timezone
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, cast
class Wrong(Exception):
    """What was checked is false or, by another `status`, not to be checked here; `line` counts from 1."""
    def __init__(self, message: str, status: str = "fail", line: int | None = None, grade: str | None = None) -> None:
        super().__init__(message)
        self.status, self.line, self.grade = status, line, grade
def need(condition: object, message: str, status: str = "fail", line: int | None = None) -> None:
    if not condition: raise Wrong(message, status, line)

# == 1. Canonical JSON and formats (canonical-json.md, and the tables of the other pages) ==================================================
def canonical(value: Any) -> bytes:  # RFC 8785's bytes: within this profile the standard encoder gives them
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()
def check_profile(value: Any, depth: int = 0) -> None:
    need(depth <= 64 and (not isinstance(value, int) or abs(value) < 2**53), "nested deeper than 64 levels, or an integer beyond 2^53 - 1")
    if isinstance(value, dict): need(all(re.fullmatch("[a-z0-9_]+", key) for key in value), "a key is not of [a-z0-9_]+")
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else (): check_profile(inner, depth + 1)
def parse(data: bytes, form: str = "") -> Any:  # A value from its canonical bytes; with `form`, exactly the fields and types of that table
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        need(len(dict(pairs)) == len(pairs), "a key twice in one object")
        return dict(pairs)
    def number(text: str) -> int:
        need(re.fullmatch("-?[0-9]{1,16}", text), f"{text:.20} is no integer within 2^53 - 1")
        return int(text)
    try:
        value = json.loads(data.decode(), parse_int=number, parse_float=number, parse_constant=number, object_pairs_hook=unique)
        check_profile(value)
        need(canonical(value) == data, "not in canonical form: its re-encoding differs")
    except (ValueError, RecursionError) as error: raise Wrong(f"not JSON: {type(error).__name__}: {error!s:.80}") from error
    if form: check_type(value, form, "top level")
    return value
def parse_lines(data: bytes, form: str) -> list[Any]:  # The values of a .jsonl file; an error names the first line that does not parse
    values, raws = list[Any](), data.split(b"\n")
    for number, raw in enumerate(raws[:-1], start=1):
        try: values.append(parse(raw, form))
        except Wrong as error: raise Wrong(f"line {number}: {error}", line=number) from error
    need(not raws[-1], f"line {len(raws)}: torn", line=len(raws))
    return values
def follow_chain(data: bytes, lines: Sequence[Any], first: str) -> list[str]:  # The hash of each line, after checking that each names its number and the hash of the one before
    hashes = [first]
    for number, (raw, line) in enumerate(zip(data.split(b"\n"), lines), start=1):
        need(line["seq"] == number - 1 and line["prev"] == hashes[-1], f"line {number}: does not follow the line before (chain broken)", line=number)
        hashes.append(sha256(raw))
    return hashes[1:]
TEXTS = {name: re.compile(pattern) for name, pattern in {
    "text": "(?s:.*)", "hash": "[0-9a-f]{64}", "identifier": "[0-9a-f]{16}", "label": "[a-z0-9_]{1,64}", "base64": "[A-Za-z0-9+/]*=?=?",
    "name": "[a-z0-9][a-z0-9_-]{0,63}", "fingerprint": "SHA256:[A-Za-z0-9+/]{43}", "decimal": r"(?=.{1,1000}\Z)-?[0-9]+(\.[0-9]+)?(e[+-]?[0-9]{1,5})?",
    "instant": r"[0-9]{4}(-[0-9]{2}){2}T[0-9]{2}(:[0-9]{2}){2}(\.[0-9]{6})?Z",
    "path": r"(?=.{1,255}\Z)[A-Za-z0-9_-][A-Za-z0-9_.-]*(/[A-Za-z0-9_-][A-Za-z0-9_.-]*)*"}.items()}
# Tables, apart by ; or line: a name, then field:type. A type is one of TEXTS, count, integer, flag, object, another table, or
# =one|other; then [] for a list, [+] for one that is not empty, ? for "or null". Tables with $ are parts of others.
TABLES = """
$identity schema:text author:fingerprint registry:hash registry_size:count registry_head:hash; $made name:name created_at:instant tool_version:text
$item instance:identifier family:label class_label:label kind:label stratum:label wording:label category:label search:=exhaustive|witness|none
$calls endpoints:endpoint[] caps:count[] repeats:count wordings:label[] parser:parser; file path:path sha256:hash; block hash:hash height:count; parser name:text version:count
item $item id:identifier prompt:text answer:text answer_type:text minimal_answer:text params:object certificate:object
family family:label parameters:object per_class:count source_sha256:hash version:count; parameters families:family[] wordings:label[]; baseline accuracy:decimal baseline:label family:label
endpoint name:text provider:text model:text base_url:text? api_key_env:text? cap_parameter:text settings:object probed:flag; where family:text kind:text stratum:text wording:text endpoint:text; bound at_least:decimal; margin hypothesis:text margin:decimal
hypothesis id:text measure:=censored|lost|charged_tokens|reasoning_tokens|accuracy|error where:where cap:count class1:label class0:label direction:=greater|less|two-sided test:=exact_permutation alpha:decimal bound:bound? falsifies:text[]
void_condition id:text condition:=nothing_censored where:where cap:count voids:text[]; reveal_policy condition:text deadline:instant; opened index:count item:item salt:hash path:hash[]; shared index:count leaf:hash path:hash[]; attempt at:instant ended_at:instant? status:integer? outcome:label
registry_line seq:count prev:hash at:instant event:=key|create|preregister|amend|run_start|run_end|run_abort|deviation|expose|report|reveal|supersede|void|retire subject:text files:file[] detail:object
log_line $item seq:count prev:hash item:identifier endpoint:text model:text? cap:count cap_parameter:text repeat:count end:=error|filtered|refused|cut_reported|cut_other|cut_inferred|finished|unknown answer:=right|wrong|unparseable|empty|unclosed_reasoning|ungraded stop:text? at_cap:flag not_binding:flag charged_tokens:integer? visible_tokens:integer? reasoning_tokens:integer? prompt_tokens:integer? visible_characters:count characters_without_markdown:count minimal_characters:count first_line_tokens:count longest_step:count mean_logprob:decimal? parsed:text? attempts:attempt[] response_id_hash:hash? body_hash:hash? fingerprint:text?
response_line seq:count response_id:text? body:text? text:text? withheld:flag; sealbench/battery/v1 schema:text name:name items:item[]; sealbench/sealed/v1 schema:text name:name cipher:=ChaCha20-Poly1305 ciphertext:base64; sealbench/key/v1 schema:text name:name secret:hash; sealbench/files/v1 schema:text files:file[]; sealbench/checkpoint/v1 schema:text author:fingerprint registry:hash size:count head:hash
sealbench/commitment/v1 $identity $made mode:=sealed|beacon draft:file? beacon:block? parameters:parameters secret_commitment:hash items:count instances:count root:hash sealed:file baselines:baseline[] supersedes:file? supersedes_void:text? derived_from:file?
sealbench/draft/v1 $identity $made parameters:parameters secret_commitment:hash height:count
sealbench/reveal/v1 $identity battery:name commitment:file root:hash items:count entries:opened[+]
sealbench/subset/v1 $identity battery:name commitment:file root:hash parent:name parent_commitment:file parent_root:hash parent_items:count leaves:shared[+]
sealbench/preregistration/v1 $identity $made $calls battery:name commitment:file amends:file? stopping_rule:text exclusions:text[] hypotheses:hypothesis[] void_conditions:void_condition[] alpha:decimal correction:=holm|none equivalence_margins:margin[] access:text[] funding:text reveal:reveal_policy underpowered:text[+]
sealbench/run/v1 $identity $calls name:name number:count exploratory:flag battery:name commitment:file plan:file? require:=confirmed|stamped|registered|nothing tool_version:text started_at:instant block:block? planned_calls:count
sealbench/report/v1 schema:text analysis_version:count time_limit:count run:name run_sha256:hash log_sha256:hash log_lines:count battery:name plan:name? plan_sha256:hash? amends:hash? exploratory:flag alpha:decimal correction:=holm|none totals:object tests:object[] verdicts:object[] void_conditions:object[] costs:object[] scores:object[] inversions:object[] checks:object[] baselines:baseline[] deviations:object[] anchors:object[] scope:object notes:text[] not_proved:text[] endpoints:object[+] history:object[+]
"""
FORMS: dict[str, dict[str, str]] = {}
for name, *named in map(str.split, TABLES.strip().replace("\n", ";").split(";")):
    FORMS[name] = {}
    for field in named: FORMS[name].update(FORMS[field] if field[0] == "$" else dict([field.split(":", 1)]))
OPTIONAL = {"where": {*FORMS["where"]}, "response_line": {"withheld"}, "sealbench/preregistration/v1": {"underpowered"}, "sealbench/report/v1": {"endpoints", "history"}}
def check_type(value: Any, kind: str, where: str) -> None:
    if kind[-1] == "?" and value is None: return
    kind, good = kind.rstrip("?"), isinstance(value, str)
    if kind[-1] == "]":
        need(isinstance(value, list) and (value or kind[-2] != "+"), f"{where}: not a list, or empty")
        for place, inner in enumerate(value): check_type(inner, kind.rsplit("[", 1)[0], f"{where}.{place}")
    elif kind in FORMS:
        need(isinstance(value, dict), f"{where}: not an object")
        differing = sorted(set(value) ^ set(FORMS[kind]) - (OPTIONAL.get(kind, set()) - set(value)))
        need(not differing, f"{where}: fields missing or unknown: {', '.join(differing):.200}")
        for key, inner in value.items(): check_type(inner, FORMS[kind][key], f"{where}.{key}")
        need(value.get("schema", kind) == kind, f"its schema is {value.get('schema')!r:.60}")
        given = {value["draft"] is not None, value["beacon"] is not None} if kind == "sealbench/commitment/v1" else {value.get("mode") == "beacon"}
        need(given == {value.get("mode") == "beacon"}, "draft and beacon belong to beacon mode, and only to it")
        need("withheld" not in value or {value["response_id"], value["body"], value["text"]} == {None}, "a withheld response holds nothing")
    else:
        if kind in ("count", "integer"): good = type(value) is int and (kind == "integer" or value >= 0)
        elif kind in ("flag", "object"): good = isinstance(value, bool if kind == "flag" else dict)
        else: good = good and (value in kind[1:].split("|") if kind[0] == "=" else bool(TEXTS[kind].fullmatch(value)))
        if kind in ("instant", "base64"): good = good and (instant if kind == "instant" else unarmour)(value) is not None
        need(good, f"{where}: {value!r:.60} is no {kind:.60}")
def unarmour(text: str) -> bytes | None:  # the bytes of base64 in its one usual spelling, else None
    try: return base64.b64decode(text, validate=True) if base64.b64encode(base64.b64decode(text, validate=True)).decode() == text else None
    except ValueError: return None
def instant(text: str) -> datetime | None:
    try: return datetime.fromisoformat(text[:-1])
    except ValueError: return None

# == 2. Hashes, draws, trees and the cipher (derivations.md, merkle.md, envelope.md) =======================================================
def digest(data: bytes) -> bytes: return hashlib.sha256(data).digest()
def sha256(data: bytes) -> str: return digest(data).hex()
def sha256d(data: bytes) -> bytes: return digest(digest(data))
def mac(key: bytes, message: bytes) -> bytes: return hmac.new(key, message, hashlib.sha256).digest()
def numbered(key: bytes, index: int) -> bytes: return mac(key, index.to_bytes(8, "big"))
def leaf_hash(data: bytes) -> bytes: return digest(b"\x00" + data)
def node_hash(left: bytes, right: bytes) -> bytes: return digest(b"\x01" + left + right)
def little(data: bytes) -> int: return int.from_bytes(data, "little")
def hkdf(key: bytes, *info: bytes | str, salt: bytes = b"") -> bytes: return mac(mac(salt or bytes(32), key), parts(*info) + b"\x01")
def parts(*values: bytes | str | int) -> bytes:  # Each part after its length in 4 bytes; numbers are 8 bytes big-endian, text is UTF-8
    encoded = [one.to_bytes(8, "big") if isinstance(one, int) else one.encode() if isinstance(one, str) else one for one in values]
    return b"".join(len(value).to_bytes(4, "big") + value for value in encoded)
def tree_root(leaves: list[bytes]) -> str:  # Each level is paired from the left; an odd last node is lifted unchanged
    while len(leaves) > 1:
        paired = [node_hash(leaves[at], leaves[at + 1]) for at in range(0, len(leaves) - 1, 2)]
        leaves = paired + leaves[2 * len(paired) :]
    return leaves[0].hex() if leaves else sha256(b"")
def chacha20(key: bytes, count: int) -> bytes:  # The first blocks under a nonce of zeros (RFC 8439), all at once: one block in each lane of 64 bits
    ones, head = little((b"\x01" + bytes(7)) * count), b"expand 32-byte k" + key
    start, mask = [little(head[at : at + 4]) * ones for at in range(0, 48, 4)], 0xFFFFFFFF * ones
    start += [little(b"".join(at.to_bytes(8, "little") for at in range(count))), 0, 0, 0]
    s, rounds = list(start), [(i, i + 4, i + 8, i + 12) for i in range(4)]
    for a, b, c, d in (rounds + [(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4) for i in range(4)]) * 10:
        for x, y, z, turn in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            s[x] = (s[x] + s[y]) & mask
            s[z] ^= s[x]
            s[z] = ((s[z] << turn) & mask) | ((s[z] >> (32 - turn)) & mask)
    out = bytearray(64 * count)
    for word, byte in itertools.product(range(16), range(4)):
        out[4 * word + byte :: 64] = ((s[word] + start[word]) & mask).to_bytes(8 * count, "little")[byte::8]
    return bytes(out)
def decrypt(key: bytes, sealed: bytes, associated: bytes) -> bytes:  # ChaCha20-Poly1305 (RFC 8439)
    text, blocks, total = sealed[:-16], chacha20(key, 2 + len(sealed) // 64), 0
    message = b"".join(one + bytes(-len(one) % 16) for one in (associated, text)) + len(associated).to_bytes(8, "little") + len(text).to_bytes(8, "little")
    for at in range(0, len(message), 16):
        total += little(message[at : at + 16] + b"\x01")
        total = total * (little(blocks[:16]) & 0x0FFFFFFC0FFFFFFC0FFFFFFC0FFFFFFF) % (2**130 - 5)
    need((total + little(blocks[16:32])) % 2**128 == little(sealed[-16:]), "K does not open the ciphertext")
    return (little(text) ^ little(blocks[64 : 64 + len(text)])).to_bytes(len(text), "little")

# == 3. Keys and signatures (signatures.md) ================================================================================================
class Key(NamedTuple):
    """A public key, in force after registry line `first` (from 0) until line `revoked`."""
    wire: bytes
    first: int = 0
    revoked: int | None = None
    @property
    def fingerprint(self) -> str: return "SHA256:" + base64.b64encode(digest(self.wire)).decode().rstrip("=")
    @property
    def signer(self) -> str: return f'{self.fingerprint} namespaces="sealbench" ssh-ed25519 {base64.b64encode(self.wire).decode()}\n'
    def check(self, message: bytes, armoured: bytes) -> None:  # The one layout here, the curve by ssh-keygen
        lines = armoured.decode("ascii", "replace").split("\n")
        text = "".join(lines[1:-2])
        blob, body = unarmour(text) or b"", [text[at : at + 70] for at in range(0, len(text), 70)]
        whole = parts(self.wire, "sealbench", "", "sha512", parts("ssh-ed25519", blob[-64:]))
        usual = ["-----BEGIN SSH SIGNATURE-----", *body, "-----END SSH SIGNATURE-----", ""]
        need(lines == usual and blob == b"SSHSIG\x00\x00\x00\x01" + whole, "its signature is in another layout, by another key or for another purpose")
        answer = ask_ssh_keygen(self.signer, self.fingerprint, message, armoured)
        need(answer is not None, "there is no ssh-keygen here that checks signatures", "not_checked")
        need(answer, "its signature does not belong to these bytes, says ssh-keygen")
def read_key(text: str, first: int = 0) -> Key:
    words = [*text.split(), "", ""]
    wire = unarmour(words[1]) or b""
    need(words[0] == "ssh-ed25519" and len(wire) == 51 and wire == parts("ssh-ed25519", wire[-32:]), "not an ssh-ed25519 public key")
    return Key(wire, first)
@functools.lru_cache(maxsize=4096)
def ask_ssh_keygen(signer: str, fingerprint: str, message: bytes, armoured: bytes) -> bool | None:
    program = shutil.which("ssh-keygen")
    if program is None: return None
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "signers").write_bytes(signer.encode())
        Path(folder, "signature").write_bytes(armoured)
        command = [program, "-Y", "verify", "-f", f"{folder}/signers", "-s", f"{folder}/signature", "-I", fingerprint, "-n", "sealbench"]
        done = subprocess.run(command, input=message, capture_output=True, check=False)
    return None if done.returncode and b"usage:" in done.stderr else done.returncode == 0  # OpenSSH before 8.1 knows no -Y

# == 4. Proofs and block headers (headers.md, ../timestamps.md) ============================================================================
PROOF_MAGIC = bytes.fromhex("004f70656e54696d657374616d7073000050726f6f6600bf89e2e884e89294")
ATTESTED = {"0588960d73d71901": "bitcoin", "83dfe30d2ef90c8e": "pending", "06869a0d73d71b45": "litecoin", "30fe8087b5c7ead7": "ethereum"}
class Proof:
    """A detached OpenTimestamps proof: `found` are (kind, height or address, attested message)."""
    def __init__(self, data: bytes) -> None:
        self.data, self.at, self.one_form, self.found = data, 31, True, list[Any]()
        good, tag = len(data) <= 2**18 and data[:31] == PROOF_MAGIC and self.number() == 1, self.take(1)[0]
        need(good and tag in (2, 3, 8, 0x67), "is no OpenTimestamps proof, or of an unknown hash")
        self.plain, self.digest = tag == 8, self.take(32 if tag in (8, 0x67) else 20)
        self.walk(self.digest, 256)
        need(self.at == len(data), "bytes are left over")
    def take(self, size: int) -> bytes:
        self.at += size
        need(self.at <= len(self.data), "is cut short")
        return self.data[self.at - size : self.at]
    def number(self) -> int:
        value, shift, byte = 0, 0, 128
        while byte >= 128:
            byte = self.take(1)[0]
            value, shift = value | (byte & 127) << shift, shift + 7
            need(value < 2**32 and shift <= 35, "an integer is above 32 bits")
        self.one_form &= byte > 0 or shift == 7
        return value
    def sized(self, least: int, most: int) -> bytes:
        size = self.number()
        need(least <= size <= most, "a part is too long or too short")
        return self.take(size)
    def walk(self, message: bytes, depth: int) -> None:  # Attestations, then operations, each in ascending order and once: a proof's one form
        need(depth, "is nested too deeply")
        more, before, order = True, (-1, b"", b""), tuple[Any, ...]()
        while more:
            more = self.data[self.at : self.at + 1] == b"\xff"
            tag = self.take(1 + more)[-1]
            if tag == 0: order = (0, *self.attestation(message))
            else:
                need(tag in (2, 3, 8, 0x67, 0xF0, 0xF1, 0xF2, 0xF3), "an operation is unknown")
                argument = self.sized(1, 4096) if tag in (0xF0, 0xF1) else b""
                order, self.plain = (1, bytes([tag]), argument), self.plain and tag in (8, 0xF0, 0xF1)
                made = {8: digest(message), 0xF0: message + argument, 0xF1: argument + message}.get(tag, b"")  # no other gives a Merkle root here
                need(len(made) <= 4096, "a message is too long")
                self.walk(made, depth - 1)
            self.one_form, before = self.one_form and before < order, order
    def attestation(self, message: bytes) -> tuple[bytes, Any]:
        tag, payload, end = self.take(8), self.sized(0, 8192), self.at
        kind, value = ATTESTED.get(tag.hex(), "unknown"), cast(Any, payload)
        if kind != "unknown":
            self.at -= len(payload)
            value = self.sized(0, 1000) if kind == "pending" else self.number()
            need(self.at == end and (kind != "pending" or re.fullmatch(b"[A-Za-z0-9._/:-]*", bytes(value))), "an attestation is malformed")
        self.found.append((kind, value, message))
        return tag, value
def expand(bits: int) -> int:  # The target of compact bits; 0, which no hash meets, if negative or too large
    size, mantissa = bits >> 24, bits & 0x7FFFFF
    target = mantissa >> 8 * (3 - size) if size <= 3 else mantissa << 8 * (size - 3)
    return 0 if bits & 0x800000 or target >> 256 else target
def compact(target: int) -> int:
    size = (target.bit_length() + 7) // 8
    mantissa = target << 8 * (3 - size) if size <= 3 else target >> 8 * (size - 3)
    return (size + 1) << 24 | mantissa >> 8 if mantissa & 0x800000 else size << 24 | mantissa
def read_headers(data: bytes) -> tuple[str, dict[int, bytes]]:  # Network and raw headers by height of a packed file
    need(data[:8] == b"SEALHDR\x01" and len(data) >= 9, "holds no packed block headers")
    at, end, headers = 13 + data[8], -1, dict[int, bytes]()
    network = data[9 : at - 4].decode("ascii", "replace")
    need(network in GENESIS, "holds headers of an unknown network")
    for _ in range(int.from_bytes(data[at - 4 : at], "big")):
        first, count = (int.from_bytes(data[at + i : at + i + 4], "big") for i in (0, 4))
        need(first > end and count and at + 8 + 80 * count <= len(data), "its segments stand out of order, touch, are empty or cut short")
        headers.update((first + i, data[at + 8 + 80 * i : at + 88 + 80 * i]) for i in range(count))
        at, end = at + 8 + 80 * count, first + count
    need(at == len(data) and end <= 2**32, "bytes are left over")
    return network, headers
Block = namedtuple("Block", "grade height detail time hash proved", defaults=(0, "", False))  # `proved`: links prove the height
GENESIS = {"mainnet": (1231006505, 0x1D00FFFF, 2083236893), "regtest": (1296688602, 0x207FFFFF, 2)}
class Chain:
    """What headers prove about heights under one network's rules."""
    def __init__(self, network: str, headers: dict[int, bytes]) -> None:
        self.headers, self.mainnet, self.limit = headers, network == "mainnet", expand(GENESIS[network][1])
        root, numbers = "3ba3edfd7a7b12b27ac72c3e67768f617fc81bc3888a51323a9fb8aa4b1e5e4a", (one.to_bytes(4, "little") for one in GENESIS[network])
        self.genesis, self.checkpoints = b"\x01" + bytes(35) + bytes.fromhex(root) + b"".join(numbers), mainnet_checkpoints() if self.mainnet else []
        self.tip, self.broken = self.follow()
    def required(self, height: int) -> int | None:  # The compact target in force at a height; None where only linked headers can tell
        period = height // 2016 if self.mainnet else 0
        return compact(self.limit) if period == 0 else self.checkpoints[period - 1][1] if period <= len(self.checkpoints) else None
    def follow(self) -> tuple[int, str]:  # Last height of the chain on from the newest checkpoint (or first block), and why it ends there
        height = start = 2016 * len(self.checkpoints) or 1
        target, times = expand(self.required(height) or 0), dict[int, int]()
        previous = self.checkpoints[-1][0] if self.checkpoints else sha256d(self.genesis)
        if not self.mainnet and self.headers.get(0, self.genesis) != self.genesis: return -1, "its first block is another"
        while height in self.headers:
            raw = self.headers[height]
            if self.mainnet and height % 2016 == 0 and height > start:
                elapsed = min(max(times[height - 1] - times[height - 2016], 302400), 4838400)
                target = expand(compact(min(self.limit, target * elapsed // 1209600)))
            linked, previous, times[height] = raw[4:36] == previous, sha256d(raw), little(raw[68:72])
            if not linked or little(previous) > target or little(raw[72:76]) != compact(target): return height - 1, f"the header at {height} does not follow, or lacks the required target or work"
            height += 1
        return height - 1, ""
    @functools.cache
    def linked_back(self, period: int) -> tuple[int, str]:  # From which height on the headers of a period lead to its checkpoint, and what is wrong below
        wanted, height = self.checkpoints[period][0], 2016 * period + 2015
        while height >= 2016 * period and height in self.headers:
            if sha256d(self.headers[height]) != wanted: return height + 1, f"the header at {height} does not lead to a checkpoint"
            wanted, height = self.headers[height][4:36], height - 1
        return height + 1, ""
    def fault(self, raw: bytes, height: int, message: bytes | None) -> str:  # Why this header cannot be block `height` with this Merkle root; empty if it can
        bits, required, steps = little(raw[72:76]), self.required(height), min(height // 2016 - len(self.checkpoints), 128)
        target, easiest = expand(bits), self.limit if required is not None else min(self.limit, expand(self.checkpoints[-1][1]) << 2 * steps)
        if message not in (None, raw[36:68]): return "the header does not hold the attested Merkle root"
        if not 0 < target <= easiest or compact(target) != bits: return f"no block may have the target {bits:08x} there"
        if little(sha256d(raw)) > target: return "the header has too little proof of work"
        if required not in (None, bits): return f"the header claims target {bits:08x}, required is {required:08x}"
        old = message is not None and self.mainnet and little(raw[68:72]) < 1795996800 - 7200  # 2026-11-30
        return "it is older than the first file of this kind" if old else ""
    def grade(self, height: int, message: bytes | None = None) -> Block:  # How well it is proved that `message` (or any) is the Merkle root of block `height`
        raw = self.headers.get(height)
        if raw is None: return Block("needs header", height, f"no header of block {height} is at hand")
        time, shown, wrong = little(raw[68:72]), sha256d(raw)[::-1].hex(), self.fault(raw, height, message)
        if wrong: return Block("mismatch", height, f"block {height}: {wrong}", 0, shown)
        if height < 2016 * len(self.checkpoints):
            low, reason = self.linked_back(height // 2016)
            if height >= low: return Block("checkpointed", height, "linked to a checkpoint", time, shown, True)
            between = range(height, low)
        else:
            if self.tip - height >= 6: return Block("chained", height, "linked, six blocks beyond it", time, shown, True)
            between, reason = range(min(self.tip + 1, height), max(self.tip + 1, height) + 1), self.broken
        if reason and all(one in self.headers for one in between): return Block("mismatch", height, f"block {height}: {reason}", 0, shown)
        known = self.required(height) is not None or self.tip >= height
        return Block("proof-of-work" if known else "explorer", height, "not linked: height as claimed", time, shown)

# == 5. Certificates (certificates.md) =====================================================================================================
def read_integer(value: Any) -> int:  # Not negative: a JSON integer up to 2^53 - 1, a decimal string beyond, never the other way
    if type(value) is int and 0 <= value < 2**53: return value
    need(isinstance(value, str) and re.fullmatch("[1-9][0-9]{15,399}", value) and int(value) >= 2**53, f"{value!r:.40} is no integer in its one form")
    return int(value)
def integers(value: Any) -> list[int]:
    need(isinstance(value, list), "is no list of integers")
    return [read_integer(one) for one in value]
def fields(value: Any, names: str, kind: str = "") -> list[Any]:  # The values of an object that has exactly these fields (and, with `kind`, this type)
    wanted = names.split() + ["type"] * bool(kind)
    need(isinstance(value, dict) and set(value) == set(wanted) and value.get("type", "") == kind, f"does not hold exactly {', '.join(wanted)}, of type {kind or 'none'}")
    return [value[name] for name in names.split()]
def check_prime(number: int, certificate: Any) -> None:  # Pratt: the least number of order p - 1, for n and for every factor from 65536 on that a link names
    (chain,), needed = fields(certificate, "chain", "pratt"), {number}
    need(isinstance(chain, list) and 1 <= len(chain) <= 200, "the chain is no list of links")
    for link in chain:
        given, root, pairs = fields(link, "prime root factors")
        prime, root, powers = read_integer(given), read_integer(root), [integers(pair) for pair in pairs] if isinstance(pairs, list) else []
        need(needed and prime == max(needed), f"the chain names {prime} where another prime must follow")
        need(all(len(one) == 2 and one[0] > 1 and 1 <= one[1] <= prime.bit_length() for one in powers), "no prime powers")
        factors, product = [one[0] for one in powers], math.prod(factor**exponent for factor, exponent in powers)
        need(product == prime - 1 and factors == sorted(set(factors)), f"the factors do not multiply to {prime} - 1")
        need(1 <= root < min(prime, 1000) and pow(root, prime - 1, prime) == 1, f"{root} is no root of {prime}")
        full = (one for one in range(1, root + 1) if all(pow(one, (prime - 1) // factor, prime) != 1 for factor in factors))
        need(next(full, 0) == root, f"{root} is not the least primitive root of {prime}")
        small = {factor for factor in factors if factor < 2**16}
        need(all(factor % one for factor in small for one in range(2, math.isqrt(factor) + 1)), "a factor is not prime")
        needed = needed - {prime} | set(factors) - small
    need(not needed, f"the chain does not show that {max(needed, default=0)} is prime")
def check_primality(params: Any, label: str, certificate: Any) -> None:
    number = read_integer(*fields(params, "n"))
    if label == "prime": return check_prime(number, certificate)
    factor, cofactor = map(read_integer, fields(certificate, "factor cofactor", "factor"))
    right = label == "composite" and 1 < factor <= cofactor and factor * cofactor == number
    need(right and (factor >= 2**16 or all(number % one for one in range(2, factor))), f"{factor} and {cofactor} are not {number}'s factors, the least first")
def check_subset_sum(params: Any, label: str, certificate: Any) -> None:
    given, target, k = fields(params, "numbers target k")
    numbers, target, k = integers(given), read_integer(target), read_integer(k)
    need(2 <= k <= 5 and k <= len(numbers) == len(set(numbers)) and math.comb(len(numbers), k) <= 200_000, "is no problem of this family")
    sums = {size: [sum(one) for one in itertools.combinations(numbers, size)] for size in {k, k // 2, k - k // 2}}
    need(label in ("yes", "no") and (target in sums[k]) == (label == "yes"), f"a subset {'does not fit' if label == 'yes' else 'fits'} after all")
    if label == "yes":
        positions, named, index = fields(certificate, "positions numbers index", "witness")
        first = sums[k].index(target)  # in lexicographic order of positions, which count from 1
        places = next(itertools.islice(itertools.combinations(range(len(numbers)), k), first, None))
        right = [first + 1, [at + 1 for at in places], [numbers[at] for at in places]]
        return need(canonical([index, positions, integers(named)]) == canonical(right), "is not the first subset that fits")
    if k == 2:
        ordered, sweep, low, high = sorted(numbers), "", 0, len(numbers) - 1
        while low < high:  # the smallest number left is out for good (u), or the largest is (d)
            up = ordered[low] + ordered[high] < target
            sweep, low, high = sweep + "du"[up], low + up, high - (not up)
        return need(fields(certificate, "moves", "two_pointers") == [sweep], "the moves of the sweep are others")
    sizes, counts, hashed = fields(certificate, "sizes counts sha256", "meet_in_the_middle")
    halves = [sorted(sums[size]) for size in (k // 2, k - k // 2)]
    told = sha256("\n".join(",".join(map(str, half)) for half in halves).encode())
    need(canonical([sizes, counts, hashed]) == canonical([[k // 2, k - k // 2], [*map(len, halves)], told]), "the half sums differ")
def check_satisfiability(params: Any, label: str, certificate: Any) -> None:
    count, clauses = fields(params, "variables clauses")
    need(3 <= read_integer(count) <= 12 and isinstance(clauses, list) and clauses, "is no formula of this family")
    for clause in clauses:
        named = [abs(one) for one in clause if type(one) is int] if isinstance(clause, list) else []
        need(len(named) == 3 == len(clause) and named == sorted(set(named)) and 1 <= named[0] <= named[2] <= count, "a clause does not name three different variables in ascending order")
    leaves, waiting, found = list[int](), [list[bool]()], list[bool]()  # depth first, false first, to the first clause that is false
    while waiting and not found:
        branch = waiting.pop()
        false = [all(abs(one) <= len(branch) and branch[abs(one) - 1] != (one > 0) for one in clause) for clause in clauses]
        if any(false): leaves.append(false.index(True) + 1)
        elif len(branch) < count: waiting += [[*branch, True], [*branch, False]]
        else: found = branch
    need(label == ("satisfiable" if found else "unsatisfiable"), f"is not {label}")
    said = fields(certificate, "values", "assignment") if found else fields(certificate, "leaves", "refutation")
    need(canonical(said) == canonical([found or leaves]), "the first assignment, or the leaves of the refutation, are others")
def check_digit_sum(params: Any, label: str, certificate: Any) -> None:
    (digits,), (total,) = fields(params, "digits"), fields(certificate, "sum", "digit_sum")
    right = sum(map(int, digits)) if isinstance(digits, str) and re.fullmatch("[1-9][0-9]*", digits) else -1
    need(read_integer(total) == right and label == ("even", "odd")[total % 2], "has another digit sum, or no digits")
def check_asserted(params: Any, _: str, certificate: Any) -> None: need(fields(params, "id") and fields(certificate, "by", "asserted") == ["author"], "is not asserted by the author")
FAMILIES = {"primality": check_primality, "subset_sum": check_subset_sum, "satisfiability": check_satisfiability, "digit_sum_parity": check_digit_sum, "imported": check_asserted}
def certify(items: Sequence[Any], families: Sequence[Any]) -> str:  # Check each instance's certificate once; what they show, in words
    other = {one["family"] for one in families if one["family"] not in FAMILIES or one["version"] != 1} - {"imported"}
    need(not other, f"{', '.join(sorted(other))}: no family or version that is known here", "not_checked")
    seen: dict[str, Any] = {}
    for item in items:
        content = [item["family"], item["params"], item["class_label"], item["certificate"]]
        try:
            need(seen.setdefault(item["instance"], content) == content and item["family"] in FAMILIES, "is of two problems, or no family")
            if seen[item["instance"]] is content: FAMILIES[item["family"]](*content[1:])
        except Wrong as error: raise Wrong(f"item {item['id']}: {error}") from error
    asserted = all(content[0] == "imported" for content in seen.values())
    return f"{len(seen)} answers are asserted, not computed: the author's word" if asserted else f"the certificates of {len(seen)} instances hold, by arithmetic alone"

# == 6. Counts and exact p-values (report.md, ../statistics.md) ============================================================================
CUT, LOST_ATTEMPTS, WORK = ("cut_reported", "cut_inferred"), ("timeout", "lost", "interrupted", "cancelled"), 2_000_000  # additions for one p-value
COUNTED = (*CUT, "finished", "cut_other", "refused", "filtered", "unknown", "missing", "responses", "at_cap", "lost", "empty")
def value_of(line: Any, measure: str) -> int | None:  # A response's value for a measure; None where it has none
    end, answered = line["end"], line["answer"] in ("right", "wrong")
    if measure == "error": return int(end == "error")
    if measure == "first_attempt_lost": return int(line["attempts"][0]["outcome"] in LOST_ATTEMPTS) if line["attempts"] else None
    unknown = end == "unknown" and (measure == "censored" or (measure == "lost" and not answered))
    if end == "error" or unknown or (measure == "accuracy" and line["answer"] == "ungraded"): return None
    values = {"censored": end in CUT, "lost": end in CUT and not answered, "accuracy": line["answer"] == "right"}
    return int(values[measure]) if measure in values else line[measure]
def exact_p(strata: Iterable[Sequence[list[int]]], alternative: str) -> Fraction | None:  # The share of labellings within strata whose sum over class 1 is as far out; None past the work allowed
    ways, observed, mean, work = Counter({0: 1}), 0, Fraction(0), 0
    for one, zero in strata:
        by_count = [Counter({0: 1}), *(Counter[int]() for _ in one)]
        for value, count in itertools.product(one + zero, range(len(one), 0, -1)):
            work += len(by_count[count - 1])
            if work > WORK or len(ways) * len(by_count[-1]) > WORK: return None
            for total, number in by_count[count - 1].items(): by_count[count][total + value] += number
        joint, work = Counter[int](), work + len(ways) * len(by_count[-1])
        for (before, many), (total, number) in itertools.product(ways.items(), by_count[-1].items()): joint[before + total] += many * number
        ways, observed, mean = joint, observed + sum(one), mean + Fraction(len(one) * sum(one + zero), len(one + zero))
    def far(total: int) -> Fraction: return abs(total - mean) if alternative == "two-sided" else Fraction(total if alternative == "greater" else -total)
    return Fraction(sum(number for total, number in ways.items() if far(total) >= far(observed)), sum(ways.values()))
def recount(stated: Any, lines: Sequence[Any]) -> bool:  # Compare one comparison of a report with its log lines; whether its p-value was computed again, too
    classes, p, where = [stated["class1"], stated["class0"]], stated["p"], {**stated["where"], "endpoint": stated["endpoint"], "cap": stated["cap"]}
    what, strata = f"{stated['measure']} of {classes[0]} at {where['endpoint']}, cap {where['cap']}", defaultdict[Any, list[dict[str, list[int]]]](lambda: [{}, {}])
    for label in classes:
        own = [line for line in lines if line["class_label"] == label and all(line[key] == where[key] for key in where)]
        found, told, patterns = Counter(line["end"] for line in own), stated["classes"][label], defaultdict[str, Counter[str]](Counter)
        lost, empty = sum(line["end"] in CUT and line["answer"] not in ("right", "wrong") for line in own), sum(line["answer"] == "empty" and line["end"] != "error" for line in own)
        found.update(missing=found["error"], responses=len(own) - found["error"], at_cap=sum(line["at_cap"] for line in own), lost=lost, empty=empty)
        need(all(told[name] == found[name] for name in COUNTED), f"{what}: the log gives other counts of {label}")
        usable = [(line, value) for line in own for value in [value_of(line, stated["measure"])] if value is not None]
        for line, _ in usable: patterns[line["instance"]][line["wording"]] += 1
        for line, value in usable:
            key = (line["family"], line["stratum"], *sorted(patterns[line["instance"]].items()))
            strata[key][classes.index(label)].setdefault(line["instance"], []).append(value)
    both = [(list(one.values()), list(zero.values())) for one, zero in strata.values() if one and zero]
    if stated["question"] == "max_over_caps" or p is None or "num" not in p or not both: return p is None
    scale = math.lcm(*(len(values) for pair in both for side in pair for values in side))
    found_p = exact_p([[[sum(one) * scale // len(one) for one in side] for side in pair] for pair in both], stated["alternative"])
    said = [int(Decimal(p[one])) for one in ("num", "den") if re.fullmatch("[0-9]{1,9999}", p[one])]
    need(found_p is None or said == [found_p.numerator, found_p.denominator], f"{what}: its p is {found_p}")
    return found_p is not None

# == 7. Files: what each path is, and reading them =========================================================================================
ROLES = [(re.compile(pattern.replace("NAME", "([a-z0-9][a-z0-9_-]{0,63})")), kind, form) for pattern, kind, form in (
    (r"batteries/NAME/record/.+", "copy", ""), (r"batteries/NAME/verify\.py", "verifier", ""), (r"(.+)\.sig", "signature", ""), (r"(.+)\.ots", "proof", ""),
    (r"commitments/headers\.bin()", "headers", ""), (r"batteries/NAME/SHA256SUMS", "sums", ""), (r"batteries/NAME/items\.jsonl", "items", ""),
    (r"commitments/registry\.jsonl()", "registry", "registry_line"), (r"commitments/files\.json()", "files", "sealbench/files/v1"),
    (r"commitments/checkpoints/([0-9]{1,16})\.json", "checkpoint", "sealbench/checkpoint/v1"), (r"batteries/NAME/CANARY\.txt", "canary", ""),
    (r"commitments/NAME\.draft\.json", "draft", "sealbench/draft/v1"), (r"batteries/NAME/key\.json", "key", "sealbench/key/v1"),
    (r"commitments/reveals/NAME-[0-9]{1,9}\.json", "reveal", "sealbench/reveal/v1"), (r"runs/NAME/log\.jsonl", "log", "log_line"),
    (r"commitments/reveals/NAME-subset\.json", "subset", "sealbench/subset/v1"), (r"runs/NAME/run\.json", "run", "sealbench/run/v1"),
    (r"commitments/NAME\.json", "commitment", "sealbench/commitment/v1"), (r"batteries/NAME\.sealed\.json", "sealed", "sealbench/sealed/v1"),
    (r"batteries/NAME/battery\.json", "battery", "sealbench/battery/v1"), (r"runs/NAME/report\.json", "report", "sealbench/report/v1"),
    (r"preregistrations/NAME\.json", "plan", "sealbench/preregistration/v1"),
    (r"batteries/NAME/responses/[a-z0-9][a-z0-9_-]*\.jsonl", "responses", "response_line"))]
SIGNED, STAMPED = ("commitment", "draft", "reveal", "subset", "plan", "run", "checkpoint"), ("commitment", "draft", "plan", "checkpoint")
OWN_NAME = {"checkpoint": "size", "reveal": "battery", "subset": "battery", "report": "run"}  # the field that the path repeats
PUBLIC, FILES = ("batteries", "commitments", "preregistrations", "runs"), "commitments/files.json"
REGISTRY, HEADERS, SIGNERS = "commitments/registry.jsonl", "commitments/headers.bin", "commitments/allowed_signers"
BUNDLE = ("README.md", "key.json", "battery.json", "items.jsonl", "CANARY.txt", "croissant.json", "CITATION.cff", "LICENSE", "SHA256SUMS")
@functools.cache
def role(path: str) -> tuple[str, str, str]:  # kind, name and form: the path decides, never the content
    return next(((kind, match[1], form) for pattern, kind, form in ROLES for match in [pattern.fullmatch(path)] if match), ("other", "", ""))
def read_file(path: str, data: bytes) -> Any:
    kind, _, form = role(path)
    if form: return (parse_lines if path[-1] == "l" else parse)(data, form)
    return Proof(data) if kind == "proof" else read_headers(data) if kind == "headers" else data
def folder_of(top: str, path: str) -> str:  # the run or retired battery in whose folder a path lies; empty if in none
    return path.split("/")[1] if path.startswith(top + "/") and path.count("/") > 1 else ""
def read_folder(root: Path, tops: Iterable[str]) -> dict[str, bytes]:  # plain files; links, devices and absurd sizes are refused
    files, total, waiting = dict[str, bytes](), 0, [top for top in tops if (root / top).is_symlink() or (root / top).exists()]
    while waiting:
        state = (root / (path := waiting.pop())).lstat()
        if stat.S_ISDIR(state.st_mode): waiting += [f"{path}/{one.name}" for one in (root / path).iterdir() if one.name[0] != "."]
        else:
            total += state.st_size
            need(stat.S_ISREG(state.st_mode), f"{path} is a link or no plain file")
            need(total <= 2**31 and len(files) < 200_000, f"{path}: more data than a workspace holds")
            files[path] = (root / path).read_bytes()
    return files
def load(root: Path) -> tuple[dict[str, bytes], str]:  # a workspace's tree; or a bundle's, laid out like it, and its battery's name
    if (root / REGISTRY).is_file(): return read_folder(root, PUBLIC), ""
    if not (root / "record").is_dir(): raise FileNotFoundError(f"{root} is neither a retired battery's folder nor a workspace")
    files, tree = read_folder(root, [one.name for one in root.iterdir() if one.name[0] != "."]), dict[str, bytes]()
    name = next(re.finditer(rb'"name":"([a-z0-9][a-z0-9_-]{0,63})"', files.get("key.json", b"") + files.get("battery.json", b"")[-999:]), [b"", b"x"])[1].decode()
    for path, data in files.items():
        place = path[7:] if path.startswith("record/") else f"batteries/{name}/{path}"
        foreign = place.split("/")[0] not in PUBLIC or path.startswith("record/") == place.startswith(f"batteries/{name}/")
        need(not foreign, f"{path} has no place in a record")
        tree[place] = data
    return tree, name

# == 8. The twelve steps (../verify.md) ====================================================================================================
STEPS = dict(enumerate(["files", "signatures", "proofs commit to the files", "Bitcoin attestations", "ciphertext", "battery from its secret", "ground truth", "registry", "order", "run log", "report", "deviations"], start=1))
ACCEPTED, SLACK = ("proof-of-work", "chained", "checkpointed"), 7200  # grades; seconds a block's time may be wrong
ITEM_FIELDS = ("instance", "family", "class_label", "kind", "stratum", "search", "wording", "category")
Policy = namedtuple("Policy", "network trusted since", defaults=("mainnet", frozenset(), None))  # the caller's; `trusted`: keys in wire form
class Verification:
    """One set of files under one policy; `results` are (step, status, subject, detail, grade). `bundle` names the battery of one."""
    def __init__(self, tree: dict[str, bytes], bundle: str, policy: Any) -> None:
        self.tree, self.policy, self.bundle, self.docs, self.faults = tree, policy, bundle, dict[str, Any](), dict[str, str]()
        self.kinds = {kind: [path for path in sorted(tree) if role(path)[0] == kind] for _, kind, _ in ROLES}
        for path in sorted(tree):
            try: self.docs[path] = read_file(path, tree[path])
            except Wrong as error: self.faults[path] = str(error)
        parsed = {kind: {role(path)[1]: self.docs[path] for path in paths if path in self.docs} for kind, paths in self.kinds.items()}
        self.commitments, self.drafts, self.plans, self.runs = (parsed[kind] for kind in ("commitment", "draft", "plan", "run"))
        self.checkpoints = dict(sorted((int(name), one) for name, one in parsed["checkpoint"].items()))
        self.signed = {path: self.docs[path] for kind in SIGNED for path in self.kinds[kind] if path in self.docs}
        self.lines, self.hashes, self.keys, self.bound, self.first = list[Any](), list[str](), list[Key](), dict[str, Any](), dict[str, int]()
        self.labelled, self.chain, nothing = "mainnet", Chain(policy.network, {}), [("not_due", "", "nothing to check yet", None)]
        self.registry, self.headers = self.attempt(REGISTRY, self.read_registry), self.attempt(HEADERS, self.read_chain)
        self.results = [(step, *found) for step in STEPS for found in [*getattr(self, f"step_{step}")()] or nothing]
    def attempt(self, path: str, check: Callable[..., Any], *given: Any) -> Any:  # (status, subject, detail, grade) of one check
        try: told = check(*given)
        except Wrong as error: return error.status, path, str(error), error.grade
        return ("ok", path, *(told if type(told) is tuple else (told, None)))
    def each(self, checks: Iterable[Any], summary: str = "") -> Iterator[Any]:  # of (path, check, …); a summary is one line for all that are OK
        found = [self.attempt(*check) for check in checks]
        good = [one for one in found if summary and one[0] == "ok"]
        yield from (one for one in found if one not in good)
        if good: yield "ok", "", summary.format(len(good), good[-1][2]), None
    def events(self, *names: str) -> dict[str, Any]:  # the first line with one of these events for each subject
        return {line["subject"]: line for line in reversed(self.lines) if line["event"] in names}
    def own_runs(self, *names: str) -> dict[str, Any]:  # the same for runs; in a bundle for those of its battery
        started = {name: line["detail"].get("battery") for name, line in self.events("run_start").items()}
        return {name: line for name, line in self.events(*names).items() if not self.bundle or started.get(name) == self.bundle}
    def elsewhere(self, path: str) -> bool:  # whether a missing file is another battery's, which a bundle need not hold
        (kind, name, _), own = role(path), [self.bundle, self.owner(self.bundle)]
        plans = [one for one, line in self.events("preregister", "amend").items() if line["detail"].get("battery") == self.bundle]
        names = {"commitment": own, "draft": own, "sealed": own[1:], "reveal": own[:1], "subset": own[:1], "plan": plans}.get(kind, [])
        return bool(self.bundle) and path not in self.tree and name not in names and folder_of("runs", path) not in self.own_runs("run_start")
    def digest(self, path: str) -> str | None: return sha256(self.tree[path]) if path in self.tree else None
    def owner(self, name: str) -> str:  # the battery whose K and envelope a battery has: its parent, or itself
        named = self.commitments.get(name, {"derived_from": None})["derived_from"]
        return Path(named["path"]).stem if named else name
    def read_registry(self) -> None:  # also what is bound: path to (hash that counts, line from 1); and lines that first name a path, from 0
        need(REGISTRY in self.docs, self.faults.get(REGISTRY, "there is no registry"))
        lines = self.docs[REGISTRY]
        need(lines and lines[0]["event"] == "key", "line 1: the first event must be the author's key")
        self.hashes, self.lines, self.labelled = follow_chain(self.tree[REGISTRY], lines, "0" * 64), lines, str(lines[0]["detail"].get("network", "mainnet"))
        for line, file in [(one, file) for one in lines for file in one["files"]]:
            self.first.setdefault(file["path"], line["seq"])
            if line["event"] == "report" or file["path"] not in self.bound: self.bound[file["path"]] = (file["sha256"], line["seq"] + 1)
    def read_chain(self) -> None:
        network, headers = read_headers(self.tree[HEADERS]) if HEADERS in self.tree else (self.policy.network, {})
        need(network == self.policy.network, f"holds headers of {network}, not of {self.policy.network}")
        self.chain, before = Chain(network, headers), (-2, b"")
        for height, raw in sorted(headers.items()):
            graded, linked = self.chain.grade(height), before[0] != height - 1 or raw[4:36] == before[1]
            need(graded.grade != "mismatch" and linked, graded.detail if linked else f"block {height} does not link")
            before = height, sha256d(raw)
    def step_1(self) -> Iterator[Any]:  # Step 1: every file parses, is listed and unchanged.
        folder, checks = f"batteries/{self.bundle}/", list[Any]((path, self.check_file, path) for path in sorted(self.tree))
        pairs, ended = [(one["path"], one["sha256"]) for one in self.docs.get(FILES, {"files": []})["files"]], self.events("run_end", "run_abort")
        if self.bundle:
            own = [path for path in self.bound if not self.elsewhere(path)]
            named = (*(folder + one for one in BUNDLE), REGISTRY, SIGNERS, f"commitments/{self.bundle}.json", *own)
            checks += [(path, self.check_file, path) for path in named if path not in self.tree]
            if len(own) < len(self.bound): yield "not_due", REGISTRY, f"{len(self.bound) - len(own)} files of other batteries that it names are not part of this bundle", None
        else:
            needed = {path for path in self.tree if folder_of("runs", path) in ("", *ended)} - {FILES} | {REGISTRY}
            checks.append((FILES, self.check_list, FILES, [path for path, _ in pairs], pairs, needed))
        wrong, told = [one for one in self.each(checks) if one[0] != "ok"], "files parse, equal their own re-encoding, and are as listed"
        others = (path for path in self.kinds["verifier"] if self.tree[path] != Path(__file__).read_bytes())
        yield from (("not_due", path, "differs from the stand-alone verifier that runs here; not run", None) for path in others)
        yield from wrong or [("ok", folder + "SHA256SUMS" if self.bundle else FILES, f"{len(self.tree)} {told}", None)]
    def check_file(self, path: str) -> None:
        kind, name, form = role(path)
        need(path in self.tree and path not in self.faults, self.faults.get(path, "is missing"))
        need(kind not in ("signature", "proof") or name in self.tree, f"the file it belongs to, {name}, is missing")
        need(kind != "signature" or role(name)[0] in SIGNED, "is a signature of a file that no registry signs")
        need(kind != "proof" or self.docs[path].one_form, "differs from its own re-encoding")
        own = self.docs[path].get(OWN_NAME.get(kind, "name"), name) if form[:9] == "sealbench" and name else name
        need(str(own) == name, f"calls itself {own!s:.70}")
        if kind == "sums": self.check_sums(path, path[: -len("SHA256SUMS")], name == self.bundle)
        if kind not in ("items", "canary"): return
        raw = little(digest(parts("sealbench/v1/canary", bytes.fromhex(self.digest(f"commitments/{name}.json") or "")))[15::-1])  # big-endian
        text = f"sealbench canary {uuid.UUID(int=raw & ~(15 << 76 | 3 << 62) | 8 << 76 | 2 << 62)}: evaluation data, not for training corpora"
        lines = [canonical({**one, "canary": text}) for one in self.docs.get(f"batteries/{name}/battery.json", {"items": []})["items"]]
        need(self.tree[path] == b"".join(line + b"\n" for line in (lines if kind == "items" else [text.encode()])), "does not follow from commitment and items")
    def check_sums(self, path: str, folder: str, bundle: bool) -> None:
        rows = [re.fullmatch("([0-9a-f]{64})  (.+)", row) for row in self.tree[path].decode("latin-1").split("\n")[:-1]]
        need(all(rows) and self.tree[path].endswith(b"\n"), "holds a line that is no hash and file name")
        pairs = [(row[2][7:] if bundle and row[2].startswith("record/") else folder + row[2], row[1]) for row in rows if row]
        self.check_list(path, [row[2] for row in rows if row], pairs, {one for one in self.tree if bundle or one.startswith(folder)} - {path})
    def check_list(self, path: str, named: list[str], pairs: Sequence[tuple[str, str]], needed: set[str]) -> None:
        need(path in self.tree and named == sorted(set(named)) and path not in named, f"{path}: missing, not sorted, or names a file twice or itself")
        wrong = [one for one, expected in pairs if self.digest(one) != expected] + sorted(needed - {one for one, _ in pairs})
        need(not wrong, f"{', '.join(wrong[:9])}: changed, missing or not listed in {path}")
    def step_2(self) -> Iterator[Any]:  # Step 2: signatures, by the key in force at a file's registry line.
        yield from (one for one in [self.attempt(REGISTRY, self.check_keys)] if one[0] != "ok")
        own = {f"commitments/checkpoints/{size}.json": max(size - 1, 0) for size in self.checkpoints}  # a checkpoint's line is its last
        lines = {path: own.get(path, self.first.get(path)) for path in self.signed} if self.keys else {}
        checks = [(path, self.check_signature, path, self.signed[path]["author"], line) for path, line in lines.items()]
        yield from self.each(one for one in checks if role(one[0])[0] != "checkpoint")
        yield from self.each((one for one in checks if role(one[0])[0] == "checkpoint"), "{} checkpoints {}")
    def check_keys(self) -> None:
        for line in [one for one in self.lines if one["event"] == "key"]:
            text, revoked = line["detail"].get("public_key"), line["detail"].get("revoked")
            self.keys = [one._replace(revoked=line["seq"]) if one.fingerprint == revoked else one for one in self.keys]
            if text is not None or revoked is None: self.keys.append(read_key(str(text), line["seq"]))
            need(text is None or self.keys[-1].fingerprint == line["subject"], f"registry line {line['seq'] + 1}: not its key's fingerprint")
        need(self.keys, f"no key to check signatures with: {self.registry[2]}")
        need(self.tree.get(SIGNERS) == "".join(key.signer for key in self.keys).encode(), f"{SIGNERS} holds other keys than the registry")
        need(not self.policy.trusted or self.policy.trusted & {key.wire for key in self.keys}, f"none of its keys is one you trust: kept by {self.keys[-1].fingerprint}")
        need(all(key.first + 1 in self.checkpoints for key in self.keys[1:]), "a line brings in a key that no checkpoint of the old one covers")
    def check_signature(self, path: str, author: str, line: int | None) -> str:
        if line is None: raise Wrong("no registry line names it, so no key is in force for it", "not_checked")
        keys = [key for key in self.keys if key.first < max(line, 1)]
        need(keys and (keys[-1].revoked is None or keys[-1].revoked >= line) and author == keys[-1].fingerprint, "is not by the key in force at its registry line")
        need(path + ".sig" in self.tree, f"{path}.sig is missing: it is not signed")
        keys[-1].check(self.tree[path], self.tree[path + ".sig"])
        if not self.policy.trusted: return f"signed by self-declared key {keys[-1].fingerprint}, owner not checked"
        need(self.policy.trusted & {key.wire for key in keys}, "signed by no key that you trust or one after it", "not_checked")
        return f"signed by {keys[-1].fingerprint}, a key you trust or one that it handed over to"
    def step_3(self) -> Iterator[Any]:  # Steps 3 and 4: each proof is for its file, and each Bitcoin attestation holds.
        yield from self.each(((path, self.check_proof, path[:-4]) for path in self.kinds["proof"]), "{} proofs commit to exactly their files' bytes, by SHA-256 alone")
    def check_proof(self, path: str) -> None:
        need(self.commits(path), f"{path}.ots is no readable proof of this file")
        need(self.docs[path + ".ots"].plain, f"{path}.ots uses other operations than SHA-256, append and prepend")
    def commits(self, path: str) -> bool: return path in self.tree and path + ".ots" in self.docs and self.docs[path + ".ots"].digest == digest(self.tree[path])
    def step_4(self) -> Iterator[Any]:
        if self.labelled != self.policy.network:
            return (yield "pending" if self.chain.mainnet else "not_checked", REGISTRY, f"labelled {self.labelled}, checked by the rules of {self.policy.network}: not anchored", None)
        if self.headers[0] != "ok": yield self.headers
        yield from self.each((path, self.check_attestations, path[:-4]) for path in self.kinds["proof"])
        bare = (path for path in sorted(self.tree) if role(path)[0] in STAMPED and path + ".ots" not in self.tree)
        yield from (("pending", path, "not anchored: never stamped", None) for path in bare)
    def check_attestations(self, path: str) -> tuple[str, str]:
        need(self.commits(path), "is no readable proof of the file beside it (step 3)", "not_checked")
        best = self.place(path)
        when = f"{datetime.fromtimestamp(best.time, timezone.utc):%Y-%m-%d %H:%M} UTC, give or take two hours" if self.chain.mainnet else "which proves nothing about time"
        return f"anchored in block {best.height}, {when}", best.grade
    def place(self, path: str) -> Any:  # the earliest Block that a file is proved to stand in; Wrong with the reason and grade if there is none
        usable = self.commits(path) and self.labelled == self.policy.network
        found = [self.chain.grade(one[1], one[2]) for one in (self.docs[path + ".ots"].found if usable else ()) if one[0] == "bitcoin"]
        good, false = [one for one in found if one.grade in ACCEPTED], [one for one in found if one.grade == "mismatch"]
        if false: raise Wrong(false[0].detail, grade="mismatch")
        if not found: raise Wrong(f"{path} is promised by calendars at most, in no block yet", "pending", grade="pending")
        if not good: raise Wrong(f"{path}: {found[0].detail}", "not_checked", grade=found[0].grade)
        return min(good, key=lambda one: (not one.proved, one.height))
    def step_5(self) -> Iterator[Any]:  # Steps 5 to 7: the ciphertext, what K gives, what the certificates show.
        for name, one in self.commitments.items():
            path = f"batteries/{self.owner(name)}.sealed.json"
            right = one["sealed"] == {"path": path, "sha256": self.digest(path)}
            status = "not_due" if self.elsewhere(path) else "fail" if not right else "ok" if path in self.docs else "not_checked"
            yield status, path, f"{'is the ciphertext' if right else 'is missing, or not the ciphertext'} that {name} commits to", None
    def step_6(self) -> Iterator[Any]:
        yield from self.each((f"batteries/{name}/battery.json", self.check_opening, name) for name in self.commitments)
        yield from self.each((path, self.leave) for path in self.kinds["reveal"] + self.kinds["subset"])
    def leave(self) -> NoReturn: raise Wrong("is left to `seal verify`", "not_checked")
    def secret(self, name: str) -> bytes:  # K, if the one committed to is published
        key, battery = f"batteries/{name}/key.json", f"batteries/{name}/battery.json"
        need(key in self.tree or battery in self.tree, "K is not published yet", "not_due")
        secret = bytes.fromhex(self.docs.get(key, {"secret": ""})["secret"])
        need(battery in self.docs and sha256(parts("sealbench/v1/secret", secret)) == self.commitments[name]["secret_commitment"], "K is missing or not the one committed to, or no battery")
        return secret
    def check_opening(self, name: str) -> str:  # K opens the ciphertext to the published battery and gives ids, instances, order, salts and root
        commitment, secret, owner, path = self.commitments[name], self.secret(name), self.owner(name), f"batteries/{name}/battery.json"
        sealed, parent = self.docs.get(f"batteries/{owner}.sealed.json", {}), self.commitments.get(owner, {})
        need(sealed and parent, f"ciphertext or commitment of {owner} is missing or unreadable", "not_checked")
        items, salts, key = self.docs[path]["items"], hkdf(secret, "sealbench/v1/salt"), hkdf(secret, "sealbench/v1/encryption")
        opened = decrypt(key, base64.b64decode(sealed["ciphertext"]), parts(owner, canonical(parent["parameters"])))
        need(opened == self.tree[path] or owner != name, "the ciphertext holds another battery than the published one")
        ids = [numbered(hkdf(secret, "sealbench/v1/id"), at)[:8].hex() for at in range(len(items))]
        need(owner != name or ids == [item["id"] for item in items], "its ids are not those that K gives")
        places = {canonical(item): at for at, item in enumerate(parse(opened, "sealbench/battery/v1")["items"])}
        own = [(places.get(canonical(item), -1), item) for item in items]
        need([at for at, _ in own] == sorted({at for at, _ in own} - {-1}), f"its items are not {owner}'s, each once, in its order")
        root = tree_root([leaf_hash(numbered(salts, at) + canonical(item)) for at, item in own])
        counts = {"root": root, "items": len(items), "instances": len({item["instance"] for item in items})}
        need(all(counts[one] == commitment[one] for one in counts), "the items give another root or number of items than committed")
        return f"K opens the ciphertext and gives ids, salts and root of {len(items)} items; drawing them again is left to `seal verify`"
    def step_7(self) -> Iterator[Any]:
        yield from self.each((f"batteries/{name}/battery.json", self.check_truth, name) for name in self.commitments)
        yield from self.each((path, self.leave) for path in self.kinds["reveal"])
    def check_truth(self, name: str) -> str:
        path = f"batteries/{name}/battery.json"
        need(path in self.docs, "the items are not published yet, or do not parse", "not_checked" if path in self.tree else "not_due")
        return certify(self.docs[path]["items"], self.commitments[name]["parameters"]["families"])
    def step_8(self) -> Iterator[Any]:  # Step 8: checkpoints, what signed files say of each other, files and the events that made them.
        if not self.lines: return (yield self.registry)
        wrong, since = [*self.false_checkpoints(), *self.false_bindings(), *self.false_files()], self.policy.since
        yield from (("fail", path, reason, None) for path, reason in wrong)
        left = len(self.lines) - max([size for size in self.checkpoints if size <= len(self.lines)], default=0)
        if self.bundle and since and since["size"] > len(self.lines): yield "not_checked", REGISTRY, "ends before your checkpoint", None
        if left: yield "pending", REGISTRY, f"its last {left} lines are covered by no checkpoint yet", None
        elif not wrong: yield "ok", REGISTRY, f"{len(self.lines)} events in an unbroken chain, {len(self.checkpoints)} checkpoints agree; order of events: `seal verify`", None
    def false_checkpoints(self) -> Iterator[tuple[str, str]]:
        since = self.policy.since  # in a bundle it may be later than the registry's copy, which ends at the retirement
        for size, one in [*self.checkpoints.items(), *([(since["size"], since)] if since else [])]:
            seen, later = self.hashes[size - 1 : size] if size else [], self.bundle and one is since and size > len(self.lines)
            if one["registry"] != self.hashes[0] or (seen != [one["head"]] and not later):
                yield REGISTRY, f"is not what the checkpoint of size {size} saw: cut, rewritten or another's"
    def false_bindings(self) -> Iterator[tuple[str, str]]:
        users, started = dict[str, str](), {"plan": self.events("preregister", "amend"), "run": self.events("run_start")}
        for path, one in self.signed.items():
            (kind, name, _), line, size = role(path), self.first.get(path), one.get("registry_size", 0)
            placed = line is None or (1 <= size <= line and self.hashes[size - 1] == one["registry_head"])
            if one["registry"] != self.hashes[0] or not placed: yield path, "was copied here, or written at another place"
            battery, event = one.get("battery", name), started.get(kind, {}).get(name)
            if event and event["detail"].get("battery") != battery: yield path, f"says battery {battery}, its event another"
            draft = ".draft" if kind == "plan" and battery in self.drafts else ""
            where = {"commitment": f"commitments/{battery}{draft}.json", "draft": f"commitments/{name}.draft.json"}
            for field in ("commitment", "parent_commitment", "draft", "derived_from", "supersedes", "amends", "plan"):
                named = one.get(field)
                if named and not (self.digest(named["path"]) == named["sha256"] and where.get(field, named["path"]) == named["path"]): yield path, f"names another {field}, or one that is not there"
            if kind in ("commitment", "draft") and not one.get("derived_from") and users.setdefault(one["secret_commitment"], name) != name: yield path, "uses the K of another battery again"
    def false_files(self) -> Iterator[tuple[str, str]]:
        running = {*self.events("run_start")} - {*self.events("run_end", "run_abort")}
        for path, (expected, line) in self.bound.items():  # step 1 says which of a bundle's must be there
            if self.digest(path) != expected and (path in self.tree or not self.bundle): yield path, f"is missing, or not the file that registry line {line} names"
        for path in sorted(set(self.tree) - set(self.bound)):
            made = role(path)[0] in (*SIGNED[:-1], "sealed", "log", "report") or folder_of("batteries", path) not in ("", self.bundle)
            if made and folder_of("runs", path) not in running: yield path, "is named by no registry line: it does not belong here"
    def step_9(self) -> Iterator[Any]:  # Step 9: commitment and plan stand before the run, by proved places in time.
        yield from self.each((f"commitments/{name}.draft.json", self.leave) for name in self.drafts)
        yield from self.each((f"runs/{name}/run.json", self.check_run_order, name, one) for name, one in self.runs.items())
    def check_run_order(self, name: str, run: Any) -> str:
        need(run["plan"], "EXPLORATORY: a pilot claims no order", "not_due")
        need(self.labelled == self.policy.network, "no order is proved: proofs of another network (step 4)", "pending")
        need(run["block"], "names no block, so nothing shows that it came after its plan", "not_checked")
        block, waiting, waived = self.chain.grade(run["block"]["height"]), list[str](), run["require"] in ("stamped", "registered")
        need(block.hash in ("", run["block"]["hash"]), f"names another block {block.height} than the chain has")
        for path in (run["commitment"]["path"], run["plan"]["path"]):
            status, _, place, _ = self.attempt("", self.place, path)
            waiting += [status] * (status != "ok")
            if status != "ok" or block.grade not in ACCEPTED: continue
            proved, close = place.proved and block.proved, place.time - SLACK <= block.time + SLACK
            late = place.height > block.height if proved else place.time + SLACK > block.time - SLACK
            excused = waived or (close and not proved) or (self.docs.get(path) or {}).get("amends")
            need(not late, f"{path} is proved no earlier than block {place.height}", "not_checked" if excused else "fail")
        left = "not_checked" if waived or {*waiting} == {"not_checked"} else "pending"
        need(not waiting, "commitment or plan are not anchored as far as needed", left)
        need(block.grade in ACCEPTED, f"no proved header of block {block.height} is at hand", "not_checked")
        covering = min((size for size in self.checkpoints if size > self.events("run_start").get(name, {"seq": 2**53})["seq"]), default=0)
        status, _, place, _ = self.attempt("", self.place, f"commitments/checkpoints/{covering}.json")
        need(status == "ok", "the checkpoint over its start is not anchored yet", "not_checked" if status == "not_checked" else "pending")
        early = place.height < block.height if place.proved and block.proved else place.time + SLACK < block.time - SLACK
        need(not early, f"the checkpoint over its start stands in block {place.height}, before block {block.height}")
        return f"commitment and plan stand at or before block {block.height}; that the calls came after them is proved in beacon mode alone"
    def step_10(self) -> Iterator[Any]: yield from self.each((f"runs/{name}/log.jsonl", self.check_run, name) for name in self.own_runs("run_start"))  # Step 10: each log is the registered one, unbroken, with one line for every planned call.
    def log(self, name: str) -> list[Any]:
        path = f"runs/{name}/log.jsonl"
        need(path in self.docs, self.faults.get(path, "is missing"))
        follow_chain(self.tree[path], self.docs[path], self.digest(f"runs/{name}/run.json") or "")
        return list(self.docs[path])
    def check_run(self, name: str) -> str:
        run, ended, path = self.runs.get(name, {}), self.events("run_end", "run_abort").get(name, {}), f"runs/{name}/log.jsonl"
        need(run, f"runs/{name}/run.json is missing or unreadable", "not_checked")
        need(ended, "the run is not finished", "pending")
        need(run["battery"] in self.commitments, "its commitment is missing or unreadable", "not_checked")
        lines, whole, named = self.log(name), ended["event"] == "run_end", {one["path"]: one["sha256"] for one in ended["files"]}
        need((not whole or ended["detail"].get("lines") == len(lines)) and named.get(path, self.digest(path)) == self.digest(path), "is not the log that the registry names")
        self.check_calls(run, lines, self.commitments[run["battery"]]["instances"] * len(set(run["wordings"])), whole)
        told, folder = f"{len(lines)} of {run['planned_calls']} planned calls, chain unbroken", f"batteries/{run['battery']}"
        (status, _, secret, _), responses = self.attempt("", self.secret, run["battery"]), f"{folder}/responses/{name}.jsonl"
        if status == "not_due": return f"{told}; items and responses are still sealed"
        need(status == "ok", f"{told}; the battery is not open (step 6)", "not_checked")
        items = {one["id"]: one for one in self.docs[f"{folder}/battery.json"]["items"]}
        for line in lines:
            item = items.get(line["item"], {"minimal_answer": ""})
            same = all(line[one] == item.get(one) for one in ITEM_FIELDS) and line["minimal_characters"] == len(item["minimal_answer"])
            need(same, f"line {line['seq'] + 1}: is not about an item of the battery as the battery has it")
        need(not whole or {one for one, item in items.items() if item["wording"] in run["wordings"]} <= {line["item"] for line in lines}, "an item of the battery has no line")
        need(responses in self.tree, f"{told}; its raw responses are not published", "not_checked")
        registered = self.bound.get(responses, [self.digest(responses)])[0] == self.digest(responses)
        need(responses in self.docs and registered and len(self.docs[responses]) == len(lines), f"{responses} is damaged, or not the registered file")
        salts, withheld = hkdf(secret, "sealbench/v1/response", name), 0
        for line, one in zip(lines, self.docs[responses]):
            salt, withheld = numbered(salts, line["seq"]), withheld + ("withheld" in one)
            hashes = [None if one[key] is None else sha256(salt + one[key].encode()) for key in ("response_id", "body")]
            shown = one["body"] is not None or (line["end"] == "error" and one["text"] is None)
            opens = "withheld" in one or (hashes == [line["response_id_hash"], line["body_hash"]] and shown)
            need(opens and one["seq"] == line["seq"], f"line {line['seq'] + 1}: the raw response does not open its salted hashes")
        need(not withheld, f"{told}; the author withholds {withheld} responses, the others open", "not_checked")
        return f"{told}; lines agree with their items and open their responses (reading these again is left to `seal verify`)"
    def check_calls(self, run: Any, lines: Sequence[Any], items: int, whole: bool) -> None:  # one line for every planned call and no other
        planned = items * len(run["endpoints"]) * len(run["caps"]) * run["repeats"]
        parameters, calls, described = {one["name"]: one["cap_parameter"] for one in run["endpoints"]}, set(), dict[str, Any]()
        need(run["planned_calls"] == planned, f"run.json plans {run['planned_calls']} calls; its parts make {planned}")
        for line in lines:
            call, content = call_of(line), [line[field] for field in ITEM_FIELDS]
            held = line["cap"] in run["caps"] and line["wording"] in run["wordings"] and 1 <= line["repeat"] <= run["repeats"]
            held = held and parameters.get(line["endpoint"]) == line["cap_parameter"] and call not in calls
            need(held and described.setdefault(line["item"], content) == content, f"line {line['seq'] + 1}: no call of this run, or one that stands there already")
            calls.add(call)
        asked = len({(line["instance"], line["wording"]) for line in lines})
        need((not whole or (asked, len(calls)) == (items, planned)) and asked == len(described) <= items, f"has {len(calls)} calls of {planned} planned, or an instance under two item ids")
    def step_11(self) -> Iterator[Any]: yield from self.each((f"runs/{name}/report.json", self.check_report, name) for name in self.own_runs("run_end", "run_abort"))  # Steps 11 and 12: the report's comparisons counted again; the run against its plan.
    def inputs(self, name: str) -> tuple[Any, list[Any], Any]:  # run.json, log and plan, where they can be used
        run = self.runs.get(name, {})
        need(run and self.attempt("", self.log, name)[0] == "ok", "run.json or the log is missing or damaged (step 10)", "not_checked")
        path = run["plan"]["path"] if run["plan"] else ""
        need(not path or (path in self.docs and self.digest(path) == run["plan"]["sha256"]), "its plan is missing, unreadable or another", "not_checked")
        return run, self.docs[f"runs/{name}/log.jsonl"], self.docs.get(path, {})
    def check_report(self, name: str) -> str:
        path = f"runs/{name}/report.json"
        need(path in self.docs, "this run is not reported, or its report does not parse", "not_checked" if path in self.tree else "not_due")
        report, (_, lines, plan) = self.docs[path], self.inputs(name)
        need(report["analysis_version"] <= 2, "is made by a later version of the analysis than this file knows", "not_checked")
        own = [self.digest(f"runs/{name}/{one}") for one in ("run.json", "log.jsonl", "report.json")]
        need([report["run_sha256"], report["log_sha256"], self.bound.get(path, [None])[0]] == own, "is of another run, log or battery, or not the report that the registry names")
        try: done, tested = [recount(one, lines) for one in report["tests"]], {(one["hypothesis"], one["endpoint"]) for one in report["tests"]}
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
            raise Wrong(f"a comparison lacks or garbles a field: {type(error).__name__} {error!s:.60}") from error
        planned = {(one["id"], one["where"].get("endpoint", end["name"])) for one in plan.get("hypotheses", ()) for end in plan["endpoints"]}
        need(planned <= tested, f"leaves out registered tests: {sorted(planned - tested)[:3]}")
        return f"{len(done)} comparisons counted again, {sum(done)} with their exact p; what else it holds is left to `seal verify`"
    def step_12(self) -> Iterator[Any]: yield from self.each((f"runs/{name}/run.json", self.check_deviations, name) for name in self.own_runs("run_end", "run_abort"))
    def check_deviations(self, name: str) -> str:
        run, lines, plan = self.inputs(name)
        need(plan, "EXPLORATORY: there is no plan to deviate from", "not_due")
        models = {one["name"]: one["model"] for one in plan["endpoints"]}
        missing, other = any(line["end"] == "error" for line in lines), any(line["model"] not in (None, models.get(line["endpoint"])) for line in lines)
        found = [one for one in sorted({*plan} & {*run} - PLACE) if run[one] != plan[one]] + ["responses"] * missing + ["models"] * other + ["calls"] * (not len({*map(call_of, lines)}) == len(lines) == run["planned_calls"])
        listed = self.docs.get(f"runs/{name}/report.json", {"deviations": found})["deviations"]
        need(bool(listed) == bool(found), f"the report lists {len(listed)} deviations: there are {', '.join(found) or 'none'}")
        need(not found, f"{', '.join(found)} differ from the plan; listing how is left to `seal verify`", "not_checked")
        return "0 deviations from the plan"
PLACE = {"schema", "author", "registry", "registry_size", "registry_head", "name", "tool_version"}  # what says where a file stands
def call_of(line: Any) -> tuple[Any, ...]: return line["item"], line["endpoint"], line["cap"], line["repeat"]

# == 9. The command ========================================================================================================================
EXIT_CODES = {"ok": 0, "ok_except_time": 0, "fail": 1, "pending": 3, "unchecked": 4}
NOT_PROVED = """not proved by any of this:
  - that the calls came after the plan was sealed (a log can be written later than its calls)
  - that the responses are what the providers sent (most sign nothing)
  - that there was no other battery or run in a registry never published"""
def verdict_of(results: Sequence[Any], accept_unanchored: bool) -> str:
    waived = [one for one in results if accept_unanchored and one[0] in (3, 4, 9) and one[1] in ("pending", "not_checked")]
    found = {one[1].replace("not_checked", "unchecked") for one in results if one not in waived}
    return next((one for one in ("fail", "pending", "unchecked") if one in found), "ok_except_time" if waived else "ok")
def in_words(results: Sequence[Any], verdict: str, network: str, own: str | None) -> Iterator[str]:
    for step, status, subject, detail, grade in results:
        yield f"{step:>2}  {status.upper().replace('_', ' '):<11}  {STEPS[step]}: {subject + ': ' if subject else ''}{detail}{f' [{grade}]' if grade else ''}"
    words = {"ok_except_time": "ok except time", "unchecked": "not checked in full"}.get(verdict, verdict)
    yield f"\nverdict: {words}" + ("" if network == "mainnet" else f" ({network}: proves nothing about time)") + (f"; self-declared key {own}, owner not checked" if own else "") + f"\n{NOT_PROVED}"
def trusted_keys(path: Path) -> frozenset[bytes]:
    found = [line[line.index("ssh-ed25519 ") :] for line in path.read_text("utf-8", "replace").splitlines() if "ssh-ed25519 " in line and line[0] != "#"]
    need(found, f"{path} holds no ssh-ed25519 public key")
    return frozenset(read_key(line).wire for line in found)
def refuse(message: object) -> int: return sys.stderr.write(f"verify.py: error: {message}\nverify.py: hint: python verify.py --help\n") * 0 + 2
def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="verify.py", description=(__doc__ or "").split("\n")[0], epilog="exit codes: 0 verified, 1 false, 2 usage, 3 not yet, 4 could not check, 70 a bug")
    parser.add_argument("folder", type=Path, help="a retired battery's folder, or a workspace")
    parser.add_argument("--network", choices=sorted(GENESIS), default="mainnet", help="Bitcoin network whose rules count")
    parser.add_argument("--allowed-signers", type=Path, metavar="FILE", help="keys you know to be the author's (.pub or allowed_signers)")
    parser.add_argument("--since", type=Path, metavar="FILE", help="a checkpoint you kept: must be contained")
    parser.add_argument("--accept-unanchored", action="store_true", help='let missing proofs of time pass: "ok except time"')
    parser.add_argument("--json", action="store_true", help="print sealbench/verify/v1")
    given = parser.parse_args(arguments)
    try:
        since = parse(given.since.read_bytes(), "sealbench/checkpoint/v1") if given.since else None
        policy = Policy(given.network, trusted_keys(given.allowed_signers) if given.allowed_signers else frozenset[bytes](), since)
    except (OSError, Wrong) as error: return refuse(error)
    results, keys = list[Any](), list[Key]()
    try:
        found = Verification(*load(given.folder), policy=policy)
        results, keys = found.results, found.keys
    except OSError as error: return refuse(error)
    except Wrong as error:
        results = [(1, error.status, "", str(error), None)]
    except Exception as error: return sys.stderr.write(f"verify.py: this is a bug: {type(error).__name__}: {error!s:.200}; nothing is verified\n") * 0 + 70
    verdict, own = verdict_of(results, given.accept_unanchored), keys[-1].fingerprint if keys and not policy.trusted else None
    steps = [{"step": one[0], "name": STEPS[one[0]], **dict(zip(("status", "subject", "detail", "grade"), one[1:]))} for one in results]
    whole = {"schema": "sealbench/verify/v1", "verdict": verdict, "network": given.network, "exit_code": EXIT_CODES[verdict], "self_declared_key": own}
    whole.update(subject=None, source=None, steps=steps, requirements=[], elsewhere=[])
    sys.stdout.write((json.dumps(whole, indent=2) if given.json else "\n".join(in_words(results, verdict, given.network, own))) + "\n")
    return EXIT_CODES[verdict]

# == 10. Bitcoin's checkpoints: of each 2016 blocks the hash of the last, and the target that follows ======================================
def mainnet_checkpoints() -> list[tuple[bytes, int]]:  # the bytes of sealbench/timestamps/checkpoints_mainnet.bin (from Electrum, MIT), packed
    data = zlib.decompress(base64.b85decode(CHECKPOINTS))
    return [(data[at : at + 32], int.from_bytes(data[at + 32 : at + 36], "big")) for at in range(12, len(data), 36)]
CHECKPOINTS = "c-mFiWmuJ4*EV1l-QC?S-QC^YB_W;CDcwj*DV@>{(xrrSmo$QON`3FQ_Xh6A-{*17G3FR^t%d56q6*^jDj+a0(8AlaHk)tC{bXHJS1<%xDm<SNBvso*>UXNGSggVR?;jD^)6<&p=;UB8-X#G;c0yG-3rh)6jO~t5^*G#D?vrP;mu=T&EduZ1hokIjMOa2){(YG5*UFgVX~Uk~vmrG3rbxbE(a~@}w{ZksSw^;qQ`tZcg}$23ruA&3N=>(1^t>>_b0sT4b#eN;#5ks9U+URu<>51*O$gL`U!8)qE$SF*R-Y^d>NTVOxS@xuy|=DWf1gbvX=@ES4frYV0^Z=M@!I~0Hl-tufz6zOet*<UPM7uRB%NVSOgw2jE@$l9HzEj(8Ym~MmR^Vf&*q_U>2!*K<4=3zZ|ZDI7Q=*2pPL4yY&$x$>ZfPJ{Gr+1Da5#JW%F?bsZ&K{$*h%usz-=11h(7l*^qypp7@qE=%dM4bnYOVyA@;QBw*MnTpYr@Z1rqL^iqcKMJiyq)84d~E!zHUPpdgJ6Eo|Qc05^nHWiS{p-l0#wPz;UuBM;+m+3CZow<%94_O{f5}ysikZW>s^<aPD`!AX7Rm2hx4pq+3N->dO#izH=W~Vb??%E6ft*2vIcr4Q3Lp<}jg)5U}7^5YO>a&rDFq!AbXF2p_-$W)+6I$1UN#Y`=E9M|eRZjoc%-f8qb2-C;MZ-7h@8-kyMM08TmHqaim*n+_<TCo#^wH`h&M@s*KBz8muF)K2)eSr6Lx6X6Jb9&f#-jggI-EnJ4D2N%*vo>io3`zp2Ox)?v5ne-Ae))ZS7ZM*F}?T{sA-MmW?n-mlvZ+#aoa5=GQXy^vA#w&at8f>LuetTy$g3=@rWiR2DvptR3+#0cFm<&tnjn4&~a)A%RffEZhOXvKq`jZE7F;UlzVmr@}a`@qW~EC_}p7WCj5U4Pk^Ia%_+BKUHJ9YK1MxtZk>B5s9cp`f7GrA9+Bx^gYjNd9VgiUVFxGh^ewxZ5y#<j_(@85<A(7KH5=+bh8_*e^&?cdaauKIXU=(FCx3GKuJ-xtjr8iY<JHc;XOXrSyNY*v*YZYJOx9IV;af6&cWdn8S9CK2S(6LH|6{N<9CHiG1M{m`<m@Ix303$=yLE1CB+~R$1?<F^q5m-$hw4(pO@!^rN|xH)XHoPaaZd>_+cB~uPl4Ev;&A^MtSriX$h9OUF&BkD9%5icGc;dja{Zz1y4}SwYo%fTF(_6BNeT=z1zNZWBI2U?fs-hz<6#UutV9QjDNvIC<{-D4^Xcg>S3_6-lBq4DCy4qhd&<}ywSQfA$VdYR`o|!#ig|oO)ezYGw1fGr&_v~FHV^mUi3-{)a}%X(=ieOott6#5gY&+v<}1Feo9Kf#t*v;nxMZM8C4)=339x?*RQ|=C_8{RX8G+!|NY4hpO7UnDefh^781A~f&NYaC4CviM@4n>+`Id;`AN%+*utJVtNY@}bO8eQM3G42Eb3llC4lR<#{Plyv7$^EPZd@U8OIiip%r@EL6W4J68n9MeWlr~g8MZCA-f%Y*>s$tTdz1zl&a}C|CCzC6nLuPjM&B~!9wjTE*orI#GPHEGkn1c%>5)dQJ&%73fi-D5m8D%^OvIOb0?u=KRmk)&#|c*!e4UKS(rpU=8vQ>z$YDr32ArjeOzir*a~b80n=9uZ<LoU4i1jJ{HPV)Ul8!0fZ&x_$*t|v1ecY@LV`&kT-7ZOC<in!>*Ra;+<F=We?cTz{fcFs?vYy_$MJwUo#w3KStE3?RYnbD*W6zSgh0sbiy3s0UrixrMr|zfT)`zy8KQc1@Yl!`S{92R2p3@X9ZJiXE;%k+S+D|KUOWp8)&rpi;ufbw_OSthUMHO4OCQ#m3;&7w{CW$nT5!X&+;tU1xuR(Uva!4<wBk3(b=S)*oU?W(rnMA4mz_KHD{IwC`Ujr9S&&-~4+_XU~QKOrQ-Xt^0Qt`EUDLu+FS;ZafUjs`x8A2NV2@9$UJw;Pt++5jF;Iq?vx*Mw0vM;QV{~9P=_1nD!^V~pY#kMMm#i-)?VF*RrIPIHemF7h7e+^`q!pgNuLPrPW1K2l1jbuH4592d@5QW=D$fMq~fgH9VvKosHAa>>w-GH+Wd~n<L5f`Da9LeHA{;wX0*dycu1NFq^?T4v&M!5l05eKH9)M@73ww<WYy@UUyBj3ANASJ5k*{-ef5wY2_%ktnHQa;rVH2?5l4tS`V5)}xXT%dot^o)O6_jIAi84{#RS35frb^f0LjZhz5DBSk0%c0uUu3>h5h!_oSHj1`lXDyyndNyxHQ%TYpy)en;GS!l9P)Fjxr?qi1%zs`8w{ibxz?NB=&mwG9I``bSb6q&d;?29ViE#rSbuBJn1E0+~@6bFee4BNTLH{VX-gkwNh^{Ms=OqbBL?Y{FGyLuS6-CqZ8`m7PG#FFav>ve#V==jbdw6~<=V#MUAqa77wNHV1dWuc*(}9b%eNr!JdyBlGA|(IWr2kEmlgIOav~0w9Qzf7?&_sfsh@K!cokXh6^sm9UNvc!CT-nays|uzI#^1pWD3em9Iv8AO>*L&F|IbLYoMA9qhF!Cf;M>qdO_JgM{V41#gls&GApb=BpP^1BoB3jV=Vf)|5$5T8RUf~jSOrsr{R>xp@Rs;LLzKi!VfI_WUxZHlmyg~d192JOY?<_jVFl}ShyUh|k3kk%e=yxYZy)lW$_VyNvw%X#L=gp*ytX<SJlKB*kse)e&p(m8C3i!Q9epz$<~%DcBAEV;gn+RW{67QV_Oobl)WTvN$?kSJY=lXP-fEYe*L92>Q+@{WKLd9N`G(r5p5=<F*v6y|YY+i}L#)cGb2zo~;|kn=2KLuBykW%1c)x9CheAk2rHe}5^s;^_vzn*i6wGsuT-c-(6#6%p@2%8^<Zr>8!Wt5SuV~R%F11%6o{i%sq`UfoA&cKn^wgai@xpH;mx;a7(cwQ<ZC`TY3R#4-nt86aV1MW;qID9wBaxXsX2<?&A~=A3Hb;hV#vxdEc#2&a<ncx252t&ozJ7CCq4V?Ap#Kbly*!IAEqyiLMy3J<Sfm&K{dbq@3}bs|zA}R69Hf&U+ERol5^0HqEtw`sL`D08hK<wJEtKG~%~1atWV8&D;|0B>-(Gs$!jz^C8GZ;Bd<DWHPVa2|p6?mOv?iJ68ZrJ5jsekZsGlq~K=TUxd@Bq=HXrr*Eab3vCVz6KW}*tqM(Uc}v8eo=S3f8G9xrKU=XvfO*}b(dIH-@Gi0K=Tol_cmWSRB8+Y>FxpUD7%=Q~8Qo-2~?IMt+qqjsK&**Rlv5FrW*rsHXC=Yc_Z-i>MDf(*I0f%|tLp=J&^zFtiCuCxMSqlaO0=$HMWL+I1QMD#;W?o&*Zj-mgci@4>KLCd>F+Cco=7a~hm>NLCa0Ik7iiL%x>#GU@|Jrt^TG=jeM_s<4_6LGx5d%Bu3RYUOe^xqpLe5H8*BgCVQhw6am{Xt+0zs!KUFVL1AwYFpa?Rm?w?V-lSk^L(JPx$$s;Z^*v*hrSy=zmN8q4_*XKdYT2KluUss(!Z?=VhOBH+3oGtqCz#Gf2CX2ZHg6VlI*>oTe*0h_asV2Z8vydeS(n_U{%2ty^zqf*Q?O2eTatyC<UXHvIGcRDw6d^sEjwab6R&V&FMiFH=tr8kMkyG0fFJzYF+iV`Qx^!5<H%mIW8=_h`W@KMcv3{q8zBt=6HRP5P`!Nn-<<p!u}sd1dtwOZ#u0x+fkvB(yH$=f2>YqV|Mcd5UpBq}+&@a>yiMeIX*<(CdoB)-QVqm&}U4MU%C(sf9xDU9;JGfxR`#Mjv7N%n2s(<qbYCiSE~kVnaCy-Jd+^UZ}2)xF{5c6g3g9e0<&?Sb^`d^`#I!R(9v(N0_w>0rKj!KO52ubKMHEpWg*ciBb8Gt;xXV0C~+HnCy`)3kHu{mciDDJ$CWu9O$(UQV+w!Y<_A8<XFw{wC>e&&vVH>tdEv~PS3qV^YNUrK)EndwJN>E$YW;pcr+%YthfliL~w_Eo(0rWbhe`s+>F<E7OWDXgrLVgK7(k2{2>eMMv~`yhVq9+?z9oa!xcV%qy5J6pwIb@TRDTzP~q7i^Yh%H-XDutnwT#iGovL_n|NmHtA5&{G;Zf<6}K07?h6W|KLq^G)6jh+8(L@J!#z^b2+i69YDtT`s^znR{Cj|K;DPYFe(^x7v2&j>nMnF0D#{lvlpBZT=d&Q!e`A!-Ry;teSk>uA+A|_MZ?{DJkU5mn{G0n?{+h80Jf>TfYzvy-NmPa`79Ym9$nK!|s^VNezb~j<+js}PNc*C367!{sVOt9ls@n<~_C)%YAD>?OqN@Q(CI#YJvRJBnjpMUAoS#CY@G)L{w7|Z+FQ}p#0+N+}UP@&h$5G!u2aurSPR9|oWO7~I#FySl1l)W_RD7#Dq9tR?s*=0kT|{XbFT$miDAYaA0y5p8?kh;(_Z5zyp=d<%obskxzui!^9BYoI`*Y0@bMpLB-PrNcHI%^?rw;x#0q2v*y`ySukUD%X=KWuG_4*$MWD8&X{KyEMlNwWkEJVO}tgg!mp6dY*axhH!Fw~{|u!)DKkWDs$O%?ZbB(Oey((9!!aOMuMhQ-o{TR)doPEDJB|Hz<wtk%GQbw>@i=d(bo$@z@$$(gW;2-;V+!y5S&6_g`k5S!U``Ws(NnIKa22g87E^52&$QsX-8Yn_}-=;|<O%#Li&^?(BQp{MXpQp{LZt`Htt-M+g%nNxnm&~ghwHGj!5HP@9aa#u^{Ggbrjq{M0$v07KO71pdk{lb6A!Qd8!?<hZk>8A8DovfH(=M}E{9a)8U<k-0IoCCIsrCn1H-@lQr>j7P&4P7Bocl4ea(Mrrd1?|OrR{{gE=iiMktVp_i!#H}UBx^qr&y`S0oSE`s3g}EqopCSELStNe?g??1Tw*vMDTTy{ZErrln8<h3BcBy-a7W;qU4(j@FV1qcc0Sj;Zb|*p{LkRIES+_mGq3C_31RY`d6B^PGSG2K)0nd1<Jl-b8;x)_9STIzhQFVqhm>~B*x5b62Owx^Fn5P&)Sr#0ns(YzgWAV*Yj{cgw77ez;#nRAEvRsYq7Cq8!)lcUiP?C|*r9Y~RL)~=0MoG0$&-T0@^sEX`fRAl$>G^o7;EjMZXmWBwQh{vC5J!i3P(aYe<FM~gv+GePa*rp8Lo3Cb^a0}T1_%m_w)H5ehGA=J{#=nAA3X!S5dU+jXo4_Xguw?lY&Qbn%*tRwjn$lRQSgD&;rrR5&pu}75V)IY|3NgDXU&rxQ8~-vw^=4<#Z+N&xlq=P#9cdOj+4Em1?s2G-jiJ1o>=Wt<EcuVl`xJG;)216<8=~z0bdohpMRZpPjw*4uf!~fz8&I5RjV&``1a%G&~AZ@O|##LvMoSOAa);7)QEC&_U`%55bbR1_C5D*&`=rXV)Ldrk5PZR);kgt4Xd5=8SKKJAzSv-gKZ;zFQf{?vH_ZHW2xU!Wvh<@uR)oAbiAhRi-IKTJtr6QEB%o1$!|tB%w}5Oevy_7raawqpVsEtG-Q_F)<o(D=)o+TUxFQixA9B%E++^jmq2JChOsIu9_BzajL%51G;29@$1%e`cU^oU@n4+WVc=XX~t6s8)ii1B?px6&{ngO2_c?)RRKfidxh?<Ver+SMsQv=;iVpsvHH5{^nM*ON_^}=?ty9BFhY3(jbHLqFv6=LrG8-lDy2Zpl8Jb$+drSp_E*jR=&7<zS?|?=*T}H`goauW3FHwCim?Ij_tc9N+H2)_XZvEnmOdHL<=8fPL>Sb4#9+2Mf7*qu9?h_W7U+C6b!Dx>3}Uc{kSVpBZX6arHtH4Q2|c1Eegbl`W0nyE|6B|=Bah_IxWD<k<#EW|qfl-0F8$R++TmALIz8-I$R_L^d)%=6tx2Iu5A=IG!u4!$eOc5k)!A_(CEn!6UqF?f2m1PPz!a~CHtZw67;9Rw<q|3lf#X@TI=me4s$2n^ukxTsP#_5M#TbTW)YeTx-c39do_3b(2|8MJxWaVlnNLd)ycpH;JX9$~#y9dYR9|)7aJqtBkv^s$sj(KG3BMRo;|T`BFq$7u)fK^W(bGkrY;p)x`K7*#)xPEk+wSb^4#QIOI5e>j&4&%v-1tX@*m6p<P2;^7zREoLTB{#2F19%BB|kaTHwLFYVpi`c8_~F540o$pUT@kyH2N~VL59fAnk(`Hj6H(GClW@u7sEuT6U_F$^rO=NF-)rG;r)Iktw8pgB@*r!>5HMoI{KZ|qj&YK`;!orRATJi5eL^V@Je;RDcl!BxwMaBbIZd9?|;Xsc)OT>zTK6(3WJq50fYTwNSc$3qZ}%oP392=CY;%_%2!mbOj*<<Hh$p08f#Y+Drfy4879u;F-jj2RyM2g&|9-{StL+j3~_9i?T^a1fSPC;SKV#SszlPV_;`DMSChQg9D-gJhNT)F1nGvs5g&|CNrLmaby+rHGkS@yy%WfoKCY=~dJm<`;d4=V$?#ptZHP0qR8+8|y&504DoVS$ufgfwF<hnD&_|R?q}D&&<!lFDdnZ`&y~UloKXPx0Wl_~fhcO;C=uJf+|HD`FS~CIC4+fiyElt*Ij(1j*0@6wz6v&G|e;r~z|8?<y1`ounF(}D$cZs$z8*cBhWmIlD4>dJJQ_%UEgP-5E4FAjEYdEXfnP2S_`@-D@9$!J?ul)(A7lYdtej}Q(s|<^4kfmV7M@?Z(vM)U=@5z#b@?vme`S!vPIZcRDEh_izxM$^rGE(FndVfv5Je~hDOkE|1QX#vdoS6aaszn5{=xunt2i|Mng%Dm%#F@mq_TG@(r7pGWh%ttEOa-E$P4W$eN%R+kE#U0dPe|C$S0x=|&fkc>XglFU9kcLlqz`Zw&WZ4+AUUqdJV<^b`73-;6z30dKZp)HwEzZV<x1*PP?R^uMuMrFeZaMwqejBc@{fu4fV09bwQ7l-zcYn5c+0l(UTt(JG-H?}?%4#r-ZKt<^wkAV9vpsMUq0btGOH#Wff|Z7C0j}&(rXT>IJ5xMEy(tqK0)dCEWK|x>Ce9cXX1D+(62@`u1^DrOli=n@gazn?9LQI6nuo|@hpSr^(?Hgq4z@4P)Cyo<tLkmHhV*w*s00Z#~4ven6CyFYd86P!^rsoR?C&P+`;CU+tS|6yDrun@x@@SKnCd<+0SnM?7+F1JtIZB$S82O8}N_`g?TmNectc5{^rMF%SA2d?y-NEx>#+gM14av_PQGwirw_*h4!&}OBSroOmbyC*$aB1ZjXmVgReR0;jLE1V!x$0#|{p-jo$f&TSK|;5MXmCkHNkgOqbgg?Qb~-4|g7#@JTwut<nb{xI!-2%>V`kGZ5<<U*Jk@Hl9m4!gDIZR>1v!>j<*+b)V5nHJAkVN<J~@bNFJ;g~VLvDZeqxcGHkXd+i;yHj?NB(hHq3t@3*`G4HQ$PnD4wBWyVkg|EATLhSz6l{-LKM^bXOf%9!t!3b`zE?cHxQ}ydCkam>CRMsDdQ^8A+an@z|{Ru}AA1uE0x2J<%3_>5=?lQ)J80HXon{O!`EEkC^2IlgV*SQJ&i-Ax12t$`Df0lCP&rT^HKSIRqzZ}zgQ|KD`dKO$A0iF+uAag|z$T5a~`I?U&O7No_p7de!>vswq?MdGwe<%c4$;n(8+}1_;;8#>J!eb_F!`E5B<YJPx*RgUGJqo9v$b4u`6d#N=hq+(MQGPYhEuVkaO!H0Bxp3P=9V`8+N|FiSV;EQ{=zFaP`lLi!Xs+p)dF(?BYy8Z1Sg=GPr(I4`Bjjs6&;`BM$FxDsUxr2XONb+~yxNTk;DW5aYe@leQZFJ^?c^P}X97_^=WxOCF~pXL%vEeiY5{U+<R^}auiI9SpHy7L>x3R>r7dDucyf0DZxEWsy}h~bsT@^Q?)_IK)Xsw%;~j9awiPh4*I7W7{M}(Xi)rx^R?eC%^496zZAe1T%-q&;d_4;)gsUxyF(K?;!vD{tn53d)lB4v+M`Aj{Z-AW4FQY^*)ej{!)mET+FMZ!XvyM;i*=4+Y0Y-RMjHx%LfEu||OpK^Aj9t4gU2U<a9uoKU?LbjK{94ctj{#|8`d*VK;hms~(_NoNcs|KP0E{)686$PU4r5ix7RTUv@TExmNN}P+Jv1Q4g|@}dX>pU~!h|6kgaYNso38?s@#~#a5+Db8*_pR8Ufz~~bak~j*3-_Z%%UYn;PC3@CqEc2<Q;5HDw%-0+4ptIy7rVCEb%ro&KfRDn7Y?@0l8{4(^jpviHof<R)=~B1<s#;he$+}+Drv7ann?Ab<JD19})(?YZBoi*A~1zY4MDnA$z@NNRhsLrZ^f&HS8~Mq#^6_`&<dnMRBIzEd&7S(VQ$y_-QzlsmRnrCIRQdIsw;}*Bru{Xa3q3q^jGK%aL_)JSLNJq1zmlr-+G&7-Zoz6aDL15IfUT{Z)}3I5G*R{`k?!3wVDV1J5u%yBoir1u+x(Bsmy7o(8?CyF6$T{L4r+I7exQ^$E~BM0Dthl>?!+Q(H-dP5FHEgHVs<*gJ~hQDQ*O`zJeeILMAl>jy$VVHZB(<!%~=F#bBmwAbB$5cd-DJ_ED;_MWWNFKb?O1koxm7F07yJ^XqW_=xlcnY^iOu*mLp{Vbw&R^sRnOJ?x;RrlAkz%yEKP`)DA5)Lm*faYq3j>2NBJ!Z$yy>tLM{z*f-4VjI>2C<oy2P5-i--yZkY$!9*KLd=}8q6#iZ+5S2{&m0NtUU|{<6d86^q*)5fKjd)ZG?AGNc+3Rm0>A0+*n_j4+f*-cR~Kz7dX4#r$2~b%5xW=kyXG;&Ckalza`id=6rPl7(!R)Wz@m(5?^eehR*&^sYXzP?6uiqb09!p1VW$>KV=Igd|_w%9!x(c*mWK+MbT$!biLLCx+;FS7OCFKy4J6o!H%!fadgL6?jMb`(tkY*G_O&D`|&cbrameF9CWMxq%W0b81lK6l@DNYsyLic3BKh&vbdYq(emY-?E7W#6#pKL0Gt)=|7o@uQNyP-w}ey{VVtqobE@5eR4SPVkQ2+Ye5UFQDQ74cd^tYu;dZg=U<(z%KzsqnF<fr;(wjFI8?*lq=^X2~g|W-?KGWG10vV7a&1sp>hmqOnWJ=_0A!{1$q5l<P4q;+L9gxGa9!L;mmc-E!=Y4r_mwl3j`|F0i;p7;wKOlj9PjX1aE@^SdTI%R%Qw&xGU*g%Qw_nErh7}<<x<}WK;?7g6@5jZDlDRzh^ta-r--=%i*b}a4oH%^9wTJE}v(`@>;S~FCgMC?S?Ct>Ouj_(=!@Tb4;uB5(r_<Br8kDm3C+Q#&M}RqCssEiroQhX9*0RDY;5Xfs=po2)Ezq$EFx}s*^D;<?EAA2B?ay@IlKNYuovzNp-2vVp*qD4e{k_fKKqE5xBZ|VhHRk$XlA@3#yPW_teq}LNDI+X@GvJpSFflxlijuYEaM`&z1~AosHhlw&OPW<S_cB)C;1Fyho84qBFpeVuCRK99IGK9Gr#4Sm=a=3FYk4fIuc*}*C{}>^*iDg0-{iAx^Z+&Xiy|?vg*)lY@^e0t%ZtJB*N#zm2p*nEe0zO+4SkA<6~;r#I5VsrY4d9A$fSaxD+GMvAk?%1a~_jpc#?56*fh3Z{}cwpG2Ooz`zwu9zXo0+ID@~Yg1+<{9OCou)$gEJW0<x)0hwu;7!xk%sN}ybY-0wmjuzxmQikzrG$Zp_6e=pJg{+4-+MeXM+2mN#Gd<JGte9Vos+_FX_arCLv5uv7)r6~MJN;UkqjU-wW2RT5Lf?doWXSH;USoWK9hGy@$`7^imDE>aj`r2asvx0Sm}+R-;ZUaJl))*y=?G_sY>`Ty7kf35cj~jY)1g{J#bc{HWM4RBa4;ClGr1HGabJ!2VX3F(L98m4EMjOD(iIMWs%_r@H@Tf0(yI~GleK9iiz`pKIcZ8zuhh0(_oX0P3~TxNIxifa8&Ql*1rSsTNBS*Y$|!r1W+eA02>s&qCpH)kx1-klPuicF=7|19rm7cqZ&tp`|BAhj9w2=+9Nx4i3|X{EGLQoiOe8T;=iiE?{K%QMm*HLwmmba|HnW%WhQiZ&MI?48mMG>=#jT6PAAmb#R`%&X>PhhGF<myo@H^9dQa?$NFy0eP275J(NX0*E(4GAa5{{?cyK(G|^-Ic<xEExyiCzue+?z3mla{-Jz=DH?Kh1l$2CWlP4cI##fIFnc%PsI}U*!Qql#~INN1?8dnx$hF_GCPG{qDx0(IeRi=YPcEbsxCTZxPRr*^?T{_9$*PMSL|>-5&?!DnbSHWJHk`kE}rE3@u-ZmL5x&0Cz~k{LN?Sx=|ZhNa>7r^^<U<W+HZ@{~!H9e1LhAXo<6_2ow3}=SPe45VD$AGBn!1pQ?@gYUq`iH!A9OiIpVyF5-fwf>w*CjF@7LtRJyn4eNsMRPEd>{^Wx3-Hg`4Itom<8-)pc>=%IHCcZ#NU^CZxBfF;C2lnO6T_U!&v`qf$0`}Fg;TBq`G%W5~=<4JM31O&l!!X$Pr6*?>0rr`BmfaTW8>1X_-Mk7PgaB0%uMJgk4$+S#%vZzmj<Zs8&K$utju0D;aFEMV%^@I{{>ly#@6|9lMj*~`)g2HnbkVK{ol2@e)7a8+SoLn>0F1s0f$3f<4(ca->8GIZ1*rug<vLF5u2gb>F~z~`#k73~+dN+0H*k9dH@5{7;GOUNlMt{!Bz9!%%(#K$F6Fa&O1agaE0$Q$oQroi0dI#9hNz6vVb~Kp%m3=VH;zI6cFevZWjEbBz$_S*(CF3R;ZCDf!>+t~g<L!6ett$nGf=4oeE!fq@pMu%@WvXySJ%F?YgnG<3`I{=wOf;e2bep_Id^8z?i?7+R-H)NeFYz>$?wbL@=!>?j<vbF4iv~$q<dnYPatp7VE&oCqZhujZwKz-0|ZB*M3-J3LP#0h{o^NUO|bJzoi&Sez`LOEVl3k2&^cjjYl}Z@1ve?6=uG!U=x#JZdo?6TnLkg~z3Z~8&xsWO1hrD|;;?GA^n3CG4IiwU3H;E0hceIHM0Dl8v(BBf`4VNUE#SQqvhY5=Bbd@-_|O<g)?bfS^jrDdb}xQq9sAV~<WERyyX48K2Kz&QQwmx=XP}>WS0atP0XPevOeowzOfeYQ3KY6q&#JxK;Io)K({UvO=pCp0@?mqKn3Eh?(ez=VNc`<6F~OzCva=`3tHDO0G^d_<XHzs?UMqwuTdby!ip0ft-lYS07g+fQdTS|f=5uwpzE8+}zgY+UcINKnlX8cCHJEX0ETbW~e}49B?7>JP*d0-ID=ng1@=^kJ1DkXrj#80Pvt2}>%+R3<C6UZ&3*&$o{0<y&R;`d?l#hBLai^5$XAiF^iB|PS>1(+JAHZ2yOOxxTP~%Cq@cn<ghYdf&64?_l|MXpl2fS0P_Hk2j<ggT)XxDwZB;NbTRLSlR#j}-LfWfpl(=KX>RwI5QtrFgpBMz?C@@XU1XsrP3AqJx72!-CKq~W!Fo(B1J6&VAm#sb(CibvE}gU<G(K<YWp6UQU*XeR0+lp+ozKUM11Z3&ncI{vgZoiZzwGluGdak=jX!pGllZ3zYv7Xf{tGq$%csdY@r-Z`tHG0%C^@Nx8r3UE>j19lz_gonrpKV!3=l9euR*g$;;+fkRR0~<Ji0O*TfRD2Wf7&eq;S>zNAN4hOw3H<G5SGE^mH!w)sG5Nqss5aS2xtcbv6)<?uq_xpi!uA309W9@Ix$+#b1+(_ToHe{ll54e^lruf-k_XTinm6y*Vj7jxttv*!3@ycir%_Xe-$mzPIAHGRX;-$r5kCYPO)OKiaI%R#z|t@|K73#7g8|eWz)1?#3hwWL_c(@~P|V20*`Xc1EeH<*_`X1!K1<@;v}`&$UA&iM6P>UVP({}=1H*U#^o2Hq=X*U!i&;t1ks#fcL;C5U!Bf7Xu$l!hcT_&Cd~iblX{8;Eux-y@)??)o1YTiGKW6|nqt@Tp!w1tk3;OMk%0PairJXl1NWM-o0PY5AX2n8W8@)}dxku7aC{Y7pj+Zk9+YieOz`RglenXeXzX4%wGJI<J0gf0qAzNmUST?8)4Xg*fP?2RCubhhk{|l;Ls`f|nWK-Nz6?A|>PAt<<lr_q!E%}CU<~bX!`av`kXKDwB2{13@l+`QpRV*BBU4({-U5)(2b>(3z&b-wPD1gCGlFvz2%@eY6oXu%50h?iMurS^TcKrn~sD13mEl|dhmUXE6$<UHa_Wgc@LYd-W5P;7yl*g4qHbp|UJ<U5^J8l!~iQ2KB6#4wPj)2~gYqT_MP$`GlgDWc*?ok|rHDiai<7s6k0ezuhxa@Cy>|?}JBpcM;)oGq4Sc2x)_w|7U+%pO}j@sOb;jz!a2fIbL%WqYo#=it6hsp~9^Fk`gEmI#L(q6enwAtPq-+i25!9N$lApQ!NJ5q>tbMXB5m~TA-xXhIqm)}Nf5P4`q(ixy;B(fG5Is=9X+T8&778{z0PX@f~wM=cEWq=&Si_J>1y_n1OsLOP-Ca{CpdP&zuzfQ&wz#Bv&iMg=*s%0ne-HY3dM>U58JVP#svs_IV&^zLqBcaR!r^14}i0_FbM~`?|3q6e0Jy#9jcO4?V%#OnwD4XsovpPv>qiZJyP-y_3$x<F*UI@oYC|_n4$_{;K?30@E17W|eHwl#B8W=(V@8|8Wm5EQ^ZxztMKc6g3tlq{QcC%l-i2&>mg1|nJI}tA;-dfl)=+>$0lItxF{(IUON<hs>#y+l6Kh#&nyYg@xqR`JfaUx9lBWWe10N?M(#J9c{r6G)HPP9&q56V4R-pJxa<=8{Rfc?Qp9}`2&{BRwB+dE8s*(5lZRyiQfZlRP4{2WWAq&xiGbR$r37C>IXjMUn=uD^9wQrr#b3&SQanKN{<u$Mq|*96s(o1o;8Ix_InClKHc(Qy&5XX>t1sxyxawJP0Br*#Y)JIv4{VuAbo_siQ3xj0yvLsoY$PRfa6nN6y=e5YYNKn{w`*1W{L%SUR7ag|u4I*66u9!Ec{z0k0L?`!-33UQlhlwxE4>h|NJe=mBF{~aCndqTjjB2%;J$R5ojuz|Z43-TrjK$!fZnNZ;>$_9K7B16Kep5A%>rF5n1zi8XZCD`<uxnR#6?E>!4<Ij=y0XJ)*oA-oCS;+R%v@1JIl=tY|fLS0~|4z3RBsfR*KZ8dosMO@}Q~P3ABu)|zG#MDYUB@TG!&C{MI@@RZzNmp(3)bp2VgPRtA&;aq4@<=_n}pw@f!`ZXuuE~je~Jw09pLRCq?c#>D4ewCr604fqon=*u{wWh&NW0218|23G0|7{rLBt?I0Cf(cUx#Z2H(g>FMmwU0D6Z{2((|wy}y!HQ#p`Zz9r}_^!9h}<{u&f<iJPQU-_{35QpSDA?R)$f8NvP7Gaj=Xj}o*1CQ$IA=k8xm`7J9^+<|}fEkjpbL_v)OAIvJuF&ik9O#wwSAwC3QB6pn)ACE-{SmqX%oJXvYhKrl=Bt<F!k3;!O%}Dk?|xfd=26%IzQ5q+)BM72+=HUOaWZp!ykTF_t}37XDLqmMxM#SVg~T@xEt@`6>I&cenkkrk`1Ja#m?XOay~DY@-=O!7j0+n*cJ}*~5%TLaI%#FX_T3<$9ym~IssKD2sh4melSxR`h0mm-2|?wTrv|`h6r2sIJQEU|7|S2J-v^`)T#clZMFK))kchw>c^hyzx}m+2w>+e57mx;l4KWQ7RxG<8fH@%}bhc42Up@X79k#{$m9t$^D45&&rbGk#Dz571O#kM*nM)J!=(uD4mFoW6+$ZaBTHqbhLvD(o7*UfdK(cw0@hA@lDyPyM*c-zEa~}L#L^E+Q!35vMO!?*^G|>nNmB=`lx&r17_a|amqG7A<o!FZqb}eO$<l2by>4T(vJ75kr>0}CR(M6{<Wa(}fth4z0UCM78A<|KRdxjlK7AUbYS-s8)vA=|t3%DUpecwZXali%0fxWHNy69YMnPWzEq+721*z|*2jqD6`4hN_QX4eJ9!CDYjU&1HI`!sSXe{sT4H@!@|0<aq}1$2{qHdF-3JVC}mn-v-E{!r9Tlma(9fVT`&f_~dPE~V@|e_V;jfNAsDi9=er)GUYtP!CKFRwPE8$Y`_-TSqg9e+U7SYN)*f^_~{6&#*i!R97q>xB8D=$x`C2k&bEXq$ojpYHGlo%Y+ELCLAFVx?399{a843F{X<PnRV4iVDF;-#USM-lH?P{i9aJXd=b+$wk2fjD2l+EeK%C)GUt6&fBc!&BkfB$X~hd}Jio-|1<W0WhIEd`WdgeDuQ4{{J{8NJxvfjR3AkVoFo%U#^w<CWc<4^qVtKqNt9mc8j9uzPozV-(fsV{qc`u;<UJA@<AGNp!myelrHBR-^XB}wVgG_~S9w-HgLnB1dyeYH$JB?Pw#B4l(23*L?TaTaeVxTkt0uNFUq7I{LbgByM05DUi_1X~<u+@PX0#r^$*0J4&ll16=0P{5ypc&*%vf;zeygF@C*IdUwynGuhJ4!6xtN@q=)Cx!pEJ4BIXPl<Cp=o({{vU>gN!x2x;Qz%zRq}NjhM$bX=I}XtQCcnHEGawiPn^^`0KVg({H@K1^YV8CWe-$A?o+s-(cX<zflj&tKx1N`)G$)MS>*|H6?y-s2j|FWt!1;c$_!X@T*s6~$h{7p!lIp6>L6}pvS)wSVsBeMFo!4EMo2c_JnwEfLGfwuD`!}o(OMZ}%rY>?6dY%THH2&S-Ft2u&0ILM-rYxH-*|i_V2-iA68F+EW6~JGF{;8y$e+rdvSOB5?^Iw8iqCPQ0|=qeN@p+%u{$aP(l1g3J~#9h@J^xFD$fzR(P4+?wu)P!tz@ga`Uw|%JV*Qi2J%mUID|@IS0m9xOI~_NmeyEFpKi}$kSkyokozd~2)?}?Act5HR>I{-?qRh*S!BscYk*lmW|i(N*E!9QNya;CXG&#j_uXggvj_&M1NwptO7^mKKHMS7Rf|7Zn)RL|!_U_V(7VY1^aZJhZm=JslF*lKg){E`Av&&MPUx-bdFTkxP^vs25Gy8UwB4>8wp7d#O{*8R>T#7*0qbE(`EXtK)8ub&I6uPgRnu`NY+g9{?F&yp4#ZyFcct<Oe>)_<kr<DPNWV`v>1pZM`nrG|h<WQL<ofk#4_p-lmjS`UGeovq$*qPO8{i#+>2<l?^dOKO;UZDNtT{?AT7+tmg>$|G7>HKG+F|PvG!@wQQ4xoA4PY@3!x>c(?E1iZoNF$P>?bHM*Vw@ni8&%NrCTO=c!n5|f%U|o$5IPlz#ua(u{LTrDSf(8DLBV5!%_j<GlZTlf^DLOr@l1E`)zOnU7q?!i()wGiEiLoW>d85m4d%9aFKMVa*SXRe}+PcN4EUt1J*2tC%*>@8G)ShSp13>=_21tpPU0}Lfi>7tV;^$5QWuEB-)29>i8U?e;{~=e4E5DfW|C?Vi2cEmCaj#UG<CU!CR(Sd~O^6l00BNnkNeA(4|_~epyS1_{3Wi;<;`Xu4|WUz}^j-H;f0i$X0xLM?&4xH;lFm_=$%PJJ5l~km^%<Q)Y*L!XRp?+jzx33z)^XUS=-`poy}F3a8^Enpo(`GhY(x>lB49ngZJkDgYV>zVi=NB=+RtWc8l~^DdiNbvz+zEYj+L2ERjA#l-t-_c8HSH{Y)e^-iZ~vLL*6OyDd8-9OI~UFU_gGW#8LR^Ikwkvks;SwH~4mm#S1vwS5N?ZX+9mUDt5XBZ&Ajh9d!uml3{5H4nDLsRvTDtL&jo|4$KG@9x?t_@>sDKLi_(->@bE$Ie|vSGZvSZ)u?V}75zTs{$4GxBKpgFD)SW`qU-*Uyh!H2v$wLkov~zJMI?Q`)PTJ`=D~ELA@Q=gmH_!^2!X_tvp`Kn{4{)=%>(8^VDML|RV43G$ZkMZ__D%X4aAPM6bldM^{q1vq2zid<G@dao6)n$B!N9x$ij?e<(N^mpI4dkh1m)HMDLdv=Saeq!OkoV34AQ=GAsVe&!TJ78a?u|V1-!qVlmlt7bU5c1b}w60I)%W?qEK=HOQy6OEPGlD(P#F%~$uRZPm1}{R=vmk;al&iZ5^&~=U0jwt@s&=zR6)&=Vz^R~mpwsnm{``xZ>?H6lgL_an@dsUh5Y^Wl-MfK>Gjmp=9upzv$_M5|*C?H9gmO_&r~W9oEM@P|_m0F0fMUo2*7G6g0Q=q9d`x!hulQ(>hv`By4zGEgOhMpTUUo%qn7YQjC?_En-E$}2Z|=S8X_zp81{zhUnGc#8WRgteu99iowQ+dzL5g1H%s+r<$u#<VLPdQ%l=!75x)U0WDwY_EfB)0sf9~1f&v*3EOglbL3_kx+s@zZ+MGSi!nsx`EQITa-^nP+3#%0=IwF}5N?FkNKt7e@k02*#LDAZ(FDq6urrq00@=%HKNfzs$VtgyiQ;e+Ho&hkmhJ%o8f&^i^hs3Rp+IpmR@4a|9mjYiHo8&a@SP$8>@;%Kkl%5R$PMvwnLIYrX(Dn4Z%XYVvbe~_R1&APP`ua4FHPdywt^;M;WlX=`-p|O{-$4p{6U>?YH;K0uWaK^f5!e&$wH*rQTX6wiEz{?o<i-MY6;Aby5!$&$h&mCGUv%;$koyU2IjC55{o3KJ1@GP_nzPTnzP`#2QDto*qRD)*4NGZJ;=rbS(^p{6&SaJ%NUpa1=n(^~jZj)yD2f-pd;O}|RN_|4bU!?~Zz6!9F*~ae{(g|Hw_rvwmKyyHL*UUdrKeuw12X}f!u!uny**SjjkOHU&G<uhvDC(sBu=t23K`wo1k24xaNt+rd56oHMN;yoF9j_eX_FsI*HS!zdH%rBlC+85*Y<#gmrA_}$A(X%oKq&!|MXe=Y%tkGe0Gb^>WZAL>?R4xVYc}o%yL`_#g}RbdSyTUGpn5p1stCVg)4~vrRna5_vosT)IO6L5PhV$To(D?}MdXHPp93eqqcMCJziZ|WcmVcwpR4RvzbR!*pZJ-+>F1ZOqw(PCndod%;JgI<`$Bv~4vN}KP7=yuMKPh2Ts#vNN9KTMokK`@jJhRocS&Gyf5(}Cy&HY1LP-!D1)7r)Zb3v)Pvpnez`uuvEH-;-Y~>h%2rj_0@IP9!K*Ug^4%RttbMgJ8zf9OYfL#!71nvfONO)c(`Pto_e->gg)0yEwMJ&EWM<PEk2g7=}9=sqzjSs}O)^C8-i-Yg1FVVMX0L&pd`HA#2sQCyA6@9uge^62Eq`Y$9TGs*Qpm-s9i3ApU%f=uD?gXt0NpM7PCU~r*01b4!;WDUe-^k3j)LSj^+9&Ly!<uXt3-}!eF4Ft|0Jbx!3I"
if __name__ == "__main__": sys.exit(main())
