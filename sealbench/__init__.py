"""Sealed-battery commitments and censoring audits for language-model evaluation."""

from __future__ import annotations

from typing import Any

__version__ = "0.1.0"


def audit(*paths: Any, format: str | None = None, **asked: Any) -> Any:
    """Audit evaluation logs: `sealbench.audit("log.eval", class_field="target", cap=1000)`.

    Parameters
    ----------
    paths : files or folders.
    format : the logs' format; found by content where not given.
    asked : the fields of `sealbench.stages.audit.Asked`.

    Returns a `sealbench.analysis.audit_result.Audit`.
    """
    from importlib import import_module
    from pathlib import Path

    # By name: every module below imports this one, and importing it must import nothing.
    stage = import_module("sealbench.stages.audit")
    logs = stage.Logs([Path(path) for path in paths], format)
    return stage.audit(logs, stage.Asked(**asked))
