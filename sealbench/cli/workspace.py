"""Finding the workspace and its settings for a command."""

from __future__ import annotations

from pathlib import Path

from sealbench.config import Settings, load
from sealbench.errors import UsageError
from sealbench.store import Workspace


def open_workspace(folder: Path | None) -> tuple[Workspace, Settings]:
    """The workspace around `folder` (default: the current folder) and its configuration."""
    workspace = Workspace.find(folder)
    return workspace, load(workspace.settings)


def settings_anywhere(folder: Path | None) -> Settings:
    """The configuration of the workspace around, or the user's own where there is no workspace."""
    try:
        return open_workspace(folder)[1]
    except UsageError:
        return load(None)
