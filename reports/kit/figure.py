"""Figures: a drawing with its caption, description and data, and the renderer that makes drawings part of a page.

Vega-Lite charts become SVG that the page's style sheet colours, without script or link. Colours in the charts are CSS
variables, so one drawing serves the light and the dark scheme. Vega writes the SVG when the report is made; the page
needs no plotting library, which its content security policy would have to allow. Names of models and tasks may be
hostile and never reach the renderer: it draws ASCII placeholders, which are replaced afterwards.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from markupsafe import Markup

from agenthard.reports.kit.renderer import to_svg


@dataclass(frozen=True)
class Key:
    """One entry of a legend; its shape tells the marks apart without colour."""

    glyph: str
    """Character of the mark's shape."""
    colour: str
    """Name of the colour: a class of the style sheet."""
    text: str
    """Meaning of the mark."""


@dataclass(frozen=True)
class Figure:
    """A drawing, or the reason why there is none, with its caption, description and data."""

    id: str
    """Anchor on the page and name of the data file."""
    title: str
    """What it shows, in a few words."""
    caption: str
    """n, method, seed and level of the intervals."""
    alt: str
    """Description for readers who cannot see the drawing."""
    svg: Markup | None = None
    """The drawing."""
    reason: str = ""
    """Why the drawing is missing; empty when there is one."""
    keys: tuple[Key, ...] = ()
    """Legend."""
    subjects: tuple[str, ...] = ()
    """What a reader can pick to highlight it."""
    columns: tuple[str, ...] = ()
    """Columns of its data."""
    rows: Sequence[tuple[Any, ...]] = field(default=(), repr=False)
    """The data."""


def short(name: str, most: int = 32) -> str:
    """Cut a long name for a label; the tooltip, the table and the data hold all of it.

    >>> short("a" * 40, 10)
    'aaaaaaaaa…'
    """
    return name if len(name) <= most else f"{name[: most - 1]}…"


COUNTED = "Counted, not sampled: no seed and no interval."


if TYPE_CHECKING:
    import altair as alt

Mark = Mapping[str, Any]
"""One mark: numbers and words of ours that its chart encodes; ``label``, the text it writes; ``subject``, for
highlighting; ``tip``, its tooltip; ``quiet``, when it shows only while its subject is highlighted. Text of the
benchmark appears in the label, the subject and the tip only."""

THEME = {
    "background": "transparent",
    "font": "Liberation Sans",
    "padding": 4,
    "view": {"stroke": None},
    "mark": {"color": "var(--ink)"},
    "axis": {
        "labelColor": "var(--ink)",
        "titleColor": "var(--muted)",
        "gridColor": "var(--line)",
        "domainColor": "var(--line)",
        "tickColor": "var(--line)",
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "labelLimit": 220,
        "labelPadding": 6,
        "titlePadding": 10,
    },
    "legend": {
        "labelColor": "var(--ink)",
        "titleColor": "var(--muted)",
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "labelLimit": 320,
        "orient": "top",
        "symbolStrokeWidth": 2,
    },
    "text": {"fill": "var(--ink)", "fontSize": 12},
    "header": {"labelColor": "var(--ink)", "labelFontSize": 13, "labelFontWeight": 600, "title": None},
    "title": {"color": "var(--ink)", "fontSize": 13, "fontWeight": 600, "anchor": "start"},
}

_KEPT_TAGS = {"svg", "g", "path", "text", "tspan", "line", "rect", "circle"}
_KEPT_ATTRIBUTES = {
    *("d", "x", "y", "x1", "x2", "y1", "y2", "width", "height", "transform", "viewBox", "text-anchor"),
    *("fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "opacity"),
    *("stroke-linecap", "stroke-miterlimit", "font-size", "font-weight", "font-style", "pointer-events"),
}
_INHERITED = (
    *("fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linecap"),
    *("text-anchor", "font-size", "font-weight", "pointer-events"),
)
_NOT_ASCII = re.compile(r"[^ -~]")
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_LONG_NUMBER = re.compile(r"-?\d+\.\d{3,}(?:e-?\d+)?")


def draw(chart: "alt.TopLevelMixin", data: Mapping[str, Sequence[Mark]]) -> Markup:
    """Draw a chart.

    Args:
        chart: an Altair chart whose data are named; marks with a label, a subject or a tip encode
            ``description="mark:N"``.
        data: rows by the name that the chart uses.

    Returns:
        The ``svg`` element. It is hidden from assistive technology: the page has a description next to it.
    """
    marks: dict[str, Mark] = {}
    datasets: dict[str, list[dict[str, Any]]] = {}
    for name, rows in data.items():
        datasets[name] = []
        for row in rows:
            key = f"mark {len(marks)}"
            marks[key] = row
            sent = {field: value for field, value in row.items() if field not in ("tip", "subject", "label")}
            datasets[name].append({**sent, "label": _NOT_ASCII.sub("?", str(row.get("label", ""))), "mark": key})
    # The charts are ours and drawn by the tests, so nothing is validated.
    spec = {**chart.to_dict(validate=False), "datasets": datasets, "config": THEME}
    root = ElementTree.fromstring(to_svg(spec))
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    svg = _cleaned(root, marks)
    svg.attrib |= {"width": f"{width / 16:.2f}rem", "height": f"{height / 16:.2f}rem", "aria-hidden": "true"}
    return Markup(ElementTree.tostring(svg, encoding="unicode"))


def _cleaned(node: ElementTree.Element, marks: Mapping[str, Mark]) -> ElementTree.Element:
    made = ElementTree.Element(_local(node.tag))
    for name, value in node.attrib.items():
        if name in _KEPT_ATTRIBUTES and (name, value) != ("opacity", "1"):
            made.set(name, _LONG_NUMBER.sub(lambda found: f"{float(found[0]):.2f}", value))
    row = marks.get(node.attrib.get("aria-label", ""))
    if row is not None:
        for attribute, key in (("data-of", "subject"), ("data-tip", "tip")):
            if row.get(key):
                made.set(attribute, _printable(row[key]))
        if row.get("quiet"):
            made.set("class", "quiet")
    made.text = _printable(row["label"]) if row is not None and made.tag == "text" else node.text
    made.extend(_cleaned(child, marks) for child in node if _is_seen(child))
    _hoist(made)
    return made


def _hoist(group: ElementTree.Element) -> None:
    """Write an attribute that all children share, and SVG inherits, once at their parent, which saves thousands."""
    for name in _INHERITED:
        values = {child.get(name) for child in group}
        if len(group) > 1 and len(values) == 1 and (value := values.pop()) is not None:
            group.set(name, value)
            for child in group:
                del child.attrib[name]


def _is_seen(node: ElementTree.Element) -> bool:
    """Whether an element draws something: Vega also writes empty groups and backgrounds without a colour."""
    if _local(node.tag) not in _KEPT_TAGS or node.get("display") == "none":
        return False
    if _local(node.tag) == "g":
        return any(_is_seen(child) for child in node)
    return node.get("class") != "background" or bool(node.get("stroke") or node.get("fill"))


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]


def _printable(text: str) -> str:
    return _UNPRINTABLE.sub("\ufffd", text)
