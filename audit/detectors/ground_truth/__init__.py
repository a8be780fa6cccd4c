"""Checks of ground-truth calls."""
