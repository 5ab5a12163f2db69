"""Sealed-battery commitments and censoring audits for language-model evaluation."""

from __future__ import annotations

from typing import Any

__version__ = "0.1.0"


def audit(*paths: Any, keep_rows: bool = False, **options: Any) -> Any:
    """Audit evaluation logs: `sealbench.audit("log.eval", class_field="target", cap=1000)`.

    Parameters
    ----------
    paths : files or folders.
    keep_rows : keep the responses for `rows_frame()`; costs about forty bytes a response.
    options : the fields of `sealbench.stages.audit.Logs` (how files are read) and of
        `sealbench.analysis.audit_asked.Asked` (what is asked), those of `seal audit` under their long names.

    Returns a `sealbench.analysis.audit_result.Audit`.

    Raises
    ------
    SealError : as `seal audit` does; `sealbench.errors` lists them.
    """
    from importlib import import_module

    # By name: every module below imports this one, and importing it must import nothing.
    return import_module("sealbench.stages.audit").audit_paths(paths, options, keep_rows=keep_rows)
