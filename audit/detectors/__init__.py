"""Deterministic checks, one per file, grouped by the component they look at."""
