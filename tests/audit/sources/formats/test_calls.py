import pytest

from agenthard.audit.sources.formats.calls import MAX_CALL_CHARS, parse_call, parse_call_list

PARAMETERS = {"move": ["source", "target"], "now": []}


def test_keywords_and_positions_are_bound_to_documented_names() -> None:
    call = parse_call("move('a.txt', target='b/')", PARAMETERS)
    assert (call.name, call.arguments) == ("move", {"source": "a.txt", "target": "b/"})
    assert call.positional == 1
    assert call.text == "move('a.txt', target='b/')"


def test_positions_beyond_the_documentation_are_kept_by_number() -> None:
    assert parse_call("now(1)", PARAMETERS).arguments == {"*0": 1}
    assert parse_call("move(1, 2, 3)", PARAMETERS).arguments == {"source": 1, "target": 2, "*2": 3}
    assert parse_call("unheard_of('x')", PARAMETERS).arguments == {"*0": "x"}


def test_values_become_json() -> None:
    call = parse_call("f(a=(1, [2.5]), b={'k': {1: None}}, c=-3, d=True, e='it\\'s')", {})
    assert call.arguments == {"a": [1, [2.5]], "b": {"k": {"1": None}}, "c": -3, "d": True, "e": "it's"}


def test_a_method_keeps_its_dotted_name() -> None:
    assert parse_call("Files.move(source='a')", PARAMETERS).name == "Files.move"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "move(",
        "move",
        "move('a') or move('b')",
        "move(source=name)",
        "move(source=now())",
        "move(source={1, 2})",
        "move(source=b'x')",
        "move(source=3j)",
        "move(*['a'])",
        "move(**{'source': 'a'})",
        "move('a', source='b')",
        "move(source='a', source='b')",
        "(lambda: 1)()",
        "import os",
        "move(source='\x00')",
        "move(source=" + "[" * 500 + "]" * 500 + ")",
        "move(source=" + "-" * 5000 + "1)",
        "move(source='" + "a" * MAX_CALL_CHARS + "')",
    ],
)
def test_what_is_no_literal_call_is_kept_as_text(text: str) -> None:
    call = parse_call(text, PARAMETERS)
    assert (call.name, call.arguments, call.text) == ("", {}, text)


def test_nothing_is_run(tmp_path: object) -> None:
    call = parse_call(f"open({str(tmp_path) + '/made'!r}, 'w')", {})
    assert call.name == "open"
    assert parse_call("__import__('os').system('true')", {}).name == ""


@pytest.mark.parametrize("text", ["[now(), move('a')]", "now(), move('a')", "```\n[now(), move('a')]\n```"])
def test_a_list_of_calls_is_read_with_or_without_brackets(text: str) -> None:
    calls = parse_call_list(text, PARAMETERS)
    assert [(call.name, call.arguments, call.text) for call in calls] == [
        ("now", {}, "now()"),
        ("move", {"source": "a"}, "move('a')"),
    ]


@pytest.mark.parametrize("text", ["", "[]", "I cannot do that.", "noon", "[now(), later]", "now(x)"])
def test_a_text_that_is_no_list_of_calls_gives_none(text: str) -> None:
    assert parse_call_list(text, PARAMETERS) == ()
