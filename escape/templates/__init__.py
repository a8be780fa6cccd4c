"""The library that rooms are made of: 32 tools, 2 exits, 16 items, 4 containers, and 68 droppable variants."""

from agenthard.escape.templates.library import LIBRARY, VARIANTS, find_template

__all__ = ["LIBRARY", "VARIANTS", "find_template"]
