"""Calling the library in a job: a list of calls goes in, a list of values or errors comes out."""

import json
from collections.abc import Callable, Sequence

from agenthard.agency.judges import Outcome, Probe
from agenthard.agency.suite.kit import MARK, agree, results

HARNESS = """
import importlib, json, os, sys
sys.path.insert(0, os.getcwd())
sys.dont_write_bytecode = True
module = importlib.import_module(sys.argv[1])
def call(name, args):
    before = json.dumps(args)
    try:
        value = getattr(module, name)(*args)
    except ValueError:
        return "ValueError"
    except Exception as error:
        return "another error: " + type(error).__name__
    if name in ("merge", "subtract", "free") and not all(type(each) is tuple for each in value):
        return "a list with other things than tuples"
    return value if json.dumps(args) == before else "the arguments were changed"
found = [call(name, args) for name, args in json.loads(sys.argv[2])]
print(%r + json.dumps(found))
"""
Call = tuple[str, Sequence[object]]


def compare(probe: Probe, module: str, calls: Sequence[Call], right: Callable[..., object]) -> Outcome:
    """Make calls in the workspace's module, and compare the values with those of a function of ours.

    Args:
        probe: the probe.
        module: name of the workspace's module.
        calls: names and arguments.
        right: gives what is right, from name and arguments; a :class:`ValueError` of it is one that is asked for.
    """
    wanted: list[object] = []
    for name, args in calls:
        try:
            wanted.append(right(name, *args))
        except ValueError:
            wanted.append("ValueError")
    found = results(probe, "python3", "-c", HARNESS % MARK, module, json.dumps(calls))
    return agree(found, wanted, [f"{name}({', '.join(map(repr, args))[:200]})" for name, args in calls])
