import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agenthard.audit.sources.base import Quarantine, Quarantined, SourceError
from agenthard.audit.sources.bfcl import BFCL
from agenthard.taxonomy import Trajectory

ReadRuns = Callable[..., tuple[list[Trajectory], list[Quarantined]]]
SIMPLE = ["simple_0", "simple_1"]


def write(path: Path, *rows: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows))
    return path


def results(*rows: Any, **extra: Any) -> list[dict[str, Any]]:
    return [{"id": task_id, "result": result, **extra} for task_id, result in rows]


def summary(correct: int, total: int) -> dict[str, Any]:
    return {"accuracy": correct / total, "correct_count": correct, "total_count": total}


@pytest.fixture
def runs(v3: Path, tmp_path: Path) -> ReadRuns:
    def read(root: Path = v3, path: Path = tmp_path, domains: tuple[str, ...] = ()) -> Any:
        quarantine = Quarantine()
        return list(BFCL(root, domains).runs(path, quarantine)), quarantine.items

    return read


def verdicts(found: list[Trajectory]) -> dict[str, bool | None]:
    return {run.task_id: run.passed for run in found}


def test_a_result_and_its_score_give_pass_and_fail(tmp_path: Path, runs: ReadRuns) -> None:
    text = "[tide.height(harbour='Port Merrow', hour=12)]"
    rows = results(
        ("simple_0", text), ("simple_1", [{"bakery_order": '{"note": ""}'}]), input_token_count=7, latency=0.5
    )
    write(tmp_path / "result/ada-1/BFCL_v3_simple_result.json", *rows)
    write(tmp_path / "score/ada-1/BFCL_v3_simple_score.json", summary(1, 2), {"id": "simple_1", "valid": False})
    (first, second), quarantined = runs()
    assert quarantined == []
    assert (first.id, first.task_id, first.model, first.trial) == ("ada-1/simple_0", "simple_0", "ada-1", 0)
    assert (first.passed, first.score, second.passed, second.score) == (True, 1.0, False, 0.0)
    assert first.usage == {"input_tokens": 7.0, "seconds": 0.5}
    assert first.origin is not None
    assert (first.origin.file, first.origin.line) == ("result/ada-1/BFCL_v3_simple_result.json", 1)
    user, answer = first.messages
    assert user.content == "How high is the tide in Port Merrow at noon?"
    assert answer.content == text
    assert [(call.name, call.arguments) for call in answer.tool_calls] == [
        ("tide.height", {"harbour": "Port Merrow", "hour": 12})
    ]
    assert second.messages[1].tool_calls[0].arguments == {"note": ""}


def test_a_dot_that_the_provider_replaced_is_put_back(tmp_path: Path, runs: ReadRuns) -> None:
    write(tmp_path / "m/BFCL_v3_simple_result.json", *results(("simple_0", [{"tide_height": {"hour": 6}}])))
    ((run,), _) = runs()
    assert run.messages[-1].tool_calls[0].name == "tide.height"


@pytest.mark.parametrize(
    ("result", "content"),
    [
        ("I do not know.", "I do not know."),
        ([{"tide_height": "{"}], '[{"tide_height": "{"}]'),
        ([{"a": {}, "b": {}}], '[{"a": {}, "b": {}}]'),
        ([{"tide_height": [1]}], '[{"tide_height": [1]}]'),
        (None, "null"),
    ],
)
def test_a_result_without_readable_calls_is_kept_as_text(
    tmp_path: Path, runs: ReadRuns, result: Any, content: str
) -> None:
    write(tmp_path / "m/BFCL_v3_simple_result.json", *results(("simple_0", result)))
    ((run,), quarantined) = runs()
    assert (run.messages[-1].content, run.messages[-1].tool_calls) == (content, ())
    assert quarantined == []


def test_a_multi_turn_result_is_laid_out_turn_by_turn(tmp_path: Path, runs: ReadRuns) -> None:
    steps = [[[{"send_message": '{"receiver_id": "U2"}'}], "Sent."], ["[delete_message('U2')]", "Gone."], []]
    row = {"id": "multi_turn_base_0", "result": steps, "output_token_count": [[1, 2], [3, 4], []]}
    write(tmp_path / "m/BFCL_v3_multi_turn_base_result.json", row)
    ((run,), _) = runs()
    assert [(message.role, message.content, len(message.tool_calls)) for message in run.messages] == [
        ("user", "Tell Bo that lunch is ready.", 0),
        ("assistant", "", 1),
        ("assistant", "Sent.", 0),
        ("user", "Take it back.", 0),
        ("assistant", "[delete_message('U2')]", 1),
        ("assistant", "Gone.", 0),
        ("user", "Thanks!", 0),
    ]
    assert run.usage == {"output_tokens": 10.0}


def test_an_inference_error_is_no_failure_of_the_model(tmp_path: Path, runs: ReadRuns) -> None:
    broken = "Error during inference: rate limit"
    rows = results(("multi_turn_base_0", broken), ("multi_turn_base_1", [[]]))
    write(tmp_path / "result/m/BFCL_v3_multi_turn_base_result.json", *rows)
    failure = {"id": "multi_turn_base_0", "error": {"error_type": "multi_turn:inference_error"}}
    twice = {**failure, "error": {"error_type": "multi_turn:force_terminated"}}
    write(tmp_path / "score/m/BFCL_v3_multi_turn_base_score.json", summary(1, 2), failure, twice)
    (first, second), quarantined = runs()
    assert quarantined == []
    assert (first.status, first.passed, first.score, first.messages) == ("infrastructure_error", None, 0.0, ())
    assert first.status_reason == broken
    assert (second.status, second.passed) == ("ok", True)


def test_a_result_alone_has_no_verdicts(tmp_path: Path, runs: ReadRuns) -> None:
    write(tmp_path / "m/BFCL_v3_simple_result.json", *results(("simple_0", "x"), ("simple_1", "y")))
    found, quarantined = runs()
    assert verdicts(found) == {"simple_0": None, "simple_1": None}
    assert [run.score for run in found] == [None, None]
    assert quarantined == []


def test_a_score_alone_gives_passes_when_it_covers_the_category(tmp_path: Path, runs: ReadRuns) -> None:
    failure = {"id": "simple_0", "valid": False, "model_result_raw": "[tide.height(hour=1)]"}
    write(tmp_path / "score/m/BFCL_v3_simple_score.json", summary(1, 2), failure)
    found, quarantined = runs()
    assert verdicts(found) == {"simple_0": False, "simple_1": True}
    assert found[0].messages[-1].tool_calls[0].arguments == {"hour": 1}
    assert found[0].origin is not None and found[0].origin.line == 2
    assert found[1].messages == ()
    assert quarantined == []


@pytest.mark.parametrize("ids", [[2], ["2"]])
def test_scores_of_2024_count_from_one(tmp_path: Path, runs: ReadRuns, ids: list[Any]) -> None:
    write(tmp_path / "score/m/simple_score.json", summary(1, 2), *({"id": i, "valid": False} for i in ids))
    found, quarantined = runs()
    assert verdicts(found) == {"simple_0": True, "simple_1": False}
    assert quarantined == []


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ([summary(1, 3), {"id": "simple_0"}], "it counts 3 runs where 2 are known; so who passed cannot be told"),
        ([summary(2, 2), {"id": "simple_0"}], "it counts 2 of 2 as correct but lists 1 failures"),
        ([summary(1, 2), {"id": "simple_7"}], "it lists failures of runs that are not there: simple_7"),
        ([summary(1, 2), {"id": 3}], "line 2 has the id 3"),
        ([summary(1, 2), {"id": None}], "line 2 has the id None"),
        ([{"id": "simple_0"}], "the first line is not a summary"),
    ],
)
def test_a_score_alone_that_does_not_add_up_is_quarantined(
    tmp_path: Path, runs: ReadRuns, lines: list[Any], reason: str
) -> None:
    write(tmp_path / "score/m/BFCL_v3_simple_score.json", *lines)
    found, (item,) = runs()
    assert found == []
    assert (item.file, item.kind) == ("score/m/BFCL_v3_simple_score.json", "run")
    assert item.reason.startswith(reason)


def test_a_score_of_other_results_gives_no_verdicts(tmp_path: Path, runs: ReadRuns) -> None:
    write(tmp_path / "result/m/BFCL_v3_simple_result.json", *results(("simple_0", "x")))
    write(tmp_path / "score/m/BFCL_v3_simple_score.json", summary(1, 2), {"id": "simple_0"})
    found, (item,) = runs()
    assert verdicts(found) == {"simple_0": None}
    assert item.reason.startswith("it counts 2 runs where 1 are known; so its result file is read without verdicts")


def test_a_partial_result_with_its_own_score_is_used(tmp_path: Path, runs: ReadRuns) -> None:
    write(tmp_path / "result/m/BFCL_v3_simple_result.json", *results(("simple_1", "x")))
    write(tmp_path / "score/m/BFCL_v3_simple_score.json", summary(0, 1), {"id": "simple_1"})
    assert verdicts(runs()[0]) == {"simple_1": False}


def test_bad_runs_are_quarantined_and_the_rest_is_read(tmp_path: Path, runs: ReadRuns) -> None:
    rows = [*results(("simple_0", "x"), ("simple_0", "y"), ("simple_9", "z"), (5, "w")), "{", {"id": "simple_1"}]
    write(tmp_path / "m/BFCL_v3_simple_result.json", *rows)
    write(tmp_path / "m/BFCL_v3_sql_result.json", {"id": "sql_0", "result": ""})
    found, quarantined = runs()
    assert [(run.task_id, len(run.messages)) for run in found] == [("simple_0", 2), ("simple_1", 0)]
    assert [(item.line, item.reason.split(";")[0].split(":")[0]) for item in quarantined] == [
        (2, "a second run 'simple_0' in the same file"),
        (3, "this copy of BFCL has no task 'simple_9'"),
        (4, "the run has no text under 'id', so its task cannot be told"),
        (5, "not valid JSON"),
        (None, "this copy of BFCL has no category 'sql'"),
    ]


def test_models_and_repeated_runs(tmp_path: Path, runs: ReadRuns) -> None:
    for folder in ("monday/result/ada", "tuesday/result/ada", "tuesday/result/bo"):
        write(tmp_path / folder / "BFCL_v3_simple_result.json", *results(("simple_0", "x")))
        correct, failures = (1, []) if "monday" in folder else (0, [{"id": "simple_0"}])
        score = tmp_path / folder.replace("result", "score") / "BFCL_v3_simple_score.json"
        write(score, summary(correct, 1), *failures)
    found, quarantined = runs()
    assert [(run.id, run.model, run.trial, run.passed) for run in found] == [
        ("ada/simple_0", "ada", 0, True),
        ("ada/simple_0#1", "ada", 1, False),
        ("bo/simple_0", "bo", 0, False),
    ]
    assert quarantined == []


def test_runs_outside_the_chosen_categories_are_passed_over(tmp_path: Path, runs: ReadRuns) -> None:
    write(tmp_path / "m/BFCL_v3_simple_result.json", *results(("simple_0", "x")))
    write(tmp_path / "m/BFCL_v3_parallel_result.json", *results(("parallel_0", "x")))
    found, quarantined = runs(domains=("parallel",))
    assert [run.task_id for run in found] == ["parallel_0"]
    assert quarantined == []


def test_one_file_can_be_given(tmp_path: Path, runs: ReadRuns) -> None:
    path = write(tmp_path / "result/ada/BFCL_v3_simple_result.json", *results(("simple_0", "x")))
    write(tmp_path / "result/bo/BFCL_v3_simple_result.json", *results(("simple_0", "x")))
    assert [run.model for run in runs(path=path)[0]] == ["ada"]


def test_a_folder_without_runs_is_refused(tmp_path: Path, runs: ReadRuns) -> None:
    (tmp_path / "notes.json").write_text("{}")
    with pytest.raises(SourceError, match=r"no BFCL runs under .* looked for \*_result\.json and \*_score\.json"):
        runs()


def test_the_grouped_folders_of_v4(tmp_path: Path, v4: Path, runs: ReadRuns) -> None:
    memory = "m-1/agentic/memory/rec_sum/BFCL_v4_memory_rec_sum"
    steps = [["[memory_append(text='x')]", "Petrel"]]
    rows = results(("memory_rec_sum_0-sailor-0", steps), ("memory_rec_sum_1-sailor-1", []))
    write(tmp_path / f"result/{memory}_result.json", *rows)
    write(tmp_path / f"score/{memory}_score.json", summary(1, 2), {"id": "memory_rec_sum_1-sailor-1"})
    web = tmp_path / "result/m-1/agentic/BFCL_v4_web_search_no_snippet_result.json"
    write(web, *results(("web_search_no_snippet_0", [["31"]])))
    prerequisite = tmp_path / "result/m-1/agentic/memory/kv/BFCL_v4_memory_kv_prereq_result.json"
    write(prerequisite, *results(("memory_kv_prereq_0-sailor-0", [])))
    found, (item,) = runs(v4)
    assert [(run.model, run.task_id, run.passed) for run in found] == [
        ("m-1", "web_search_no_snippet_0", None),
        ("m-1", "memory_rec_sum_0-sailor-0", True),
        ("m-1", "memory_rec_sum_1-sailor-1", False),
    ]
    assert [message.content for message in found[1].messages][1:] == ["[memory_append(text='x')]", "Petrel"]
    assert "no category 'memory_kv_prereq'" in item.reason


def test_runs_under_other_prompt_formats_belong_to_the_same_task(tmp_path: Path, v4: Path, runs: ReadRuns) -> None:
    ids = [f"format_sensitivity_{i}:ret_fmt={form}:simple_python_1" for i, form in enumerate(("json", "python"))]
    folder = tmp_path / "result/m/format_sensitivity"
    write(folder / "BFCL_v4_format_sensitivity_result.json", *results(*((i, "[bell_ring(times=2)]") for i in ids)))
    write(tmp_path / "score/m/format_sensitivity/BFCL_v4_format_sensitivity_score.json", summary(1, 2), {"id": ids[1]})
    write(tmp_path / "result/m/non_live/BFCL_v4_simple_python_result.json", *results(("simple_python_1", "x")))
    found, quarantined = runs(v4)
    assert quarantined == []
    assert [(run.model, run.task_id, run.protocol, run.trial, run.passed) for run in found] == [
        ("m", "simple_python_1", "format_sensitivity:ret_fmt=json", 0, True),
        ("m", "simple_python_1", "format_sensitivity:ret_fmt=python", 0, False),
        ("m", "simple_python_1", None, 0, None),
    ]
    assert len({run.id for run in found}) == 3
