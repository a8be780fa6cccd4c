import pytest

from agenthard.audit.detectors.support.author_comments import author_comments


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
