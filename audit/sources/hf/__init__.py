"""Hugging Face data sets that are on this machine."""

from agenthard.audit.sources.hf.source import HuggingFace

__all__ = ["HuggingFace"]
