"""Evaluation: agents play every task several times; a run can be resumed episode by episode.

`flow` runs it, `play` plays the episodes, `progress` shows them, `publish` writes tables and report. `benchmark` is the
interface of benchmarks; `settings`, `episodes` and `store` define settings, episodes and results; `forecast` estimates
the cost.
"""
