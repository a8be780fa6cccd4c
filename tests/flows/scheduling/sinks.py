"""Servers on loopback that keep what they are sent."""

import json
import threading
from email import message_from_bytes
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.flows.review.web.served import free_port


class WebhookSink:
    """Keeps every JSON body that is posted, with path and headers."""

    def __init__(self, status: int = 200, location: str = "") -> None:
        self.received: list[tuple[str, dict[str, str], Any]] = []
        sink = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                sink.received.append((self.path, {k.lower(): v for k, v in self.headers.items()}, json.loads(body)))
                self.send_response(status)
                if location:
                    self.send_header("location", location)
                self.end_headers()
                self.wfile.write(b"ok")

            def log_message(self, *_: Any) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", free_port()), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_port}/hook"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def texts(self) -> list[str]:
        return [body.get("text") or body["body"] for _, _, body in self.received]

    def __enter__(self) -> "WebhookSink":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


class MailSink:
    """Keeps every e-mail; a handler of aiosmtpd."""

    port = 0

    def __init__(self) -> None:
        self.received: list[Any] = []

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802 - the library's name
        self.received.append(message_from_bytes(envelope.content))
        return "250 OK"

    @property
    def texts(self) -> list[str]:
        return [each.get_payload(decode=True).decode() for each in self.received]
