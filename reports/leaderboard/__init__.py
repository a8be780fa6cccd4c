"""Leaderboards of stored runs on every split of a benchmark: original, clean, hard, repaired.

``score_splits`` scores the runs that an audit read (``boards``), ``write_leaderboard_page`` in ``page`` writes the page,
a fragment for an iframe and the JSON twin. No model runs again.
"""
