"""What each figure shows, read back from its drawing, and the words next to it."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenthard.audit.statistics import Estimate, Undefined
from agenthard.reports.cleaning.record import CleaningAnalysis
from agenthard.reports.figures.cleaning import Figure, figures
from agenthard.reports.figures.cleaning.agreement import SHADES, Steps
from tests.reports.figures.reading import marks, parsed, texts
from tests.reports.figures.sample import sample, without_runs


@pytest.fixture(scope="module")
def analysis() -> CleaningAnalysis:
    return sample()


@pytest.fixture(scope="module")
def drawn(analysis: CleaningAnalysis) -> dict[str, Figure]:
    return figures(analysis)


def test_every_caption_says_n_and_how_it_was_drawn(drawn: dict[str, Figure]) -> None:
    assert list(drawn) == [
        "information",
        "ranks",
        "agreement",
        "separability",
        "components",
        "retention",
        "difficulty",
    ]
    for figure in drawn.values():
        assert re.search(r"n = \d", figure.caption), figure.id
        drawn_at_random = "Seed 7" in figure.caption and "95 % intervals" in figure.caption
        assert drawn_at_random or re.search("no seed and no interval|[Nn]othing here is drawn", figure.caption), (
            figure.id
        )
        assert len(figure.alt) > 60 and figure.columns and figure.rows
        assert all(len(row) == len(figure.columns) for row in figure.rows)


def test_ranks_stand_in_order_on_every_split(drawn: dict[str, Figure], analysis: CleaningAnalysis) -> None:
    points = {
        (node.get("data-of"), tip(node)[1].split(",")[0]): (x, y)
        for x, y, node in marks(drawn["ranks"], "path")
        if node.get("transform")
    }
    for board, title in zip(analysis.leaderboards, ("initial", "issue-cleaned", "hard"), strict=True):
        places = [points[row.model, title] for row in board.rows]
        assert len({x for x, _ in places}) == 1, "one split is one column"
        heights = [y for _, y in places]
        gaps = {round(lower - upper, 1) for upper, lower in zip(heights, heights[1:], strict=False)}
        assert gaps == {24.0}, "one rank is one step down"


def tip(node: object) -> list[str]:
    return str(getattr(node, "attrib", {})["data-tip"]).split("\n")


def test_rank_chart_says_who_moved(drawn: dict[str, Figure]) -> None:
    labels = texts(drawn["ranks"])
    moved = [label for label in labels if "▲" in label or "▼" in label]
    last = {row[0]: row for row in drawn["ranks"].rows if row[1] == "hard"}
    first = {row[0]: row for row in drawn["ranks"].rows if row[1] == "initial"}
    assert len(moved) == sum(first[model][4] != last[model][4] for model in first)
    assert "First on each split: vendor-0/model-00 (initial, 90.0 % (82.0–98.0 %))" in drawn["ranks"].alt


def test_rank_chart_shows_direction_by_shape_and_colour() -> None:
    keys = [key for models in (6, 16) for key in figures(sample(models))["ranks"].keys]
    assert {key.glyph for key in keys} == {"▲", "▼", "◆", "●"}
    assert len({(key.glyph, key.colour) for key in keys}) == len({key.colour for key in keys}) == 4


def test_models_that_swap_ranks_and_return_are_not_drawn_as_unmoved() -> None:
    analysis = sample(8)
    first, middle, last = analysis.leaderboards
    rows = list(first.rows)
    rows[2], rows[3] = (rows[i].model_copy(update={"rank": rank}) for i, rank in ((3, 3), (2, 4)))
    boards = (
        first,
        middle.model_copy(update={"rows": tuple(rows)}),
        last.model_copy(update={"rows": first.rows}),
    )
    figure = figures(analysis.model_copy(update={"leaderboards": boards}))["ranks"]
    assert [key.glyph for key in figure.keys] == ["◆", "●"]
    assert "2 return to their rank and 6 keep it" in figure.alt
    strokes = {
        (node.get("stroke") or "", tip(node)[0])
        for *_, node in marks(figure, "path")
        if node.get("stroke") and not node.get("transform")
    }
    assert {model for colour, model in strokes if "green" in colour} <= {row.model for row in rows[2:4]}


def test_marks_lie_inside_the_drawing(drawn: dict[str, Figure]) -> None:
    for name in ("separability", "information", "difficulty"):
        svg = parsed(drawn[name])
        _, _, width, height = map(float, (svg.get("viewBox") or "").split())
        found = [(x, y) for tag in ("path", "circle") for x, y, _ in marks(drawn[name], tag)]
        assert found and all(0 < x < width and 0 < y < height for x, y in found), name


def test_information_is_drawn_for_each_split_whole_and_per_task(drawn: dict[str, Figure]) -> None:
    figure = drawn["information"]
    assert [key.text for key in figure.keys] == ["initial", "issue-cleaned", "hard", "range of abilities of the rule"]
    points = [tip(node) for *_, node in marks(figure, "path")]
    assert sum(lines[0].startswith("hard, n = 24") for lines in points) == 2
    assert {"ability 1.50", "ability −1.50", "ability -1.50"} & {line for lines in points for line in lines}
    hard = [row for row in figure.rows if row[0] == "hard"]
    assert hard[0][4] == pytest.approx(100 * hard[0][3] / 24)


def test_one_leaderboard_has_no_change_of_rank(analysis: CleaningAnalysis) -> None:
    alone = analysis.model_copy(update={"leaderboards": analysis.leaderboards[:1]})
    figure = figures(alone)["ranks"]
    assert (
        figure.svg is None
        and figure.reason == "undefined because 1 split(s) have ranked models; a change of rank needs two"
    )
    assert len(figure.rows) == 6


def test_agreement_holds_each_pair_once_per_map(drawn: dict[str, Figure]) -> None:
    figure = drawn["agreement"]
    cells = [node for *_, node in marks(figure, "path")]
    assert len(cells) == 3 * 15, "C(6, 2) pairs on the initial, the cleaned and the hard split"
    assert len(figure.rows) == 15 and figure.columns == (
        "model",
        "other_model",
        "initial_n_40",
        "cleaned_n_30",
        "hard_n_24",
    )
    missing = [tip(cell) for cell in cells if "no common task" in tip(cell)[1]]
    assert missing == [["vendor-1/model-01 and vendor-3/model-03", "no common task"]] * 3
    assert texts(figure).count("–") == 3, "a pair without a common task is neither 0 nor blank"


@given(st.lists(st.floats(0, 1), min_size=2, max_size=60))
def test_steps_rise_with_the_values_and_leave_few_below(values: list[float]) -> None:
    steps = Steps.spanning(values)
    assert 1 <= steps.count <= SHADES
    shades = [steps.shade(value) for value in sorted(values)]
    assert shades == sorted(shades) and 0 <= shades[0] and shades[-1] < SHADES
    below = sum(value < steps.start - 1e-9 for value in values)
    assert below <= len(values) / 20 and max(values) <= steps.start + steps.count * steps.width + 1e-9
    assert len({key.colour for key in steps.keys()}) == steps.count
    assert (below > 0) <= steps.keys()[0].text.startswith("below")


def test_one_model_that_fails_everything_leaves_shades_to_the_others() -> None:
    steps = Steps.spanning([0.01] * 2 + [0.6 + i / 200 for i in range(60)])
    assert [key.text for key in steps.keys()] == ["below 65 %", "65–70 %", "70–75 %", "75–80 %", "80–85 %", "85–90 %"]


def test_separability_marks_stand_at_their_n(drawn: dict[str, Figure]) -> None:
    figure = drawn["separability"]
    points = {tip(node)[0]: x for x, _, node in marks(figure, "path")}
    splits = [points[f"{name}, n = {n}"] for name, n in (("hard", 24), ("issue-cleaned", 30), ("initial", 40))]
    subsets = [points[f"random subsets of {n} tasks"] for n in (24, 36)]
    assert splits == sorted(splits) and splits[0] == pytest.approx(subsets[0]), "n = 24 is one place"
    assert (splits[2] - splits[0]) / (subsets[1] - subsets[0]) == pytest.approx(16 / 12, abs=0.01)


def test_undefined_separability_of_a_split_is_said_not_drawn(analysis: CleaningAnalysis) -> None:
    curve = analysis.separability_curve
    assert not isinstance(curve, Undefined)
    why = Undefined(reason="undefined because one model was given")
    marks_ = (*curve.marks[:2], curve.marks[2].model_copy(update={"separability": why}))
    figure = figures(analysis.model_copy(update={"separability_curve": curve.model_copy(update={"marks": marks_})}))[
        "separability"
    ]
    assert "hard (n = 24) undefined because one model was given" in figure.caption
    assert ("hard", 24, "undefined because one model was given", None, None, None) in figure.rows
    assert [key.text for key in figure.keys] == [
        "initial",
        "issue-cleaned",
        "5–95 % of random subsets, with their mean",
    ]


def test_components_are_labelled_with_their_counts(drawn: dict[str, Figure]) -> None:
    labels = texts(drawn["components"])
    assert "10 findings (50.0 %) in 10 tasks" in labels and "0 findings" in labels
    bars = [tip(node) for *_, node in marks(drawn["components"], "path")]
    assert ["Ground truth", "9 confirmed findings"] in bars and ["Ground truth", "1 suspected finding"] in bars


def test_nothing_found_leaves_no_shares(analysis: CleaningAnalysis) -> None:
    none = tuple(
        part.model_copy(update={"confirmed": 0, "suspected": 0, "categories": ()}) for part in analysis.components
    )
    figure = figures(analysis.model_copy(update={"components": none}))["components"]
    assert figure.svg is None and "no finding is confirmed or suspected" in figure.reason


def test_retention_bars_say_when_a_category_falls_below_the_safeguard(drawn: dict[str, Figure]) -> None:
    labels = texts(drawn["retention"])
    assert "0.0 % (0 of 13)\N{EN SPACE}below the safeguard" in labels, "13 · 0.3 · (2 − 2) = 0 tasks of telecom"
    assert {"airline", "retail", "telecom"} <= set(labels)
    assert ("hard", "000000000002", "telecom", 13, 0, 0.0, True) in drawn["retention"].rows


def test_scatter_marks_flagged_tasks_by_shape_and_colour(drawn: dict[str, Figure], analysis: CleaningAnalysis) -> None:
    items = analysis.items
    assert not isinstance(items, Undefined)
    dropped = sum(point.decision == "drop" for point in items.points)
    flagged = sum(point.flagged and point.decision != "drop" for point in items.points)
    counted = [tuple(map(int, re.findall(r"\((\d+)\)", key.text))) for key in drawn["difficulty"].keys]
    assert counted == [(38 - dropped - flagged,), (flagged,), (dropped,)]
    assert (
        len({key.glyph for key in drawn["difficulty"].keys})
        == len({key.colour for key in drawn["difficulty"].keys})
        == 3
    )
    points = [(x, tip(node)) for x, _, node in marks(drawn["difficulty"], "path")]
    assert len(points) == 38
    place = {words[0]: x for x, words in points}
    hardness = {p.task_id: p.difficulty.value for p in items.points if isinstance(p.difficulty, Estimate)}
    assert sorted(place, key=lambda task: (place[task], task)) == sorted(place, key=lambda t: (round(place[t], 6), t))
    assert place[max(hardness, key=lambda t: hardness[t])] == max(place.values()), "harder is to the right"
    assert any("± 0.40" in line for _, words in points for line in words)


def test_without_runs_figures_of_models_say_why() -> None:
    drawn = figures(without_runs())
    assert {name for name, figure in drawn.items() if figure.svg is None} == {
        "information",
        "ranks",
        "agreement",
        "separability",
        "difficulty",
    }
    assert all(figure.reason.startswith("undefined because") for figure in drawn.values() if figure.svg is None)


@pytest.mark.long
def test_drawings_of_71_models_are_larger_not_denser() -> None:
    small, large = (figures(sample(models))["ranks"] for models in (16, 71))
    heights = [float((parsed(figure).get("height") or "").removesuffix("rem")) for figure in (small, large)]
    assert heights[1] > 2.5 * heights[0]
