"""`seal test` and `seal plan`: the right test, in the report's words, and clear errors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Seal

HEADER = "id,class,cut,tokens,size\n"


def _csv(folder: Path, rows: list[str]) -> str:
    path = folder / "own.csv"
    path.write_text(HEADER + "".join(row + "\n" for row in rows))
    return str(path)


def _separated(repeats: int = 1) -> list[str]:
    rows = []
    for number in range(8):
        rows += [f"p{number},prime,1,{1000 + number},a", f"c{number},composite,0,{100 + number},a"] * repeats
    return rows


def test_cut_column(seal: Seal, tmp_path: Path) -> None:
    file = _csv(tmp_path, _separated())
    result = seal(
        "test", file, "--class", "class", "--item", "id", "--cut", "cut", "--alternative", "greater"
    )
    assert result.code == 0
    assert "1/12870 = 7.8e-05 (prime greater than composite, exact)" in result.out
    assert "unit      instance; prime: 8 items, 8 responses" in result.out


@pytest.mark.parametrize("repeats", [1, 3])
def test_repeats_do_not_shrink_p(seal: Seal, tmp_path: Path, repeats: int) -> None:
    file = _csv(tmp_path, _separated(repeats))
    result = seal("test", file, "--class", "class", "--item", "id", "--cut", "cut", "--json")
    found = json.loads(result.out)
    assert (found["p"]["num"], found["p"]["den"]) == ("1", "6435")
    assert found["responses"] == [8 * repeats, 8 * repeats]


@pytest.mark.parametrize(
    ("extra", "question"),
    [
        (["--value", "tokens"], "mean_difference"),
        (["--value", "tokens", "--cost-cap", "1000"], "gehan"),
        (["--cut", "cut", "--stratum", "size"], "censoring_difference"),
    ],
)
def test_which_test_is_chosen(seal: Seal, tmp_path: Path, extra: list[str], question: str) -> None:
    file = _csv(tmp_path, _separated())
    found = json.loads(seal("test", file, "--class", "class", "--item", "id", *extra, "--json").out)
    assert found["test"] == question
    assert (found["p"]["num"], found["p"]["den"]) == ("1", "6435")


def test_repeated_costs_with_a_cap_are_restricted_means(seal: Seal, tmp_path: Path) -> None:
    file = _csv(tmp_path, _separated(2))
    arguments = ("--class", "class", "--item", "id", "--value", "tokens", "--cost-cap", "1000")
    result = seal("test", file, *arguments)
    assert "restricted means" in result.out


def test_a_stratum_with_one_class_tells_nothing(seal: Seal, tmp_path: Path) -> None:
    rows = [row.replace(",a", ",b") if row.startswith("p") else row for row in _separated()]
    arguments = ("--class", "class", "--item", "id", "--cut", "cut", "--stratum", "size")
    result = seal("test", _csv(tmp_path, rows), *arguments)
    assert result.code == 0
    assert "0 of 2 hold both classes" in result.out
    assert "not testable" in result.out


@pytest.mark.parametrize(
    ("rows", "code", "message"),
    [
        (["a,x,NaN,1,s", "b,y,0,1,s"], 1, "'NaN' is not a finite number"),
        (["a,x,inf,1,s", "b,y,0,1,s"], 1, "'inf' is not a finite number"),
        (["a,x,1e9999,1,s", "b,y,0,1,s"], 1, "not a finite number"),
        (["a,x,,1,s", "b,y,0,1,s"], 1, "not a finite number"),
        (["a,x,2,1,s", "b,y,0,1,s"], 1, "neither 0 nor 1"),
        (["a,x,1,1,s", "a,y,0,1,s"], 1, "two classes"),
        (["a,x,1,1,s", "b,x,0,1,s"], 2, "1 classes"),
        (["a,x,1,1,s", "b,y,0,1,s", "c,z,0,1,s"], 2, "3 classes"),
        ([], 1, "holds no rows"),
        (["a,x"], 1, "too few fields"),
        ([",x,1,1,s"], 1, "no item"),
    ],
)
def test_wrong_numbers(seal: Seal, tmp_path: Path, rows: list[str], code: int, message: str) -> None:
    result = seal("test", _csv(tmp_path, rows), "--class", "class", "--item", "id", "--cut", "cut")
    assert result.code == code, result
    assert message in result.err
    assert "Traceback" not in result.err


def test_wrong_columns(seal: Seal, tmp_path: Path) -> None:
    file = _csv(tmp_path, _separated())
    missing = seal("test", file, "--class", "klass", "--item", "id", "--cut", "cut")
    assert (missing.code, "no column klass" in missing.err) == (2, True)
    assert "columns there: id, class, cut, tokens, size" in missing.err
    assert seal("test", file, "--class", "class", "--item", "id").code == 2
    both = seal("test", file, "--class", "class", "--item", "id", "--cut", "cut", "--value", "tokens")
    assert both.code == 2
    absent = seal("test", "absent.csv", "--class", "class", "--item", "id", "--cut", "cut")
    assert absent.code == 1


def test_plan_without_rates(seal: Seal) -> None:
    result = seal("plan", "--alpha", "0.05", "--tests", "9")
    assert result.code == 0
    assert result.out.startswith("5 instances per class (10 in all) for a test at level 1/180")
    assert "1/12870 = 7.8e-05" in result.out
    assert "seal create FAMILY --name NAME --per-class 5" in result.err


def test_plan_with_strata_is_not_the_pooled_one(seal: Seal) -> None:
    found = json.loads(seal("plan", "--strata", "4", "--json").out)
    reachable = {row["per_class"]: row["smallest_p"] for row in found["rows"]}
    assert (reachable[2]["num"], reachable[2]["den"]) == ("1", "1296")


@pytest.mark.parametrize(
    "arguments",
    [["--alpha", "0"], ["--alpha", "x"], ["--rates", "0.9"], ["--rates", "0.9,2"], ["--tests", "0"]],
)
def test_wrong_plans(seal: Seal, arguments: list[str]) -> None:
    result = seal("plan", *arguments)
    assert result.code == 2
    assert "seal: hint:" in result.err
