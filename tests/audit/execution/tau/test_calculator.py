import pytest

from agenthard.audit.execution.tau.calculator import ExpressionError, calculate, is_arithmetic


@pytest.mark.parametrize(
    ("expression", "value"),
    [("2 + 2", 4.0), (" (1.5 - 3) * -2 ", 3.0), ("10 / 4", 2.5), ("7 // 2", 3.0), ("0.1 + 0.2", 0.3), ("1/3", 0.33)],
)
def test_arithmetic(expression: str, value: float) -> None:
    assert calculate(expression) == value


@pytest.mark.parametrize(
    "expression",
    [
        "9**9**9",
        "(" * 900 + "1" + ")" * 900,
        "-" * 1900 + "1",
        "1 +",
        "",
        "1 / 0",
        "9" * 3000,
        "__import__('os')",
        "(1).real",
        "9" * 400,
    ],
)
def test_what_has_no_value_is_refused(expression: str) -> None:
    with pytest.raises(ExpressionError):
        print(calculate(expression))


def test_only_characters_of_arithmetic() -> None:
    assert is_arithmetic("(1 + 2) / 3.0 * 4 - 5")
    assert not is_arithmetic("a + 1")
    assert not is_arithmetic("2 < 3")
