"""Which simulator plays the user of a run."""

from agenthard.taxonomy.trajectory import Trajectory


def simulator_of(run: Trajectory) -> str:
    """Name the simulator: the model that plays the user, and the experiment, whose prompts and wiring may differ."""
    return f"{run.user_model or 'unnamed'}" + (f" ({run.protocol})" if run.protocol else "")
