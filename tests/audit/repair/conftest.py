"""The library desk, for repairs that are replayed and evaluated."""

from tests.library import library_desk

__all__ = ["library_desk"]
