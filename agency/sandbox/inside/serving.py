"""The web server of a job: one folder, on the loopback of the job."""

import http.server
import io
import os
import threading
import urllib.parse
from typing import Any


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves the regular files of one folder; no listing, and nothing that a link leads out to."""

    root = ""

    def translate_path(self, path: str) -> str:
        """Return the file of an address; a name that cannot exist for anything outside the folder."""
        name = urllib.parse.unquote(urllib.parse.urlsplit(path).path)
        file = os.path.realpath(os.path.join(self.root, name.lstrip("/")))
        if os.path.isdir(file):
            file = os.path.realpath(os.path.join(file, "index.html"))
        inside = os.path.commonpath([file, self.root]) == self.root
        return file if inside and os.path.isfile(file) else os.path.join(self.root, "\0")

    def send_head(self) -> Any:
        """Answer; a browser asks for an icon by itself, and its absence is not an error of the page."""
        file = self.translate_path(self.path)
        if "\0" in file:
            icon = self.path == "/favicon.ico"
            body = b"" if icon else b"not found"
            self.send_response(204 if icon else 404)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            return io.BytesIO(body)
        return super().send_head()

    def end_headers(self) -> None:
        """Let nothing be kept: a plan may open a page again."""
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Write nothing."""


def serve(folder: str) -> str:
    """Serve a folder until the process ends; returns the address of the server."""
    Handler.root = os.path.realpath(folder)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}"
