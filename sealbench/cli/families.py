"""`seal families`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from sealbench.cli.console import Console
from sealbench.cli.options import json_option, pass_console

if TYPE_CHECKING:
    from sealbench.analysis.leaks import LeakReport
    from sealbench.formats.battery import Parameters

_SHOWN = 10


@click.command("families")
@click.option("--check", "checked", multiple=True, metavar="FAMILY", help="Judge these parameters for leaks.")
@click.option(
    "-p", "given", multiple=True, metavar="FAMILY.PARAMETER=VALUE", help="A parameter, with --check."
)
@json_option
@pass_console
def command(console: Console, checked: tuple[str, ...], given: tuple[str, ...], as_json: bool) -> int:
    """\b
    seal families
    seal families --check primality -p primality.digits=12

    List the installed task families: classes, wordings, parameters with defaults. With --check: what
    short cuts without any search score on a throwaway draw of 10,000 items. Exit code 1 if one leaks.
    """
    if checked:
        return _check(console, checked, given, as_json)
    from sealbench.tasks.base import family_names, get_family

    families = [get_family(name) for name in family_names()]
    if as_json:
        rows = [
            {
                "name": family.name,
                "version": family.version,
                "summary": family.summary,
                "classes": list(family.classes),
                "wordings": list(family.wordings),
                "parameters": family.complete({}),
            }
            for family in families
        ]
        console.json({"schema": "sealbench/families/v1", "families": rows})
        return 0
    for family in families:
        console.result(f"{family.name} (version {family.version}): {family.summary}")
        console.result(f"  classes   {', '.join(family.classes)}")
        console.result(f"  wordings  {', '.join(family.wordings)}")
        for key, value in sorted(family.complete({}).items()):
            console.result(f"  -p {family.name}.{key}={_shown(value)}")
    console.next_step("seal create primality --name primes --per-class 8")
    return 0


def _check(console: Console, names: tuple[str, ...], given: tuple[str, ...], as_json: bool) -> int:
    from sealbench.analysis.leaks import judge_parameters
    from sealbench.stages.create import complete_parameters
    from sealbench.tasks.base import get_family

    parameters = complete_parameters(names, 1, given, ())
    drawn = 0

    def advance() -> None:
        nonlocal drawn
        drawn += 1
        console.progress(f"{drawn} instances drawn")

    reports = {
        chosen.family: judge_parameters(get_family(chosen.family), chosen.parameters, on_instance=advance)
        for chosen in parameters.families
    }
    console.clear_progress()
    if as_json:
        console.json(_as_json(parameters, reports))
    else:
        for name, report in reports.items():
            console.result(_text(name, report))
    return 1 if any(report.leaks for report in reports.values()) else 0


def _text(name: str, report: LeakReport) -> str:
    from sealbench.stats import PValue

    judged = f"{report.instances} throwaway instances, {len(report.baselines)} short cuts judged"
    lines = [f"{name}: {judged}, {len(report.leaks)} leak (corrected p at or below 0.01)"]
    for baseline in report.baselines[: max(_SHOWN, len(report.leaks))]:
        mark = "LEAK" if baseline in report.leaks else "    "
        kind = f" [{baseline.kind}]" if baseline.kind else ""
        p = PValue.exact(baseline.p_adjusted).text()
        lines.append(f"  {mark} {float(baseline.score):6.1%}  {baseline.name}{kind}  corrected p {p}")
    return "\n".join(lines)


def _as_json(parameters: Parameters, reports: dict[str, LeakReport]) -> dict[str, object]:
    from sealbench.stats import PValue

    return {
        "schema": "sealbench/leaks/v1",
        "families": [
            {
                "family": chosen.family,
                "parameters": chosen.parameters,
                "instances": reports[chosen.family].instances,
                "leaks": len(reports[chosen.family].leaks),
                "baselines": [
                    {
                        "name": baseline.name,
                        "kind": baseline.kind,
                        "right": baseline.right,
                        "total": baseline.total,
                        "p_adjusted": PValue.exact(baseline.p_adjusted).to_json(),
                    }
                    for baseline in reports[chosen.family].baselines
                ],
            }
            for chosen in parameters.families
        ],
    }


def _shown(value: object) -> str:
    return ",".join(str(entry) for entry in value) if isinstance(value, list) else str(value)
