"""Execution: ground truths are replayed, and evaluators are put to the test, in the benchmark's own environment."""
