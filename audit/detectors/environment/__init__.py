"""Checks of tools, prompts and tool responses."""
