"""Sealed-battery commitments and censoring audits for language-model evaluation."""

__version__ = "0.1.0"
