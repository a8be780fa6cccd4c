"""What a task asks for, what it grades, and comments of its authors."""

import pytest

from agenthard.audit.detectors.support.task_texts import asked, author_comments, graded, sentence_around, shown_criteria
from tests.audit.detectors.evaluation.open_tasks import open_task


@pytest.mark.parametrize(
    "comment",
    [
        "<!-- lend_book: B-1877 -->",
        "<!--\nB-1877\n-->",
        "{# B-1877 #}",
        "/* wants B-1877 */",
        "(QA: B-1877)",
        "[Annotator's note - B-1877]",
        "[author note: B-1877]",
        "(note to the graders: B-1877)",
        "[GT: B-1877]",
        "(expected value: B-1877)",
        "[note: expected is B-1877]",
        "[B-1877; remove before release]",
        "(only B-1877 passes)",
        "\n// answer: B-1877",
        "\n# TODO check with the annotators: B-1877",
        "\n-- ground truth = B-1877",
        "{{GOLD_ID: B-1877}}",
        "[correct: B-1877]",
        "(reviewer 2: I get B-1877)",
        "TODO: verify that B-1877 is the expected member",
        "// oracle: B-1877",
    ],
)
def test_a_comment_of_who_made_the_task_is_recognised(comment: str) -> None:
    text = f"Lend it to Ada. {comment}\nThank you (from both of us)."
    assert [text[start:end].strip() for start, end in author_comments(text)] == [comment.strip()]


@pytest.mark.parametrize(
    "text",
    [
        "Find it (author: Austen), [reviewer: Ada] (developer: Moss & Co).",
        "(note: my number is B-1877)",
        "TODO: lend B-1877\n# Books of May 2024\n- // see https://books.example/B-1877",
        "Only B-1877 will do (it is for an exam that my son has to pass).",
        "[answer](https://books.example)",
        "x /= 2; y */ 3",
        "",
    ],
)
def test_what_is_said_to_the_reader_is_not(text: str) -> None:
    assert list(author_comments(text)) == []


@pytest.mark.parametrize("piece", ["<!--", "(", "[", "{#", "/*", "\n#", "note: ", "(note "])
def test_long_text_ends(piece: str) -> None:
    text = piece * 5_000
    assert all(0 <= start < end <= len(text) for start, end in author_comments(text))


SHOWN = "Query:\nPlant a tree.\nRubric:\n- The tree stands.\n"


def test_criteria_under_a_heading_are_not_asked() -> None:
    task = open_task(SHOWN)
    assert [text for _, text in asked(task)] == ["Query:\nPlant a tree.\n"]
    assert (
        [text for _, text in graded(task)] == [text for _, text in shown_criteria(task)] == ["\n- The tree stands.\n"]
    )


def test_criteria_of_the_checks_come_first() -> None:
    task = open_task(SHOWN, "The tree stands.")
    assert list(graded(task)) == [("/evaluation/checks/0/expected", "The tree stands.")]


def test_what_only_repeats_the_text_is_no_criterion() -> None:
    assert list(graded(open_task("Plant a tree.", "Plant a tree."))) == []


def test_bold_headings() -> None:
    assert list(shown_criteria(open_task("Plant.\n**Acceptance Criteria:**\n- It grows.")))


def test_quotes_stay_on_their_line_and_keep_words_whole() -> None:
    text = "first line\n" + "word " * 60 + "here" + " word" * 60 + "\nlast line"
    start = text.index("here")
    cut = sentence_around(text, start, start + 4)
    assert cut in text and "line" not in cut
    assert set(cut.split()) == {"word", "here"} and len(cut) <= 304
