"""The names of the runners, without anything that takes long to import: the command line shows them."""

from enum import StrEnum


class Runner(StrEnum):
    """What does the work of an audit, an evaluation or a judging."""

    LOCAL = "local"
    """Processes of this machine, without Prefect."""
    PREFECT = "prefect"
    """Threads of a Prefect flow; each has a process of its own that checks."""
    DASK = "dask"
    """Workers of a Dask cluster."""
    RAY = "ray"
    """Workers of a Ray cluster."""
