"""What a test asks of the data: which measure, where, of which classes, in which direction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sealbench.analysis.rows import TOKEN_MEASURES


@dataclass(frozen=True)
class Question:
    """What is asked of the data: which measure, where, of which classes, in which direction.

    `kind` "max_over_caps" asks once for all caps below this one whether the classes are cut differently.
    """

    measure: str
    where: Mapping[str, str]
    endpoint: str
    cap: int
    class1: str
    class0: str
    alternative: str
    kind: str = "difference"

    @property
    def name(self) -> str:
        """The name of the question in the report."""
        if self.kind != "difference":
            return self.kind
        return "mean_difference" if self.measure in TOKEN_MEASURES else "censoring_difference"
