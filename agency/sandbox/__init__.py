"""Where commands and pages run: ``docker`` has containers for commands, the rest the browser that judges look through.

A browser follows plans; what became of them is a record with images.
"""

from agenthard.agency.sandbox.browser import BrowserError, browse, find_browser
from agenthard.agency.sandbox.plan import Plan
from agenthard.agency.sandbox.record import BrowserRecord

__all__ = ["BrowserError", "BrowserRecord", "Plan", "browse", "find_browser"]
