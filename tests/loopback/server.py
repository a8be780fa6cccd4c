"""Runs the server in a thread of this process; tests/loopback/__main__.py runs it in a process of its own."""

import socket
import threading
import urllib.request
from types import TracebackType
from typing import Any

import uvicorn

from tests.loopback.app import Service, application

START_SECONDS = 60.0


def make(service: Service) -> uvicorn.Server:
    config = uvicorn.Config(
        application(service), log_level="critical", access_log=False, lifespan="off", timeout_graceful_shutdown=1
    )
    return uvicorn.Server(config)


def listen(port: int) -> socket.socket:
    # asyncio sends at once (TCP_NODELAY) only where the socket says that it speaks TCP.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen(1024)
    return listener


class Loopback:
    """A running server in a thread; use it as a context manager. Change `service` at any time."""

    def __init__(self, **settings: Any) -> None:
        """Sets up; the settings are those of `Service`."""
        self.service = Service(**settings)
        self._listener = listen(0)
        self._server = make(self.service)
        self._thread = threading.Thread(target=self._server.run, args=([self._listener],), daemon=True)

    @property
    def url(self) -> str:
        """Base URL of Gemini's protocol."""
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    @property
    def openai_url(self) -> str:
        """Base URL of OpenAI's protocol."""
        return f"{self.url}/v1"

    @property
    def counts(self) -> dict[str, Any]:
        return self.service.counts.as_dict()

    def __enter__(self) -> "Loopback":
        self._thread.start()
        wait_for(self.url)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.should_exit = True
        self._thread.join()


def wait_for(url: str) -> None:
    """Returns when the server answers."""
    with urllib.request.urlopen(f"{url}/_/counts", timeout=START_SECONDS) as answer:
        answer.read()
