"""Any benchmark of rows, read with a mapping file."""

from agenthard.audit.sources.mapping.mapping import Mapping, load_mapping
from agenthard.audit.sources.mapping.source import MappingSource

__all__ = ["Mapping", "MappingSource", "load_mapping"]
