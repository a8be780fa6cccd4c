"""HTML pages: one file that opens offline, whose own style and script are named by hash."""

import base64
import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup

from agenthard.reports.kit.figure import Figure
from agenthard.reports.kit.files import json_text, utf8
from agenthard.reports.kit.text import amount, plural, result_text, sentence, slug, span
from agenthard.taxonomy.files import write_text


def write_html(
    path: Path,
    template: str,
    *,
    styles: Sequence[str],
    scripts: Sequence[str],
    data: Any,
    loads_scripts: bool = False,
    **values: Any,
) -> None:
    """Write a page that opens offline.

    Args:
        path: the file to write.
        template: name of a template that extends ``page.html.j2``.
        styles: style sheets, in order.
        scripts: scripts, in order; they run as one, at the end of the page.
        data: plain data for the scripts.
        loads_scripts: whether its own script loads further ones, from files next to the page.
        values: what the template shows, and filters as ``filters={name: function}``.
    """
    style, script = "\n".join(map(_asset, styles)), "\n".join(map(_asset, scripts))
    environment = html_environment()
    environment.filters |= values.pop("filters", {})
    html = environment.get_template(template).render(
        **values,
        style=Markup(style),
        script=Markup(script),
        data=htmlsafe_json_dumps(data, dumps=json_text, separators=(",", ":")),
        csp=_policy(style, script, loads_scripts),
    )
    write_text(path, utf8(html))


def html_environment() -> Environment:
    """Open the templates of the reports, with everything escaped and the formats that they share as filters."""
    environment = Environment(
        loader=PackageLoader("agenthard.reports"),
        autoescape=select_autoescape(["html.j2"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"thousands": thousands, "share": _share, "percent": _percent, "at": _at}
    return environment


@cache
def _asset(name: str) -> str:
    return resources.files("agenthard.reports").joinpath("templates", name).read_text(encoding="utf-8")


def _policy(style: str, script: str, loads_scripts: bool) -> str:
    def name(text: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    further = " 'strict-dynamic'" if loads_scripts else ""
    allowed = f"style-src {name(style)}; script-src {name(script)}{further}"
    return f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"


def thousands(value: int) -> str:
    """Write a count with separators: 1,234."""
    return f"{value:,}"


def _share(part: int, whole: int) -> str:
    return f"{_percent(part / whole)} of the tasks" if whole else "of no tasks"


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"


def _at(value: float) -> str:
    return f"{100 * min(max(value, 0.0), 1.0):.2f}"


def write_figure_page(
    path: Path,
    template: str,
    *,
    title: str,
    figures: Mapping[str, Figure],
    styles: Sequence[str],
    scripts: Sequence[str],
    filters: Mapping[str, Callable[..., Any]],
    **values: Any,
) -> None:
    """Write a page with figures, whose data can be downloaded and highlighted by the page's scripts.

    Args:
        path: the file to write.
        template: name of a template that extends ``page.html.j2``.
        title: name of the report, from which the names of downloads are made.
        figures: figures by id.
        styles: style sheets, in order.
        scripts: scripts, in order.
        filters: filters of this page, in addition to those that all pages share.
        values: what the template shows.
    """
    data = {f.id: {"columns": f.columns, "rows": f.rows} for f in figures.values() if f.rows}
    shared = {"amount": amount, "plural": plural, "result": result_text, "slug": anchor, "as_sentence": sentence}
    write_html(
        path,
        template,
        styles=styles,
        scripts=scripts,
        data={"file": anchor(title), "figures": data},
        filters={**shared, **filters},
        figures=figures,
        span=span,
        **values,
    )


def anchor(text: str) -> str:
    """Turn text into a name for files and anchors.

    >>> anchor("5–95 % band"), anchor("</b>"), anchor("…")
    ('5-95-band', 'b', 'unnamed')
    """
    return slug(text) or "unnamed"
