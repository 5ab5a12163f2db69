"""A sealed battery as a task of Inspect AI: `inspect eval sealbench/battery -T name=wave1`; docs/audit.md."""
