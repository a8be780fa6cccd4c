"""DrafterBench: drawing revision by scripts, with the prompts of its code where they are available."""

from agenthard.audit.sources.drafterbench.source import DrafterBench

__all__ = ["DrafterBench"]
