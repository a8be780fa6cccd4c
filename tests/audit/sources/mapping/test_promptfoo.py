"""promptfoo configurations as benchmarks: inline tests, tests in CSV and YAML, what they expect, and splits."""

import json
from pathlib import Path

import pytest
import yaml

import agenthard as ah
from agenthard.audit.sources.base import Quarantine, Quarantined, SourceError
from agenthard.audit.sources.formats.promptfoo import is_promptfoo, read_promptfoo
from agenthard.audit.sources.formats.rows import Row
from agenthard.audit.sources.mapping import MappingSource
from agenthard.audit.sources.mapping.infer import infer
from agenthard.audit.sources.mapping.infer.proposal_yaml import as_yaml
from agenthard.taxonomy import AgentTask
from tests.audit.sources.mapping.conftest import LEND

CONFIG = """# yaml-language-server: $schema=https://promptfoo.dev/config-schema.json
description: A clerk of a library
prompts:
  - "You are a clerk. A reader asks: {{ question }} Reply in {{language}}."
  - file://other.txt
providers:
  - id: openai:chat:some-model
    config:
      tools: file://tools.json
defaultTest:
  vars: {language: English}
  assert:
    - type: llm-rubric
      value: is polite
tests:
  # the first
  - description: hours
    vars:
      question: When does the library open on Mondays?
    assert:
      - type: contains
        value: 9 a.m.
      - type: javascript
        value: output.length < 100
  -
    vars: {question: "How many books may I borrow at once?", language: German}
    assert:
      - type: assert-set
        assert:
          - {type: equals, value: "5"}
          - {type: icontains-all, value: [books, card]}
  - vars:
      question: Who wrote Dune?
    assert: [{type: equals, value: Frank Herbert}]
# what follows
outputPath: results.json
"""


def library(folder: Path, config: str = CONFIG) -> Path:
    (folder / "tools.json").write_text(json.dumps([{"type": "function", "function": LEND}]))
    (folder / "other.txt").write_text("{{question}}")
    (folder / "promptfooconfig.yaml").write_text(config)
    return folder


def rows(folder: Path) -> tuple[list[Row], list[Quarantined]]:
    quarantine = Quarantine()
    return list(read_promptfoo(folder / "promptfooconfig.yaml", folder, quarantine)), quarantine.items


def mapped(folder: Path) -> MappingSource:
    proposal = infer(folder)
    assert proposal.understood.problems == []
    (folder / "mapping.yaml").write_text(as_yaml(proposal))
    return MappingSource(folder)


def tasks(source: MappingSource) -> list[AgentTask]:
    quarantine = Quarantine()
    found = list(source.tasks(quarantine))
    assert quarantine.items == []
    return found


def test_inline_tests(tmp_path: Path) -> None:
    source = mapped(library(tmp_path))
    assert source.mapping.user.turns is not None and source.mapping.user.turns.path == "prompt"
    first, second, third = tasks(source)
    assert first.user.turns[0][0].content == (
        "You are a clerk. A reader asks: When does the library open on Mondays? Reply in English."
    )
    assert second.user.turns[0][0].content.endswith("Reply in German.")
    assert [tool.name for tool in first.environment.tools] == ["lend_book"]
    assert (first.ground_truth.outputs, first.ground_truth.answers) == (("9 a.m.",), ())
    assert (second.ground_truth.outputs, second.ground_truth.answers) == (("books", "card"), ("5",))
    assert third.ground_truth.answers == ("Frank Herbert",)
    assert {check.kind for check in third.evaluation.checks} >= {"rubric"}
    assert [(task.origins[""].file, task.origins[""].line) for task in (first, second, third)] == [
        ("promptfooconfig.yaml", line) for line in (17, 25, 32)
    ]
    assert {path.name for path in source.known_files()} >= {"tools.json", "other.txt", "promptfooconfig.yaml"}


def test_prompts_after_the_first_are_named_as_not_read(tmp_path: Path) -> None:
    [other] = mapped(library(tmp_path)).not_read()
    assert (other.file, other.left_out) == ("promptfooconfig.yaml", True)
    assert other.reason.startswith("1 of 2 prompts")


def test_a_split_keeps_every_other_line(tmp_path: Path) -> None:
    source = mapped(library(tmp_path))
    second = tasks(source)[1]
    source.write_split([second.id], tmp_path / "split")
    left = (tmp_path / "split" / "promptfooconfig.yaml").read_text().splitlines()
    assert left == [line for n, line in enumerate(CONFIG.splitlines(), 1) if not 17 <= n <= 24 and not 32 <= n <= 34]
    assert (tmp_path / "split" / "tools.json").read_bytes() == (tmp_path / "tools.json").read_bytes()
    [kept] = tasks(MappingSource(tmp_path / "split"))
    assert kept.user == second.user
    assert len(yaml.safe_load("\n".join(left))["tests"]) == 1


def test_tests_in_files(tmp_path: Path) -> None:
    config = (
        "prompts: ['{{question}}']\nproviders: [echo]\ntests:\n  - file://cases.csv\n  - more.yaml\n"
        "  - vars: {question: 'What is two plus two?'}\n    assert: [{type: equals, value: 4}]\n"
    )
    library(tmp_path, config)
    (tmp_path / "cases.csv").write_text(
        "question,__expected,__expected2,__description\n"
        "Who wrote Emma?,Jane Austen,,novels\n"
        'Name two rivers of Italy.,"contains-all: Po, Tiber",llm-rubric: names rivers,rivers\n'
    )
    (tmp_path / "more.yaml").write_text(
        "- vars:\n    question: Who wrote Persuasion?\n  assert:\n    - {type: equals, value: Jane Austen}\n"
        "- vars: {question: 'Who wrote Middlemarch?'}\n  assert: [{type: equals, value: George Eliot}]\n"
    )
    source = mapped(tmp_path)
    found = tasks(source)
    assert [task.user.turns[0][0].content.split()[-1] for task in found] == [
        *("Emma?", "Italy.", "Persuasion?", "Middlemarch?", "two?"),
    ]
    assert [(task.origins[""].file, task.origins[""].line) for task in found] == [
        *(("cases.csv", 2), ("cases.csv", 3), ("more.yaml", 1), ("more.yaml", 5), ("promptfooconfig.yaml", 6)),
    ]
    assert found[1].ground_truth.outputs == ("Po", "Tiber") and found[0].ground_truth.answers == ("Jane Austen",)
    source.write_split([found[1].id, found[3].id], tmp_path / "split")
    split = tasks(MappingSource(tmp_path / "split"))
    assert [task.user for task in split] == [found[1].user, found[3].user]
    (tmp_path / "whole").mkdir()
    source.write_split([found[4].id], tmp_path / "whole")
    assert (tmp_path / "whole" / "cases.csv").read_text() == "question,__expected,__expected2,__description\n"


def test_it_is_audited(tmp_path: Path) -> None:
    alone = CONFIG.replace("You are a clerk. A reader asks: {{ question }} Reply in {{language}}.", "{{question}}")
    mapped(library(tmp_path, alone.replace("Who wrote Dune?", "Who wrote Dune on February 30, 2024?")))
    result = ah.audit(ah.open_source("mapping", tmp_path), select=["impossible-date"])
    [finding] = result.findings
    native = finding.evidence[0].native
    assert native is not None and (native.file, native.line) == ("promptfooconfig.yaml", 33)
    assert native.text == "Who wrote Dune on February 30, 2024?"


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ("prompts: [a]\ntests: [{vars: {x: [1, 2]}}]", "vars.x is a list, of which promptfoo makes several tests"),
        ("prompts: [a]\ntests: [7]", "tests/0 is neither a test nor a file of tests"),
        ("prompts: [a]\ntests: file://absent.csv", "names no file here"),
        ("prompts: [a]\ntests: file://../../outside.csv", "names no file here"),
        ("prompts: file://absent.json\ntests: [{vars: {x: 1}}]", "cannot read the promptfoo configuration"),
        ("prompts: [a]\ntests: file://cases.txt", "CSV, JSON Lines, JSON and YAML"),
        ("prompts: [a]\ntests: list.yaml", "expected a test, found str"),
    ],
)
def test_what_cannot_be_read(tmp_path: Path, config: str, said: str) -> None:
    library(tmp_path, config)
    (tmp_path / "cases.txt").write_text("a text")
    (tmp_path / "list.yaml").write_text("- a text\n")
    found, quarantined = rows(tmp_path)
    assert found == [] and said in quarantined[0].reason


def test_a_template_that_is_more_than_variables_stays(tmp_path: Path) -> None:
    library(tmp_path, "prompts: ['{{ a | upper }} {{b}} {{c}}']\nproviders: [x]\ntests: [{vars: {b: '{{c}}'}}]")
    [row] = rows(tmp_path)[0]
    assert row.values["prompt"] == "{{ a | upper }} {{c}} {{c}}"


def test_files_outside_of_the_folder_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret.json").write_text('[{"name": "secret"}]')
    (tmp_path / "inner").mkdir()
    config = (
        "prompts: file://../secret.json\nproviders: [{config: {tools: file://../secret.json}}]\ntests: [{vars: {x: 1}}]"
    )
    [row] = rows(library(tmp_path / "inner", config))[0]
    assert row.values == {"vars": {"x": 1}, "prompt": "file://../secret.json"}


def test_other_yaml_is_none(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("tests: [1]")
    (tmp_path / "c.json").write_text('{"tests": [], "prompts": []}')
    assert not any(map(is_promptfoo, tmp_path.iterdir()))
    with pytest.raises(SourceError, match="or a promptfoo configuration"):
        infer(tmp_path / "a.yaml")
    library(tmp_path, "prompts: [a]\ntests: [{vars: {x: why?}}]")
    with pytest.raises(SourceError, match="cannot read the promptfoo configuration: while parsing"):
        infer(tmp_path)
