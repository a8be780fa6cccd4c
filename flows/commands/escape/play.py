"""``agenthard escape play``: a person plays a room in the terminal, under the conditions of an agent."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agenthard.flows.commands.escape.reading import find_room, one_message
from agenthard.flows.commands.output import JsonOption, console, print_json

if TYPE_CHECKING:
    from agenthard.escape.environment import Conditions
    from agenthard.play.episode import Episode
    from agenthard.taxonomy.trajectory import Trajectory

HELP = """\
look PART                  what it does, what it needs, what is written on it
use PART name=value ...    use a tool or an exit
open PART name=value ...   open a lock or a container
answer ANSWER              submit the answer
quit                       give up"""


def play(
    path: Annotated[Path, typer.Argument(help="Suite of rooms.")],
    room: Annotated[str, typer.Argument(help="Id of the room to play.")],
    name: Annotated[str, typer.Option(help="Name that the run is listed under.")] = "person",
    out: Annotated[Path | None, typer.Option(help="File to append the run to, for `agenthard audit --runs`.")] = None,
    feedback: Annotated[str, typer.Option(help="none, binary or per_param.")] = "per_param",
    execution: Annotated[str, typer.Option(help="golden or free: when a tool works.")] = "golden",
    turns: Annotated[int, typer.Option(min=-1, help="Turns; 0: those of the paper, -1: no limit.")] = 0,
    submits: Annotated[int, typer.Option(min=-1, help="Answers that may be submitted; -1: no limit.")] = -1,
    as_json: JsonOption = False,
) -> None:
    """Play a room yourself; the run is recorded as an agent's is, each command is one turn, the end of input ends it.

    Exit codes: 0 out of the room, 1 not, 64 the room does not exist.

    Example: `agenthard escape play escape-suite escape_n5_000`
    """
    from agenthard.escape.environment import Environment
    from agenthard.escape.session import EscapeSession
    from agenthard.flows.errors import ExitCode
    from agenthard.play.episode import Episode
    from agenthard.taxonomy.printable import printable

    with one_message():
        instance = find_room(path, room)
    environment = Environment(instance, conditions(feedback, execution, turns, submits))
    session = EscapeSession(environment, instance.id, instance.room.theme)
    episode = Episode(session, name, 0, max_turns=environment.budget or 10_000)
    if not as_json:
        console().print(printable(episode.prompt[1].content), markup=False)
        console().print(f"\n{HELP}\n", markup=False)
    run = _play(episode, quiet=as_json)
    if out is not None:
        with out.open("a", encoding="utf-8") as file:
            file.write(run.model_dump_json() + "\n")
    if as_json:
        print_json(run.model_dump(mode="json", include={"id", "task_id", "ending", "passed", "usage"}))
    else:
        calls = run.usage["calls"]
        result = "You are out." if run.passed else "You are not out."
        console().print(f"{result} {calls:.0f} calls in {run.usage['turns']:.0f} turns.", markup=False)
    if not run.passed:
        raise typer.Exit(ExitCode.DEFECTS)


def conditions(feedback: str, execution: str, turns: int, submits: int) -> "Conditions":
    """Return the conditions that options name.

    Raises:
        CommandError: the feedback or the execution is unknown.
    """
    from agenthard.escape.environment import Conditions, Execution, Feedback
    from agenthard.flows.errors import CommandError

    for option, given, known in (("feedback", feedback, Feedback), ("execution", execution, Execution)):
        if given not in list(known):
            raise CommandError(f"no {option} {given!r}; there are: {', '.join(known)}")
    return Conditions(feedback=Feedback(feedback), execution=Execution(execution), turns=turns, submits=submits)


def _play(episode: "Episode", *, quiet: bool) -> "Trajectory":
    from agenthard.play.ending import Ending
    from agenthard.play.episode import OutOfTurnsError
    from agenthard.taxonomy.task import ToolCall

    made = 0
    while not episode.session.finished:
        try:
            line = input("" if quiet else "> ").strip()
        except (EOFError, KeyboardInterrupt):
            return episode.trajectory(Ending.OPEN)
        call = _read(line)
        if call is None:
            if not quiet:
                console().print(HELP, markup=False)
            continue
        record = ToolCall(name=call[0], arguments=call[1], id=f"call_{made}")
        made += 1
        try:
            episode.say(calls=[record])
        except OutOfTurnsError:
            return episode.trajectory(Ending.MAX_STEPS)
        text, _ = episode.session.call(*call)
        episode.hear(text, record)
        if not quiet:
            _show(json.loads(text))
    return episode.trajectory()


def _read(line: str) -> tuple[str, dict[str, Any]] | None:
    """Return the call that a line means; None for a line that means none."""
    word, _, rest = line.partition(" ")
    rest = rest.strip()
    if word == "look" and rest:
        return "investigate", {"node_id": rest}
    if word == "answer" and rest:
        return "submit_answer", {"answer": rest}
    if word == "quit":
        return "give_up", {"reason": "the person stopped"}
    if word not in ("use", "open") or not rest:
        return None
    part, *pairs = rest.split(" ")
    text = " ".join(pairs)
    # A value may hold spaces: it reaches up to the next NAME=.
    params: dict[str, str] = {}
    name = ""
    for piece in text.split(" "):
        before, equals, after = piece.partition("=")
        if equals and before.isidentifier():
            name, params[before] = before, after
        elif name:
            params[name] += f" {piece}"
    return ("use_tool" if word == "use" else "use_item"), {"node_id": part, "params": params}


def _show(answer: dict[str, Any]) -> None:
    """Print an answer line by line; texts of a room are never taken as markup or as commands to the terminal."""
    from agenthard.taxonomy.printable import printable

    for key, value in answer.items():
        if isinstance(value, dict):
            value = "".join(f"\n    {name}: {each}" for name, each in value.items())
        elif isinstance(value, list):
            value = "".join(f"\n    {each.get('node_id')} ({each.get('kind')}): {each.get('brief')}" for each in value)
        console().print(printable(f"  {key}: {value}"), markup=False, highlight=False)
