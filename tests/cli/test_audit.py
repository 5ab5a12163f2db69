"""`seal audit` on published and synthetic logs: the right numbers, measured words, clear errors."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Seal

LOGS = Path(__file__).parents[1] / "data" / "logs"
QWQ = LOGS / "rg_qwq32b_easy_game_of_life_halting.json"
PRIMES = ("--class", "is_prime", "--name", "1=prime", "--name", "0=composite")


def _groups(seal: Seal, name: str, *options: str) -> list[dict[str, Any]]:
    result = seal("audit", str(LOGS / name), *options, "--json")
    assert result.code == 0, result.err
    view = json.loads(result.out)
    assert view["schema"] == "sealbench/audit/v1"
    groups: list[dict[str, Any]] = view["groups"]
    return groups


def test_empty_answers_by_class(seal: Seal) -> None:
    (group,) = _groups(seal, QWQ.name)
    assert group["tested"] == "empty"
    assert group["class1"] == "False"
    counts = {name: (own["empty"], own["responses"], own["items"]) for name, own in group["classes"].items()}
    assert counts == {"False": (66, 81, 27), "True": (16, 69, 23)}
    assert (group["p_item"]["num"], group["p_item"]["den"]) == ("13642861", "7717375240400")
    assert group["p_response"]["approx"] == pytest.approx(3.9e-13, rel=0.02)
    assert group["scores"]["recorded"] == pytest.approx(0.45333, abs=1e-4)
    assert group["scores"]["answered_only"] == 1.0
    assert group["finding"] == "asymmetric"
    assert "neither stop reasons nor token counts" in group["reason"]


def test_one_sided(seal: Seal) -> None:
    (group,) = _groups(seal, QWQ.name, "--alternative", "greater")
    assert group["p_item"]["approx"] == pytest.approx(1.287e-6, rel=1e-3)


def test_negative_controls(seal: Seal) -> None:
    (o3mini,) = _groups(seal, "rg_o3mini_easy_game_of_life_halting.json")
    assert o3mini["finding"] == "nothing cut"
    assert sum(own["empty"] for own in o3mini["classes"].values()) == 0
    (course,) = _groups(seal, "rg_qwq32b_hard_course_schedule.json")
    assert course["finding"] == "not shown"
    assert course["p_item"]["approx"] == pytest.approx(0.725, abs=5e-4)
    for name in ("inspect_popularity100_trimmed.json", "inspect_popularity_gpt4omini.eval"):
        (group,) = _groups(seal, name)
        assert group["reason"] == "nothing was cut and no response is empty"


def test_llmdrift(seal: Seal) -> None:
    groups = {group["model"]: group for group in _groups(seal, "llmdrift_prime.csv", *PRIMES)}
    at_cap = {
        model: (group["classes"]["prime"]["at_cap"], group["classes"]["composite"]["at_cap"])
        for model, group in groups.items()
    }
    assert at_cap == {
        "gpt-3.5-turbo-0301": (1, 5),
        "gpt-3.5-turbo-0613": (14, 18),
        "gpt-4-0314": (3, 1),
        "gpt-4-0613": (0, 0),
    }
    assert not any(group["finding"] == "asymmetric" for group in groups.values())
    assert groups["gpt-3.5-turbo-0301"]["p_item"]["approx"] == pytest.approx(0.217, abs=5e-4)
    caps = {point["cap"]: point for point in groups["gpt-4-0314"]["counterfactual"]["caps"]}
    assert caps[100]["above"] == {"prime": 496, "composite": 236}
    assert caps[100]["p"]["approx"] == pytest.approx(3.6e-93, rel=0.03)
    assert groups["gpt-4-0314"]["safe_cap"] == max(groups["gpt-4-0314"]["safe_cap_by_class"].values())
    warnings = " ".join(groups["gpt-4-0314"]["warnings"])
    assert "class and run order are confounded: all prime items" in warnings
    assert '"odd means prime" scores 78.2%' in warnings
    assert "By the counterfactual rule, tokens > 1000, these would be 0" in warnings


@pytest.mark.parametrize(
    ("name", "options", "class1", "sizes"),
    [
        ("SYNTHETIC_inspect_primes_cap300.eval", (), "Yes", (20, 20, 0, 20)),
        ("SYNTHETIC_inspect_primes_cap300.json", (), "Yes", (20, 20, 0, 20)),
        ("SYNTHETIC_lmeval_samples_primes40.jsonl", (), "Yes", (20, 20, 0, 20)),
        (
            "SYNTHETIC_openai_batch_output.jsonl",
            ("--class-pattern", "(prime|composite)$"),
            "prime",
            (8, 8, 0, 31),
        ),
        (
            "SYNTHETIC_anthropic_batch_results.jsonl",
            ("--class-pattern", "(prime|composite)$"),
            "prime",
            (8, 8, 0, 31),
        ),
    ],
)
def test_synthetic_logs(
    seal: Seal, name: str, options: tuple[str, ...], class1: str, sizes: tuple[int, ...]
) -> None:
    (group,) = _groups(seal, name, *options)
    assert group["class1"] == class1
    ordered = [group["classes"][class1]] + [own for label, own in group["classes"].items() if label != class1]
    assert tuple(n for own in ordered for n in (own["empty"], own["responses"])) == sizes
    assert sum(own["responses"] + own["missing"] for own in ordered) == 40
    assert group["finding"] == "asymmetric"


def test_fail_on_asymmetry_and_files(seal: Seal, tmp_path: Path) -> None:
    page, text = tmp_path / "a.html", tmp_path / "a.md"
    result = seal("audit", str(QWQ), "--fail-on", "asymmetry", "--html", str(page), "--markdown", str(text))
    assert result.code == 1
    assert "ASYMMETRIC" in result.out
    assert page.read_text().startswith("<!DOCTYPE html>")
    assert text.read_text().startswith("# Censoring by class")
    quiet = LOGS / "rg_qwq32b_hard_course_schedule.json"
    assert seal("audit", str(quiet), "--fail-on", "asymmetry").code == 0


def test_the_safe_cap_of_each_class_and_where_it_cannot_be_told(seal: Seal, tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    short = [f"s{n},short,stop,{n + 1}\n" for n in range(59)]
    long = [f"l{n},long,{'length' if n > 50 else 'stop'},{100 if n > 50 else n + 41}\n" for n in range(59)]
    log.write_text("id,target,finish_reason,output_tokens\n" + "".join(short + long))
    text = " ".join(seal("audit", str(log), "--cap", "100").out.split())
    # With 59 costs the largest bounds 95% of them (1 - 0.95^59 > 0.95); of the long ones it was cut.
    assert (
        "safe cap: these data cannot tell (not reached with these data: long: 59 costs, 8 of them cut" in text
    )
    assert "by class: short 59" in text


def test_no_class_is_said(seal: Seal) -> None:
    groups = _groups(seal, "llmdrift_prime.csv")
    assert all(group["tested"] is None for group in groups)
    assert "is_prime" in groups[0]["reason"]
    assert "--class FIELD" in groups[0]["reason"]


def test_nothing_recorded(seal: Seal, tmp_path: Path) -> None:
    log = tmp_path / "bare.csv"
    log.write_text("id,target,score\n" + "".join(f"{n},{n % 2},1\n" for n in range(20)))
    result = seal("audit", str(log))
    assert result.code == 0
    assert "cannot be concluded" in " ".join(result.out.split())


def test_broken_logs(seal: Seal, tmp_path: Path) -> None:
    whole = (LOGS / "SYNTHETIC_inspect_primes_cap300.eval").read_bytes()
    broken = tmp_path / "broken.eval"
    broken.write_bytes(whole[: len(whole) // 2])
    result = seal("audit", str(broken))
    assert (result.code, "not a whole zip file" in result.err) == (1, True)
    half = tmp_path / "samples_half.jsonl"
    half.write_bytes((LOGS / "SYNTHETIC_lmeval_samples_primes40.jsonl").read_bytes()[:-100])
    result = seal("audit", str(half))
    assert (result.code, "ends in the middle of a line" in result.err) == (1, True)
    cut = tmp_path / "cut.json"
    cut.write_bytes(QWQ.read_bytes()[:-200])
    result = seal("audit", str(cut))
    assert (result.code, "not valid JSON" in result.err) == (1, True)
    assert seal("audit", str(tmp_path / "absent")).code == 1


def test_models_in_one_folder_are_not_pooled(seal: Seal, tmp_path: Path) -> None:
    for name in (QWQ.name, "rg_o3mini_easy_game_of_life_halting.json"):
        shutil.copy(LOGS / name, tmp_path / name)
    view = json.loads(seal("audit", str(tmp_path), "--json").out)
    assert [group["finding"] for group in view["groups"]] == ["asymmetric", "nothing cut"]


def test_flipped_byte_in_a_zstd_member_is_found(seal: Seal, tmp_path: Path) -> None:
    data = bytearray((LOGS / "SYNTHETIC_inspect_primes_cap300.eval").read_bytes())
    data[len(data) // 3] ^= 0xFF
    log = tmp_path / "flipped.eval"
    log.write_bytes(data)
    result = seal("audit", str(log))
    assert result.code == 1
    assert "Traceback" not in result.err
