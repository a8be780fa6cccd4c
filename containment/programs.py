"""Where the programs are that start foreign code inside the layers of isolation."""

from pathlib import Path

INSIDE = Path(__file__).resolve().parent / "inside"
LAUNCHER = INSIDE / "launcher.py"
"""Starts one process without children: a worker's host."""
JOB_LAUNCHER = INSIDE / "job_launcher.py"
"""Starts a job, which may start processes."""
