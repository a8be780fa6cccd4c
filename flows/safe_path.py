"""Keeps Python files of the current folder out of the processes that a command starts."""

import os


def protect_children() -> None:
    """Let no interpreter that this process starts import modules from the folder that it is started in.

    ``python -m`` (Prefect's server, pip) and ``python -c`` (processes of a pool) look there first, so a ``timeit.py``
    in the folder where a command is given would run in the place of Python's own.
    """
    os.environ["PYTHONSAFEPATH"] = "1"
