"""What a million tasks, 16 models and 3 judges take: python perf/million_tasks.py [--tasks N]

Prints the tables of docs/million-tasks.md as Markdown; a test holds the page against them. All of them follow from
`Assumptions`. perf/simulate_million.py checks durations, requests and cost by a simulation at 1/100.
"""

import argparse
from dataclasses import dataclass
from math import ceil

from agenthard.models.limits import BURST_SECONDS


@dataclass(frozen=True)
class Requests:
    """Requests to one model."""

    per_item: int
    """Requests for one episode or one judgement, one after another."""
    prompt: int
    """Tokens of a prompt, on average."""
    reply: int
    """Tokens of a reply, on average."""
    reserved: int
    """Tokens that the client reserves for a request before it is sent: an upper bound."""
    seconds: float
    """From request to reply."""
    per_minute: float = 10_000
    """Requests that the provider allows per minute."""
    tokens_per_minute: float = 10_000_000
    """Tokens that the provider allows per minute."""
    in_flight: int = 512
    """Requests in flight at the same time, as the model file sets it."""
    prompt_price: float = 1.0
    """Dollars per million tokens of prompts."""
    reply_price: float = 4.0
    """Dollars per million tokens of replies."""

    @property
    def tokens(self) -> int:
        """Tokens of a request with its reply."""
        return self.prompt + self.reply

    @property
    def rates(self) -> dict[str, float]:
        """Requests a second that each limit allows; the least of them is reached."""
        return {
            "requests per minute": self.per_minute / 60,
            "tokens per minute": self.tokens_per_minute / 60 / self.tokens,
            "requests in flight": self.in_flight / self.seconds,
        }

    @property
    def limit(self) -> str:
        """What limits the rate."""
        return min(self.rates, key=self.rates.__getitem__)

    @property
    def rate(self) -> float:
        """Requests a second."""
        return self.rates[self.limit]

    def duration(self, items: int) -> float:
        """Return the seconds for so many episodes or judgements.

        The rate decides. A full bucket at the start saves ten seconds; what the first requests reserve beyond what they
        use comes back with their replies. Episodes end side by side, so at the end one more request counts, not one
        more episode; where requests in flight are the limit, half an episode, since by then those that remain are
        anywhere in theirs. Nothing is faster than one episode: with few tasks, none waits for a limit.
        """
        sent, episode = items * self.per_item / self.rate, self.seconds * self.per_item
        if self.limit == "requests in flight":
            return max(sent + episode / 2, episode)
        if self.limit == "tokens per minute":
            sent += self.seconds * (self.reserved / self.tokens - 1)
        return max(sent - BURST_SECONDS + self.seconds, episode)

    def cost(self, items: int) -> float:
        """Return the dollars for so many."""
        return items * self.per_item * (self.prompt * self.prompt_price + self.reply * self.reply_price) / 1e6


@dataclass(frozen=True)
class Assumptions:
    """What the arithmetic starts from: the first group is to be replaced by your figures. What names
    perf/bench_workers.py was measured with small tasks; a test holds it against perf/million_tasks.json."""

    tasks: int = 1_000_000
    models: int = 16
    judges: int = 3
    agent: Requests = Requests(per_item=8, prompt=3_000, reply=200, reserved=8_000, seconds=4.0)
    judge: Requests = Requests(per_item=1, prompt=6_000, reply=800, reserved=14_000, seconds=8.0)
    workers: int = 32
    """Places of the cluster."""

    check_seconds: float = 0.0065
    """CPU time of static checks, for a task (docs/results/growth.md)."""
    run_check_seconds: float = 0.00022
    """CPU time of checks and report, for one run of a task (perf/bench_workers.py)."""
    read_seconds: float = 0.00039
    """CPU time of the command for a task: reading it (docs/scale-out.md)."""
    send_seconds: float = 0.0001
    """CPU time of the command for a task: writing its input and collecting its result (docs/scale-out.md)."""
    turn_seconds: float = 0.00048
    """CPU time of a worker for a request of an episode: environment and loop (perf/bench_workers.py)."""
    request_seconds: float = 0.00059
    """CPU time of the command for a request of a worker to a model (perf/bench_workers.py)."""
    prompt_seconds: float = 0.0029
    """CPU time of a worker for the prompt and the check of a judgement (perf/bench_workers.py)."""
    judgement_seconds: float = 0.0012
    """CPU time of the command for a judgement, with its report (perf/bench_workers.py)."""
    ledger_bytes: int = 300
    """Disk for a row of the ledger (perf/simulate_million.py)."""
    turn_bytes: int = 1_037
    """Disk for a request and its reply in the record of an episode (perf/bench_workers.py)."""
    result_bytes: int = 839
    """Store for a task: input and result (docs/scale-out.md)."""
    shard_tasks: int = 25
    """Tasks of a shard with runs (flows/audit_plan.py)."""

    @property
    def episodes(self) -> int:
        """Episodes of all models."""
        return self.tasks * self.models

    @property
    def judgements(self) -> int:
        """Judgements of all judges."""
        return self.tasks * self.judges

    @property
    def agent_requests(self) -> int:
        """Requests of all episodes."""
        return self.episodes * self.agent.per_item

    @property
    def commands(self) -> int:
        """Commands among which the models are divided, so that none has to make more requests than its process can."""
        return ceil(self.models * self.agent.rate * self.request_seconds)


def tables(given: Assumptions) -> dict[str, str]:
    """Return the tables of the page, by name."""
    return {
        "stages": table(("stage", "shards and requests", "arithmetic", "result"), _stages(given)),
        "limits": table(("limit of one model", "an agent", "a judge"), _limits(given)),
        "cost": table(("cost", "arithmetic", "dollars"), _costs(given)),
    }


def _stages(g: Assumptions) -> list[tuple[str, ...]]:
    a, j = g.agent, g.judge
    shards = ceil(g.tasks / g.shard_tasks)
    checks = g.tasks * g.check_seconds + g.episodes * g.run_check_seconds
    feed, ms = g.read_seconds + g.send_seconds, 1e3
    run_ms, request_ms = g.run_check_seconds * ms, g.request_seconds * ms
    playing, judging = g.agent_requests * g.turn_seconds, g.judgements * g.prompt_seconds
    held = f"{g.tasks:,} / {g.shard_tasks}, with {g.shard_tasks * g.models} runs each"
    answers = f"{g.judgements * j.per_item:,} requests"
    asked = f"{g.agent_requests:,} requests"
    many = f"{ceil(shards / 150)} shards in each task of the flow"
    return [
        ("evaluate", f"{g.episodes:,} episodes", f"{g.tasks:,} × {g.models}", asked),
        ("", "the models, side by side", f"{g.tasks:,} × {a.per_item} / {a.rate:.1f}", _time(a.duration(g.tasks))),
        ("", "CPU", f"{g.agent_requests:,} × {g.turn_seconds * ms:g} ms / {g.workers}", _time(playing / g.workers)),
        ("", "commands", f"{g.models} × {a.rate:.1f} × {request_ms:g} ms, rounded up", f"{g.commands}"),
        ("", "disk of episodes", f"{g.agent_requests:,} × {g.turn_bytes:,} B", _size(g.agent_requests * g.turn_bytes)),
        ("", "disk of ledgers", f"{g.agent_requests:,} × {g.ledger_bytes} B", _size(g.agent_requests * g.ledger_bytes)),
        ("audit", f"{shards:,} shards", held, many),
        ("", "CPU of checks", f"{g.tasks:,} × {g.check_seconds * ms:g} ms / {g.workers}",
         _time(g.tasks * g.check_seconds / g.workers)),
        ("", "CPU with runs", f"+ {g.episodes:,} × {run_ms:g} ms / {g.workers}", _time(checks / g.workers)),
        ("", "CPU of the command", f"{g.tasks:,} × {feed * ms:g} ms", _time(g.tasks * feed)),
        ("", "store", f"{g.tasks:,} × {g.result_bytes} B, without runs", _size(g.tasks * g.result_bytes)),
        ("judge", f"{g.judgements:,} judgements", f"{g.tasks:,} × {g.judges}", answers),
        ("", "the judges, side by side", f"{g.tasks:,} × {j.per_item} / {j.rate:.1f}", _time(j.duration(g.tasks))),
        ("", "CPU", f"{g.judgements:,} × {g.prompt_seconds * ms:g} ms / {g.workers}", _time(judging / g.workers)),
        ("", "share of the command's core", f"{g.judges} × {j.rate:.1f} × {g.judgement_seconds * ms:g} ms",
         f"{g.judges * j.rate * g.judgement_seconds:.0%}"),
    ]  # fmt: skip


def _limits(g: Assumptions) -> list[tuple[str, ...]]:
    a, j = g.agent, g.judge
    rows = [
        ("tokens of a request", f"{a.prompt:,} + {a.reply:,}", f"{j.prompt:,} + {j.reply:,}"),
        ("seconds of a request", f"{a.seconds:g}", f"{j.seconds:g}"),
        ("requests one after another", f"{a.per_item}", f"{j.per_item}"),
    ]
    rows += [(f"{name} allow", f"{a.rates[name]:.1f} a second", f"{j.rates[name]:.1f} a second") for name in a.rates]
    return [
        *rows,
        ("what limits", a.limit, j.limit),
        ("needed in flight", f"{ceil(a.rate * a.seconds)}", f"{ceil(j.rate * j.seconds)}"),
    ]


def _costs(g: Assumptions) -> list[tuple[str, ...]]:
    a, j = g.agent, g.judge

    def words(count: int, each: Requests) -> str:
        total = count * each.per_item
        return (
            f"{total * each.prompt / 1e9:,.0f} G × {each.prompt_price:g} + {total * each.reply / 1e9:,.1f} G × "
            f"{each.reply_price:g} per million"
        )

    agents, judges = a.cost(g.episodes), j.cost(g.judgements)
    few = g.tasks // 20
    return [
        ("models", words(g.episodes, a), f"{agents:,.0f}"),
        ("judges, every task", words(g.judgements, j), f"{judges:,.0f}"),
        ("judges, 5 % of the tasks", words(few * g.judges, j), f"{j.cost(few * g.judges):,.0f}"),
        ("all", "every task", f"{agents + judges:,.0f}"),
    ]


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """Return a table as Markdown."""
    lines = [head, ("---",) * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _time(seconds: float) -> str:
    if seconds < 5_400:
        return f"{seconds / 60:.1f} minutes"
    return f"{seconds / 3_600:.1f} hours" if seconds < 48 * 3_600 else f"{seconds / 86_400:.1f} days"


def _size(count: float) -> str:
    return f"{count / 1e9:,.1f} GB"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=Assumptions.tasks)
    for name, table in tables(Assumptions(tasks=parser.parse_args().tasks)).items():
        print(f"{name}\n\n{table}")


if __name__ == "__main__":
    main()
