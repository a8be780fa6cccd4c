"""Batches: many requests handed over in one file, answered within a day at a lower price."""
