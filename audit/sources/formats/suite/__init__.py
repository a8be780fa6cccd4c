"""Suites on disk: generated instances, the public part apart from the private one, for every benchmark."""

from agenthard.audit.sources.formats.suite.layout import Kind, Layout, Part
from agenthard.audit.sources.formats.suite.malformed_suite import MalformedInstanceError, Unreadable
from agenthard.audit.sources.formats.suite.suite import Suites
from agenthard.audit.sources.formats.suite.suite_files import HEAD

__all__ = ["HEAD", "Kind", "Layout", "MalformedInstanceError", "Part", "Suites", "Unreadable"]
