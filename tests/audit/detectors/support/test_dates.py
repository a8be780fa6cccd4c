import pytest

from agenthard.audit.detectors.support.dates import calendar_words, parse_date, years_in


@pytest.mark.parametrize(
    "text",
    [
        "2023-03-09",
        "2023/3/9",
        "03/09/2023",
        "9.3.2023",
        "March 9, 2023",
        "Mar.9,2023",
        "9th March 2023",
        "2023-03-09T10:00",
    ],
)
def test_full_dates_are_read_in_any_order(text: str) -> None:
    date = parse_date(text)
    assert date is not None and (date.year, date.parts) == (2023, {3, 9})


@pytest.mark.parametrize("text", ["March 9", "2023", "2023-03", "from 2023-03-09 on", "12:30", "1-2-3", ""])
def test_other_texts_are_no_date(text: str) -> None:
    assert parse_date(text) is None


@pytest.mark.parametrize(
    ("text", "years"),
    [
        ("in 1999 and 2023", {1999, 2023}),
        ("20230929", {2023}),
        ("3/9/23 or 9.3.98", {2023, 1998}),
        ("back in '19", {2019}),
        ("order 120234 for 1450 dollars at 10:30", set()),
    ],
)
def test_years(text: str, years: set[int]) -> None:
    assert years_in(text) == years


def test_calendar_words() -> None:
    assert calendar_words("the 5th of April, Apr the 6th, 4/7, this weekend") == [
        "5th of April",
        "Apr the 6th",
        "4/7",
        "this weekend",
    ]
    assert calendar_words("book seven for Ada at 10:30") == []
