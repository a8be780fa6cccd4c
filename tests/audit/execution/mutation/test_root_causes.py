from agenthard.audit.execution.mutation import Trial, ValueClass, classify, find_root_causes


def tried(type_: str, passed: int, number: int, place: str = "argument", relation: str = "other") -> list[Trial]:
    """Spread ``number`` wrong values over three tasks."""
    kind = ValueClass.model_validate({"type": type_, "place": place, "relation": relation})
    shares = [(passed + i) // 3 for i in range(3)]
    numbers = [(number + i) // 3 for i in range(3)]
    return [
        Trial(task_id=f"t{i}", cluster=f"t{i}", kind=kind, passed=p, tried=n)
        for i, (p, n) in enumerate(zip(shares, numbers, strict=True))
    ]


def test_types_that_are_never_compared_are_one_root() -> None:
    [root] = find_root_causes([*tried("integer", 99, 100), *tried("boolean", 30, 30), *tried("string", 0, 90)])
    assert root.sentence == "No integer or boolean argument is ever compared"
    assert {kind.type for kind in root.kinds} == {"integer", "boolean"}
    assert root.id == "type in any place"


def test_a_type_that_is_compared_inside_objects_is_a_root_of_its_place() -> None:
    numbers = [*tried("integer", 30, 30), *tried("integer", 0, 60, "object"), *tried("float", 6, 6)]
    roots = find_root_causes([*numbers, *tried("float", 0, 60, "object")])
    assert [root.sentence for root in roots] == ["No integer or float argument is ever compared"]


def test_a_relation_is_a_root_whatever_the_type_and_takes_its_special_cases_along() -> None:
    values = [
        *tried("string", 12, 12, relation="longer"),
        *tried("integer", 40, 50, "list", "longer"),
        *tried("integer", 30, 30, "object", "longer"),
        *tried("string", 0, 90),
        *tried("integer", 0, 90, "object"),
        *tried("integer", 0, 90, "list"),
    ]
    [root] = find_root_causes(values)
    assert root.sentence == "A value passes that merely contains the right one"
    assert {(kind.type, kind.place) for kind in root.kinds} == {
        ("string", "argument"),
        ("integer", "list"),
        ("integer", "object"),
    }


def test_what_passes_here_and_there_or_in_two_tasks_is_no_root() -> None:
    assert find_root_causes(tried("integer", 80, 100)) == []
    assert find_root_causes(tried("integer", 60, 60)[:2]) == []
    assert find_root_causes([]) == []


def test_calls_that_may_be_left_out_are_a_root() -> None:
    [root] = find_root_causes(tried("call", 9, 9, "call"))
    assert root.sentence == "A call that is wanted may be left out"


def test_how_values_relate() -> None:
    assert classify(("n",), 3, 3777).relation == "longer"
    assert classify(("n",), "3*x", "3x").relation == "punctuation"
    assert classify(("n",), "biweekly", "weekly").relation == "shorter"
    assert classify(("n",), True, False).relation == "other"
    assert [classify(path, 1, 2).place for path in (("a",), ("a", "b"), ("a", 0), ("a", "b", 1))] == [
        "argument",
        "object",
        "list",
        "list",
    ]
