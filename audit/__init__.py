"""Finds what is wrong with a benchmark: sources, detectors, evidence, decisions."""
