"""State selection: how many of the records that a decision needs are in a judge's prompt, and at how many tokens.

Usage: python perf/bench_state_selection.py CORPORA [NAME ...]. CORPORA holds tau-bench_59a200c and tau2-bench_v0.1.3,
and optionally labels_dev, tau2-bench_v1.0.1 and trajectories. Names: tau1-airline, tau1-retail, tau2-airline,
tau2-retail; all by default. Benchmarks with small states need no measurement: their states are shown whole.

What a decision needs is not recorded anywhere, so the recall is measured against proxies. A record is needed when

* calls: an argument of a call of the ground truth is its key;
* responses: the replayed response of such a call names its key (responses that name over 30 records are listings);
* label: the text of the label on the task names its key;
* fixed: a call of the corrected ground truth, where a later release has one, names its key;
* runs: more than half of up to six passing runs name it in a call or a response.

A day of a record with a calendar is needed when the same object, or the call, names both. The figures are development
figures: the constants of the selection were chosen on these tasks.
"""

import gzip
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from agenthard.audit.execution.environment import ExecutionError, UnavailableError
from agenthard.audit.execution.gold import environment_of, why_no_path
from agenthard.audit.execution.replay import gold_turns
from agenthard.audit.judge.context.material import text_tokens
from agenthard.audit.judge.context.passages import gather
from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.tau.tau2.source import Tau2Bench
from agenthard.audit.sources.tau.tau_bench.source import TauBench
from agenthard.taxonomy import AgentTask
from agenthard.taxonomy.pointer import join

LISTING, RUNS = 30, 6
STATE = "/environment/state"
DAY = re.compile(r"\d{4}-\d\d-\d\d")
Need = dict[str, set[str]]


def objects(value: Any) -> Iterator[dict[str, Any]]:
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            yield each
            waiting += each.values()
        elif isinstance(each, (list, tuple)):
            waiting += each


class Keys:
    """Pointers of a state's records and of the days of their calendars, by key."""

    def __init__(self, state: Any) -> None:
        self.records: dict[str, str] = {}
        self.days: dict[tuple[str, str], str] = {}
        for table, rows in state.items() if isinstance(state, dict) else ():
            for key, record in rows.items() if isinstance(rows, dict) else ():
                if isinstance(record, dict):
                    self._add(join(STATE, table, key), key, record)

    def _add(self, at: str, key: str, record: dict[str, Any]) -> None:
        self.records[key] = at
        for name, member in record.items():
            if isinstance(member, dict) and member and all(isinstance(each, dict) for each in member.values()):
                for inner in member:
                    if DAY.fullmatch(inner):
                        self.days[key, inner] = join(at, name, inner)
                    else:
                        self.records.setdefault(inner, at)

    def named(self, value: Any, around: Iterable[Any] = ()) -> set[str]:
        """Return what the objects of a value name; ``around`` holds further values that may name days."""
        found: set[str] = set()
        for each in objects(value):
            listed = [item for member in each.values() if isinstance(member, list) for item in member]
            names = [name for name in (*each, *each.values(), *listed) if isinstance(name, str)]
            for key in self.records.keys() & set(names):
                found.add(self.records[key])
                found |= {self.days[key, d] for d in (*names, *around) if isinstance(d, str) and (key, d) in self.days}
        return found

    def in_text(self, text: str) -> set[str]:
        return {self.records[word] for word in re.findall(r"#?\w{4,}", text) if word in self.records}


def responses(task: AgentTask, keys: Keys) -> set[str]:
    found: set[str] = set()
    try:
        if why_no_path(task) is not None:
            return found
        environment = environment_of(task)
        environment.reset(task)
        for turn in gold_turns(task):
            for each in turn:
                found |= response(keys, environment.call(each).text, each.arguments)
    except (ExecutionError, UnavailableError):
        pass
    return found


def response(keys: Keys, text: str, arguments: Any) -> set[str]:
    try:
        value = json.loads(text)
    except (ValueError, TypeError):
        return set()
    found = keys.named(value, [each for members in objects(arguments) for each in members.values()])
    return found if len(found) <= LISTING else set()


def passing_runs(path: Path) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = defaultdict(list)
    for line in gzip.open(path, "rt") if path.is_file() else ():
        run = json.loads(line)
        if run["reward"] == 1 and run.get("task_matches_corpus", True) and len(found[str(run["task_id"])]) < RUNS:
            found[str(run["task_id"])].append(run["messages"])
    return found


def seen_in_runs(runs: Iterable[Any], keys: Keys, gold: set[str]) -> set[str]:
    """Return what most runs name; a run that names nothing of the ground truth belongs to another task."""
    counts, used = Counter[str](), 0
    for messages in runs:
        found: set[str] = set()
        arguments: dict[Any, Any] = {}
        for message in messages:
            for each in message.get("tool_calls") or ():
                given = each.get("arguments") or (each.get("function") or {}).get("arguments")
                arguments[each.get("id")] = given = json.loads(given) if isinstance(given, str) else given
                found |= keys.named(given)
            if message.get("role") == "tool":
                asked = arguments.get(message.get("tool_call_id") or message.get("id"))
                found |= response(keys, message.get("content"), asked)
        if found & gold:
            used += 1
            counts.update(found)
    return {pointer for pointer, count in counts.items() if 2 * count > used}


def shown(need: set[str], task: AgentTask) -> tuple[set[str], int]:
    """Return what of the needed is in the material, and the tokens of the state in it, at most."""
    passages = [passage for passage in gather(task).passages if passage.part == "state"]
    places = {passage.pointer or "" for passage in passages}
    above = {place[:end] for place in places for end in [at for at, sign in enumerate(place) if sign == "/"]} | places
    if STATE in places:
        above |= need
    tokens = sum(text_tokens(passage.text) + text_tokens(passage.label) for passage in passages)
    return {each for each in need if each in (places if DAY.search(each) else above) or STATE in places}, tokens


def measure(name: str, tasks: Iterable[AgentTask], needs: Callable[[AgentTask, Keys, set[str]], Need]) -> None:
    kept: dict[int, tuple[Keys, Any]] = {}
    hits, totals, tokens = Counter[str](), Counter[str](), list[int]()
    for task in tasks:
        keys, _ = kept.setdefault(id(task.environment), (Keys(task.environment.state), task.environment))
        gold = {pointer for _, each in task.gold_calls() for pointer in keys.named(each.arguments)}
        need = {"calls": gold, "responses": responses(task, keys), **needs(task, keys, gold)}
        need["all"] = set().union(*need.values())
        found, size = shown(need["all"], task)
        tokens.append(size)
        for proxy, wanted in need.items():
            hits[proxy] += len(wanted & found)
            totals[proxy] += len(wanted)
    figures = "; ".join(f"{p} {hits[p]}/{n}" + (f" = {hits[p] / n:.3f}" if n else "") for p, n in totals.items())
    middle = sorted(tokens)[len(tokens) // 2]
    print(f"{name}: {len(tokens)} tasks, {sum(tokens) / len(tokens):.0f} tokens of state (median {middle}); {figures}")


def further(corpora: Path, which: str) -> Callable[[AgentTask, Keys, set[str]], Need]:
    """Return the needs by label, by corrected ground truth and by runs, as far as the corpora have them."""
    labels, fixed = corpora / "labels_dev" / f"{which}.jsonl", {}
    texts = {}
    for line in labels.read_text().splitlines() if labels.is_file() else ():
        label = json.loads(line)
        texts[str(label["task_id"])] = f"{label.get('what_changed')} {label.get('reason')}"
    later = corpora / "tau2-bench_v1.0.1/data/tau2/domains/airline/tasks.json"
    if which == "tau2_airline" and later.is_file():
        fixed = {str(each["id"]): each["evaluation_criteria"].get("actions") or [] for each in _read(later)}
    runs = passing_runs(corpora / "trajectories" / f"{which}.jsonl.gz")

    def needs(task: AgentTask, keys: Keys, gold: set[str]) -> Need:
        number = task.id.rpartition("/")[2]
        return {
            "label": keys.in_text(texts.get(number, "")),
            "fixed": keys.named([action["arguments"] for action in fixed.get(number, ())]),
            "runs": seen_in_runs(runs.get(number, ()), keys, gold),
        }

    return needs


def _read(path: Path) -> Any:
    return json.loads(path.read_text())


def main(corpora: Path, names: Iterable[str]) -> None:
    for name in names:
        benchmark, _, domain = name.partition("-")
        if benchmark == "tau1":
            source: Any = TauBench(corpora / "tau-bench_59a200c", (domain,))
            measure(name, source.tasks(Quarantine()), further(corpora, f"tau1_{domain}"))
        elif benchmark == "tau2":
            source = Tau2Bench(corpora / "tau2-bench_v0.1.3", (domain,))
            measure(name, source.tasks(Quarantine()), further(corpora, f"tau2_{domain}"))


if __name__ == "__main__":
    all_names = ("tau1-airline", "tau2-airline", "tau1-retail", "tau2-retail")
    main(Path(sys.argv[1]), sys.argv[2:] or all_names)
