"""Names of models are read and written, and wrong ones say what is wrong."""

import pytest

from agenthard.models.errors import ConfigurationError
from agenthard.models.names import parse_name


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("openai/gpt-5", ("openai", "gpt-5", "https://api.openai.com/v1")),
        ("openai/ft:gpt-4o:org::id", ("openai", "ft:gpt-4o:org::id", "https://api.openai.com/v1")),
        ("google/gemini-3-pro", ("google", "gemini-3-pro", "https://generativelanguage.googleapis.com")),
        ("google/gemini-3-pro@http://127.0.0.1:9", ("google", "gemini-3-pro", "http://127.0.0.1:9")),
        ("compatible/org/m@1@https://host/v1/", ("compatible", "org/m@1", "https://host/v1")),
        ("compatible/a@http-b@http://[::1]:8000/v1", ("compatible", "a@http-b", "http://[::1]:8000/v1")),
    ],
)
def test_names(text: str, parts: tuple[str, str, str]) -> None:
    name = parse_name(text)
    assert (name.provider, name.name, name.base_url) == parts
    assert parse_name(str(name)) == name


def test_home_is_not_written_out() -> None:
    assert str(parse_name("google/x@https://generativelanguage.googleapis.com")) == "google/x"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("gpt-5", "is not a provider"),
        ("OpenAI/gpt-5", "is not a provider"),
        ("anthropic/claude", "is not a provider"),
        ("openai/", "NAME is empty"),
        ("openai/two words", "spaces"),
        ("openai/x@http://localhost:1", "compatible/NAME@BASE_URL"),
        ("compatible/x", "base URL is missing"),
        ("compatible/@http://host", "NAME is empty"),
        ("compatible/x@http:/host", "not of the form"),
        ("compatible/x@http://", "not of the form"),
        ("compatible/x@httpx://host", "not of the form"),
        ("compatible/x@http://host:99999", "cannot be read"),
        ("compatible/x@http://[::1", "cannot be read"),
        ("compatible/x@http://host/v1?key=1", "contains more than"),
        ("compatible/x@http://ho st/v1", "contains more than"),
    ],
)
def test_what_is_no_name(text: str, why: str) -> None:
    with pytest.raises(ConfigurationError, match=why) as caught:
        parse_name(text)
    assert repr(text) in str(caught.value)


def test_a_password_is_not_repeated() -> None:
    with pytest.raises(ConfigurationError, match="user name or password") as caught:
        parse_name("compatible/x@http://me:secret@host/v1")
    assert "secret" not in str(caught.value)
