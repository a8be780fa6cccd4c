import json
from pathlib import Path

import pytest

from agenthard.audit.sources.agencybench import AgencyBench
from agenthard.audit.sources.base import Quarantine, SourceError
from agenthard.audit.sources.registry import sources
from agenthard.taxonomy import AgentTask
from agenthard.taxonomy.pointer import resolve
from tests.audit.sources.agencybench.conftest import ALARM, CLOCK, SCALE, description, write


def read(root: Path, *domains: str) -> dict[str, AgentTask]:
    quarantine = Quarantine()
    tasks = {task.id: task for task in AgencyBench(root, domains).tasks(quarantine)}
    assert quarantine.items == []
    return tasks


def test_it_is_registered_and_recognises_its_folders(root: Path, tmp_path: Path) -> None:
    assert sources()["agencybench"] is AgencyBench
    assert AgencyBench.recognises(root) and not AgencyBench.recognises(tmp_path)
    root.rename(root.with_name("AgencyBench-v2"))
    assert len(read(tmp_path)) == 6
    with pytest.raises(SourceError, match="no scenarios of AgencyBench here; expected CAPABILITY/scenarioN"):
        AgencyBench(tmp_path / "elsewhere")


def test_a_domain_is_a_capability_and_scenarios_are_ordered_by_number(root: Path) -> None:
    write(root, "Game/scenario10", "description.json", description(ALARM))
    write(root, "Game/scenario2", "description.json", description(ALARM))
    assert list(read(root, "Game")) == [
        "Game/scenario1/subtask1",
        "Game/scenario1/subtask2",
        "Game/scenario2/subtask1",
        "Game/scenario10/subtask1",
    ]
    with pytest.raises(SourceError, match="unknown capability: Chess; this copy has: Backend, Code, Game, MCP"):
        AgencyBench(root, ["Chess"])


def test_a_text_is_cut_at_its_headings_and_sent_whole(root: Path) -> None:
    task = read(root)["Game/scenario1/subtask1"]
    assert [message.content for message in task.user.turns[0]] == [CLOCK]
    assert task.metadata["query"] == "Draw a clock."
    assert task.metadata["deliverables"] == ["`clock.html` with a `#dial`.", "`clock.css`."]
    assert task.metadata["criteria"] == [
        "Size (0.7): the dial is 200 px wide.\n  - A second line of the same criterion.",
        "Hands (0.3): there are two.",
    ]
    assert task.metadata["rubric"].endswith("Good luck.")
    assert task.traits == {"rubric_in_prompt"}
    second = read(root)["Game/scenario1/subtask2"]
    assert second.metadata["criteria"] == ["It rings.", "It stops."]
    assert second.metadata["criteria_heading"] == "acceptance criteria"
    assert second.traits == {"rubric_in_prompt", "continues_previous"}
    assert task.cluster == second.cluster == "Game/scenario1"


def test_of_an_object_query_and_deliverables_are_sent_and_a_scale_is_one_criterion(root: Path) -> None:
    task = read(root)["Research/scenario1/subtask1"]
    assert [message.content for message in task.user.turns[0]] == [SCALE["query"], "\n".join(SCALE["deliverables"])]
    assert task.metadata["criteria"] == [SCALE["rubric"]]
    assert task.traits == {"rubric_maybe_in_prompt"}


def test_requirements_count_where_there_is_no_rubric_and_written_line_breaks_are_read(root: Path) -> None:
    task = read(root)["MCP/scenario1/subtask1"]
    assert task.metadata["criteria"] == ["Make `new`.", "Empty `old`."]
    assert task.metadata["criteria_heading"] == "requirements"
    assert task.metadata["workspace_brief"] == "Stay inside."


def test_checks_say_where_they_stand(root: Path) -> None:
    for task in read(root).values():
        for check in task.evaluation.checks:
            assert check.scored and check.expected == resolve(task, check.pointer)
    (whole,) = read(root)["Code/scenario2/subtask1"].evaluation.checks
    assert whole.kind == "judge" and whole.expected == "Mend the login of this repository."


def test_origins_lead_into_the_file(root: Path) -> None:
    for task in read(root).values():
        for origin in task.origins.values():
            resolve(json.loads((root / origin.file).read_text()), origin.pointer)
    origins = read(root)["Research/scenario1/subtask1"].origins
    assert origins["/user/turns/0/0/content"].pointer == "/subtask1/query"
    assert origins["/metadata/criteria"].pointer == "/subtask1/rubric"


@pytest.mark.parametrize(
    ("content", "pointer", "reason"),
    [
        ("{", "", "cannot be read"),
        ("[]", "", "expected a JSON object"),
        ('{"subtask1": "a", "subtask1": "b"}', "", "'subtask1' occurs twice"),
        ('{"title": "x"}', "", "holds no subtask1"),
        (description(" "), "/subtask1", "no text; write one"),
        (description(7), "/subtask1", "expected a text or an object, found int"),
        (description({"query": ""}), "/subtask1/query", "no query"),
        (description({"query": "a", "rubric": 3}), "/subtask1/rubric", "expected a text, found int"),
        (description({"query": "a", "deliverables": [1]}), "/subtask1/deliverables", "text or a list of texts"),
        ({"subtask_count": 2, "subtask1": "a"}, "/subtask_count", "announces subtask2, which is missing"),
        ('{"subtask1": ' + "[" * 5000 + "]" * 5000 + "}", "", ""),
    ],
)
def test_what_cannot_be_read_is_quarantined_and_the_rest_goes_on(
    root: Path, content: object, pointer: str, reason: str
) -> None:
    write(root, "Game/scenario1", "description.json", content)
    quarantine = Quarantine()
    tasks = [task.id for task in AgencyBench(root).tasks(quarantine)]
    assert "MCP/scenario1/subtask1" in tasks
    (item,) = quarantine.items
    assert item.file == "Game/scenario1/description.json"
    assert item.pointer == pointer or not reason
    assert reason in item.reason


def test_a_split_keeps_entries_byte_for_byte(root: Path, tmp_path: Path) -> None:
    odd = '{"subtask_count" : 2,\n"note": "\\u00e9", "subtask1":   "Do \\u0061." , "subtask2": "Stop."}'
    write(root, "Game/scenario1", "description.json", odd)
    source = AgencyBench(root)
    files = source.write_split(["Game/scenario1/subtask1", "Research/scenario1/subtask1"], tmp_path / "out")
    assert [path.relative_to(tmp_path / "out").parts[0] for path in files] == ["Game", "Research"]
    text = files[0].read_text()
    assert '"subtask1":   "Do \\u0061."' in text and '"note": "\\u00e9"' in text and "Stop" not in text
    assert json.loads(text)["subtask_count"] == 1
    again = read(tmp_path / "out")
    assert again["Game/scenario1/subtask1"] == read(root)["Game/scenario1/subtask1"]
    with pytest.raises(SourceError, match="no such task .*Game/scenario1/subtask9"):
        source.write_split(["Game/scenario1/subtask9"], tmp_path / "none")
