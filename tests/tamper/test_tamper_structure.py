"""Structural changes, with `files.json` repaired: fields, lines, files, whole sets of files.

Nothing here may end as OK, except the removals named in `WEAKER_NOT_FALSE`.
"""

from __future__ import annotations

import copy
import itertools
import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from forgery import relist

from sealbench.crypto.canonical import encode
from sealbench.store import FILES, REGISTRY
from sealbench.verification.roles import role_of
from sealbench.verification.tree import PublicTree
from sealbench.verification.verifier import Verifier

# An older checkpoint taken away with its signature and proof leaves less evidence and nothing false:
# what it recorded is covered by the next one. The newest one is missed (see test_verification_attacks), and
# so is one that a retired battery's record holds a copy of.
WEAKER_NOT_FALSE = re.compile(r"commitments/checkpoints/[0-9]+\.json")
THINNED_TO = 20  # variants per file and kind of change in the quick test; `slow` tries all


def check(
    verifier: Verifier, tree: PublicTree, changed: PublicTree, path: str, what: str, figures: Counter[str]
) -> None:
    """A changed tree must fail, and say so of the file that was changed."""
    assert changed.items() != tree.items(), f"{path}: {what} changed nothing"
    result = verifier.verify(changed)
    figures["tried"] += 1
    assert result.verdict == "fail", f"{path}: {what}: {result.sentence}"
    assert any(path in one.subject or path in one.detail for one in result.failures), (
        f"{path}: {what}: {result.failures[:2]}"
    )
    figures["caught"] += 1
    figures[f"first at step {result.failures[0].step:02d}"] += 1


def objects(value: Any) -> Iterator[dict[str, Any]]:
    """Every JSON object inside a value, itself included."""
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from objects(inner)


def without_one_field(value: Any) -> Iterator[Any]:
    for number, found in enumerate(objects(value)):
        for key in found:
            changed = copy.deepcopy(value)
            del list(objects(changed))[number][key]
            yield changed


def with_fields_exchanged(value: Any) -> Iterator[Any]:
    """Each field's value exchanged with its next sibling's, where they differ."""
    for number, found in enumerate(objects(value)):
        keys = list(found)
        for one, other in itertools.pairwise(keys):
            if found[one] != found[other] or type(found[one]) is not type(found[other]):
                changed = copy.deepcopy(value)
                target = list(objects(changed))[number]
                target[one], target[other] = target[other], target[one]
                yield changed


def with_one_field_more(value: Any) -> Iterator[Any]:
    for number, _ in enumerate(objects(value)):
        changed = copy.deepcopy(value)
        list(objects(changed))[number]["zz_note"] = "harmless"
        yield changed


def thinned(variants: Iterator[Any]) -> list[Any]:
    found = list(variants)
    return found[:: 1 + len(found) // THINNED_TO]


def documents(tree: PublicTree) -> Iterator[tuple[str, Any]]:
    for path, data in tree.items():
        role = role_of(path)
        if role.model is not None and not role.lines and len(data) < 4_000:
            yield path, json.loads(data)


CHANGES = [without_one_field, with_fields_exchanged, with_one_field_more]


@pytest.mark.parametrize("change", CHANGES)
def test_fields(tree: PublicTree, verifier: Verifier, figures: Counter[str], change: Any) -> None:
    for path, value in documents(tree):
        check_values(tree, verifier, path, thinned(change(value)), change.__name__, figures)


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_every_field(tree: PublicTree, verifier: Verifier, figures: Counter[str], change: Any) -> None:
    for path, value in documents(tree):
        check_values(tree, verifier, path, list(change(value)), change.__name__, figures)


def check_values(
    tree: PublicTree, verifier: Verifier, path: str, values: list[Any], what: str, figures: Counter[str]
) -> None:
    for value in values:
        altered = tree.with_file(path, encode(value))
        again = altered if path == FILES else relist(altered)
        if again.items() != tree.items():  # fields with equal values were exchanged
            check(verifier, tree, again, path, what, figures)


@pytest.mark.parametrize("change", CHANGES)
def test_fields_of_lines(tree: PublicTree, verifier: Verifier, figures: Counter[str], change: Any) -> None:
    """Every field of one line in the middle of each file of lines."""
    for path, data in line_files(tree):
        lines = data.split(b"\n")[:-1]
        number = len(lines) // 2
        for value in change(json.loads(lines[number])):
            raw = encode(value)
            if raw != lines[number]:
                altered = tree.with_file(path, joined([*lines[:number], raw, *lines[number + 1 :]]))
                check(verifier, tree, relist(altered), path, f"{change.__name__} of a line", figures)


def test_a_field_given_twice(tree: PublicTree, verifier: Verifier, figures: Counter[str]) -> None:
    for path, data in tree.items():
        if role_of(path).model is None or path == FILES:
            continue
        first = re.match(rb'\{("[a-z0-9_]+":(?:"[^"]*"|[0-9]+|null|true|false))', data)
        if first:
            twice = b"{" + first.group(1) + b"," + data[1:]
            check(verifier, tree, relist(tree.with_file(path, twice)), path, "field twice", figures)


def line_files(tree: PublicTree) -> list[tuple[str, bytes]]:
    return [(path, data) for path, data in tree.items() if role_of(path).lines]


def joined(lines: list[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines)


def test_lines_dropped_doubled_exchanged(tree: PublicTree, verifier: Verifier, figures: Counter[str]) -> None:
    for path, data in line_files(tree):
        lines = data.split(b"\n")[:-1]
        for at in range(len(lines)):
            variants = {
                "dropped": [*lines[:at], *lines[at + 1 :]],
                "doubled": [*lines[: at + 1], *lines[at:]],
                "cut off from here": lines[:at],
            }
            if at + 1 < len(lines):
                variants["exchanged"] = [*lines[:at], lines[at + 1], lines[at], *lines[at + 2 :]]
            for what, changed in variants.items():
                altered = relist(tree.with_file(path, joined(changed)))
                check(verifier, tree, altered, path, f"line {at + 1} {what}", figures)


def test_line_ends(tree: PublicTree, verifier: Verifier, figures: Counter[str]) -> None:
    for path, data in line_files(tree):
        for what, changed in (
            ("no last line feed", data[:-1]),
            ("an empty line more", data + b"\n"),
            ("CR LF", data.replace(b"\n", b"\r\n")),
            ("empty", b""),
        ):
            check(verifier, tree, relist(tree.with_file(path, changed)), path, what, figures)


def test_files_removed(tree: PublicTree, verifier: Verifier, figures: Counter[str]) -> None:
    for path in tree.paths():
        result = verifier.verify(
            relist(tree.with_file(path, None)) if path != FILES else tree.with_file(path, None)
        )
        figures["tried"] += 1
        if path.endswith(".ots") and role_of(path).kind != "copy":
            assert result.verdict == "pending", path
            assert any(path.removesuffix(".ots") == one.subject for one in result.step(4)), path
            figures["never stamped, not OK"] += 1
        elif path == "commitments/headers.bin":
            assert result.verdict == "unchecked", path
            figures["headers missing, not OK"] += 1
        else:
            assert result.verdict == "fail", f"{path} can be removed: {result.sentence}"
            assert any(path in one.subject or path in one.detail for one in result.failures), path
            figures["caught"] += 1


def test_files_removed_with_everything_about_them(
    tree: PublicTree, verifier: Verifier, figures: Counter[str]
) -> None:
    newest = max(int(role_of(path).name) for path in tree.paths() if role_of(path).kind == "checkpoint")
    for path in tree.paths():
        if path + ".sig" not in tree:
            continue
        result = verifier.verify(
            relist(tree.with_files({path: None, path + ".sig": None, path + ".ots": None}))
        )
        figures["tried"] += 1
        copied = any(other.endswith(f"/record/{path}") for other in tree.paths())
        if WEAKER_NOT_FALSE.fullmatch(path) and not copied:
            last = path == f"commitments/checkpoints/{newest}.json"
            assert (result.verdict == "pending") == last, f"{path}: {result.sentence}"
            figures["newest checkpoint, not OK" if last else "older checkpoint, weaker but not false"] += 1
        else:
            assert result.verdict == "fail", f"{path} can be removed with its signature and proof"
            figures["caught"] += 1


def companions(tree: PublicTree, path: str) -> list[str]:
    return [path + suffix for suffix in ("", ".sig", ".ots") if path + suffix in tree]


def test_files_exchanged_between_two_batteries(
    tree: PublicTree, verifier: Verifier, figures: Counter[str]
) -> None:
    """Each file of one battery in the other's place: alone, and with its signature and proof."""
    for path in tree.paths():
        other = path.replace("primes", "pairs")
        if other == path or other not in tree:
            continue
        groups = [[path], companions(tree, path)] if not path.endswith((".sig", ".ots")) else [[path]]
        for group in groups:
            changes: dict[str, bytes | None] = {}
            for one in group:
                partner = one.replace("primes", "pairs")
                changes[one], changes[partner] = tree.get(partner), tree.get(one)
            check(verifier, tree, relist(tree.with_files(changes)), path, "exchanged with pairs'", figures)


def test_files_of_another_authors_workspace(
    tree: PublicTree, stranger: PublicTree, verifier: Verifier, figures: Counter[str]
) -> None:
    for path in tree.paths():
        if path not in stranger or path == FILES or stranger.get(path) == tree.get(path):
            continue
        for group in ([path], companions(tree, path)):
            changes = {one: stranger.get(one) for one in group}
            changed = relist(tree.with_files(changes))
            if path in ("commitments/headers.bin", REGISTRY):
                # Other blocks, or other events, than every other file speaks of: all of these are named.
                assert verifier.verify(changed).verdict == "fail"
                figures["tried"] += 1
                figures["caught"] += 1
                continue
            check(verifier, tree, changed, path, "another author's", figures)


def test_files_added(tree: PublicTree, verifier: Verifier, figures: Counter[str]) -> None:
    """A file that no event made, well-formed and listed, does not pass as part of the workspace."""
    for path in tree.paths():
        role = role_of(path)
        if role.kind in ("registry", "files", "headers", "signers", "other", "checkpoint"):
            continue
        added = path.replace("primes", "extra").replace("pairs", "extra").replace("spare", "extra")
        if added in tree or added.endswith((".sig", ".ots")):
            continue
        check(verifier, tree, relist(tree.with_file(added, tree.get(path))), added, "added", figures)
