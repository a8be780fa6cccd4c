"""Templates, and what every page of a review shows."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from urllib.parse import quote, urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup

from agenthard.flows.review.web.access import User
from agenthard.flows.review.web.footer import footer
from agenthard.flows.review.web.listing import Listing
from agenthard.flows.review.web.open_run import OpenRun
from agenthard.flows.review.web.series import Series
from agenthard.reports.kit.files import json_text, utf8
from agenthard.reports.kit.text import plural
from agenthard.reports.page_data import LEVEL_TITLES, SEVERITY_TITLES, TIER_TITLES
from agenthard.taxonomy.categories import COMPONENT_TITLES
from agenthard.taxonomy.finding import Finding

ACTIONS: Mapping[str, tuple[str, str]] = {
    "drop": ("✕", "to drop"),
    "review": ("?", "to review"),
    "keep": ("✓", "kept"),
    "unchecked": ("–", "kept, unchecked"),
}
"""Glyph and words of each decision."""
ANSWERS: Mapping[str, tuple[str, str]] = {
    "yes": ("✕", "flawed"),
    "no": ("✓", "not flawed"),
    "cannot_tell": ("?", "cannot tell: missing context"),
    "true": ("✕", "true"),
    "arguable": ("?", "arguable"),
    "false": ("✓", "false"),
}
"""Glyph and words of each answer, on a task and on a finding."""
GLYPHS: Mapping[str, str] = {"confirmed": "●", "suspected": "◐", "signal": "○"}
"""How sure a check is."""


@dataclass(frozen=True)
class Visit:
    """A person who looks at a page of a run."""

    run: OpenRun
    """The audit."""
    listing: Listing
    """Its instances as lists show them."""
    series: Series
    """The served audits of the same benchmark."""
    user: User
    """Who looks."""
    csrf: str
    """What requests that change anything have to repeat."""
    runs: tuple[str, ...] = ()
    """All audits that the server serves."""
    people: tuple[str, ...] = ()
    """Everyone who may review."""
    query: Mapping[str, str] = field(default_factory=dict)
    """Query of the address."""
    seen_events: int = 0
    """Place of the last event that was known before the page was rendered; the page is told of all later ones."""

    def url(self, page: str, /, **query: Any) -> str:
        """Return the address of a page of the run; empty values are left out."""
        words = urlencode({name: str(value) for name, value in query.items() if value not in ("", None)})
        return f"/runs/{quote(self.run.name, safe='')}/{page}{f'?{words}' if words else ''}"

    def sees(self, task_id: str) -> bool:
        """Whether the person may be shown what checks say about a task: readers always, others after their verdict."""
        return not self.user.reviews or self.run.has_seen(self.user.name, task_id)

    def component(self, finding: Finding) -> str:
        """Return the part of the task that the category of a finding belongs to; empty for an unknown category."""
        return next((each.component for each in self.run.taxonomy.categories if each.id == finding.category), "")

    def category_name(self, category: str) -> str:
        """Return the name of a category."""
        return next((each.name for each in self.run.taxonomy.categories if each.id == category), category)


def render(template: str, visit: Visit, data: Mapping[str, Any] | None = None, **values: Any) -> str:
    """Render a page of a run.

    Args:
        template: name of a template that extends ``base.html.j2``.
        visit: who looks at which run.
        data: plain data for the page's script.
        values: what the template shows.
    """
    shared = {
        "run": visit.run.name,
        "user": visit.user.name,
        "csrf": visit.csrf,
        "reviews": visit.user.reviews,
        "events": visit.url("events"),
        "live": visit.url("live"),
        "after": visit.seen_events,
        "queue": visit.url("queue"),
        **(data or {}),
    }
    embedded = htmlsafe_json_dumps(shared, dumps=json_text, separators=(",", ":"))
    return render_plain(template, visit=visit, data=embedded, figures=footer(visit.run, visit.user.name), **values)


def render_plain(template: str, **values: Any) -> str:
    """Render a page without a run."""
    return utf8(_environment().get_template(template).render(**values))


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("agenthard.flows.review.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals |= {
        **{"actions": ACTIONS, "answers": ANSWERS, "glyphs": GLYPHS, "components": COMPONENT_TITLES},
        **{"levels": LEVEL_TITLES, "severities": SEVERITY_TITLES, "tiers": TIER_TITLES},
        **{"plural": plural, "dot": Markup('<span class="dot" aria-hidden="true">■</span>')},
    }
    made.filters |= {"thousands": lambda number: f"{number:,}", "time": lambda at: f"{at:%Y-%m-%d %H:%M} UTC"}
    return made
