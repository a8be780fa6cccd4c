"""Repairs: one minimal change per flaw, made in the benchmark's own file, read again and re-checked."""
