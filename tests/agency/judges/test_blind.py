"""Judges read no model's name, no path, no user and no time: two hundred requests, each looked at as it was sent."""

import json
import random
from collections.abc import Callable

import pytest

from agenthard.agency.judges import Blinder, BlindnessError, Exhibit, Panel, judge
from agenthard.models.request import ChatMessage, Request
from tests.agency.judges.conftest import TASK, Asking
from tests.agency.judges.test_panel import marks, sees

MODELS = ("openai/gpt-9-turbo", "compatible/Zephyr-7b@http://127.0.0.1:9/v1", "native-loop+claude-sonnet-9.1")
USERS = ("marisol", "root")
SECRETS = {
    "model": (
        "gpt-9-turbo",
        "GPT 9 Turbo",
        "zephyr_7B",
        "Claude Sonnet 9.1",
        "Qwen3-VL-235",
        "Gemini 2.5 Pro",
        "OpenAI",
    ),
    "path": (
        "/home/marisol/run/7",
        "/tmp/agenthard-job-x1/work",
        "/root/bench/a.py",
        r"C:\Users\marisol\x",
        "/srv/e/1",
    ),
    "user": ("marisol", "MARISOL"),
    "time": (
        "2026-11-23T18:45:32Z",
        "2026-11-23 18:45:32.123 +01:00",
        "Mon Nov 23 18:45:32 UTC 2026",
        "2026/11/23 9:05",
    ),
}
PLACES = (
    "// made by {} for this task",
    "const note = '{}';",
    "{}",
    "see {}, then go on",
    '{{"by": "{}"}}',
    "<!-- {} -->",
    "x={};y=1",
)


def blinder(**known: tuple[str, ...]) -> Blinder:
    return Blinder.of_task(TASK, **{"models": MODELS, "users": USERS, "paths": ("/work/spaces/eval-1/work",), **known})


async def test_of_200_requests_none_gives_anything_away(asking: Asking, exhibit: Callable[..., Exhibit]) -> None:
    draw = random.Random(7)
    words = [text for texts in SECRETS.values() for text in texts]
    asking.server.service.brain = lambda asked: (
        marks(5, file="step-001.png", line=0) if sees(asked) else marks(5, file="index.html", line=1, quote="board")
    )
    panel = Panel(text=asking.judges[:1], vision=asking.judges[:1])
    for number in range(100):
        lines = [draw.choice(PLACES).format(secret) for secret in draw.sample(words, 12)]
        draw.shuffle(lines)
        files = {
            "index.html": "\n".join(["<div id=board>", *lines, "/work/spaces/eval-1/work/src/a.js"]),
            f"gpt-9-turbo-{number}.md": lines[0],
        }
        shown = exhibit(
            files,
            reply="\n".join(lines[:3]),
            errors=(*lines[:4], str(number)),
            blinder=blinder(),
            place=f"work{number}",
        )
        await judge(panel, shown, asking.client, snapshot="s", owner=f"e{number}")
    heard = asking.server.service.heard
    assert len(heard) == 200
    for asked in heard:
        said = json.dumps([each.text for each in asked.said], ensure_ascii=False).casefold()
        for secret in (*words, "zephyr", "sonnet", "/work/spaces", str(exhibit), "eval-1"):
            assert secret.casefold() not in said
    text = next(each for each in heard if not sees(each)).said[-1].text  # two requests at a time come in either order
    assert "./src/a.js" in text and "file [model]-0.md" in text and "gpt-4o" in text  # which the task itself names


@pytest.mark.parametrize("secret", [text for texts in SECRETS.values() for text in texts])
def test_a_request_that_names_it_is_refused(secret: str) -> None:
    request = Request(model="x/judge", messages=(ChatMessage(role="user", text=f"a line\nwith {secret} in it"),))
    with pytest.raises(BlindnessError, match="a request to a judge names a"):
        blinder().check(request)
    assert blinder().leaks(blinder().mask(request.messages[0].text)) == ()


@pytest.mark.parametrize(
    "text",
    [
        "GET /api/tasks/7 and /tasks/home, http://127.0.0.1:8000/app/index.html",
        "const seed = 1597334677; // 12:30, 2026-11-23, v2.5",
        "#!/usr/bin/env python3",
        "the root node, :root { --gap: 4px }, user.name",
        "an opus in sonnet form, a gemstone, quench, llamas",
        "src/work/item.js",
    ],
)
def test_plain_content_stays(text: str) -> None:
    assert blinder().mask(text) == text and blinder().leaks(text) == ()


def test_lines_keep_their_numbers() -> None:
    text = "a\n/home/marisol/x\nmade by gpt-9-turbo\n\nb"
    assert blinder().mask(text) == "a\n[path]\nmade by [model]\n\nb"
