"""Texts of rooms: themes, writing, reading."""
