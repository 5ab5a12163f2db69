"""docs/findings.md: its figures are those of the logs, and of the counts, in tests/data/logs."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from fractions import Fraction
from pathlib import Path

from sealbench.stats.contingency import fisher_exact
from sealbench.stats.multiplicity import holm
from tests.conftest import Seal

ROOT = Path(__file__).parents[2]
LOGS = ROOT / "tests" / "data" / "logs"
PAGE = (ROOT / "docs" / "findings.md").read_text()
NAMES = {
    "qwen_qwq-32b": "QwQ-32B",
    "deepseek_deepseek-r1": "DeepSeek-R1",
    "google_gemma-3-27b-it": "Gemma-3-27B",
}
ITEM_P = Fraction(13642861, 7717375240400)


def _two_class_tasks() -> dict[tuple[str, str], dict[str, tuple[int, int]]]:
    """(run, task) to its classes' (empty, all) completions."""
    tasks: dict[tuple[str, str], dict[str, tuple[int, int]]] = defaultdict(dict)
    with (LOGS / "rg_empty_two_class.csv").open(newline="") as stream:
        for row in csv.DictReader(stream):
            run = f"{row['difficulty']}, {NAMES[row['model']]}"
            tasks[(run, row["task"])][row["class"]] = (int(row["n_empty"]), int(row["n_completions"]))
    return tasks


def test_the_table_of_two_class_tasks() -> None:
    tasks = _two_class_tasks()
    assert len(tasks) == 10
    for (run, task), classes in tasks.items():
        counts = ", ".join(f"{name} {empty}/{all_}" for name, (empty, all_) in sorted(classes.items()))
        p = fisher_exact([list(pair) for pair in classes.values()], level=None).p_value.value
        shown = "1" if p == 1 else f"{float(p):.2f}" if p > Fraction(1, 100) else f"{float(p):.1e}"
        assert f"| {run} | {task} | {counts} | {shown} |" in PAGE


def test_the_correction_over_ten_and_over_a_hundred_tasks() -> None:
    tasks = _two_class_tasks()
    p_values = {
        f"{run} {task}": fisher_exact([list(pair) for pair in classes.values()], level=None).p_value.value
        for (run, task), classes in tasks.items()
    }
    p_values["easy, QwQ-32B game_of_life_halting"] = ITEM_P
    assert holm(p_values)["easy, QwQ-32B game_of_life_halting"] == 10 * ITEM_P
    assert f"{float(10 * ITEM_P):.1e}" == "1.8e-05"
    assert f"{float(100 * ITEM_P):.1e}" == "1.8e-04"
    assert "by 10 the p-value is 1.8e-05" in PAGE
    assert "by 100 it is 1.8e-04" in PAGE


def test_every_copy_that_is_named_is_there_and_every_command_runs(seal: Seal) -> None:
    for path in sorted(LOGS.glob("*")):
        if path.name.startswith(("rg_", "llmdrift", "inspect_")) and path.name != "rg_empty_two_class.csv":
            assert path.name in PAGE
            assert seal("audit", str(path)).code == 0


def test_the_reproducing_command_reads_the_published_columns(seal: Seal, tmp_path: Path) -> None:
    """The original's columns, filled from the copy: the command in the page finds the same counts."""
    head = ["", "Unnamed: 0", "model", "temperature", "max_tokens", "trail", "dataset", "id", "query"]
    head += [
        "ref_answer",
        "answer",
        "latency",
        "cost",
        "date",
        "timestamp",
        "answer_token",
        "latency_per_token",
    ]
    log = tmp_path / "PRIME_FULL_EVAL.csv"
    with (LOGS / "llmdrift_prime.csv").open(newline="") as source, log.open("w", newline="") as target:
        writer = csv.writer(target)
        writer.writerow(head)
        for place, row in enumerate(csv.DictReader(source)):
            question = f'Is {row["n"]} a prime number? Think step by step and then answer "[Yes]" or "[No]".'
            right = "yes" if row["is_prime"] == "1" else "no"
            asked = [place, place, row["model"], 0.1, row["max_tokens"], 0, "prime", row["id"], question]
            told = ["07/02/2023, 21:28:40", row["output_tokens"], 0.1]
            writer.writerow([*asked, right, "[Yes]", 1.0, 0.1, 20230716, *told])
    block = PAGE[PAGE.index("    seal audit generation/PRIME_FULL_EVAL.csv") :].split("\n\n")[0]
    options = block.replace("\\\n", " ").split()[3:]
    view = json.loads(seal("audit", str(log), *options, "--json").out)
    at_cap = {
        group["model"]: (group["classes"]["yes"]["at_cap"], group["classes"]["no"]["at_cap"])
        for group in view["groups"]
    }
    assert sorted(at_cap.values()) == [(0, 0), (1, 5), (3, 1), (14, 18)]
    assert any('"odd means yes" scores 78.2%' in text for text in view["groups"][0]["warnings"])
