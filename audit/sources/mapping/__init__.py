"""Any benchmark of rows, read with a mapping file."""

from audit.sources.mapping.loading import load_mapping
from audit.sources.mapping.mapping import Mapping
from audit.sources.mapping.source import MappingSource

__all__ = ["Mapping", "MappingSource", "load_mapping"]
