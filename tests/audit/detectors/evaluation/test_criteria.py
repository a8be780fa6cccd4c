from agenthard.audit.detectors.support.criteria import asked, graded, sentence_around, shown_criteria
from tests.audit.detectors.evaluation.open_tasks import open_task

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
