"""`seal audit`: where the classes come from, and what is said where they cannot."""

from __future__ import annotations

import json
from fractions import Fraction
from math import comb
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Seal


def _log(path: Path, rows: int = 40) -> Path:
    """Item n takes 10 (n + 1) tokens and is cut from the 21st on; the target is of no use."""
    lines = ["id,target,difficulty,finish_reason,output_tokens,score"]
    for n in range(rows):
        cut = n >= rows // 2
        end = "length" if cut else "stop"
        lines.append(f"item{n},answer {n},{n % 7 if n == 3 else n},{end},{10 * n + 10},{int(not cut)}")
    path.write_text("\n".join(lines) + "\n")
    return path


def _group(seal: Seal, *arguments: str) -> dict[str, Any]:
    result = seal("audit", *arguments, "--json")
    assert result.code == 0, result.err
    (group,) = json.loads(result.out)["groups"]
    assert isinstance(group, dict)
    return group


def _p(group: dict[str, Any]) -> Fraction:
    return Fraction(int(group["p_item"]["num"]), int(group["p_item"]["den"]))


def test_bins_split_a_number_at_its_quantiles(seal: Seal, tmp_path: Path) -> None:
    group = _group(seal, str(_log(tmp_path / "log.csv")), "--class", "difficulty", "--bins", "2")
    assert {name: counts["items"] for name, counts in group["classes"].items()} == {
        "difficulty 0 to 19": 20,
        "difficulty 20 to 39": 20,
    }
    assert group["class1"] == "difficulty 20 to 39"
    assert _p(group) == Fraction(2, comb(40, 20))
    four = _group(seal, str(tmp_path / "log.csv"), "--class", "difficulty", "--bins", "4")
    assert [counts["items"] for counts in four["classes"].values()] == [10] * 4


def test_bins_of_what_is_no_number(seal: Seal, tmp_path: Path) -> None:
    group = _group(seal, str(_log(tmp_path / "log.csv")), "--class", "target", "--bins", "2")
    assert group["tested"] is None
    assert "target holds no numbers to split into bins" in group["reason"]


def test_labels_of_a_file(seal: Seal, tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    labels.write_text(
        "item,class\n" + "".join(f"item{n},{'hard' if n >= 20 else 'easy'}\n" for n in range(39))
    )
    group = _group(seal, str(_log(tmp_path / "log.csv")), "--labels", str(labels))
    assert group["class_field"] == "labels.csv"
    assert {name: counts["items"] for name, counts in group["classes"].items()} == {
        "easy": 20,
        "hard": 19,
        "(no class)": 1,  # item39 is in no line of the file
    }
    assert _p(group) == Fraction(1, comb(39, 19))


def test_class_from_another_models_log(seal: Seal, tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text("id,score\n" + "".join(f"item{n},{int(n < 20)}\nitem{n},1\n" for n in range(40)))
    group = _group(seal, str(_log(tmp_path / "log.csv")), "--class-from", str(other))
    # A mean score of one half counts as right: every item was right at least once in two.
    assert "only one class" in group["reason"]
    other.write_text("id,score\n" + "".join(f"item{n},{int(n < 20)}\n" for n in range(40)))
    group = _group(seal, str(tmp_path / "log.csv"), "--class-from", str(other))
    assert set(group["classes"]) == {"right in other.csv", "wrong in other.csv"}
    assert group["class1"] == "wrong in other.csv"
    assert _p(group) == Fraction(2, comb(40, 20))


def test_class_from_a_log_of_other_items_says_so(seal: Seal, tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text("id,score\n" + "".join(f"thing{n},1\n" for n in range(40)))
    group = _group(seal, str(_log(tmp_path / "log.csv")), "--class-from", str(other))
    assert "no row has a right in other.csv" in group["reason"]


@pytest.mark.parametrize(
    ("options", "code", "told", "hint"),
    [
        (("--class", "a", "--class-pattern", "b"), 2, "both say what the classes are", "give one of them"),
        (("--class-pattern", "("), 2, "is no regular expression", "--class-pattern '(prime|composite)$'"),
        (("--labels", "absent.csv"), 1, "not a readable CSV", "a header, then item,class lines"),
        (("--labels", "short.csv"), 1, "not lines of item and class", "a header, then item,class lines"),
        (("--class-from", "absent.csv"), 1, "there is no such file", "seal audit LOG…"),
        (("--class-from", "labels.csv"), 1, "holds no scores", "another model's scored log"),
        (("--class1", "maybe"), 2, "no item of class maybe", "--class"),
        (("--name", "1"), 2, "is not of the form", "--name LABEL=NAME"),
        (("--column", "banana=id"), 2, "there is no role 'banana'", "roles: item"),
        (("--column", "tokens=absent"), 2, "no column 'absent'", "columns there: id, target"),
        (("--format", "banana"), 2, "there is no log format 'banana'", "inspect-eval"),
        (("--alpha", "5"), 2, "does not lie between 0 and 1", "--alpha 0.05"),
        (("--alpha", "1/0"), 2, "is not a number", "--alpha 0.05"),
    ],
)
def test_wrong_options(
    seal: Seal, tmp_path: Path, options: tuple[str, ...], code: int, told: str, hint: str
) -> None:
    _log(tmp_path / "log.csv")
    (tmp_path / "short.csv").write_text("item\nitem1\n")
    (tmp_path / "labels.csv").write_text("item,class\nitem1,a\n")
    result = seal("audit", "log.csv", *options, cwd=tmp_path)
    assert result.code == code
    assert result.err.startswith("seal: error: ")
    assert told in result.err
    assert hint in result.err.split("seal: hint: ")[1]
    assert "Traceback" not in result.err


def test_rank_orders_that_cut_answers_could_reverse(seal: Seal, tmp_path: Path) -> None:
    """Model a has 12 of 20, b 10 with 5 cut (10 to 15), c 5 with none: only a and b can change places."""
    lines = ["id,model,target,finish_reason,score"]
    for model, right, cut in (("a", 12, 0), ("b", 10, 5), ("c", 5, 0)):
        for n in range(20):
            score, end = int(n < right), "length" if n >= 20 - cut else "stop"
            lines.append(f"{n},{model},{'yes' if n % 2 else 'no'},{end},{score}")
    log = tmp_path / "log.csv"
    log.write_text("\n".join(lines) + "\n")
    result = seal("audit", str(log), "--json")
    assert json.loads(result.out)["reversals"] == [{"task": "log", "first": "a", "second": "b"}]
    text = seal("audit", str(log)).out
    assert "Rank orders that the cut answers could reverse" in text
    assert "log: a and b could change places" in text
