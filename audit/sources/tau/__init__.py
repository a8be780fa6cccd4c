"""The family of τ-bench (``tau_bench``) and τ²-bench (``tau2``), and what both share.

``logs`` reads run logs, ``records`` validates native records, ``tool_files`` reads ``tools.json``, ``python_source``
reads Python without running it.
"""
