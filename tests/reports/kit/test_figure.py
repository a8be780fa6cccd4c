"""What a drawing may hold: shapes and text, whatever the names in it."""

from xml.etree import ElementTree

import pytest

from agenthard.reports.figures.cleaning import figures
from agenthard.reports.kit.figure import draw
from tests.reports.figures.reading import marks, parsed, texts
from tests.reports.figures.sample import sample
from tests.reports.shop import ATTACK

SHAPES = {"svg", "g", "path", "text", "tspan", "line", "rect", "circle"}


@pytest.mark.parametrize(
    "name", [ATTACK, "\x00\x1b[31m", "\u202eevil", "]]>&amp;", "\ufffe", "", " ", "é" * 500, "日本"]
)
def test_any_name_is_drawn_as_text(name: str) -> None:
    drawn = figures(sample(names={2: name}))
    for figure in drawn.values():
        root = parsed(figure)
        assert {node.tag for node in root.iter()} <= SHAPES
        names = {attribute for node in root.iter() for attribute in node.attrib}
        assert not {
            n for n in names if n.startswith("on") or n in ("style", "href", "id", "{http://www.w3.org/1999/xlink}href")
        }


def test_a_name_is_written_in_full_where_it_is_not_a_label() -> None:
    name = f"vendor/{'long-' * 20}model"
    figure = figures(sample(names={2: name}))["ranks"]
    assert name not in " ".join(texts(figure)) and any(f"{name[:31]}…" in text for text in texts(figure))
    assert name in {node.get("data-of") for *_, node in marks(figure, "text")}


def test_control_characters_show_as_replaced() -> None:
    drawn = figures(sample(names={2: "a\x07b"}))["ranks"]
    assert any("a\ufffdb" in text for text in texts(drawn))


def test_every_colour_is_a_variable_of_the_page() -> None:
    for figure in figures(sample()).values():
        colours = {node.get(kind) for node in parsed(figure).iter() for kind in ("fill", "stroke")} - {None}
        assert {c for c in colours if not str(c).startswith("var(--")} <= {"none", "transparent"}, figure.id


def test_shared_attributes_are_written_once() -> None:
    import altair as alt

    chart = alt.Chart(alt.NamedData("d")).mark_rect(fill="var(--blue)").encode(x="x:O", description="mark:N")
    root = ElementTree.fromstring(draw(chart, {"d": [{"x": i, "tip": f"cell {i}"} for i in range(5)]}))
    cells = [node for node in root.iter() if node.get("data-tip")]
    assert [cell.get("data-tip") for cell in cells] == [f"cell {i}" for i in range(5)]
    assert all(cell.get("fill") is None for cell in cells)
    assert any(node.get("fill") == "var(--blue)" and set(cells) <= set(node) for node in root.iter("g"))


def test_equal_analyses_give_equal_drawings() -> None:
    assert figures(sample()) == figures(sample())
