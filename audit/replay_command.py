"""Commands that reproduce a finding. Checks do not know the paths of files: publishing fills them in."""

import shlex

BENCHMARK = "{benchmark}"
"""Placeholder of the benchmark's folder."""
CHECKOUT = "{checkout}"
"""Placeholder of the folder with the benchmark's own code."""


def replay_template(source: str, task_id: str, *options: str, own_code: bool = False) -> str:
    """Write ``agenthard replay`` with placeholders for paths, quoted for a shell.

    >>> replay_template("tau2", "airline/0", "--mutant", "drop:/a b")
    "agenthard replay tau2 '{benchmark}' airline/0 --mutant 'drop:/a b'"
    """
    checkout = ("--checkout", CHECKOUT) if own_code else ()
    return shlex.join(["agenthard", "replay", source, BENCHMARK, task_id, *options, *checkout])


def filled(command: str, benchmark: str, checkout: str | None) -> str:
    """Fill in the paths of a command.

    >>> filled("agenthard replay tau2 '{benchmark}' airline/0", "my data/tau2", None)
    "agenthard replay tau2 'my data/tau2' airline/0"
    """
    paths = {BENCHMARK: benchmark, CHECKOUT: checkout or CHECKOUT}
    return shlex.join(paths.get(word, word) for word in shlex.split(command))
