"""Figures of the pages, drawn as SVG: ``cleaning`` and ``evaluation``, one package per report."""
