"""Exact permutation tests side by side with the tools statisticians use, in one run on one machine.

Every peer gets the same data: lognormal token counts clipped at 4000, half per class. Ratios compare with
this package's exact tier in the same row. R's coin and exactRankTests take part where Rscript is installed.

    python benchmarks/bench_stats.py [--largest N] [--repeat K]
"""

from __future__ import annotations

import argparse
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from sealbench.stats import planner
from sealbench.stats.permutation import mean_difference, rank_sum
from sealbench.stats.scores import linear_design
from sealbench.stats.tail import count_float

SIZES = (48, 96, 200, 500, 1000)
R_CODE = {
    "coin": """suppressMessages(library(coin)); v <- c({x}, {y}); g <- factor(rep(c("a", "b"), c({m}, {n})));
        s <- proc.time()[["elapsed"]]
        p <- pvalue(oneway_test(v ~ g, data.frame(v, g), distribution = exact(), alternative = "greater"))
        cat(proc.time()[["elapsed"]] - s)""",
    "exactRankTests": """suppressMessages(library(exactRankTests)); x <- c({x}); y <- c({y})
        s <- proc.time()[["elapsed"]]; p <- perm.test(x, y, alternative = "greater")$p.value
        cat(proc.time()[["elapsed"]] - s)""",
}


def show(line: str) -> None:
    """One line of the table, at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def tokens(size: int) -> tuple[list[int], list[int]]:
    """Token counts of both classes, class 1 a little longer."""
    generator = np.random.default_rng(size)
    one = np.minimum(4000, generator.lognormal(7.1, 0.6, size // 2)).astype(int)
    zero = np.minimum(4000, generator.lognormal(6.9, 0.6, size - size // 2)).astype(int)
    return [int(value) for value in one], [int(value) for value in zero]


def seconds(call: Callable[[], object], repeat: int) -> float:
    """The best of several runs."""
    best = float("inf")
    for _ in range(repeat):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best


def float_tier(one: list[int], zero: list[int]) -> float | None:
    """The float tier alone, whatever the planner would choose; None where its tables would be too large."""
    design = linear_design([([Fraction(value) for value in one], [Fraction(value) for value in zero])])
    deficit = design.largest - design.observed
    scale = planner.float_scale(design.strata)
    cost = planner.dense_cost(design.strata, deficit, exact=False, limit=None)
    if scale is None or not cost.possible:
        return None
    start = time.perf_counter()
    count_float(design.strata, deficit, scale, cost.work)
    return time.perf_counter() - start


def in_r(package: str, one: list[int], zero: list[int], limit: float) -> float | None:
    """Seconds R takes, None without R or the package, or beyond the limit."""
    program = shutil.which("Rscript")
    if program is None:
        return None
    code = R_CODE[package].format(
        x=",".join(map(str, one)), y=",".join(map(str, zero)), m=len(one), n=len(zero)
    )
    try:
        done = subprocess.run(
            [program, "-e", code], capture_output=True, text=True, timeout=limit, check=True
        )
        return float(done.stdout)
    except (subprocess.SubprocessError, ValueError):
        return None


def in_scipy(one: list[int], zero: list[int], draws: int) -> float:
    """scipy has no exact test at these sizes: its Monte Carlo, for scale."""
    import scipy.stats

    def difference(x: np.ndarray, y: np.ndarray, axis: int) -> np.ndarray:
        return np.mean(x, axis=axis) - np.mean(y, axis=axis)

    start = time.perf_counter()
    scipy.stats.permutation_test(
        (one, zero), difference, n_resamples=draws, vectorized=True, batch=1000, alternative="greater"
    )
    return time.perf_counter() - start


def scipy_ranks(repeat: int) -> None:
    """The one exact test both have: rank sums without ties."""
    import scipy.stats

    generator = np.random.default_rng(1)
    show("\nrank sum without ties   sealbench      scipy   scipy/sealbench")
    for size in (20, 50, 100, 200):
        pooled = generator.permutation(10 * size)[:size]
        one, zero = pooled[: size // 2].tolist(), pooled[size // 2 :].tolist()
        mine = seconds(lambda one=one, zero=zero: rank_sum(one, zero, time_limit=None), repeat)
        peer = seconds(lambda one=one, zero=zero: scipy.stats.mannwhitneyu(one, zero, method="exact"), repeat)
        show(f"N = {size:<18} {mine:>10.4f} {peer:>10.4f} {peer / mine:>10.1f}")


def cell(value: float | None, reference: float | None) -> str:
    """Seconds and, in brackets, how many times the reference."""
    if value is None:
        return f"{'–':>18}"
    ratio = f"({value / reference:.1f}x)" if reference else ""
    return f"{value:>9.3f} {ratio:>8}"


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--largest", type=int, default=500, help="leave out larger N")
    parser.add_argument("--repeat", type=int, default=3, help="best of this many runs below N = 500")
    parser.add_argument("--r-limit", type=float, default=300, help="seconds given to each R run")
    options = parser.parse_args()
    show("seconds; in brackets: times the exact tier of the same row")
    heads = ["exact", "float tier", "R coin", "R exactRankTests", "scipy 9,999 draws"]
    show(f"{'N':>5} " + " ".join(f"{head:>18}" for head in heads))
    for size in (size for size in SIZES if size <= options.largest):
        one, zero = tokens(size)
        result = mean_difference(one, zero, alternative="greater", time_limit=None)
        repeat = options.repeat if size < 500 else 1
        exact = (
            seconds(lambda: mean_difference(one, zero, alternative="greater", time_limit=None), repeat)  # noqa: B023
            if result.method == "exact"
            else None
        )
        peers = [in_r(package, one, zero, options.r_limit) for package in R_CODE]
        cells = [exact, float_tier(one, zero), *peers, in_scipy(one, zero, 9999)]
        show(f"{size:>5} " + " ".join(cell(value, exact) for value in cells))
    scipy_ranks(options.repeat)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    show(f"\npeak memory {peak:.0f} MB" + ("" if shutil.which("Rscript") else "; R is not installed here"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
