"""What is proposed for files that are laid out like real benchmarks, or like none."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from agenthard.audit.sources.base import Quarantine, SourceError
from agenthard.audit.sources.mapping import MappingSource
from agenthard.audit.sources.mapping.infer import Proposal, infer
from agenthard.audit.sources.mapping.infer.columns import is_calls, is_choices, is_messages, is_tools
from agenthard.audit.sources.mapping.infer.proposal_yaml import as_yaml
from tests.audit.sources.mapping.conftest import LEND, ROWS

LIBRARY = Path(__file__).parents[4] / "docs/examples/library"


def lines(path: Path, rows: list[Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_questions_and_answers_of_two_files(tmp_path: Path) -> None:
    questions = [
        {"id": f"t{i}", "question": [[{"role": "user", "content": f"Lend me book {i}, please."}]], "function": [LEND]}
        for i in range(5)
    ]
    answers = [{"id": f"t{i}", "ground_truth": [{"lend_book": {"book_id": [i], "card": ["", "C"]}}]} for i in range(5)]
    file = lines(tmp_path / "data/simple.json", questions)
    lines(tmp_path / "data/possible_answer/simple.json", answers)
    proposal = infer(file)
    assert proposal.mapping == {
        "benchmark": "simple",
        "files": ["simple.json"],
        "join": [{"name": "answer", "files": ["possible_answer/simple.json"], "key": "id"}],
        "id": "id",
        "environment": {"tools": "function"},
        "user": {"turns": "question"},
        "ground_truth": {"calls": "answer.ground_truth", "accepted": "values", "matching": "exact"},
    }
    assert (proposal.understood.parsed, proposal.understood.rows, proposal.understood.calls) == (5, 5, 5)
    assert any("matching" in text for text in proposal.unsure)


def test_a_simulated_user_with_files_beside(tmp_path: Path) -> None:
    rows = [
        {
            "task_id": i,
            "instruction": f"You are Ada. You want to borrow book {i} and say nothing else.",
            "actions": [{"name": "lend_book", "kwargs": {"book_id": i}}] if i else [],
            "outputs": ["28"],
        }
        for i in range(6)
    ]
    (tmp_path / "tasks.json").write_text(json.dumps(rows))
    (tmp_path / "tools.json").write_text(json.dumps([{"type": "function", "function": LEND}]))
    (tmp_path / "policy.md").write_text("A book may be kept for 28 days.")
    (tmp_path / "db.json").write_text('{"books": {"1": "Dune"}}')
    proposal = infer(tmp_path / "tasks.json")
    mapping = proposal.mapping
    assert mapping["user"] == {"instruction": "instruction"}
    assert mapping["environment"] == {
        "tools": {"file": "tools.json"},
        "policy": {"file": "policy.md"},
        "state": {"file": "db.json"},
    }
    assert mapping["ground_truth"] == {
        "calls": "actions",
        "outputs": "outputs",
        "semantics": "reference_path",
        "matching": "state",
    }
    assert (proposal.understood.parsed, proposal.understood.calls) == (6, 5)


def test_conversations_as_text_with_milestones(tmp_path: Path) -> None:
    rows = [
        {"id": str(i), "question": "user: A book please.\nsystem: Which?\nuser: Book 7.", "function": [LEND],
         "mile_stone": ["[lend_book(book_id=7)]", "[lend_book(card='Ada's')]", "[lend_book(book_id=8)]"]}
        for i in range(3)
    ]  # fmt: skip
    mapping = infer(lines(tmp_path / "rows.jsonl", rows)).mapping
    assert mapping["user"] == {"turns": "question", "roles": {"system": "assistant"}}
    assert mapping["ground_truth"] == {"calls": "mile_stone", "semantics": "milestones", "matching": "state"}


def test_questions_with_choices_in_csv(tmp_path: Path) -> None:
    (tmp_path / "quiz.csv").write_text(
        "qid,question,options,answer,topic\n"
        + "".join(f'{i},What is {i} plus one?,"[""{i}"", ""{i + 1}""]",B,sums\n' for i in range(4))
    )
    proposal = infer(tmp_path / "quiz.csv")
    assert (proposal.mapping["id"], proposal.mapping["subtask"]) == ("qid", "topic")
    assert proposal.mapping["ground_truth"] == {"choices": "options", "answers": "answer"}
    assert proposal.understood.parsed == 4


def test_cells_of_json_text_in_parquet(tmp_path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    rows = [
        {"prompt": row["question"], "meta": json.dumps({"calls": row["gold"]}), "tools": json.dumps(row["tools"])}
        for row in ROWS
    ]
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "rows.parquet")
    proposal = infer(tmp_path / "rows.parquet")
    assert proposal.mapping["json_columns"] == ["meta"]
    assert proposal.mapping["ground_truth"]["calls"] == "meta.calls"
    assert (proposal.understood.parsed, proposal.understood.calls) == (2, 2)
    assert "no column is a unique id: file and number of the row are used" in proposal.unsure


def test_documents_with_numbered_columns(tmp_path: Path) -> None:
    for i in range(3):
        folder = tmp_path / f"scenario{i}"
        folder.mkdir()
        document = {"subtask_count": 2, "subtask1": "Build the first part.", "subtask2": "Build the second part."}
        (folder / "description.json").write_text(json.dumps(document, indent=2))
    proposal = infer(tmp_path)
    assert (proposal.mapping["files"], proposal.mapping["rows"]) == (["**/description.json"], "")
    assert proposal.mapping["user"] == {"turns": "[subtask1, subtask2]"}
    assert proposal.understood.parsed == 3


def test_ids_that_repeat_across_folders_get_the_folder(tmp_path: Path) -> None:
    for name in ("airline", "retail"):
        lines(tmp_path / name / "tasks.jsonl", [{"id": i, "question": "May I ask something?"} for i in range(2)])
    assert infer(tmp_path).mapping["id"] == "join('/', [_folder, to_string(id)])"


def test_rows_that_do_not_parse_are_counted_with_the_reason(tmp_path: Path) -> None:
    rows = [*({**ROWS[0], "id": str(i)} for i in range(9)), {**ROWS[0], "id": "bad", "gold": [{"lend_book": 7}]}]
    text = as_yaml(infer(lines(tmp_path / "rows.jsonl", rows)))
    assert "# 9 of 10 rows parse: 9 turns of users, 1 tools, 9 expected calls." in text
    assert "1 rows do not: expected the arguments of a call as an object, found int" in text


@pytest.mark.parametrize("rows", [[{"a": 1}], []])
def test_without_a_question_nothing_is_proposed(tmp_path: Path, rows: list[Any]) -> None:
    with pytest.raises(SourceError, match="no column looks like|no rows here"):
        infer(lines(tmp_path / "rows.jsonl", rows))


def test_the_yaml_says_what_the_proposal_says_and_opens_from_elsewhere(tmp_path: Path) -> None:
    proposal: Proposal = infer(LIBRARY)
    out = tmp_path / "deep" / "m.yaml"
    out.parent.mkdir()
    out.write_text(as_yaml(proposal, out.parent))
    written = yaml.safe_load(out.read_text())
    written.pop("folder")
    assert written == proposal.mapping
    assert len(list(MappingSource(out).tasks(Quarantine()))) == proposal.understood.parsed == 3


def test_comments_cannot_break_out_of_their_line(tmp_path: Path) -> None:
    rows = [{"id": i, "question": "May I ask?", "x\nfiles: /etc": "a\nb"} for i in range(2)]
    text = as_yaml(infer(lines(tmp_path / "rows.jsonl", rows)))
    assert set(yaml.safe_load(text)) == {"benchmark", "files", "id", "user", "metadata"}


def test_what_looks_like_what() -> None:
    assert is_tools([LEND])
    assert not is_tools([{"name": "lend_book", "arguments": {"book_id": 7}}])
    assert is_calls([{"name": "lend_book", "arguments": {"book_id": 7}}], ())
    assert not is_calls([LEND], ())
    assert is_calls({"lend_book": {"book_id": 7}}, {"lend_book"})
    assert not is_calls({"BaseApi": {"wifi": True}}, {"lend_book"})
    assert is_calls("lend_book(book_id=7)", ())
    assert not is_calls("Lend a book (7)", ())
    assert is_messages([[{"role": "user", "content": "Hi"}]])
    assert not is_messages([{"name": "x"}])
    assert is_choices({"A": "yes", "B": "no"})
    assert not is_choices({"name": "x"})


def test_damaged_and_hostile_files_are_survived(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_bytes(b"")
    (tmp_path / "binary.json").write_bytes(bytes(range(256)))
    (tmp_path / "deep.json").write_text('{"a": ' + "[" * 500 + "]" * 500 + "}")
    (tmp_path / "broken.csv").write_text('a,b\n"x')
    (tmp_path / "not.parquet").write_bytes(b"PAR1")
    lines(tmp_path / "rows[1].jsonl", [{**row, "deep": "[" * 500 + "]" * 500} for row in ROWS])
    proposal = infer(tmp_path)
    assert proposal.mapping["files"] == ["rows[[]1].jsonl"]
    assert (proposal.understood.parsed, proposal.understood.calls) == (2, 2)


def said(role: str, content: str = "", *calls: dict[str, Any]) -> dict[str, Any]:
    """A message of chat completions, with calls as they are written there."""
    made = [
        {
            "id": f"c{i}",
            "type": "function",
            "function": {"name": call["name"], "arguments": json.dumps(call["arguments"])},
        }
        for i, call in enumerate(calls)
    ]
    return {"role": role, "content": content, **({"tool_calls": made} if made else {})}


def lend(book: int) -> dict[str, Any]:
    return {"name": "lend_book", "arguments": {"book_id": book}}


def gold(proposal: Proposal) -> list[tuple[list[list[str]], list[list[int]]]]:
    """What the users say, and the books that are to be lent, turn by turn and task by task."""
    source = MappingSource(written(proposal))
    return [
        (
            [[f"{message.role}: {message.content}" for message in turn] for turn in task.user.turns],
            [[call.arguments["book_id"] for call in turn] for turn in task.ground_truth.turns],
        )
        for task in source.tasks(Quarantine())
    ]


def written(proposal: Proposal) -> Path:
    assert proposal.understood.problems == [], proposal.understood.problems
    (proposal.folder / "mapping.yaml").write_text(as_yaml(proposal))
    return proposal.folder


def test_calls_in_the_last_messages_of_a_dialogue(tmp_path: Path) -> None:
    rows = [
        {
            "messages": [
                said("system", "You lend books, and nothing else at all."),
                said("user", "A book, please."),
                said("assistant", "Which one?"),
                said("user", f"Book {i}."),
                said("assistant", "", lend(i), lend(i + 1)),
            ],
            "tools": [{"type": "function", "function": LEND}],
        }
        for i in range(3)
    ]
    proposal = infer(lines(tmp_path / "rows.jsonl", rows))
    assert proposal.mapping["environment"]["policy"]["path"].startswith("messages")
    assert gold(proposal)[1] == ([["user: A book, please.", "assistant: Which one?", "user: Book 1."]], [[1, 2]])


def test_calls_after_each_message_of_the_user(tmp_path: Path) -> None:
    rows = [
        {
            "messages": [
                said("user", f"Lend me book {i}."),
                said("assistant", "", lend(i)),
                said("tool", "lent"),
                said("assistant", "Here it is."),
                said("user", "Thank you for the book!"),
                said("assistant", "You are welcome."),
                said("user", f"Now lend me book {i + 5}."),
                said("assistant", "", lend(i + 5)),
            ],
            "tools": [LEND],
        }
        for i in range(3)
    ]
    proposal = infer(lines(tmp_path / "rows.jsonl", rows))
    assert proposal.mapping["ground_truth"]["per_turn"] is True
    assert gold(proposal)[2] == (
        [["user: Lend me book 2."], ["user: Thank you for the book!"], ["user: Now lend me book 7."]],
        [[2], [], [7]],
    )


def test_calls_in_a_dialogue_in_other_words(tmp_path: Path) -> None:
    rows = [
        {
            "conversations": [
                {"from": "human", "value": f"I would like book {i}."},
                {"from": "function_call", "value": json.dumps(lend(i))},
                {"from": "observation", "value": "lent"},
                {"from": "gpt", "value": "Here it is."},
            ],
            "tools": json.dumps([LEND]),
        }
        for i in range(3)
    ]
    proposal = infer(lines(tmp_path / "rows.jsonl", rows))
    assert gold(proposal)[1] == ([["user: I would like book 1."]], [[1]])


def test_dialogues_of_which_some_have_no_call(tmp_path: Path) -> None:
    rows = [
        {
            "messages": [said("user", f"Lend me book {i}."), said("assistant", "", *([lend(i)] if i else []))],
            "tools": [LEND],
        }
        for i in range(4)
    ]
    proposal = infer(lines(tmp_path / "rows.jsonl", rows))
    assert [calls for _, calls in gold(proposal)] == [[[]], [[1]], [[2]], [[3]]]
    [told] = [text for text in proposal.unsure if "some rows have none" in text]
    trait = told.split('traits: "')[1].rstrip('"')
    source = {**proposal.mapping, "traits": trait}
    (tmp_path / "mapping.yaml").write_text(yaml.safe_dump(source))
    traits = [task.traits for task in MappingSource(tmp_path).tasks(Quarantine())]
    assert traits == [frozenset({"expects_no_call"}), frozenset(), frozenset(), frozenset()]


def test_one_row_per_call_in_another_file(tmp_path: Path) -> None:
    (tmp_path / "requests.csv").write_text(
        "ref,request\n" + "".join(f"r{i},Please lend me book {i} and then {i + 10}.\n" for i in range(1, 5))
    )
    (tmp_path / "steps.csv").write_text(
        "request_ref,step,tool,args\n"
        + "".join(
            f'r{i},{n},lend_book,"{{""book_id"": {book}}}"\n' for i in range(1, 4) for n, book in enumerate((i, i + 10))
        )
    )
    (tmp_path / "tools.json").write_text(json.dumps([LEND]))
    proposal = infer(tmp_path)
    assert proposal.mapping["join"] == [
        {"name": "steps", "files": ["steps.csv"], "key": "request_ref", "on": "ref", "many": True, "required": False}
    ]
    assert [calls for _, calls in gold(proposal)] == [[[1, 11]], [[2, 12]], [[3, 13]], [[]]]
    source = MappingSource(tmp_path)
    places = [task.origins.get("/ground_truth/turns/0/1") for task in source.tasks(Quarantine())]
    assert [place and (place.file, place.line) for place in places] == [
        *(("steps.csv", line) for line in (3, 5, 7)),
        None,
    ]
    kept = source.write_split(["r2"], tmp_path / "split")
    assert {path.name for path in kept} == {"requests.csv", "steps.csv", "tools.json", "mapping.yaml"}
    assert (tmp_path / "split/steps.csv").read_text().count("r2,") == 2
    [task] = MappingSource(tmp_path / "split").tasks(Quarantine())
    assert [call.arguments for _, call in task.gold_calls()] == [{"book_id": 2}, {"book_id": 12}]


@pytest.mark.parametrize("said", ["text", "messages"])
def test_samples_of_openai_evals(tmp_path: Path, said: str) -> None:
    asked = [f"What is {i} plus {i}, please?" for i in range(4)]
    rows = [
        {
            "input": text
            if said == "text"
            else [{"role": "system", "content": "Answer."}, {"role": "user", "content": text}],
            "ideal": [str(2 * i), "as text"] if i else "0",
        }
        for i, text in enumerate(asked)
    ]
    proposal = infer(lines(tmp_path / "samples.jsonl", rows))
    assert proposal.mapping["ground_truth"] == {"answers": "ideal"}
    tasks = list(MappingSource(written(proposal)).tasks(Quarantine()))
    assert [task.ground_truth.answers for task in tasks] == [("0",), *((str(2 * i), "as text") for i in (1, 2, 3))]
    assert [text for task in tasks for _, text in task.user_texts()] == asked
