"""Checks of what the evaluator scores."""
