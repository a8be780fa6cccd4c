"""Signals from the model-by-task matrix; they order the review queue and never drop a task."""
