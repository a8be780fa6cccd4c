import pytest
from pydantic import ValidationError, create_model

from agenthard.taxonomy import Message, Trajectory, finding_id
from agenthard.taxonomy.accepted import any_of, concrete_values, is_optional
from agenthard.taxonomy.pointer import join, resolve, split
from agenthard.taxonomy.record import Record, field_docs
from tests.builders import make_run, make_task


def test_records_are_frozen_and_refuse_unknown_fields() -> None:
    task = make_task()
    with pytest.raises(ValidationError, match="frozen"):
        task.id = "other"  # type: ignore[misc]
    with pytest.raises(ValidationError, match="Extra inputs"):
        make_task(colour="blue")


def test_every_field_of_every_record_is_documented() -> None:
    from agenthard import taxonomy

    records = [getattr(taxonomy, name) for name in taxonomy.__all__ if hasattr(getattr(taxonomy, name), "model_fields")]
    undocumented = [f"{r.__name__}.{k}" for r in records for k in r.model_fields if not field_docs(r).get(k)]
    assert len(records) > 10
    assert undocumented == []


def test_the_json_schema_describes_fields_of_a_record_and_of_those_inside_it() -> None:
    schema = Trajectory.model_json_schema()
    assert schema["properties"]["trial"]["description"] == field_docs(Trajectory)["trial"] == "0-based repetition."
    assert schema["$defs"]["Message"]["properties"]["content"]["description"] == field_docs(Message)["content"]

    class Parent(Record):
        name: str
        """A name
        of two lines."""
        other: int = 0

    class Child(Parent):
        other: int = 1
        """Another number."""

    assert field_docs(Child) == {"name": "A name\nof two lines.", "other": "Another number."}
    assert field_docs(create_model("Made", __base__=Child, more=(int, 3))) == field_docs(Child)


def test_a_run_that_cannot_be_scored_has_no_verdict() -> None:
    with pytest.raises(ValidationError, match="cannot have a verdict"):
        make_run(passed=False, status="infrastructure_error")
    assert make_run(passed=None).passed is None


def test_a_record_survives_json() -> None:
    task, run = make_task(), make_run(score=0.5, passed=False)
    assert type(task).model_validate_json(task.model_dump_json()) == task
    assert Trajectory.model_validate_json(run.model_dump_json(exclude_defaults=True)) == run


def test_pointers_enter_records_mappings_and_lists() -> None:
    task = make_task()
    assert resolve(task, "/ground_truth/turns/0/0/arguments/book_id") == 7
    assert resolve(task, "") is task
    assert split(join("", "a/b", "c~d")) == ["a/b", "c~d"]
    for wrong in ("/nothing", "/user/turns/9", "/id/x", "/ground_truth/turns/0/0/arguments/none"):
        with pytest.raises(LookupError):
            resolve(task, wrong)
    with pytest.raises(ValueError, match="starts with"):
        resolve(task, "id")


def test_concrete_values_stop_at_the_limit() -> None:
    wide = {f"k{i}": any_of([0, 1]) for i in range(20)}
    assert len(concrete_values(wide, limit=50)) == 50
    assert is_optional(any_of([1], optional=True))
    assert not is_optional(1)


def test_finding_ids_differ_where_their_parts_do() -> None:
    ids = {finding_id("a", "b", "c"), finding_id("ab", "", "c"), finding_id("a", "b", "d"), finding_id("a", "bc", "")}
    assert len(ids) == 4
    assert finding_id("a", "b", "c") == finding_id("a", "b", "c")
