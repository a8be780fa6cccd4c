"""Many audits on one page: flaws by category, evaluators put to the test, points on flawed tasks, versions.

``load_audit`` reads a run folder (``audits``), ``survey`` computes the record (``survey``, ``record``), and
``write_survey`` writes the page, its JSON twin and its tables (``page``, ``tables``).
"""
