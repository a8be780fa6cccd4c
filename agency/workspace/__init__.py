"""Workspaces: snapshots by content, seeding, differences, and the space in which a grader looks at a snapshot.

``snapshot`` has the record of a folder at one moment, ``store`` keeps and restores them, ``evalspace`` gives a grader a
fresh copy next to the gold files, ``live`` is the folder that an agent works on, ``runner`` what runs its commands.
"""

from agenthard.agency.workspace.evalspace import EvalSpace, open_eval_space
from agenthard.agency.workspace.live import Workspace
from agenthard.agency.workspace.runner import Command, CommandRunner, LocalJobs
from agenthard.agency.workspace.snapshot import Difference, Entry, Snapshot, difference
from agenthard.agency.workspace.store import SnapshotError, SnapshotStore

__all__ = [
    "Command",
    "CommandRunner",
    "Difference",
    "Entry",
    "EvalSpace",
    "LocalJobs",
    "Snapshot",
    "SnapshotStore",
    "SnapshotError",
    "Workspace",
    "difference",
    "open_eval_space",
]
