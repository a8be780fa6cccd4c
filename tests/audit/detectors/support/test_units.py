"""Own factors of units agree with those of pint; forms in English and Chinese."""

import pint
import pytest

from agenthard.audit.detectors.support.units import UNITS, converted, measures, unit_called, units_named

OTHER_NAMES = {
    "celsius": "degC",
    "fahrenheit": "degF",
    "kilometer per hour": "kilometer / hour",
    "mile per hour": "mile / hour",
    "meter per second": "meter / second",
    "square meter": "meter ** 2",
    "square foot": "foot ** 2",
    "square kilometer": "kilometer ** 2",
}
BASES = {
    "time": "second",
    "length": "meter",
    "mass": "kilogram",
    "volume": "liter",
    "temperature": "kelvin",
    "speed": "meter per second",
    "area": "square meter",
    "data": "megabyte",
}


@pytest.mark.parametrize("name", sorted(set(UNITS) - {"month", "year"}))
def test_factors_agree_with_pint(name: str) -> None:
    registry = pint.UnitRegistry()
    unit = UNITS[name]
    base = UNITS[BASES[unit.dimension]]
    expected = registry.Quantity(7.0, OTHER_NAMES.get(name, name)).to(OTHER_NAMES.get(base.name, base.name)).magnitude
    assert any(each == pytest.approx(expected, rel=1e-5) for each in converted(7.0, unit, base))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("5-mile walk", [(5.0, "mile")]),
        ("at 60 mph for half an hour", [(60.0, "mile per hour"), (0.5, "hour")]),
        ("9.81 m/s^2 and 5 m³", []),
        ("两个小时，轨道周期为2.22天", [(2.0, "hour"), (2.22, "day")]),
        ("400 square feet, 120平方米", [(400.0, "square foot"), (120.0, "square meter")]),
        ("$5 m and 300K people", []),
        ("20°C, 68 F", [(20.0, "celsius"), (68.0, "fahrenheit")]),
    ],
)
def test_measures(text: str, expected: list[tuple[float, str]]) -> None:
    assert [(each.number, each.unit.name) for each in measures(text)] == expected


def test_units_of_a_documentation() -> None:
    assert {unit.name for unit in units_named("轨道周期，单位为天。")} == {"day"}
    assert {unit.name for unit in units_named("Duration (min), not more than 5 per day")} == {"minute"}
    assert not units_named("天气")


def test_names_of_units() -> None:
    found = [unit_called(text) for text in ("km", "Miles", "°F", "metric")]
    assert [unit.name if unit else None for unit in found] == ["kilometer", "mile", "fahrenheit", None]
