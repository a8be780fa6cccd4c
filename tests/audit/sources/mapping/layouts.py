"""Ten layouts of one small benchmark: fifteen sound tasks and five with a planted flaw, written in ten ways."""

import csv
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Call = tuple[str, dict[str, Any]]

POLICY = "You take orders for the restaurant The Gate. Be brief, and never order what was not asked for."
TOOLS: list[dict[str, Any]] = [
    {
        "name": "order_food",
        "description": "Order dishes, to be eaten here or to be delivered to an address.",
        "parameters": {
            "type": "object",
            "properties": {
                "dish": {"type": "string", "description": "The dish, singular."},
                "count": {"type": "integer", "description": "How many."},
                "street": {"type": "string", "description": "Street to deliver to."},
                "house_number": {"type": "integer", "description": "House to deliver to."},
            },
            "required": ["dish", "count"],
        },
    },
    {
        "name": "book_table",
        "description": "Book a table for today.",
        "parameters": {
            "type": "object",
            "properties": {
                "guests": {"type": "integer", "description": "Number of guests."},
                "time": {"type": "string", "description": "Time of arrival, as HH:MM."},
            },
            "required": ["guests", "time"],
        },
    },
]


@dataclass(frozen=True)
class Case:
    """One task."""

    id: str
    ask: str
    calls: tuple[Call, ...]
    planted: str = ""


def food(dish: str, count: Any, **more: Any) -> Call:
    return "order_food", {"dish": dish, "count": count, **more}


def table(guests: Any, time: str) -> Call:
    return "book_table", {"guests": guests, "time": time}


CASES = (
    Case("c01", "I would like 2 pizzas, please, and a table for 4 at 18:30.", (food("pizza", 2), table(4, "18:30"))),
    Case("c02", "Please book a table for 6 at 19:00.", (table(6, "19:00"),)),
    Case("c03", "Bring 3 soups to 12 Elm Street.", (food("soup", 3, street="Elm Street", house_number=12),)),
    Case("c04", "We want 5 salads; a table for 3 at 20:15 too.", (food("salad", 5), table(3, "20:15"))),
    Case("c05", "Just 1 burger for me today.", (food("burger", 1),)),
    Case("c06", "Could I get a table for 2 at 12:00?", (table(2, "12:00"),)),
    Case("c07", "Seven of us want curry: 7 curries.", (food("curry", 7),)),
    Case("c08", "I need 4 cakes delivered to 9 Oak Lane.", (food("cake", 4, street="Oak Lane", house_number=9),)),
    Case("c09", "Get us 8 tacos, then a table for 8 at 13:45.", (food("taco", 8), table(8, "13:45"))),
    Case("c10", "A table for 10 at 21:00 would be great.", (table(10, "21:00"),)),
    Case("c11", "I'd like 6 bagels with nothing on them.", (food("bagel", 6),)),
    Case("c12", "Send 2 noodles to 77 Mill Road.", (food("noodle", 2, street="Mill Road", house_number=77),)),
    Case("c13", "My order is 9 dumplings.", (food("dumpling", 9),)),
    Case("c14", "We are 5 and come at 17:30: a table, please.", (table(5, "17:30"),)),
    Case("c15", "Make it 11 pancakes and a table for 12 at 11:15.", (food("pancake", 11), table(12, "11:15"))),
    Case("p1", "Call a taxi for 9 people.", (("call_taxi", {"guests": 9}),), "unknown tool"),
    Case("p2", "Please book a table for 7 at 14:30.", (table("7", "14:30"),), "wrong type"),
    Case(
        "p3", "I want a table at 15:00 for the 3 of us.", (("book_table", {"guests": 3}),), "missing required argument"
    ),
    Case("p4", "Today I take 4 stews.", (food("stew", 4),), "same task, other gold"),
    Case("p5", "Today I take 4 stews.", (food("stew", 5),), "same task, other gold"),
    Case(
        "p6",
        "Deliver 2 pies to Pine Street.",
        (food("pie", 2, street="Pine Street", house_number=48),),
        "value not in the prompt",
    ),
)
"""The planted flaw "same task, other gold" needs two tasks."""


def written(call: Call, assign: str = "=") -> str:
    name, arguments = call
    return f"{name}({', '.join(f'{key}{assign}{value!r}' for key, value in arguments.items())})"


def openai_tools() -> list[dict[str, Any]]:
    return [{"type": "function", "function": tool} for tool in TOOLS]


def jsonl(path: Path, rows: list[Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def nested_dialogue(folder: Path) -> Path:
    """A dialogue under unknown names, the system prompt next to it, calls in one text separated by semicolons."""
    return jsonl(
        folder / "cases.jsonl",
        [
            {
                "case": {"uid": case.id, "kind": "restaurant"},
                "dialogue": {
                    "system": POLICY,
                    "exchanges": [
                        {"speaker": "guest", "utterance": "Hello there!"},
                        {"speaker": "clerk", "utterance": "Hi, what can I do for you?"},
                        {"speaker": "guest", "utterance": case.ask},
                    ],
                },
                "toolbox": {"functions": openai_tools()},
                "expected_calls": "; ".join(map(written, case.calls)),
            }
            for case in CASES
        ],
    )


PYTHON = '''"""Tools of the restaurant."""
import pandas as pd

ORDERS = pd.read_csv("data/orders.csv")


@tool("restaurant.order_food", return_direct=False)
def order_food(dish: str, count: int, street: str | None = None, house_number: int | None = None) -> str:
    """
    Order dishes, to be eaten here or to be delivered to an address.

    Parameters
    ----------
    dish : str
        The dish, singular.
    count : int
        How many.
    """
    raise RuntimeError("never run")


@tool("restaurant.book_table")
def book_table(guests: int, time: str) -> str:
    """Book a table for today."""
'''


def workbench(folder: Path) -> Path:
    """CSV with a list of calls as text and the outcome; tools are Python functions, the state is tables."""
    (folder / "tools").mkdir(parents=True)
    (folder / "data").mkdir()
    (folder / "tools" / "restaurant.py").write_text(PYTHON)
    (folder / "data" / "orders.csv").write_text("order_id,dish,count\n00000001,soup,1\n")
    (folder / "data" / "tables.csv").write_text("table_id,seats\n1,4\n2,8\n")
    with (folder / "queries_and_answers.csv").open("w", newline="") as stream:
        out = csv.writer(stream)
        out.writerow(["query", "answer", "base_template", "domains", "outcome"])
        for case in CASES:
            calls = [written(call).replace("(", ".func(", 1) for call in case.calls]
            named = [f"restaurant.{call}" for call in calls]
            out.writerow([case.ask, str(named), "Order {dish}", "['restaurant']", "correct"])
    return folder


def pair_lists(folder: Path) -> Path:
    """One document with the rows below a key; calls and parameters are lists of pairs under unknown names."""
    tools = [
        {
            "api_name": tool["name"],
            "description": tool["description"],
            "params": [
                {"name": name, **schema, "required": name in tool["parameters"]["required"]}
                for name, schema in tool["parameters"]["properties"].items()
            ],
        }
        for tool in TOOLS
    ]
    rows = [
        {
            "nr": number,
            "request": case.ask,
            "apis": tools,
            "plan": [
                {"order": at, "fn": name, "using": [{"name": k, "value": v} for k, v in arguments.items()]}
                for at, (name, arguments) in enumerate(case.calls)
            ],
        }
        for number, case in enumerate(CASES)
    ]
    path = folder / "bench.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"meta": {"version": 3, "rules": POLICY}, "items": rows}))
    return path


def simulated(folder: Path) -> Path:
    """Instructions for a simulated user, actions with kwargs; tools, policy and state in files next to the rows."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [
        {
            "task_id": case.id,
            "instruction": f"You are a guest of The Gate. You want this: {case.ask}",
            "actions": [{"name": name, "kwargs": arguments} for name, arguments in case.calls],
            "outputs": [],
        }
        for case in CASES
    ]
    (folder / "tasks.json").write_text(json.dumps(rows))
    (folder / "tools.json").write_text(json.dumps(openai_tools()))
    (folder / "policy.md").write_text(POLICY)
    (folder / "db.json").write_text('{"tables": {"1": {"seats": 4}}}')
    return folder


def openapi(folder: Path) -> Path:
    """Sessions of turns with calls per turn; the tools are operations of an OpenAPI document."""
    import yaml

    paths = {
        f"/{tool['name']}": {
            "post": {
                "operationId": tool["name"],
                "summary": tool["description"],
                "requestBody": {
                    "content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{tool['name']}"}}}
                },
            }
        }
        for tool in TOOLS
    }
    schemas = {tool["name"]: tool["parameters"] for tool in TOOLS}
    document = {"openapi": "3.1.0", "info": {"title": "The Gate"}, "paths": paths, "components": {"schemas": schemas}}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "openapi.yaml").write_text(yaml.safe_dump(document))
    jsonl(
        folder / "sessions.jsonl",
        [
            {
                "session": {
                    "ref": case.id,
                    "turns": [
                        {"ask": "Hello, may I order something?", "do": []},
                        {"ask": case.ask, "do": [written(call) for call in case.calls]},
                    ],
                }
            }
            for case in CASES
        ],
    )
    return folder


def numbered_lines(folder: Path) -> Path:
    """TSV; tools as JSON text in a cell, calls as numbered lines of a cell."""
    path = folder / "test.tsv"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as stream:
        out = csv.writer(stream, delimiter="\t")
        out.writerow(["no", "utterance", "available_tools", "gold"])
        for number, case in enumerate(CASES):
            calls = "\n".join(f"{at}. {written(call)}" for at, call in enumerate(case.calls, 1))
            out.writerow([number, case.ask, json.dumps(openai_tools()), calls])
    return path


def chat(folder: Path) -> Path:
    """Chat completions: the system prompt is a message, expected calls have arguments as JSON text."""
    return jsonl(
        folder / "eval.jsonl",
        [
            {
                "input": {
                    "messages": [{"role": "system", "content": POLICY}, {"role": "user", "content": case.ask}],
                    "tools": openai_tools(),
                },
                "target": {
                    "tool_calls": [
                        {
                            "id": f"call_{at}",
                            "type": "function",
                            "function": {"name": name, "arguments": json.dumps(arguments)},
                        }
                        for at, (name, arguments) in enumerate(case.calls)
                    ]
                },
                "example_id": case.id,
            }
            for case in CASES
        ],
    )


def parquet_pairs(folder: Path) -> Path:
    """Parquet; the id is inside JSON text, tools are an object by name, a call is a list of name and arguments."""
    import pyarrow
    import pyarrow.parquet

    by_name = {tool["name"]: {key: value for key, value in tool.items() if key != "name"} for tool in TOOLS}
    rows = [
        {
            "prompt": case.ask,
            "functions": json.dumps(by_name),
            "reference": json.dumps([[name, arguments] for name, arguments in case.calls]),
            "info": json.dumps({"id": case.id, "level": "easy"}),
        }
        for case in CASES
    ]
    path = folder / "test-00000.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    return path


def foreign_names(folder: Path) -> Path:
    """German names for everything; calls are lines of JSON in one text, with the arguments next to the name."""
    (folder / "werkzeuge").mkdir(parents=True)
    (folder / "werkzeuge" / "liste.json").write_text(json.dumps({"tools": openai_tools()}))
    jsonl(
        folder / "faelle.jsonl",
        [
            {
                "nummer": case.id,
                "gespraech": [
                    {"wer": "Kunde", "sagt": "Good evening to you!"},
                    {"wer": "Berater", "sagt": "Good evening, how can I help?"},
                    {"wer": "Kunde", "sagt": case.ask},
                ],
                "erwartet": "\n".join(json.dumps({"tool": name, **arguments}) for name, arguments in case.calls),
            }
            for case in CASES
        ],
    )
    return folder


def documents(folder: Path) -> Path:
    """One JSON document per task; calls as a chain of arrows with one object of arguments each."""
    for case in CASES:
        path = folder / case.id / "task.json"
        path.parent.mkdir(parents=True)
        chain = " -> ".join(f"api.{name}({json.dumps(arguments)})" for name, arguments in case.calls)
        document = {
            "title": f"case {case.id}",
            "conversation": {"opening": "Hello!", "user_request": case.ask},
            "environment": {"functions": [{"tool": tool} for tool in openai_tools()], "notes": POLICY},
            "solution": {"chain": chain},
        }
        path.write_text(json.dumps(document, indent=2))
    return folder


LAYOUTS: dict[str, Callable[[Path], Path]] = {
    each.__name__: each
    for each in (
        nested_dialogue,
        workbench,
        pair_lists,
        simulated,
        openapi,
        numbered_lines,
        chat,
        parquet_pairs,
        foreign_names,
        documents,
    )
}
