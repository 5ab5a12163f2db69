"""The live picture of a run on a terminal: per endpoint and cap what is done, cut, missing, spent, left."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from sealbench.cli.console import Console

if TYPE_CHECKING:
    from sealbench.endpoints.progress import Progress
    from sealbench.endpoints.settings import EndpointSettings
    from sealbench.formats.run import LogLine

_NAME_WIDTH = 20  # so that a whole line fits into 80 columns


class RunProgress:
    """Feed it what is to be done and each line that is logged; it redraws itself.

    Parameters
    ----------
    endpoints : by name, for their prices.
    """

    def __init__(self, console: Console, endpoints: Mapping[str, EndpointSettings]) -> None:
        self._console = console
        self._endpoints = endpoints
        self._progress: Progress | None = None

    def begin(self, planned: Mapping[tuple[str, int], int]) -> None:
        """The calls to be made, by (endpoint, cap)."""
        from sealbench.endpoints.progress import Progress

        self._progress = Progress(self._endpoints, dict(sorted(planned.items())))

    def add(self, line: LogLine) -> None:
        """Count one logged call and redraw if the last picture is old enough."""
        if self._progress is None:
            return
        self._progress.count(
            line.endpoint,
            line.cap,
            cut=line.censored,
            missing=line.missing,
            charged_tokens=line.charged_tokens,
            prompt_tokens=line.prompt_tokens,
        )
        self._console.progress(self.picture)

    def picture(self) -> str:
        """One line per endpoint and cap, and a sum."""
        found = self._progress
        if found is None:
            return ""
        lines = []
        for (name, cap), line in found.lines.items():
            cost = f"  ${line.usd:.2f}" if self._endpoints[name].price is not None else ""
            lines.append(
                f"{_shortened(name):<{_NAME_WIDTH}} cap {cap:<5} {line.done}/{line.planned or 0}  "
                f"cut {line.cut}  errors {line.errors}  {found.rate_of((name, cap)):.1f}/s"
                f"{cost}{_left(found.time_left_of((name, cap)))}"
            )
        if len(lines) > 1:
            planned = sum(line.planned or 0 for line in found.lines.values())
            lines.append(f"all: {found.done}/{planned}  {found.rate:.1f}/s{_left(found.time_left)}")
        return "\n".join(lines)


def _shortened(name: str) -> str:
    # The end of a name tells models apart, its beginning only the host.
    return name if len(name) <= _NAME_WIDTH else "…" + name[-_NAME_WIDTH + 1 :]


def _left(seconds: float | None) -> str:
    if seconds is None:
        return ""
    if seconds < 90:
        return f"  {seconds:.0f} s left"
    if seconds < 5400:
        return f"  {seconds / 60:.0f} min left"
    return f"  {seconds / 3600:.1f} h left"
