"""A sealed battery as a task of Inspect AI: `inspect eval sealbench/battery -T battery=wave1`."""
