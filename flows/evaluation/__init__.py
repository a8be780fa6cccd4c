"""Evaluation: agents × tasks × trials, resumable episode by episode."""
