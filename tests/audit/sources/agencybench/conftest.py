"""A small checkout in the layout of AgencyBench, made up from scratch."""

import json
from pathlib import Path
from typing import Any

import pytest

CLOCK = """Query:
Draw a clock.
Deliverables (only these files):
- `clock.html` with a `#dial`.
- `clock.css`.
Rubric:
- Size (0.7): the dial is 200 px wide.
  - A second line of the same criterion.
- Hands (0.3): there are two.
- Scoring: round(10 * sum).

Good luck.
"""
ALARM = "Query:\n**Add an alarm.**\n\n**Acceptance Criteria:**\n- It rings.\n- It stops.\n\nNote: quietly."
SCALE = {
    "query": "Who built the tower?",
    "deliverables": ["`answer.txt` with the name.", "`sources.md`."],
    "rubric": "- 0 points: another name.\n- 10 points: the right name.",
}
FOLDERS = "Step 1 - Tidy up\\nRequirements:\\n1. Make `new`.\\n2. Empty `old`."
REPOSITORY = "Mend the login of this repository."


def vision(score: float, files: list[str], reason: str = "fine") -> dict[str, Any]:
    return {"model": "eye", "score": score, "reason": reason, "input_files": [{"path": path} for path in files]}


def shown(text: float, seen: float, reply: str = '{"files": []}', **changes: Any) -> dict[str, Any]:
    """One attempt of the form that has a judge for texts and one for images."""
    attempt = {
        "prompt": "work in task7/acme_m-1/x",
        "assistant_text": reply,
        "agent_messages": [{"type": "completed", "metadata": {"time_elapsed": 2500}}],
        "artifacts": {"metadata": {}},
        "text_result": {"model": "reader", "score": text, "reason": "read"},
        "vision_result": vision(seen, ["shot.png"]),
        "status": "retry",
    }
    return {**attempt, **changes}


TIMED_OUT = {
    "artifacts": {"metadata": {"errors": ["Sandbox capture timed out after 20s; proceeding without media"]}},
    "vision_result": vision(6, [], "no media, but it may be nice"),
}
UNPLANNED = {
    "text_result": {"model": "reader", "score": 0, "reason": "Plan application failed: no JSON plan"},
    "vision_result": vision(0, [], "Skipped due to plan failure"),
}


def scored(score: float, output: str, feedback: str = "") -> dict[str, Any]:
    return {"score": score, "agent_output": output, "feedback": feedback}


RUNS: dict[str, dict[str, Any]] = {
    "Game/scenario1": {
        "subtasks": {
            "subtask1": {"attempts": [shown(4, 9), shown(9, 6, **TIMED_OUT)]},
            "subtask2": {
                "attempts": [shown(0, 0, "Task completed", **UNPLANNED), shown(0, 0, "I'd rather", **UNPLANNED)]
            },
        }
    },
    "Research/scenario1": {
        "model": "acme_m-1",
        "scorer": "rubric",
        "subtasks": [{"name": "subtask1", "attempts": [{"agent_output": "x", "rubric": {"score": 10.0}}]}],
    },
    "Backend/scenario1": {
        "model": "acme_m-1",
        "scorer": "llm-as-judge",
        "subtasks": [
            {
                "name": "subtask1",
                "attempts": [
                    scored(5, "Let me see.\n🔧 Tool result: 1 item\nI write.\n🔧 Tool result: ok\nDone.", "- no ring"),
                    scored(5, "I look.[TOOL CALL] read_file({})🔧 Tool result: ok"),
                ],
            }
        ],
    },
    "Code/scenario2": {
        "repo_path": "m-1/repo",
        "subtasks": [
            {
                "attempts": [
                    {
                        "diff_lines": 9,
                        "judge_score": 0.0,
                        "judge_comment": "Unable to parse judge JSON: It",
                        "judge_raw": {},
                    },
                    {"diff_lines": 0, "judge_score": 0.7, "judge_comment": "empty", "judge_raw": {"model": "j"}},
                ]
            }
        ],
    },
    "MCP/scenario1": {
        "model_root": "task9/m-1",
        "subtasks": [{"subtask": "subtask1", "attempts": [{"success": True, "assistant_response_excerpt": ""}]}],
    },
}


def description(*entries: Any, **extras: Any) -> dict[str, Any]:
    return {"subtask_count": len(entries), **extras, **{f"subtask{i}": entry for i, entry in enumerate(entries, 1)}}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Five scenarios with a run of each."""
    folder = tmp_path / "bench"
    texts = {
        "Game/scenario1": description(CLOCK, ALARM),
        "Research/scenario1": description(SCALE),
        "Backend/scenario1": description(CLOCK),
        "Code/scenario2": description(REPOSITORY),
        "MCP/scenario1": description(FOLDERS, workspace_brief="Stay inside."),
    }
    for scenario, content in texts.items():
        write(folder, scenario, "description.json", content)
        write(folder, scenario, "first/meta_eval.json", RUNS[scenario])
    return folder


def write(folder: Path, scenario: str, name: str, content: Any) -> Path:
    path = folder / scenario / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content, indent=1), encoding="utf-8")
    return path
