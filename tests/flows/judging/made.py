"""A small benchmark with wrong keys in known places, judges played by the loopback server, and judgings of it."""

import json
import re
from pathlib import Path
from typing import Any

from agenthard.audit.judge.settings import JudgeSettings
from agenthard.flows.audit_plan import AuditSettings
from agenthard.flows.judging.settings import JudgingSettings
from agenthard.taxonomy import AgentTask, GroundTruth, ToolCall
from tests.builders import make_task
from tests.flows.audits import audit_by_steps
from tests.loopback import Answer, Asked, Called

GARBAGE, REFUSED, CUT_OFF, FLAWED = 7, 8, 9, 1
"""Last digits of the tasks whose questions end so."""
_CASE = re.compile(r"Case (\d+): lend book (\d+)\.")


def case(number: int) -> AgentTask:
    """A task whose ground truth lends another book than asked for, if its number ends in 1."""
    wanted = 5000 + number
    gold = wanted + 1 if number % 10 == FLAWED else wanted
    call = ToolCall(name="lend_book", arguments={"book_id": gold, "member": "Ada"})
    return make_task(
        f"lib/{number}",
        user={
            "kind": "scripted",
            "turns": [[{"role": "user", "content": f"Case {number}: lend book {wanted}. I am Ada."}]],
        },
        ground_truth=GroundTruth(semantics="required", turns=((call,),)),
    )


def write_benchmark(folder: Path, count: int) -> Path:
    """Write so many cases as a native benchmark."""
    folder.mkdir(parents=True)
    lines = [case(number).model_dump_json(exclude={"origins"}) for number in range(count)]
    (folder / "tasks.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def audit(benchmark: Path, out: Path) -> Path:
    """Audit without the flow."""
    settings = AuditSettings(source="native", path=str(benchmark), out=str(out))
    audit_by_steps(settings)
    return out


def sound() -> str:
    return json.dumps(
        {"reasoning": "It agrees.", "outcome": "not_flawed", "because": "The key is right.", "issues": []}
    )


def flawed(wanted: int, quote: str | None = None) -> str:
    """A verdict that quotes both sides; another quote of the gold can be made up."""
    evidence = [
        {"passage": "/user/turns/0/0/content", "quote": f"lend book {wanted}", "shows": "what is asked for"},
        {"passage": "/ground_truth/turns/0/0", "quote": quote or f'"book_id":{wanted + 1}', "shows": "another book"},
    ]
    issue = {
        "category": "incorrect-tool-call",
        "claim": "The key lends another book.",
        "reasoning_summary": "The user names one book, the key another.",
        "severity": "affects_score",
        "confidence": 0.9,
        "evidence": evidence,
        "fix": "Lend the book asked for.",
        "patch": [],
    }
    return json.dumps({"reasoning": "They differ.", "outcome": "flawed", "because": "", "issues": [issue]})


UPHELD = json.dumps({"argument": "It is as it says.", "verdict": "upheld", "evidence": []})


def defence(wanted: int) -> str:
    """A defence that stands by its quote."""
    quote = {"passage": "/user/turns/0/0/content", "quote": f"lend book {wanted}", "shows": "what is meant"}
    return json.dumps({"argument": "The next book is meant.", "verdict": "overturned", "evidence": [quote]})


def curious(asked: Asked) -> Answer:
    """Looks something up before it says what `verdict` says."""
    if not asked.tools:
        return verdict(asked)
    if asked.said[-1].role == "tool":
        return Answer(text="I have seen enough.")
    return Answer(calls=(Called(asked.tools[0]["name"], {}),))


def verdict(asked: Asked) -> Answer:
    """What a judge says: the right verdict, or the failure that the number of the task stands for."""
    found = _CASE.search(asked.said[-1].text)
    assert found, asked.said[-1].text[:2000]
    number, wanted = int(found[1]), int(found[2])
    if asked.schema and "argument" in asked.schema["properties"]:
        return Answer(text=defence(wanted) if number > 10 else UPHELD)
    if number % 10 == GARBAGE:
        return Answer(text="I think it is fine.")
    if number % 10 == REFUSED:
        return Answer(text="I cannot help with that.", finish="refusal")
    if number % 10 == CUT_OFF:
        return Answer(text=sound()[:40], finish="length")
    return Answer(text=flawed(wanted) if number % 10 == FLAWED else sound())


def readable(asked: Asked) -> Answer:
    """What a judge says that never fails."""
    found = _CASE.search(asked.said[-1].text)
    assert found
    return Answer(text=flawed(int(found[2])) if int(found[1]) % 10 == FLAWED else sound())


def always_sound(asked: Asked) -> Answer:
    return Answer(text=sound())


def model(api: str, url: str, **settings: Any) -> dict[str, Any]:
    """The settings of a judge's model that the server plays."""
    name = f"google/loop@{url}" if api == "gemini" else f"compatible/loop@{url}/v1"
    return {
        "name": name,
        "price": {"prompt": 1.0, "completion": 4.0, "date": "2026-11"},
        "sampling": {"max_output_tokens": 1000},
        "retries": {"attempts": 3, "first_wait": 0.0, "longest_wait": 0.0},
        "timeout": 20,
        **({"api": "responses"} if api == "responses" else {}),
        **settings,
    }


def panel(judges: list[dict[str, Any]], **rules: Any) -> dict[str, Any]:
    return {"judges": [{"name": f"j{n}", **judge} for n, judge in enumerate(judges)], **rules}


def judging(run: Path, out: Path, content: dict[str, Any], **options: Any) -> JudgingSettings:
    return JudgingSettings(
        run=str(run), out=str(out), judges=JudgeSettings.model_validate(content), **{"workers": 0, **options}
    )
