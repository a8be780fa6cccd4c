"""Translate exceptions of SDKs and of HTTP into agenthard.models.errors.

The exceptions of SDKs contain the request with its key, so they are never chained to ours.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

from agenthard.models.errors import (
    BadRequestError,
    BudgetExhaustedError,
    ConnectionFailedError,
    ConnectionLostError,
    ContextOverflowError,
    MalformedReplyError,
    ModelError,
    RateLimitError,
    RequestTimeoutError,
    ServerError,
    UnknownModelError,
    WrongKeyError,
)
from agenthard.models.providers.destination import Destination
from agenthard.models.request import Reply

T = TypeVar("T")

_OVERFLOW = re.compile(
    r"context[_ ](length|window|size)|input token count|prompt is too long|too many (input )?tokens",
    re.IGNORECASE,
)
_NO_CREDIT = ("insufficient_quota", "billing_hard_limit_reached")
CONNECT_SECONDS = 30.0
"""Timeout for a connection; a working server accepts one much faster."""


async def attempt(send: Callable[[], Awaitable[T]], timeout: float, to: Destination) -> T:
    """Send a request; every failure is raised as one of our errors.

    Args:
        send: Sends it.
        timeout: Seconds for the whole attempt; the timeouts of the SDKs apply to single reads and writes only.
        to: Its destination.

    Raises:
        ModelError: The attempt failed.
    """
    try:
        async with asyncio.timeout(timeout):
            return await send()
    except Exception as error:  # noqa: BLE001 - an invalid answer can make an SDK fail in any way
        failure = error
    if isinstance(failure, OSError) and failure.filename is not None:
        raise failure  # An error of one of our files.
    # An error response can itself be invalid; `read` then raises MalformedReplyError.
    raise read(lambda: _translate(failure, timeout, to), to)


def read(answer: Callable[[], T], to: Destination) -> T:
    """Parse an answer; missing, wrong, too deeply nested or undecodable parts make it malformed.

    Raises:
        MalformedReplyError: It is not a valid reply, or cannot be stored as one.
        ModelError: An error that `answer` raises itself.
    """
    try:
        found = answer()
        if isinstance(found, Reply):
            found.model_dump_json()  # A string can contain a lone surrogate, a file cannot.
        return found
    except ModelError:
        raise
    except Exception as error:  # noqa: BLE001 - see above
        reason = to.quote(f"{type(error).__name__}: {error}")
    raise MalformedReplyError(f"{to.name} answered with something else than a reply ({reason})")


def _translate(error: Exception, timeout: float, to: Destination) -> ModelError:
    import httpx2

    if isinstance(error.__cause__, (httpx2.HTTPError, httpx2.InvalidURL)):
        error = error.__cause__
    message = to.quote(str(error) or type(error).__name__)
    match error:
        case ModelError():
            return error
        case httpx2.ConnectError() | httpx2.ConnectTimeout() | httpx2.ProxyError():
            return ConnectionFailedError(f"no connection to {to.name.base_url} for {to.name}: {message}")
        case TimeoutError() | httpx2.TimeoutException():
            return RequestTimeoutError(f"{to.name} gave no answer within {timeout:g} seconds")
        case httpx2.DecodingError():
            return MalformedReplyError(f"{to.name} answered with something that cannot be decoded: {message}")
        case httpx2.HTTPError():
            return ConnectionLostError(f"the connection to {to.name} broke: {message}")
    response = getattr(error, "response", None)
    if isinstance(response, httpx2.Response) and not response.is_success:
        return from_status(response.status_code, _body(response), response.headers, to)
    if isinstance(error, ValueError | RecursionError):
        return MalformedReplyError(f"{to.name} answered with something else than JSON: {message}")
    return MalformedReplyError(
        f"{to.name} answered with something that its SDK cannot read: {type(error).__name__}: {message}"
    )


def _body(response: Any) -> Any:
    try:
        return response.json()
    except (ValueError, RecursionError):
        return response.text


def from_status(status: int, body: Any, headers: Mapping[str, str], to: Destination) -> ModelError:
    """Translate an error response into one of our errors.

    Args:
        status: Its HTTP status.
        body: Its body: parsed JSON, or text.
        headers: Its headers, with names in lower case.
        to: Its origin.
    """
    if isinstance(body, list) and len(body) == 1:
        body = body[0]
    inner = body.get("error", body) if isinstance(body, dict) else body
    details = inner if isinstance(inner, dict) else {"message": inner}
    code, text = str(details.get("code") or details.get("type") or ""), str(details.get("message") or "")
    said = f"{to.name} answered {status}: {to.quote(text)}"
    if status in (401, 403) or (status == 400 and "API key" in text):
        # Without the message: providers repeat (parts of) the key in it.
        return WrongKeyError(
            f"{to.name} refuses the key in ${to.key_variable} ({status}); check the key and its permissions"
        )
    if status == 402 or code in _NO_CREDIT:
        return BudgetExhaustedError(f"the account behind ${to.key_variable} has no credit left. {said}")
    if status == 404:
        return UnknownModelError(f"{said}. Check the name of the model, and its base URL {to.name.base_url}")
    if status == 429:
        return RateLimitError(said, retry_after(headers, details))
    if status >= 500 or status in (408, 409, 425):
        return ServerError(said, retry_after(headers, details))
    if status == 413 or (status in (400, 422) and (_OVERFLOW.search(code) or _OVERFLOW.search(text))):
        return ContextOverflowError(said)
    return BadRequestError(said)


def retry_after(headers: Mapping[str, str], details: Mapping[str, Any]) -> float | None:
    """Return the seconds to wait before a retry, as the provider states them; None when it does not.

    Args:
        headers: ``retry-after-ms``, or ``retry-after`` in seconds or as an HTTP date, relative to the ``date`` of the
            response if it has one.
        details: Google's error object; its details may contain a retryDelay such as "37s".
    """
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        if re.fullmatch(r"\d+(\.\d+)?", headers.get(name, "").strip()):
            return float(headers[name]) / unit
    if until := _date(headers.get("retry-after")):
        now = _date(headers.get("date")) or datetime.now(UTC)
        return max(0.0, (until - now).total_seconds())
    for detail in details.get("details") or ():
        delay = re.fullmatch(r"(\d+(?:\.\d+)?)s", str(detail.get("retryDelay"))) if isinstance(detail, dict) else None
        if delay:
            return float(delay[1])
    return None


def _date(text: str | None) -> datetime | None:
    try:
        found = parsedate_to_datetime(text or "")
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
