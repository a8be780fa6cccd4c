"""Versions of the table of events, for Alembic."""
