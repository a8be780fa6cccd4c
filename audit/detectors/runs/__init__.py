"""Checks of recorded runs: what the harness, the tools, the simulator or the judge did, and not the agent."""

__all__: list[str] = []
