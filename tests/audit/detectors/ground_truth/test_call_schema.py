from typing import Any

import pytest

from agenthard.audit.detectors.base import Hit
from agenthard.audit.detectors.ground_truth import CallSchema
from agenthard.audit.evidence import failure
from agenthard.taxonomy import EnvironmentSpec, GroundTruth, Message, Severity, Tier, ToolCall, ToolSpec, UserSpec
from agenthard.taxonomy.accepted import any_of
from tests.builders import make_task

SHELF = {
    "type": "object",
    "properties": {
        "book": {"type": "integer"},
        "weight": {"type": "number"},
        "title": {"type": "string"},
        "genre": {"type": "string", "enum": ["Novel", "Poetry"]},
        "genres": {"type": "array", "items": {"type": "string"}, "enum": ["Novel", "Poetry"]},
        "due": {"type": "string", "format": "date"},
        "code": {"type": "string", "pattern": "^[A-Z]{3}$"},
        "pages": {"type": "array", "items": {"type": "integer"}, "minItems": 2},
        "loud": {"type": "string", "default": None},
        "year": {"type": "integer", "default": "dontcare"},
        "reader": {
            "type": "object",
            "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
            "required": ["name"],
        },
        "tags": {"type": "object", "additionalProperties": {"type": "integer"}},
        "copies": {"type": "array", "items": {"anyOf": [{"$ref": "#/$defs/Copy"}, {"type": "integer"}]}},
    },
    "required": ["undescribed"],
    "$defs": {"Copy": {"type": "object", "properties": {"no": {"type": "integer"}}, "required": ["no"]}},
}


def check(
    arguments: dict[str, Any],
    *,
    schema: dict[str, Any] = SHELF,
    said: str = "Shelve it.",
    tool: dict[str, Any] | None = None,
    truth: dict[str, Any] | None = None,
    **changes: Any,
) -> list[Hit]:
    call = ToolCall(name="shelve", arguments=arguments)
    spec = ToolSpec(name="shelve", parameters=schema, language="python", **(tool or {}))
    task = make_task(
        user=UserSpec(kind="scripted", turns=((Message(role="user", content=said),),)),
        environment=EnvironmentSpec(tools=(ToolSpec(name="other"), spec)),
        ground_truth=GroundTruth(semantics="required", turns=((call,),), **(truth or {})),
        **changes,
    )
    assert CallSchema().not_applicable(task) is None
    hits = list(CallSchema().inspect(task))
    assert [failure(item, task, {}) for hit in hits for item in hit.evidence] == [None] * sum(
        len(hit.evidence) for hit in hits
    )
    return hits


@pytest.mark.parametrize(
    ("arguments", "value_at", "rule_at"),
    [
        ({"book": "7"}, "/book", "/properties/book/type"),
        ({"book": 7.5}, "/book", "/properties/book/type"),
        ({"book": True}, "/book", "/properties/book/type"),
        ({"title": 7}, "/title", "/properties/title/type"),
        ({"genre": "Drama"}, "/genre", "/properties/genre/enum"),
        ({"genres": ["Novel", "Drama"]}, "/genres/1", "/properties/genres/enum"),
        ({"due": "2024-02-30"}, "/due", "/properties/due/format"),
        ({"code": "abc"}, "/code", "/properties/code/pattern"),
        ({"pages": [1, "2", "3"]}, "/pages/1", "/properties/pages/items/type"),
        ({"pages": [1]}, "/pages", "/properties/pages/minItems"),
        ({"reader": {"age": 7}}, "/reader", "/properties/reader/required"),
        ({"reader": {"name": "Ada", "age": "7"}}, "/reader/age", "/properties/reader/properties/age/type"),
        ({"reader": {"name": "Ada", "shoe": 1}}, "/reader/shoe", "/properties/reader/properties"),
        ({"tags": {"a": "x"}}, "/tags/a", "/properties/tags/additionalProperties/type"),
        ({"copies": [{"no": 1}, "x"]}, "/copies/1", "/properties/copies/items"),
        ({"unheard": 1}, "/unheard", "/properties"),
        ({"title": any_of([1, 2])}, "/title/$any_of/0", "/properties/title/type"),
        (
            {"reader": any_of([{"name": any_of([1, 2])}])},
            "/reader/$any_of/0/name/$any_of/0",
            "/properties/reader/properties/name/type",
        ),
        ({"title": any_of([])}, "/title", "/properties/title"),
    ],
)
def test_each_kind_of_violation_is_flagged_with_value_and_rule(arguments, value_at: str, rule_at: str) -> None:
    [hit] = check(arguments)
    assert [item.pointer for item in hit.evidence] == [
        f"/ground_truth/turns/0/0/arguments{value_at}",
        f"/environment/tools/1/parameters{rule_at}",
    ]


@pytest.mark.parametrize(
    "arguments",
    [
        {"book": 7, "weight": 3, "title": "", "pages": [1, 2]},
        {"book": 7.0},
        {"book": any_of([7, "7"])},
        {"genre": any_of(["Novel", "A novel"])},
        {"genres": ["Novel", "Poetry"]},
        {"genre": "N/A"},
        {"book": "dontcare"},
        {"year": "dontcare"},
        {"loud": None},
        {"title": any_of([None], optional=True)},
        {"title": any_of([], optional=True)},
        {"copies": [{"no": 1}, 2]},
        {"tags": {"a": any_of([1, "x"])}},
        {"reader": any_of([{"name": "Ada"}, {"age": 3}])},
        {"pages": any_of([[1, 2], ["a", "b"]])},
    ],
)
def test_sound_values_and_conventions_are_clean(arguments) -> None:
    assert check(arguments) == []


def test_a_required_name_that_is_never_described_is_left_to_the_documentation() -> None:
    assert check({"book": 7}) == []


def test_open_schemas_take_further_members() -> None:
    assert check({"more": 1}, schema={"type": "object", "properties": {}}) == []
    assert check({"more": 1}, schema={"type": "object", "properties": {"a": {}}, "additionalProperties": True}) == []
    assert len(check({"more": 1}, schema={"type": "object", "properties": {}, "additionalProperties": False})) == 1


def test_a_missing_required_argument() -> None:
    [hit] = check({}, schema={"type": "object", "properties": {"book": {"type": "integer"}}, "required": ["book"]})
    assert "leaves out 'book'" in hit.claim


@pytest.mark.parametrize("language", ["java", "javascript"])
def test_source_text_stands_for_any_java_or_javascript_value(language: str) -> None:
    tool = ToolSpec(name="shelve", parameters=SHELF, language=language)  # type: ignore[arg-type]

    def hits(arguments: dict[str, Any]) -> list[Hit]:
        truth = GroundTruth(semantics="required", turns=((ToolCall(name="shelve", arguments=arguments),),))
        return list(CallSchema().inspect(make_task(environment=EnvironmentSpec(tools=(tool,)), ground_truth=truth)))

    assert hits({"book": "BOOK_ID", "pages": "new ArrayList<>()", "reader": "readerMap"}) == []
    assert len(hits({"title": True})) == 1


def test_python_text_may_name_data_of_the_prompt() -> None:
    assert check({"pages": "data['pages']"}, said="Shelve the pages in data.") == []
    assert len(check({"pages": "table['pages']"}, said="Shelve the pages in data.")) == 1
    assert len(check({"book": "data"}, said="Shelve the pages in data.")) == 1


@pytest.mark.parametrize(
    ("name", "category"), [("burn_book", "insufficient-toolset"), ("lend_bok", None), ("lendBook", None)]
)
def test_an_unknown_tool(name: str, category: str | None) -> None:
    truth = GroundTruth(semantics="required", turns=((ToolCall(name=name),),))
    [hit] = CallSchema().inspect(make_task(ground_truth=truth))
    assert repr(name) in hit.claim and hit.evidence[0].quote == name
    assert hit.category == category


def test_a_text_that_is_no_call() -> None:
    truth = GroundTruth(semantics="required", turns=((ToolCall(name="", text="lend_book(7"),),))
    [hit] = CallSchema().inspect(make_task(ground_truth=truth))
    assert hit.evidence[0].quote == "lend_book(7"


@pytest.mark.parametrize(("revealed", "flagged"), [("0", False), ("1", False), ("2", True), ("", True)])
def test_a_call_before_its_tool_is_revealed(revealed: str, flagged: bool) -> None:
    call = ToolCall(name="lend_book", arguments={"book_id": 7, "member": "Ada"})
    truth = GroundTruth(semantics="reference_path", turns=((), (call,)), call_matching="state")
    task = make_task(ground_truth=truth, hidden_tools={revealed: ("lend_book",), "9": ("other",)})
    hits = list(CallSchema().inspect(task))
    assert len(hits) == flagged
    assert [failure(item, task, {}) for hit in hits for item in hit.evidence] == [None, None] * flagged


def test_a_user_tool_is_checked_against_the_users_tools() -> None:
    dial = ToolSpec(name="dial", parameters={"type": "object", "properties": {"number": {"type": "string"}}})
    call = ToolCall(name="dial", arguments={"number": 5}, requestor="user")
    task = make_task(
        environment=EnvironmentSpec(user_tools=(dial,)),
        ground_truth=GroundTruth(semantics="required", turns=((call,),)),
    )
    [hit] = CallSchema().inspect(task)
    assert hit.evidence[1].pointer == "/environment/user_tools/0/parameters/properties/number/type"


@pytest.mark.parametrize(
    ("arguments", "tool", "truth", "severity"),
    [
        ({"book": "7"}, {}, {}, None),
        ({"genre": "novel"}, {}, {}, Severity.COSMETIC),
        ({"unheard": any_of([1], optional=True)}, {}, {}, Severity.COSMETIC),
        ({"book": any_of(["7"], optional=True)}, {}, {}, Severity.MAY_AFFECT_SCORE),
        ({"book": "7"}, {"effect": "read"}, {"call_matching": "state"}, Severity.MAY_AFFECT_SCORE),
        ({"book": "7"}, {"effect": "write"}, {"call_matching": "state"}, None),
        ({"book": "7"}, {"effect": "read"}, {"call_matching": "exact"}, None),
        ({"book": "7"}, {}, {"call_matching": "none"}, Severity.MAY_AFFECT_SCORE),
    ],
)
def test_severity_follows_what_is_scored(arguments, tool, truth, severity) -> None:
    [hit] = check(arguments, tool=tool, truth=truth)
    assert hit.severity == (severity or Severity.AFFECTS_SCORE)


def test_an_unlisted_member_of_a_nested_object_is_only_suspected() -> None:
    [hit] = check({"reader": {"name": "Ada", "shoe": 1}})
    assert (hit.tier, hit.severity) == (Tier.SUSPECTED, Severity.MAY_AFFECT_SCORE)


def test_null_for_an_optional_parameter_counts_only_where_calls_are_compared() -> None:
    assert check({"book": None}, truth={"call_matching": "state"}) == []
    assert len(check({"book": None}, truth={"call_matching": "exact"})) == 1


def test_variants_of_a_base_task_share_one_cause() -> None:
    causes = {check({"book": "7"}, cluster="base/3", subtask=name)[0].cause for name in ("short", "long")}
    assert len(causes) == 1 and None not in causes
    assert check({"book": "7"})[0].cause is None


def test_what_cannot_be_checked_says_why() -> None:
    assert "no calls" in str(CallSchema().not_applicable(make_task(ground_truth=GroundTruth(semantics="none"))))
    assert "no tools" in str(CallSchema().not_applicable(make_task(environment=EnvironmentSpec())))


@pytest.mark.parametrize(
    "broken", [{"type": "nonsense"}, {"$ref": "#/nowhere"}, {"minimum": "low"}, {"type": "object", "properties": 7}]
)
def test_a_schema_that_cannot_be_used_is_not_checked(broken: dict[str, Any]) -> None:
    tool = ToolSpec(name="lend_book", parameters={"type": "object", "properties": {"book_id": broken}})
    value = {"no": 1} if "properties" in broken else 7
    truth = GroundTruth(semantics="required", turns=((ToolCall(name="lend_book", arguments={"book_id": value}),),))
    reason = CallSchema().not_applicable(make_task(environment=EnvironmentSpec(tools=(tool,)), ground_truth=truth))
    assert reason is not None and reason.startswith("lend_book: the tool's schema cannot be used: ")


def test_a_pattern_that_is_none_is_not_checked() -> None:
    tool = ToolSpec(name="lend_book", parameters={"type": "object", "properties": {"member": {"pattern": "("}}})
    assert "cannot be used" in str(CallSchema().not_applicable(make_task(environment=EnvironmentSpec(tools=(tool,)))))


@pytest.mark.parametrize(("name", "hits"), [("", 1), ("shelve", None)])
def test_without_documented_tools_only_what_cannot_be_read_is_judged(name: str, hits: int | None) -> None:
    gold = (ToolCall(name=name, text="shelve(book="), ToolCall(name="other"))
    task = make_task(environment=EnvironmentSpec(), ground_truth=GroundTruth(semantics="required", turns=(gold,)))
    reason = CallSchema().not_applicable(task)
    assert (reason is None) == (hits is not None)
    if hits is not None:
        (hit,) = CallSchema().inspect(task)
        assert "cannot be read" in hit.claim and hit.evidence[0].pointer == "/ground_truth/turns/0/0/text"


DECAY = {"type": "object", "properties": {"decay": {"type": "number", "description": "Must be greater than 1."}}}
DEFAULT = {"type": "object", "properties": {"k": {"type": "number", "description": "The constant. Default is 8.9e-9."}}}


def test_values_that_the_prose_of_a_parameter_forbids() -> None:
    [hit] = check({"decay": 0.5}, schema=DECAY)
    assert "gives 'decay' as 0.5 and the documentation says: Must be greater than 1" in hit.claim
    assert hit.tier is Tier.SUSPECTED
    [hit] = check({"k": any_of([8.9e9], optional=True)}, schema=DEFAULT)
    assert "or left out, and the documentation says: Default is 8.9e-9" in hit.claim


def test_values_that_keep_to_the_prose() -> None:
    assert check({"decay": any_of([0.5, 2.0])}, schema=DECAY) == []
    assert check({"k": 8.9e9}, schema=DEFAULT) == []  # required here, and so not the default


@pytest.mark.parametrize(
    ("name", "description", "given", "words"),
    [
        ("start", "Start date, in the format DD/MM/YYYY.", "2024-03-15", "DD/MM/YYYY"),
        ("start", "YYYY-MM-DD", "03/15/2024", "YYYY-MM-DD"),
        ("start", "The day as DD/MM/YYYY.", "03/15/2024", "DD/MM/YYYY"),
        ("month", "The month.", 15, "a month is at most 12"),
        ("start", "YYYY-MM-DD", any_of(["03/15/2024", "2024-03-15"]), None),
        ("start", "YYYY-MM-DD or DD/MM/YYYY", "03.15.2024", None),
        ("start", "YYYY-MM-DD", "tomorrow", None),
        ("start", "YYYY-MM-DD", "2024-03-15T10:00", None),
        ("months", "How many.", 15, None),
        ("month", "The month.", 12, None),
    ],
)
def test_forms_of_dates(name: str, description: str, given: Any, words: str | None) -> None:
    kind = "integer" if isinstance(given, int) else "string"
    schema = {"type": "object", "properties": {name: {"type": kind, "description": description}}}
    hits = check({name: given}, schema=schema)
    assert [words in hit.claim for hit in hits if words] == ([True] if words else [])
    assert bool(hits) is (words is not None)
