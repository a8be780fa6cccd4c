"""A domain with prompts, documents and tools that must be unlocked, written by hand; and what a checkout leaves out."""

import json
from pathlib import Path
from typing import Any

import pytest

from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.tau.tau2 import Tau2Bench
from agenthard.audit.sources.tau.tau2.knowledge import SET_BY_CODE

RETRIEVAL = """
from pathlib import Path

raise RuntimeError("this file must never be imported")

PROMPTS_DIR = Path("prompts")
DEFAULT_RETRIEVAL_VARIANT = "everything"


def everything(name, model):
    return Variant(name=name, prompt_template=PROMPTS_DIR / "everything.md", model=model)


RETRIEVAL_VARIANTS: dict[str, "Variant"] = {
    "nothing": Variant(name="nothing", prompt_template=PROMPTS_DIR / "nothing.md"),
    "everything": everything("everything", model="m"),
}
"""
MIXINS = '''
class Search:
    @is_tool(ToolType.READ)
    def search(self, query: str) -> str:
        """Search the guide."""

    @is_tool(ToolType.READ)
    def grep(self, pattern: str) -> str:
        """Search for a pattern."""
'''
TOOLS = '''
class DeskTools(ToolKitBase):
    @is_tool(ToolType.GENERIC, mutates_state=True)
    def unlock(self, name: str) -> str:
        """Unlock a tool."""

    @is_tool(ToolType.WRITE, mutates_state=False)
    def transfer(self) -> str:
        """Hand over."""

    @is_discoverable_tool(ToolType.WRITE)
    def renew_card_12(self, card: str) -> str:
        """Renew a card.

        Args:
            card (string): The card.
        """


class DeskUserTools(ToolKitBase):
    @is_tool(ToolType.WRITE)
    def apply(self, card: str) -> str:
        """Apply for a card."""
'''


def native(number: int, **changes: Any) -> dict[str, Any]:
    criteria = {"actions": [{"action_id": "a", "name": "transfer", "arguments": {}}], "reward_basis": ["DB"]}
    user = {"instructions": "Renew the card."}
    return {"id": f"task_{number:03}", "user_scenario": user, "evaluation_criteria": criteria, **changes}


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    data, code = tmp_path / "data/tau2/domains/desk", tmp_path / "src/tau2/domains/desk"
    files = {
        data / "db.json": '{"cards": {"data": {"c1": {"owner": "Ada"}}}}',
        data / "prompts/everything.md": "{{component:head}}\nUse `search`, as in `grep -r`.\n{{dense}}",
        data / "prompts/nothing.md": "Nothing.",
        data / "prompts/components/head.md": "# The desk",
        data / "documents/one.json": json.dumps({"id": "one", "title": "Cards", "content": "Use renew_card_12."}),
        data / "tasks/task_001.json": json.dumps(native(1)),
        data / "tasks/task_002.json": json.dumps(native(2)),
        data / "tasks.json": json.dumps([native(1), native(2, ticket="old")]),
        code / "retrieval.py": RETRIEVAL,
        code / "retrieval_mixins.py": MIXINS,
        code / "tools.py": TOOLS,
    }
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def test_one_file_per_task_is_read_with_its_place(desk: Path) -> None:
    quarantine = Quarantine()
    first, second = Tau2Bench(desk).tasks(quarantine)
    assert not quarantine.items and (first.id, second.id) == ("desk/task_001", "desk/task_002")
    assert first.origins["/user"].file == "data/tau2/domains/desk/tasks/task_001.json"
    assert first.origins["/user"].pointer == "/user_scenario"
    assert first.environment is second.environment


def test_the_default_prompt_is_composed_and_documents_are_a_table(desk: Path) -> None:
    task = next(Tau2Bench(desk).tasks(Quarantine()))
    assert task.environment.policy == f"# The desk\nUse `search`, as in `grep -r`.\n{SET_BY_CODE}"
    assert task.environment.state["documents"] == {"one": {"title": "Cards", "content": "Use renew_card_12."}}
    assert task.origins["/environment/policy"].file.endswith("prompts/everything.md")


def test_tools_are_those_of_the_default_prompt_and_unlocked_ones_are_hidden(desk: Path) -> None:
    task = next(Tau2Bench(desk).tasks(Quarantine()))
    effects = {tool.name: (tool.effect, tool.group) for tool in task.environment.tools}
    assert effects == {
        "unlock": ("unknown", None),
        "transfer": ("read", None),
        "renew_card_12": ("write", "discoverable"),
        "search": ("read", None),
    }
    assert [tool.name for tool in task.environment.user_tools] == ["apply"]
    assert task.hidden_tools == {"": ("renew_card_12",)}


def test_unreadable_parts_are_quarantined_with_the_reason(desk: Path) -> None:
    tasks, quarantine = desk / "data/tau2/domains/desk/tasks", Quarantine()
    (tasks / "task_002.json").write_text('{"id": "task_002"')
    (tasks / "task_003.json").write_text(json.dumps(native(1)))
    assert [task.native_id for task in Tau2Bench(desk).tasks(quarantine)] == ["task_001"]
    assert [(item.file.rpartition("/")[2], item.reason.split(":")[0]) for item in quarantine.items] == [
        ("task_002.json", "not valid JSON"),
        ("task_003.json", "the id 'task_001' was used in task_001.json already; give each task its own id"),
    ]


@pytest.mark.parametrize(
    ("path", "text", "reason"),
    [
        ("src/tau2/domains/desk/retrieval.py", "X = 1", "cannot tell which prompt"),
        ("data/tau2/domains/desk/documents/one.json", "[]", "expected an object with id, title and content"),
        ("data/tau2/domains/desk/prompts/everything.md", "{{component:lost}}", "cannot read the prompt"),
    ],
)
def test_a_domain_whose_shared_part_is_unreadable_is_quarantined(desk: Path, path: str, text: str, reason: str) -> None:
    (desk / path).write_text(text)
    quarantine = Quarantine()
    assert list(Tau2Bench(desk).tasks(quarantine)) == []
    [item] = quarantine.items
    assert reason in item.reason and "no task of this domain was read" in item.reason


def test_a_split_holds_the_files_of_the_kept_tasks(desk: Path, tmp_path: Path) -> None:
    out = tmp_path / "split"
    Tau2Bench(desk).write_split(["desk/task_002"], out)
    kept = sorted(
        path.relative_to(out / "data/tau2/domains/desk").as_posix() for path in (out / "data").rglob("*.json")
    )
    assert kept == ["db.json", "documents/one.json", "tasks/task_002.json"]
    original = desk / "data/tau2/domains/desk/tasks/task_002.json"
    assert (out / "data/tau2/domains/desk/tasks/task_002.json").read_bytes() == original.read_bytes()
    assert [task.id for task in Tau2Bench(desk).tasks(Quarantine())][1:] == ["desk/task_002"]


def test_what_is_not_read_is_named(desk: Path) -> None:
    domains = desk / "data/tau2/domains"
    for name, tasks in (("mock", [native(1)]), ("bare", [native(1), native(2)])):
        (domains / name).mkdir()
        (domains / name / "tasks.json").write_text(json.dumps(tasks))
    (domains / "mock/policy.md").write_text("Help.")
    (domains / "shop").mkdir()
    (domains / "shop/db.json").write_text("{}")
    left_out = {item.file.removeprefix("data/tau2/domains/"): item for item in Tau2Bench(desk).not_read()}
    found = {file: (item.tasks, item.reason) for file, item in left_out.items()}
    assert found["desk/tasks.json"][0] == 2 and "1 of these differ" in found["desk/tasks.json"][1]
    assert found["mock"][0] == 1 and "--domain mock" in found["mock"][1]
    assert found["bare"][0] == 2 and "without a policy" in found["bare"][1]
    assert found["shop"][0] == 0 and "a domain without tasks" in found["shop"][1]
    assert all(item.left_out for item in Tau2Bench(desk, ["desk"]).not_read())


@pytest.mark.long
@pytest.mark.corpora
def test_release_1_0_1_is_read_as_a_whole(corpora: Path) -> None:
    source, quarantine = Tau2Bench(corpora / "tau2-bench_v1.0.1"), Quarantine()
    tasks = list(source.tasks(quarantine))
    counts = {domain: sum(task.subtask == domain for task in tasks) for domain in sorted({t.subtask for t in tasks})}
    assert counts == {"airline": 50, "banking_knowledge": 97, "telecom": 114} and not quarantine.items
    left_out = {item.file.removeprefix("data/tau2/domains/"): item for item in source.not_read()}
    assert left_out["retail"].tasks == 0 and "without tasks" in left_out["retail"].reason
    assert left_out["mock"].tasks == 10 and left_out["telecom/tasks.json"].tasks == 2171
    assert "13 of these differ" in left_out["banking_knowledge/tasks.json"].reason
    bank = next(task.environment for task in tasks if task.subtask == "banking_knowledge")
    assert (len(bank.tools), len(bank.user_tools), len(bank.state["documents"])) == (61, 10, 698)
    assert sum(tool.group == "discoverable" for tool in bank.tools) == 44
