"""`seal plan`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import click

from sealbench.cli.console import Console
from sealbench.cli.options import json_option, pass_console
from sealbench.errors import UsageError

if TYPE_CHECKING:
    from sealbench.stages.plan import Design

_BAR = 20


@click.command("plan")
@click.option("--alpha", default="0.05", show_default=True, help="Level of the family of registered tests.")
@click.option("--tests", type=int, default=1, show_default=True, help="How many tests share it (Holm).")
@click.option(
    "--alternative",
    type=click.Choice(["greater", "less", "two-sided"]),
    default="greater",
    show_default=True,
)
@click.option("--strata", type=int, default=1, show_default=True, help="Equal strata.")
@click.option("--rates", default=None, metavar="R1,R0", help="Expected cut rates of the two classes.")
@click.option("--power", default="0.8", show_default=True, help="Chance to be significant, with --rates.")
@json_option
@pass_console
def command(
    console: Console,
    alpha: str,
    tests: int,
    alternative: Literal["greater", "less", "two-sided"],
    strata: int,
    rates: str | None,
    power: str,
    as_json: bool,
) -> None:
    """\b
    seal plan --alpha 0.05 --tests 9 --rates 0.9,0.2

    How many instances per class a censoring test needs, and the smallest p-value each size can reach.
    Without --rates: the fewest with which full separation is significant.
    """
    from sealbench.stages.plan import plan_design

    design = plan_design(
        alpha=alpha,
        tests=tests,
        alternative=alternative,
        strata=strata,
        rates=_pair(rates),
        power=power,
    )
    if as_json:
        console.json(_as_json(design))
    else:
        console.result(_text(design))
    console.next_step(f"seal create FAMILY --name NAME --per-class {design.needed.per_class}")


def _pair(rates: str | None) -> tuple[str, str] | None:
    if rates is None:
        return None
    parts = rates.split(",")
    if len(parts) != 2:
        raise UsageError(f"--rates {rates}: two rates are needed", hint="--rates 0.9,0.2")
    return parts[0], parts[1]


def _text(design: Design) -> str:
    from sealbench.stats import PValue

    per = "per class and stratum" if design.strata > 1 else "per class"
    level = PValue.exact(design.level).text()
    number = design.needed.per_class
    lines = [
        f"{number} instances {per} ({number * design.strata * 2} in all) for a test at level {level}",
        f"unit: instance; {design.alternative}; exact permutation within {design.strata} strata",
        "",
    ]
    width = max(len(PValue.exact(row.smallest_p).text()) for row in design.rows)
    lines.append(f"{per:>22}  {'smallest p':<{width}}  " + ("power" if design.rates else "reaches the level"))
    for row in design.rows:
        smallest = PValue.exact(row.smallest_p).text()
        mark = "<-" if row.per_class == design.needed.per_class else ""
        lines.append(
            f"{row.per_class:>22}  {smallest:<{width}}  {_last(design, row.smallest_p, row.power)} {mark}"
        )
    return "\n".join(line.rstrip() for line in lines)


def _last(design: Design, smallest: object, power: object) -> str:
    if power is None:
        return "yes" if smallest <= design.level else "no"  # type: ignore[operator]  # both are fractions
    share = float(power)  # type: ignore[arg-type]  # printed only
    return f"{share:6.1%} " + "#" * round(share * _BAR)


def _as_json(design: Design) -> dict[str, object]:
    from sealbench.stats import PValue

    return {
        "schema": "sealbench/plan/v1",
        "per_class": design.needed.per_class,
        "strata": design.strata,
        "alternative": design.alternative,
        "level": PValue.exact(design.level).to_json(),
        "rows": [
            {
                "per_class": row.per_class,
                "smallest_p": PValue.exact(row.smallest_p).to_json(),
                "power": None if row.power is None else float(row.power),
            }
            for row in design.rows
        ],
    }
