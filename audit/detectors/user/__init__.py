"""Checks of the user and its simulator."""
