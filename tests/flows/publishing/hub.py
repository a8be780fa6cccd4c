"""A Hugging Face hub on this machine: the parts of its HTTP interface with which its client uploads and downloads.

Repositories are in memory. Files named ``*.parquet`` go through the LFS protocol, others through the commit.
"""

import base64
import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

TOKEN = "hf_written_for_this_test"
"""The token that may write."""


class Hub:
    """The state of the hub, which a test can look at and change."""

    def __init__(self) -> None:
        self.repositories: dict[str, list[dict[str, bytes]]] = {}
        """All commits of each repository, each with all files."""
        self.tags: dict[str, dict[str, int]] = {}
        """Number of the commit that a tag names."""
        self.messages: list[str] = []
        """Messages of the commits."""
        self.objects: dict[str, bytes] = {}
        """Objects of the LFS protocol, by hash."""
        self.requests: list[str] = []
        """Method and path of each request."""
        self.fail_with: int | None = None
        """Status with which every request fails."""
        self.url = ""
        """Address."""

    def commit_of(self, repository: str, revision: str) -> int:
        """Number of the commit that a branch, a tag or the name of a commit means."""
        if revision in self.tags[repository]:
            return self.tags[repository][revision]
        return len(self.repositories[repository]) - 1 if revision == "main" else int(revision, 16)

    def files(self, repository: str, revision: str = "main") -> dict[str, bytes]:
        return self.repositories[repository][self.commit_of(repository, revision)]


class _Handler(BaseHTTPRequestHandler):
    hub: Hub
    protocol_version = "HTTP/1.1"

    def log_message(self, *words: Any) -> None:
        """Stay silent."""

    def _answer(self, status: int, body: Any = None, **headers: str) -> None:
        data = body if isinstance(body, bytes) else json.dumps(body if body is not None else {}).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _serve(self) -> None:
        path = unquote(urlsplit(self.path).path)
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length)
        self.hub.requests.append(f"{self.command} {path}")
        if self.hub.fail_with:
            self._answer(self.hub.fail_with, {"error": "the hub is being repaired"})
        elif self.command == "PUT":
            self.hub.objects[hashlib.sha256(body).hexdigest()] = body
            self._answer(200)
        elif self.command == "POST" and self.headers.get("Authorization") != f"Bearer {TOKEN}":
            self._answer(401, {"error": "Invalid username or password."})
        elif self.command == "POST":
            self._write(path.strip("/").split("/"), body)
        else:
            self._read(path.strip("/").split("/"))

    do_GET = do_HEAD = do_POST = do_PUT = _serve

    def _write(self, parts: list[str], body: bytes) -> None:
        match parts:
            case ["api", "repos", "create"]:
                given = json.loads(body)
                name = f"{given['organization']}/{given['name']}"
                known = name in self.hub.repositories
                self.hub.repositories.setdefault(name, [{".gitattributes": b"*.parquet filter=lfs\n"}])
                self.hub.tags.setdefault(name, {})
                self._answer(409 if known else 200, {"url": f"{self.hub.url}/datasets/{name}"})
            case ["api", "validate-yaml"]:
                self._answer(200, {"errors": [], "warnings": []})
            case ["api", "datasets", owner, name, "preupload", _]:
                files = [
                    {
                        "path": each["path"],
                        "uploadMode": "lfs" if each["path"].endswith(".parquet") else "regular",
                        "shouldIgnore": False,
                    }
                    for each in json.loads(body)["files"]
                ]
                self._answer(200, {"files": files})
            case ["datasets", owner, name, "info", "lfs", "objects", "batch"]:
                self._answer(200, {"transfer": "basic", "objects": list(self._objects(json.loads(body)["objects"]))})
            case ["api", "datasets", owner, name, "commit", _]:
                self._commit(f"{owner}/{name}", [json.loads(line) for line in body.splitlines()])
            case ["api", "datasets", owner, name, "tag", revision]:
                repository, tag = f"{owner}/{name}", json.loads(body)["tag"]
                known = tag in self.hub.tags[repository]
                self.hub.tags[repository].setdefault(tag, self.hub.commit_of(repository, revision))
                self._answer(409 if known else 200)
            case _:
                self._answer(404, {"error": f"no such address: {'/'.join(parts)}"})

    def _objects(self, wanted: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        for each in wanted:
            there = each["oid"] in self.hub.objects
            actions = {} if there else {"actions": {"upload": {"href": f"{self.hub.url}/objects/{each['oid']}"}}}
            yield {**each, **actions}

    def _commit(self, repository: str, lines: list[dict[str, Any]]) -> None:
        files = dict(self.hub.files(repository))
        for line in lines:
            value = line["value"]
            if line["key"] == "header":
                self.hub.messages.append(value["summary"])
            elif line["key"] == "file":
                files[value["path"]] = base64.b64decode(value["content"])
            elif line["key"] == "lfsFile":
                files[value["path"]] = self.hub.objects[value["oid"]]
            elif line["key"] == "deletedFile":
                del files[value["path"]]
        self.hub.repositories[repository].append(files)
        oid = f"{len(self.hub.repositories[repository]) - 1:040x}"
        self._answer(200, {"commitUrl": f"{self.hub.url}/datasets/{repository}/commit/{oid}", "commitOid": oid})

    def _read(self, parts: list[str]) -> None:
        match parts:
            case ["api", "datasets", owner, name, ("revision" | "tree") as what, revision, *_]:
                repository = f"{owner}/{name}"
                files = self.hub.files(repository, revision)
                oid = f"{self.hub.commit_of(repository, revision):040x}"
                listed = [
                    {"type": "file", "path": path, "size": len(data), "oid": hashlib.sha1(data).hexdigest()}
                    for path, data in files.items()
                ]
                siblings = [{"rfilename": path} for path in files]
                about = {"id": repository, "sha": oid, "siblings": siblings, "tags": []}
                self._answer(200, listed if what == "tree" else about)
            case ["datasets", owner, name, "resolve", revision, *rest]:
                repository, path = f"{owner}/{name}", "/".join(rest)
                data = self.hub.files(repository, revision).get(path)
                if data is None:
                    self._answer(404, {"error": "no such file"}, X_Error_Code="EntryNotFound")
                    return
                oid = f"{self.hub.commit_of(repository, revision):040x}"
                self._answer(200, data, ETag=f'"{hashlib.sha256(data).hexdigest()}"', X_Repo_Commit=oid)
            case _:
                self._answer(404, {"error": f"no such address: {'/'.join(parts)}"})


@contextmanager
def running_hub() -> Iterator[Hub]:
    """Run a hub in a thread."""
    hub = Hub()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"hub": hub}))
    hub.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
