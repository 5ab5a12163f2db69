"""What each step means, what it catches, and how to repeat it with tools that know nothing of this one.

The one source of `seal verify --explain` and of two sections of docs/verify.md; a test compares them and
runs every command here. The commands are for a shell standing in the workspace, with the names set:
`NAME=battery PLAN=plan RUN=run`.
"""

from __future__ import annotations

from dataclasses import dataclass

from sealbench.verification.steps import STEP_NAMES


@dataclass(frozen=True)
class Explanation:
    """One step in words.

    Attributes
    ----------
    checks : what is checked.
    catches : what then fails, for example.
    hand : shell commands that repeat it; their exit code or output shows the result.
    reading : what the commands' result means, and what they leave out.
    """

    checks: str
    catches: str
    hand: str
    reading: str


EXPLANATIONS: dict[int, Explanation] = {
    1: Explanation(
        "every file parses, has no unknown field, equals its own canonical re-encoding, calls itself by the "
        "name in its path; `commitments/files.json` lists exactly what is there",
        "one byte changed anywhere",
        """\
python3 -c 'import json
for f in json.load(open("commitments/files.json"))["files"]: print(f["sha256"] + "  " + f["path"])' |
  sha256sum --check --quiet
python3 -c 'import json, sys
data = open(sys.argv[1], "rb").read()
again = json.dumps(json.loads(data), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
sys.exit(data != again.encode())' "commitments/$NAME.json\"""",
        "Silence and exit code 0: every listed file is unchanged, and the commitment is its own canonical "
        "encoding. `find batteries commitments preregistrations runs -type f` shows files that are not "
        "listed; what fields a file may have, docs/spec/ says.",
    ),
    2: Explanation(
        "commitment, plan, run.json and checkpoint carry an SSHSIG by the key that the registry had in force "
        "at their line; `allowed_signers` holds exactly the registry's keys",
        "a zero signature; signed after revocation; with `--key` or `--allowed-signers`, a registry of "
        "somebody else's key",
        """\
for f in "commitments/$NAME.json" "preregistrations/$PLAN.json" "runs/$RUN/run.json"; do
  who=$(ssh-keygen -Y find-principals -f commitments/allowed_signers -s "$f.sig") &&
  ssh-keygen -Y verify -f commitments/allowed_signers -n sealbench -I "$who" -s "$f.sig" < "$f" || exit 1
done
grep -o '"public_key":"[^"]*"' commitments/registry.jsonl""",
        '`Good "sealbench" signature` for each. Then compare the fingerprint with one that the author gave '
        "you on another way: the files only say who calls themselves the author.",
    ),
    3: Explanation(
        "every `.ots` is for exactly the bytes of the file beside it, by SHA-256, append and prepend only",
        "a re-signed copy carries the original's proofs",
        """\
f="commitments/$NAME.json"
ots info "$f.ots" | grep "^File sha256 hash: $(sha256sum "$f" | cut -d' ' -f1)$\"""",
        "Exit code 0: the proof starts from this file's hash. `ots info` lists the operations between that "
        "hash and the block; none of them may be sha1 or ripemd160.",
    ),
    4: Explanation(
        "each attestation's header: Merkle root, work, required target, links; the grade is printed "
        "([timestamps.md](timestamps.md)); a commitment, draft, plan or checkpoint without a proof is "
        "PENDING",
        "a header that links nowhere; regtest work on mainnet",
        """\
ots info "commitments/$NAME.json.ots" | grep -A 1 'BitcoinBlockHeaderAttestation([0-9]*)'
# header.hex: the 80 bytes of that block, from a node or from two explorers that agree
# double SHA-256 of a header, its bytes reversed: the block's hash, which must begin with zeros
python3 -c 'import hashlib, sys
header = bytes.fromhex(sys.stdin.read())
print("merkle root", header[36:68][::-1].hex())
print("block hash ", hashlib.sha256(hashlib.sha256(header).digest()).digest()[::-1].hex())' < header.hex""",
        "The Merkle root must be the one that `ots info` shows before the attestation, and the hash the one "
        "that every explorer gives for this height. With a Bitcoin node, `ots verify FILE.ots` does all of "
        "it. One explorer's word is the grade `explorer`, no more.",
    ),
    5: Explanation(
        "`batteries/NAME.sealed.json` is the file the commitment names",
        "another ciphertext",
        """\
digest=$(sha256sum "batteries/$NAME.sealed.json" | cut -d' ' -f1)
grep -q "\\"sha256\\":\\"$digest\\"" "commitments/$NAME.json\"""",
        "Exit code 0: the hash in the commitment's field `sealed` is the ciphertext's.",
    ),
    6: Explanation(
        "opened items and shared leaves lead to the committed roots; once K is published: K is the committed "
        "one, decrypts to exactly the published battery, draws every item again, the salted leaves give the "
        "committed root, and the baselines are the committed ones; imported items come from the ciphertext, "
        "and K gives their ids and order",
        "items picked by hand",
        """\
python3 - "$NAME" <<'END'
import hashlib, hmac, json, sys
name = sys.argv[1]
commitment = json.load(open(f"commitments/{name}.json"))
k = bytes.fromhex(json.load(open(f"batteries/{name}/key.json"))["secret"])
parts = lambda *all: b"".join(len(p).to_bytes(4, "big") + p for p in all)
sha = lambda data: hashlib.sha256(data).digest()
assert sha(parts(b"sealbench/v1/secret", k)).hex() == commitment["secret_commitment"]
prk = hmac.digest(bytes(32), k, "sha256")
salts = hmac.digest(prk, parts(b"sealbench/v1/salt") + b"\\x01", "sha256")
level = []
for n, item in enumerate(json.load(open(f"batteries/{name}/battery.json"))["items"]):
    text = json.dumps(item, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    level.append(sha(b"\\x00" + hmac.digest(salts, n.to_bytes(8, "big"), "sha256") + text.encode()))
def root(leaves):
    if len(leaves) == 1:
        return leaves[0]
    half = 1 << (len(leaves) - 1).bit_length() - 1
    return sha(b"\\x01" + root(leaves[:half]) + root(leaves[half:]))
assert root(level).hex() == commitment["root"]
END""",
        "Exit code 0: this K and these items are the committed ones. Not repeated by it: decrypting the "
        "envelope (docs/spec/envelope.md) and drawing the items again, which needs the task family's code. "
        "Derived batteries take salts and leaves from their parent (docs/spec/reveal.md).",
    ),
    7: Explanation(
        "the certificate of every published or opened instance, by arithmetic alone; imported answers are "
        'called "asserted, not computed"',
        "a false label",
        """\
python3 -c 'import json, sys
for item in json.load(open(sys.argv[1]))["items"]:
    if item["family"] == "primality": print(item["class_label"], item["params"]["n"])' \\
  "batteries/$NAME/battery.json" | while read -r label n; do
  case "$label $(factor "$n" | wc -w)" in "prime 2" | "composite "[3-9]*) ;; *) exit 1 ;; esac
done""",
        "For primality, `factor` (GNU coreutils) is an independent judge: a prime has one factor. For the "
        "other families docs/families.md says what a certificate shows.",
    ),
    8: Explanation(
        "chain; checkpoints; with `--since`, your own checkpoint; events in a possible order with the files "
        "they name; every signed file belongs to this registry and names the right others",
        "an event removed; a commitment copied from elsewhere",
        """\
prev=$(printf '0%.0s' $(seq 64))
while IFS= read -r line; do
  case $line in *"\\"prev\\":\\"$prev\\""*) ;; *) echo "broken: $line"; exit 1 ;; esac
  prev=$(printf %s "$line" | sha256sum | cut -d' ' -f1)
done < commitments/registry.jsonl
newest=$(ls commitments/checkpoints | grep -x '[0-9]*\\.json' | sort -n | tail -n 1)
grep -q "\\"head\\":\\"$prev\\"" "commitments/checkpoints/$newest\"""",
        "Exit code 0: each line names the hash of the one before, and the last line is the newest "
        "checkpoint's head. Keep that checkpoint: with `--since` a registry cut back later is found out. "
        "`grep NAME commitments/registry.jsonl` shows what was done, and what never was.",
    ),
    9: Explanation(
        "commitment and plan stand at or before the block that run.json names, the checkpoint over the run's "
        "start at or after it; in beacon mode draft and plans at least 6 blocks below the beacon, whose "
        "header is linked, and the run at or above it",
        "a plan first stamped after the run",
        """\
for f in "commitments/$NAME.json" "preregistrations/$PLAN.json"; do
  echo "$f: $(ots info "$f.ots" | grep -o 'BitcoinBlockHeaderAttestation([0-9]*)' | sort | head -n 1)"
done
grep -o '"block":{[^}]*}' "runs/$RUN/run.json\"""",
        "The heights of commitment and plan must not exceed the one in run.json, whose hash must be that "
        "block's. It orders files, not calls: those could have been made before, outside beacon mode.",
    ),
    10: Explanation(
        "the log is the registered one, its chain is whole, one line for every planned call and no other; "
        "after retirement every line agrees with its item, and the published raw response opens the line's "
        "salted hashes and gives every field of the line again",
        "an edited answer; a dropped call",
        """\
prev=$(sha256sum "runs/$RUN/run.json" | cut -d' ' -f1)
while IFS= read -r line; do
  case $line in *"\\"prev\\":\\"$prev\\""*) ;; *) echo "broken: $line"; exit 1 ;; esac
  prev=$(printf %s "$line" | sha256sum | cut -d' ' -f1)
done < "runs/$RUN/log.jsonl"
grep -q "\\"planned_calls\\":$(wc -l < "runs/$RUN/log.jsonl")[,}]" "runs/$RUN/run.json"
grep -q "$(sha256sum "runs/$RUN/log.jsonl" | cut -d' ' -f1)" commitments/registry.jsonl""",
        "Each command's exit code 0: the chain is whole, it has as many lines as calls were planned, and the "
        "registry names this log. The raw responses of a retired battery are in "
        "`batteries/NAME/responses/`, line by line those of the log.",
    ),
    11: Explanation(
        "recomputed from run.json, log and plan, compared byte for byte; its anchors, baselines and history "
        "against the proofs, the commitment and the registry",
        "a rounded-up number",
        """\
python3 - "$RUN" <<'END'
import collections, json, sys
counts = collections.Counter()
for text in open(f"runs/{sys.argv[1]}/log.jsonl"):
    line = json.loads(text)
    cut = line["end"] in ("cut_reported", "cut_inferred")
    lost = cut and line["answer"] not in ("right", "wrong")
    counts[line["endpoint"], line["cap"], line["class_label"], "lost" if lost else "not lost"] += 1
for key in sorted(counts):
    print(*key, counts[key])
END
python3 -c 'from fractions import Fraction; from math import comb
# 8 of 8 against 0 of 8: one of the ways to choose the 8 that were lost
print(Fraction(1, comb(16, 8)))'""",
        "The counts must be those of the report's main table, and with one response per instance and one "
        "stratum the exact p is a fraction of binomial coefficients, as in the last line.",
    ),
    12: Explanation(
        "every difference between plan and run, computed again",
        "a deviation left out of the report",
        """\
python3 - "$PLAN" "$RUN" <<'END'
import json, sys
plan = json.load(open(f"preregistrations/{sys.argv[1]}.json"))
run = json.load(open(f"runs/{sys.argv[2]}/run.json"))
for field in sorted(plan.keys() & run.keys() - {"name", "registry_size", "registry_head", "schema"}):
    if plan[field] != run[field]:
        print(field, "planned", plan[field], "observed", run[field])
END""",
        "What it prints must stand in the report's list of deviations. That list also holds what the log "
        "shows: another model than asked for, missing calls, order.",
    ),
}


def table() -> str:
    """All steps as a Markdown table."""
    rows = ["| step | checks | fails, for example, when |", "|---|---|---|"]
    rows += [
        f"| {step} {STEP_NAMES[step]} | {one.checks} | {one.catches} |" for step, one in EXPLANATIONS.items()
    ]
    return "\n".join(rows)


def by_hand() -> str:
    """All commands as Markdown, one heading a step."""
    parts = []
    for step, one in EXPLANATIONS.items():
        parts.append(f"### {step} {STEP_NAMES[step]}\n\n```sh\n{one.hand}\n```\n\n{one.reading}")
    return "\n\n".join(parts)
