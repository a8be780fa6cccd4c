"""Runs in which the agent did nothing."""

from collections.abc import Iterable, Sequence

from agenthard.audit.detectors.support.run_tallies import Case, RunTally, Tally
from agenthard.audit.evidence import quote_run
from agenthard.audit.idleness import idle_sign
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory


class DeadAttempt(RunTally):
    """Runs that hold no work of the agent, and are scored nevertheless.

    Rule: the log counts no changed line or file; or no tool was called or answered in the whole run, and a message of
    the agent holds a call written as transcripts show them ("[TOOL CALL] read_file(...)"), which is never carried out,
    or each of its messages is empty, a bare stock phrase ("Task completed") or the text of an error; or the one call
    that the transcript shows has a result, its tool only looks (``list_directory``, ``read_file``), and the log ends
    with the result. There is one finding per model, with the share of runs, how many of them have a score above zero
    (for what an earlier attempt or nothing did) and how many pass.

    Flagged: a run whose only reply is "Task completed", scored 6 because the files of the attempt before it are still
    there.
    Not flagged: a reply without calls that says something; a run whose one call writes a file or runs a shell command;
    a run of which the log holds no message of the agent; calls in the mark-up of a chat template (``<tool_call>``),
    which is how some logs keep calls that were carried out.

    When it is wrong: the log leaves the calls out, or does not separate what the agent says from the result before it;
    or an agent that calls nothing and answers "Done" had nothing to do. The check says that no work is recorded, not
    whose fault it is: a harness that ends its session early looks like an agent that gives up.
    """

    id = "dead-attempt"
    title = "runs without any work of the agent"
    version = "4"
    category = "suspicious-score-pattern"
    why = "Such runs measure the harness; averaged with the others they lower the score of the model."
    fix = "Repeat the runs, and report the scores with and without them."
    nothing = "its runs hold neither a message of the agent nor a count of changes"

    def not_applicable(self, task: AgentTask) -> str | None:
        """Where no call is expected, doing nothing may be right."""
        return "no call is expected: a run without work may be right" if "expects_no_call" in task.traits else None

    def cases(self, task: AgentTask, runs: Sequence[Trajectory]) -> Iterable[Case]:
        """Yield each run whose log tells what the agent did."""
        for run in runs:
            told = any(message.role == "assistant" for message in run.messages)
            if not told and not {"changed_lines", "changed_files"} & set(run.usage):
                continue
            sign = idle_sign(run)
            if sign is None:
                yield Case(run.model, run=run)
                continue
            kinds = [f"in which the agent {sign.kind}"]
            kinds += ["scored above zero"] if run.score else []
            kinds += ["passed"] if run.passed else []
            yield Case(
                run.model, tuple(kinds), (quote_run(run, sign.pointer, text=sign.text, note=sign.kind),), run=run
            )

    def claim(self, tally: Tally) -> str:
        """State how many runs of a model hold no work."""
        return f"{tally.share} runs of {tally.group} whose log tells of the agent hold no work of it: {tally.listed}."
