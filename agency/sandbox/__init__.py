"""The browser that judges look through: plans, what became of them, and images."""

from agenthard.agency.sandbox.browser import BrowserError, browse, find_browser
from agenthard.agency.sandbox.plan import Plan
from agenthard.agency.sandbox.record import BrowserRecord

__all__ = ["BrowserError", "BrowserRecord", "Plan", "browse", "find_browser"]
