import pytest

from audit.detectors.evaluation import GoldInText
from taxonomy import Message, UserSpec
from tests.builders import make_task


def said(*texts: str) -> UserSpec:
    return UserSpec(kind="scripted", turns=(tuple(Message(role="user", content=text) for text in texts),))


@pytest.mark.parametrize("text", ["lend_book(book_id=7, member='Ada')", '[lend_book(book_id = 7,\n member="Ada")]'])
def test_the_call_is_written_out(text: str) -> None:
    [hit] = GoldInText().inspect(make_task(user=said("I want this book.", text)))
    assert hit.evidence[0].pointer == "/user/turns/0/1/content"


@pytest.mark.parametrize("text", ["Lend book 7 to Ada.", "lend_book(book_id=8, member='Ada')", "lend_book is a tool."])
def test_values_alone_or_another_call(text: str) -> None:
    assert list(GoldInText().inspect(make_task(user=said(text)))) == []


def test_what_only_the_simulator_reads() -> None:
    user = UserSpec(kind="simulated", instruction="lend_book(book_id=7, member='Ada')")
    assert list(GoldInText().inspect(make_task(user=user))) == []
