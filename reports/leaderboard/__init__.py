"""Leaderboards of stored runs on every split of a benchmark: original, clean, hard, repaired.

``boards`` scores the runs that an audit read into the records of ``scored``, ``rescored`` adds those that an evaluator
judged again, ``record`` holds several benchmarks, and ``write_leaderboard_page`` in ``page`` writes the page, fragments
for iframes and the JSON twin. No model runs again.
"""
