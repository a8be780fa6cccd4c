"""Every way to fail has its error, says where, and shows no key."""

import socket
import traceback
from datetime import UTC, datetime
from email.utils import format_datetime

import pytest

from agenthard.models import errors
from agenthard.models.errors import ModelError
from agenthard.models.model_file import ModelFile
from agenthard.models.names import parse_name
from agenthard.models.providers import provider_for
from agenthard.models.providers.destination import Destination
from agenthard.models.providers.failures import from_status, retry_after
from agenthard.models.request import Request
from tests.loopback import Fault, Faults, Loopback
from tests.models.providers.talking import APIS, SECONDS, ask, model_file, provider

SECRET = "sk-secret-0123456789"
EXPECTED: dict[Fault, type[ModelError]] = {
    "429": errors.RateLimitError,
    "429_silent": errors.RateLimitError,
    "500": errors.ServerError,
    "503": errors.ServerError,
    "hang": errors.RequestTimeoutError,
    "malformed": errors.MalformedReplyError,
    "dropped": errors.ConnectionLostError,
    "refused_key": errors.WrongKeyError,
    "unknown_model": errors.UnknownModelError,
    "too_long": errors.ContextOverflowError,
}


async def failure(file: ModelFile, request: Request, seconds: float = SECONDS) -> ModelError:
    async with provider(file) as model:
        with pytest.raises(ModelError) as caught:
            await model.complete(request, seconds)
    return caught.value


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("fault", EXPECTED)
async def test_each_fault_has_its_error(api: str, fault: Fault, loopback: Loopback, keys: str) -> None:
    loopback.service.faults = Faults(script=[fault])
    file = model_file(api, loopback)
    error = await failure(file, ask(file), 0.5 if fault == "hang" else SECONDS)
    assert type(error) is EXPECTED[fault]
    assert file.name in str(error)
    assert keys not in "".join(traceback.format_exception(error))
    assert getattr(error, "retry_after", None) == (0.05 if fault == "429" else None)
    # One attempt is one request: neither SDK tries again by itself.
    assert loopback.counts["received"] == 1


@pytest.mark.parametrize("api", APIS)
async def test_a_wrong_key_is_shown_nowhere(api: str, loopback: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", SECRET)
    file = model_file(api, loopback, key_env="MY_KEY")
    error = await failure(file, ask(file))
    assert type(error) is errors.WrongKeyError
    assert "$MY_KEY" in str(error)
    assert (error.__cause__, error.__context__) == (None, None)
    shown = [str(error), repr(error), repr(vars(error)), *traceback.format_exception(error), repr(Destination.of(file))]
    assert not [text for text in shown if "secret" in text]


def test_what_a_provider_says_is_shown_without_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    to = Destination.of(ModelFile(name="openai/x"))
    error = from_status(400, {"error": {"message": f"odd key {SECRET}"}}, {}, to)
    assert str(error) == "openai/x answered 400: odd key [key]"


@pytest.mark.parametrize("api", APIS)
async def test_nobody_listens(api: str, loopback: Loopback, keys: str) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        place = f"http://127.0.0.1:{free.getsockname()[1]}"
        provider_name = "google" if api == "gemini" else "compatible"
        file = ModelFile.model_validate(
            {"name": f"{provider_name}/m@{place}", "api": "chat" if api == "gemini" else api}
        )
        error = await failure(file, ask(file))
    assert type(error) is errors.ConnectionFailedError
    assert place in str(error)


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("body", ["[]", "{}", '"words"', '{"choices": [], "output": 3, "candidates": [{}, 1]}', ""])
async def test_json_that_is_no_reply(
    api: str, body: str, loopback: Loopback, keys: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from starlette.responses import Response

    async def odd(*_: object) -> Response:
        return Response(body, media_type="application/json")

    monkeypatch.setattr("tests.loopback.app._serve", odd)
    file = model_file(api, loopback)
    error = await failure(file, ask(file))
    assert type(error) is errors.MalformedReplyError


@pytest.mark.parametrize(
    ("name", "variable"),
    [("openai/x", "$OPENAI_API_KEY"), ("google/x", "$GEMINI_API_KEY or $GOOGLE_API_KEY")],
)
def test_without_a_key_nothing_is_made(name: str, variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for key in ("OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(key, raising=False)
    with pytest.raises(errors.MissingKeyError) as caught:
        provider_for(ModelFile(name=name))
    assert variable in str(caught.value)


def test_a_named_variable_counts_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMPATIBLE_API_KEY", SECRET)
    file = ModelFile(name="compatible/x@http://localhost:1/v1", key_env="OTHER_KEY")
    with pytest.raises(errors.MissingKeyError, match=r"\$OTHER_KEY"):
        provider_for(file)
    monkeypatch.setenv("OTHER_KEY", "two\nlines")
    with pytest.raises(errors.ConfigurationError) as caught:
        provider_for(file)
    assert "lines" not in str(caught.value).replace("line breaks", "")


def test_local_servers_need_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COMPATIBLE_API_KEY", raising=False)
    assert Destination.of(ModelFile(name="compatible/x@http://localhost:1/v1")).key == "none"


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (403, {"error": {"message": "no access"}}, errors.WrongKeyError),
        (400, [{"error": {"code": 400, "message": "API key not valid."}}], errors.WrongKeyError),
        (402, {"error": {"message": "Insufficient credits"}}, errors.BudgetExhaustedError),
        (429, {"error": {"code": "insufficient_quota", "message": "over"}}, errors.BudgetExhaustedError),
        (400, {"error": {"message": "the request exceeds the available context size"}}, errors.ContextOverflowError),
        (
            400,
            {"object": "error", "message": "This model's maximum context length is 8192"},
            errors.ContextOverflowError,
        ),
        (413, "too large", errors.ContextOverflowError),
        (400, {"error": {"message": "no such parameter"}}, errors.BadRequestError),
        (422, {"detail": [{"loc": ["body"]}]}, errors.BadRequestError),
        (301, "", errors.BadRequestError),
        (409, {}, errors.ServerError),
        (529, "<html>overloaded</html>", errors.ServerError),
        (504, None, errors.ServerError),
    ],
)
def test_other_answers(status: int, body: object, expected: type[ModelError]) -> None:
    to = Destination(parse_name("openai/x"), "k-1", "OPENAI_API_KEY")
    assert type(from_status(status, body, {}, to)) is expected


def test_when_to_come_back() -> None:
    now = datetime(2026, 1, 1, 12, 0, 0, tzinfo=UTC)
    later = format_datetime(now.replace(second=20), usegmt=True)
    assert retry_after({"retry-after": "7"}, {}) == 7
    assert retry_after({"retry-after-ms": "1500", "retry-after": "2"}, {}) == 1.5
    # 12:00:20 - 12:00:00 by the server's own clock; a date that is past means at once.
    assert retry_after({"retry-after": later, "date": format_datetime(now, usegmt=True)}, {}) == 20
    assert retry_after({"retry-after": format_datetime(now, usegmt=True), "date": later}, {}) == 0
    assert retry_after({}, {"details": [{"@type": "x"}, {"retryDelay": "37.5s"}]}) == 37.5
    assert retry_after({"retry-after": "soon"}, {}) is None
    assert retry_after({}, {}) is None
