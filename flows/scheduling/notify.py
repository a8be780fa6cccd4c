"""Tells people about an audit: by a webhook, an e-mail, a comment on GitHub. One that fails stops no other."""

import json
import os
import smtplib
import ssl
import urllib.error
import urllib.request
from collections.abc import Sequence
from email.message import EmailMessage
from typing import Any

from agenthard.flows.errors import InfrastructureError
from agenthard.flows.logs import log
from agenthard.flows.scheduling.settings import Email, GithubComment, Notification, Webhook
from agenthard.taxonomy.printable import printable, printable_line
from agenthard.taxonomy.record import Record

TIMEOUT_SECONDS = 30.0
"""Longest wait for a server."""
MOST_CHARACTERS = 60_000
"""Longest comment; GitHub refuses more than 65,536 characters."""


class Message(Record):
    """What is told."""

    subject: str
    """One line."""
    text: str
    """A few sentences, as plain text."""
    markdown: str
    """The whole, as Markdown."""


def send_all(to: Sequence[Notification], message: Message) -> list[str]:
    """Send a message to everyone.

    Returns:
        What could not be sent, and why, in words without secrets; empty when everything was sent.
    """
    failed = list[str]()
    for each in to:
        try:
            _send(each, message)
        except (OSError, InfrastructureError, smtplib.SMTPException) as error:
            reason = f"{each.kind} notification was not sent: {printable_line(_reason(error))}"
            log.warning("%s", reason)
            failed.append(reason)
    return failed


def _send(to: Notification, message: Message) -> None:
    if isinstance(to, Webhook):
        _post(_address(to), {"text": _slack(f"{message.subject}\n{message.text}")}, {})
    elif isinstance(to, Email):
        _mail(to, message)
    else:
        _comment(to, message)


def _address(to: Webhook) -> str:
    found = to.url or _secret(to.url_env or "")
    if not found.startswith(("https://", "http://")):
        raise InfrastructureError("the address of the webhook is not an http address")
    return found


def _secret(name: str) -> str:
    found = os.environ.get(name, "")
    if not found:
        raise InfrastructureError(f"the environment variable {name or '(none named)'} is not set")
    return found


def _slack(text: str) -> str:
    """Escape what Slack reads as markup: links, mentions of people and channels."""
    return printable(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _comment(to: GithubComment, message: Message) -> None:
    token = _secret(to.token_env)
    text = message.markdown
    if len(text) > MOST_CHARACTERS:
        text = f"{text[:MOST_CHARACTERS]}\n\n… cut; the page of the audit has everything\n"
    headers = {
        "authorization": f"Bearer {token}",
        "accept": "application/vnd.github+json",
        "x-github-api-version": "2022-11-28",
    }
    _post(f"{to.api.rstrip('/')}/repos/{to.repository}/issues/{to.issue}/comments", {"body": text}, headers)


def _post(address: str, body: Any, headers: dict[str, str]) -> None:
    data = json.dumps(body).encode()
    named = {"content-type": "application/json", "user-agent": "agenthard", **headers}
    request = urllib.request.Request(address, data, named, method="POST")
    opener = urllib.request.build_opener(_NoRedirects)
    try:
        with opener.open(request, timeout=TIMEOUT_SECONDS) as answer:
            answer.read(1000)
    except urllib.error.HTTPError as error:
        raise InfrastructureError(f"the server answers {error.code}") from None
    except urllib.error.URLError as error:
        raise InfrastructureError(f"the server cannot be reached: {error.reason}") from None


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: it would carry a token to another server."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _mail(to: Email, message: Message) -> None:
    mail = EmailMessage()
    mail["Subject"] = printable_line(message.subject)
    mail["From"] = to.sender
    mail["To"] = ", ".join(to.to)
    mail.set_content(printable(f"{message.text}\n\n{message.markdown}"))
    with smtplib.SMTP(to.host, to.port, timeout=TIMEOUT_SECONDS) as server:
        if to.starttls:
            server.starttls(context=ssl.create_default_context())
        if to.user_env:
            server.login(_secret(to.user_env), _secret(to.password_env or ""))
        server.send_message(mail)


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__
