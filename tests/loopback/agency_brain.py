"""Brains that work on scenarios: they make the calls of a list, one per reply, and say when they have finished a task.

The list is in the brain; where it is follows from the conversation alone. A call that was interrupted is made again.
"""

import json
import re
from typing import Any

from tests.loopback.talk import Answer, Asked, Called, Said

SUM = "total=0\nwhile read -r n; do total=$((total + n)); done < numbers.txt\necho $total\n"
WORK: dict[str, list[list[tuple[str, dict[str, Any]]]]] = {
    "sum.sh": [
        [
            ("list_directory", {"path": "."}),
            ("write_file", {"file_path": "draft.txt", "content": "first"}),
            ("run_shell_command", {"command": "sleep 0.2; echo more >> draft.txt"}),
        ],
        [
            ("read_file", {"absolute_path": "numbers.txt"}),
            ("write_file", {"file_path": "sum.sh", "content": SUM}),
            ("run_shell_command", {"command": "sh sum.sh > out.txt; sleep 0.2; cat out.txt"}),
            ("write_file", {"file_path": "note.txt", "content": "me"}),
        ],
    ],
    "report.json": [
        [("run_shell_command", {"command": "echo '{}' > report.json; echo one >> log.txt"})],
        [
            ("run_shell_command", {"command": "sleep 0.1; echo two >> log.txt"}),
            ("run_shell_command", {"command": 'printf \'{"total": %s}\' "$(sh sum.sh)" > report.json; sleep 0.2'}),
        ],
    ],
}
"""Calls by a word of the task, for the first attempt and for later ones."""


def works(asked: Asked) -> Answer:
    """Plays an agent, or the user: the user is the one that has no tools."""
    if not asked.tools:
        sections = {
            "status": "Some is missing.",
            "diagnosis": "The total 70123 is not there.",
            "root_cause": "Unknown.",
        }
        return Answer(text=json.dumps({**sections, "directives": "Look at the task again."}))
    start = max(number for number, said in enumerate(asked.said) if _is_task(said))
    task = asked.said[start].text
    attempts = next(calls for word, calls in WORK.items() if word in task.partition("You have tried")[0])
    calls = attempts[1 if "You have tried" in task else 0]
    done = sum(said.role == "tool" and not said.text.startswith("interrupted") for said in asked.said[start:])
    if done == len(calls):
        return Answer(text=f"I have done {done} calls.")
    name, arguments = calls[done]
    return Answer(calls=(Called(name, arguments),))


def judges(asked: Asked) -> Answer:
    """Plays a judge that reads or sees, and gives points for what it is shown; else as `works`."""
    if asked.schema is None or "confidence" not in asked.schema["properties"]:
        return works(asked)
    shown = asked.said[-1].text
    images = re.findall(r"^step-[\w-]+\.png", shown, re.MULTILINE)
    names = re.findall(r"file ([\w./-]+)\n1\| (.*)", shown)
    file, line, quote = (images[0], 0, "a page") if images else (*names[0][:1], 1, names[0][1])
    score = min(10, 2 * len(images or names) + (asked.model == "judge-one"))
    evidence = [{"file": file, "line": line, "quote": quote}]
    marks = {"comment": f"{len(images or names)} are shown.", "evidence": evidence, "score": score, "confidence": 0.5}
    return Answer(text=json.dumps(marks))


def _is_task(said: Said) -> bool:
    return said.role == "user" and said.text.startswith("Task ")
