"""Repairs: minimal changes of tasks, made in the benchmark's own files and re-checked.

``proposals`` collects patches from checks, ``file_edits`` translates them to the benchmark's files (``json_edit`` and
``call_edit`` edit the text), ``repairs`` tries them in copies, ``recheck`` accepts or rejects them, and ``issue_text``
writes issues for the maintainer.
"""
