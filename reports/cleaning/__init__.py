"""What cleaning does to a leaderboard: stages, splits, leaderboards and ranking stability, each with its null.

``load_run`` reads a run folder (``inputs``), ``analyse`` computes the record (``analysis``, ``record``), and
``write_analysis`` and ``write_cleaning_page`` write it (``tables``, ``page``).
"""
