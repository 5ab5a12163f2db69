"""From a run's log to its report: exact tests, verdicts, deviations. Pure; see `evaluate`."""

from sealbench.analysis.evaluate import ANALYSIS_VERSION, DEFAULT_TIME_LIMIT, evaluate

__all__ = ["ANALYSIS_VERSION", "DEFAULT_TIME_LIMIT", "evaluate"]
