"""The only writer: results to stdout, everything else to stderr, colour where it is wanted."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Callable
from typing import Any

import click

_REDRAW_SECONDS = 0.1


class Console:
    """What a command prints with. One per process, kept in click's context."""

    def __init__(self, *, color: bool | None = None, debug: bool = False) -> None:
        self.debug = debug
        self._color = color
        self._last_redraw = 0.0
        self._progress_width = 0
        self._progress_lines = 0

    @property
    def color(self) -> bool:
        """Flag first, then NO_COLOR, FORCE_COLOR, then whether stdout is a terminal."""
        if self._color is not None:
            return self._color
        if os.environ.get("NO_COLOR"):
            return False
        return bool(os.environ.get("FORCE_COLOR")) or sys.stdout.isatty()

    @property
    def width(self) -> int | None:
        """Columns of the terminal that results go to; None for a file or a pipe."""
        return shutil.get_terminal_size().columns if sys.stdout.isatty() else None

    def result(self, text: str) -> None:
        """A result, to stdout."""
        click.echo(text, color=self.color)

    def json(self, value: Any) -> None:
        """A result as JSON, to stdout, one document."""
        click.echo(json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False))

    def note(self, text: str) -> None:
        """What is going on, to stderr."""
        self.clear_progress()
        click.echo(text, err=True, color=self.color)

    def next_step(self, command: str) -> None:
        """The command that usually follows, to stderr."""
        self.note(f"next: {command}")

    def error(self, message: str, hint: str = "") -> None:
        """`seal: error: …` and, below it, `seal: hint: …`; names out of foreign files move no cursor."""
        self.clear_progress()
        mark = click.style("seal: error:", fg="red", bold=True)
        click.echo(f"{mark} {_visible(message)}", err=True, color=self.color)
        if hint:
            click.echo(
                f"{click.style('seal: hint:', fg='cyan')} {_visible(hint)}", err=True, color=self.color
            )

    @property
    def shows_progress(self) -> bool:
        """Whether anybody can see a redrawn line: stderr is a terminal."""
        return sys.stderr.isatty()

    def progress(self, text: str | Callable[[], str], *, last: bool = False) -> None:
        """Redraw lines on a terminal's stderr, at most ten times a second; nothing elsewhere.

        A function is called only if its text is drawn.
        """
        if not self.shows_progress:
            return
        now = time.monotonic()
        if not last and now - self._last_redraw < _REDRAW_SECONDS:
            return
        self._last_redraw = now
        width = _terminal_width() - 1
        lines = [line[:width] for line in (text if isinstance(text, str) else text()).split("\n")]
        if len(lines) == 1 and self._progress_lines <= 1:
            sys.stderr.write("\r" + lines[0].ljust(self._progress_width))
        else:
            self._rewind()
            sys.stderr.write("\n".join(lines))
        sys.stderr.flush()
        self._progress_width = max(map(len, lines))
        self._progress_lines = len(lines)

    def clear_progress(self) -> None:
        """Remove the progress lines before something else is printed."""
        if self._progress_lines > 1:
            self._rewind()
        elif self._progress_width:
            sys.stderr.write("\r" + " " * self._progress_width + "\r")
        sys.stderr.flush()
        self._progress_width = self._progress_lines = 0

    def _rewind(self) -> None:
        """Go up to the first of the lines drawn and clear from there to the end of the screen."""
        up = f"\x1b[{self._progress_lines - 1}A" if self._progress_lines > 1 else ""
        sys.stderr.write(f"\r{up}\x1b[J")


def _visible(text: str) -> str:
    return "".join(char if char.isprintable() or char == "\n" else "?" for char in text)


def _terminal_width() -> int:
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or 80  # 0: a terminal of unknown size
    except OSError:
        return 80
