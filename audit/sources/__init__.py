"""Readers of benchmarks.

``base`` is the contract of a source, ``registry`` finds one by name, ``formats`` is what several sources share. Every
other folder or module reads one benchmark and imports only these: ``acebench``, ``agencybench``, ``bfcl``, ``chat``,
``complexfuncbench``, ``drafterbench``, ``hf`` (Hugging Face data sets), ``inspect_logs``, ``mapping`` (any rows that a
YAML file describes), ``native`` and ``tau`` (the family of τ-bench and τ²-bench).

``unread`` finds tasks that a source did not read, ``fetch`` installs a benchmark's own package, and ``skeleton`` writes
a package for a new source.
"""
