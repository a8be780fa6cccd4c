"""Readers of benchmarks in their own formats."""
