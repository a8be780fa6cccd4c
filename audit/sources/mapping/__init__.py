"""Any benchmark of rows, read with a mapping file."""

from agenthard.audit.sources.mapping.mapping import MappingFile, load_mapping
from agenthard.audit.sources.mapping.source import MappingSource

__all__ = ["MappingFile", "MappingSource", "load_mapping"]
