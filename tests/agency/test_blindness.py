"""Blindness in whole evaluations: an agent signs its work, a user gives gold away, and neither gets through."""

import getpass
import gzip
import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

from agenthard.agency.packs import packs
from agenthard.agency.suite.catalogue import NAMES
from agenthard.agency.suite_files import write_suite
from agenthard.flows.evaluation.settings import EvaluationSettings
from agenthard.models.model_file import load_model
from tests.flows.evaluation.conftest import evaluated, model_path
from tests.loopback import Loopback
from tests.loopback.talk import Answer, Asked, Called

pytestmark = pytest.mark.long
MODEL, TIME = "zephyr-9b-signed", "2026-11-23T18:45:32Z"
TRIALS, ROUNDS = 3, 4
FEEDBACKS = 18 * ROUNDS * TRIALS


def gold_of(number: int) -> dict[str, Any]:
    """Return values, a sentence and a code, which nothing that an agent reads holds."""
    chance = random.Random(number)
    totals = {f"row{at}": round(chance.uniform(10_000, 99_999), 2) for at in range(12)}
    return {"totals": totals, "phrase": f"The {number} kettles are of copper", "code": f"key-{chance.randrange(10**8)}"}


def secrets_of(gold: dict[str, Any]) -> list[str]:
    return [*map(str, gold["totals"].values()), gold["phrase"], gold["code"]]


def as_said(secret: str, number: int) -> str:
    """Write a secret in one of the ways that a user may write it; paraphrases and rounded numbers are left out."""
    broken = secret.replace(" ", "\n   ")
    return (secret, secret.upper(), broken, f"`{secret}`", f'("{secret}")')[number % 5]


class Brains:
    """An agent that signs whatever it writes, a user that tells gold, and a judge that is never content."""

    def __init__(self, signature: str) -> None:
        self.signature = signature
        self.gold = {name: secrets_of(gold_of(number)) for number, name in enumerate(NAMES)}
        self.planted: list[str] = []
        self.written = 0

    def __call__(self, asked: Asked) -> Answer:
        if asked.schema is not None and "confidence" in asked.schema["properties"]:
            return self._judges(asked)
        return self._plays(asked) if asked.tools else self._tells(asked)

    def _plays(self, asked: Asked) -> Answer:
        if asked.said[-1].role == "tool":
            return Answer(text=f"Done by {self.signature}")
        self.written += 1
        number = self.written
        content = f"# attempt {number}\n# {self.signature}\n"
        return Answer(calls=(Called("write_file", {"file_path": f"notes-{MODEL}-{number}.md", "content": content}),))

    def _tells(self, asked: Asked) -> Answer:
        text = asked.said[-1].text
        name = next(name for name in NAMES for task in packs()[name].scenario.tasks if task.query in text)
        secret = self.gold[name][len(self.planted) % len(self.gold[name])]
        sections = {"status": "Some is missing.", "diagnosis": "Rows are not complete.", "root_cause": "Not known."}
        place = ("status", "diagnosis", "root_cause", "directives")[len(self.planted) % 4]
        sections |= {"directives": "Look at the task again."}
        sections[place] += f" It should be {as_said(secret, len(self.planted))} there."
        self.planted.append(secret)
        return Answer(text=json.dumps(sections))

    def _judges(self, asked: Asked) -> Answer:
        file, line = re.findall(r"file ([^\n]+)\n1\| (.*\S.*)", asked.said[-1].text)[0]
        evidence = [{"file": file, "line": 1, "quote": line}]
        return Answer(text=json.dumps({"comment": "Rows.", "evidence": evidence, "score": 2, "confidence": 0.5}))


def plain(text: str) -> str:
    return " ".join(text.casefold().split())


def test_no_judge_reads_who_did_the_work_and_no_agent_reads_gold(loopback: Loopback, keys: str, tmp_path: Path) -> None:
    packs.cache_clear()
    suite, out = tmp_path / "suite", tmp_path / "out"
    write_suite([packs()[name] for name in NAMES], suite)
    for number, name in enumerate(NAMES):
        (suite / name / "gold").mkdir(exist_ok=True)
        (suite / name / "gold" / "answers.json").write_text(json.dumps(gold_of(number)))
    brains = Brains(f"{MODEL} (compatible/{MODEL}) as {getpass.getuser()} in {out}/work, {TIME}")
    loopback.service.brain, loopback.service.remember = brains, 10_000
    model = str(model_path(tmp_path, loopback.url, name=f"compatible/{MODEL}@{loopback.openai_url}", label=MODEL))
    judge = {"name": f"compatible/judge@{loopback.openai_url}", "label": "judge"}
    (tmp_path / "judge.yaml").write_text(json.dumps(judge))
    (tmp_path / "judges.yaml").write_text(json.dumps({"text": ["judge.yaml"]}))
    options = {"judge": f"panel:{tmp_path}/judges.yaml", "user": "model", "user_model": model, "rounds": str(ROUNDS)}
    settings = EvaluationSettings(
        benchmark="agency",
        path=str(suite),
        models=(load_model(model),),
        options=options,
        trials=TRIALS,
        in_flight=4,
        out=str(out),
    )
    assert evaluated(settings).complete
    heard = [asked for asked in loopback.service.heard if asked.model == "judge"]
    assert len(heard) >= 200
    signs = (MODEL, "zephyr", "compatible/", str(tmp_path), str(out), TIME, loopback.url)
    for asked in heard:
        said = " ".join(each.text for each in asked.said).casefold()
        assert "[model]" in said and "[time]" in said  # the agent did sign what the judge read
        assert not [sign for sign in signs if sign.casefold() in said]
    with gzip.open(out / "rollouts.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    feedbacks = [row["feedback"] for row in rows if row["feedback"]]
    assert len(feedbacks) == len(brains.planted) == FEEDBACKS >= 200
    secrets = [plain(secret) for found in brains.gold.values() for secret in found]
    sections = ("status", "diagnosis", "root_cause", "directives")
    told = [plain(" ".join(each[name] for name in sections)) for each in feedbacks]
    through = [secret for text in told for secret in secrets if secret in text]
    caught = sum(bool(each["leaks"]) for each in feedbacks)
    assert caught >= 0.95 * len(feedbacks) and len(through) <= 0.05 * len(feedbacks), (caught, through[:5])
    agents = [asked for asked in loopback.service.heard if asked.tools]
    read = plain(" ".join(each.text for asked in agents for each in asked.said))
    assert sum(secret in read for secret in secrets) <= 0.05 * len(secrets)
