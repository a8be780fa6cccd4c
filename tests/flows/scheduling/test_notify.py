"""Messages reach real servers on loopback; one that fails is reported without its secrets and stops no other."""

from collections.abc import Iterator

import pytest
from aiosmtpd.controller import Controller

from agenthard.flows.scheduling.notify import MOST_CHARACTERS, Message, send_all
from agenthard.flows.scheduling.settings import Email, GithubComment, Webhook
from tests.flows.review.web.served import free_port
from tests.flows.scheduling.sinks import MailSink, WebhookSink

MESSAGE = Message(subject="nightly, audit 7", text="2 new <!channel> & more", markdown="**2 new**\n")


@pytest.fixture
def mail() -> Iterator[MailSink]:
    sink = MailSink()
    controller = Controller(sink, hostname="127.0.0.1", port=free_port())
    controller.start()
    sink.port = controller.port
    yield sink
    controller.stop()


def test_a_webhook_gets_text_in_which_nothing_is_markup() -> None:
    with WebhookSink() as sink:
        assert send_all([Webhook(url=sink.address)], MESSAGE) == []
    assert sink.texts == ["nightly, audit 7\n2 new &lt;!channel&gt; &amp; more"]


def test_an_email_has_the_whole(mail: MailSink) -> None:
    to = Email(to=("a@example.org", "b@example.org"), host="127.0.0.1", port=mail.port)
    message = MESSAGE.model_copy(update={"subject": "nightly\r\nBcc: eve@example.org"})
    assert send_all([to], message) == []
    (received,) = mail.received
    assert received["To"] == "a@example.org, b@example.org" and received["Bcc"] is None
    assert "**2 new**" in mail.texts[0]


def test_a_comment_on_github_is_cut_at_the_limit_of_its_interface(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "t0ken")
    long = MESSAGE.model_copy(update={"markdown": "x" * (MOST_CHARACTERS + 9000)})
    with WebhookSink(status=201) as sink:
        to = GithubComment(repository="owner/name", issue=12, api=sink.address.removesuffix("/hook"))
        assert send_all([to], long) == []
    ((path, headers, body),) = sink.received
    assert path == "/repos/owner/name/issues/12/comments" and headers["authorization"] == "Bearer t0ken"
    assert len(body["body"]) < 65_536 and body["body"].endswith("the page of the audit has everything\n")


def test_a_token_follows_no_redirect(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "t0ken")
    with WebhookSink() as elsewhere, WebhookSink(status=307, location=elsewhere.address) as sink:
        to = GithubComment(repository="owner/name", issue=12, api=sink.address.removesuffix("/hook"))
        failed = send_all([to], MESSAGE)
    assert elsewhere.received == [] and failed == ["github notification was not sent: the server answers 307"]


def test_one_that_fails_stops_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_SUCH_VARIABLE", raising=False)
    secret = f"http://127.0.0.1:{free_port()}/services/s3cret"
    with WebhookSink() as sink:
        to = [Webhook(url=secret), Webhook(url_env="NO_SUCH_VARIABLE"), Webhook(), Webhook(url=sink.address)]
        failed = send_all(to, MESSAGE)
    assert len(failed) == 3 and len(sink.received) == 1
    assert "cannot be reached" in failed[0] and "NO_SUCH_VARIABLE is not set" in failed[1]
    assert "s3cret" not in "".join(failed)
