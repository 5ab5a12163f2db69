"""Stamping as the last part of a command: a failure is said, and loses nothing."""

from __future__ import annotations

from sealbench.cli.console import Console
from sealbench.config import Settings
from sealbench.errors import NetworkError
from sealbench.store import Workspace


def stamp_now(console: Console, workspace: Workspace, settings: Settings) -> bool:
    """Stamp whatever lacks a proof; True if calendars promised. Their failure is a note, not an error."""
    from sealbench.stages.stamp import stamp

    try:
        stamped = stamp(workspace, settings)
    except NetworkError as error:
        console.note(f"not stamped: {error.message}")
        console.note("the files are written and signed; stamp them before anything is run: seal stamp")
        return False
    for calendar, reason in stamped.failed:
        console.note(f"calendar {calendar}: {reason}")
    if stamped.files:
        console.note(f"stamped {len(stamped.files)} files with {', '.join(stamped.answered)}")
    return True
