"""A folder of small objects that an audit and its workers share: a local folder, a bucket, or this process's memory."""

import os
import shutil
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from agenthard.flows.errors import InfrastructureError
from agenthard.flows.scale_out.settings import FILE, MEMORY, protocol_of
from agenthard.taxonomy.errors import MissingExtraError
from agenthard.taxonomy.files import sync

_EXTRAS = {"s3": "s3", "gs": "gs", "gcs": "gs", "abfs": "azure", "az": "azure"}


class StoreError(InfrastructureError):
    """A store cannot be read or written; the message names the object and the reason."""

    code = "AH821"
    remedy = "Check the URL, the network and the rights of the process, and run the same command again."


class WorkStore:
    """Objects by name. An object is there as a whole or not at all; the last of two writers wins."""

    def __init__(self, url: str) -> None:
        """Prepare; nothing is opened yet.

        Args:
            url: a path, or a URL of fsspec.
        """
        self.url = url
        self.protocol = protocol_of(url)
        self._root = unquote(url.partition("://")[2]) if "://" in url else url

    @property
    def is_memory(self) -> bool:
        """Whether only this process can reach it."""
        return self.protocol == MEMORY

    def put(self, name: str, data: bytes) -> None:
        """Write an object.

        Raises:
            StoreError: It cannot be written.
        """
        if self.protocol == FILE:
            _replace(Path(self._root) / name, data)
            return
        self._call("written", name, lambda system, path: system.pipe_file(path, data))

    def get(self, name: str) -> bytes | None:
        """Read an object; None where there is none.

        Raises:
            StoreError: It cannot be read.
        """
        if self.protocol == FILE:
            path = Path(self._root) / name
            return path.read_bytes() if path.is_file() else None
        data = self._call("read", name, lambda system, path: system.cat_file(path))
        return None if data is None else bytes(data)

    def has(self, name: str) -> bool:
        """Tell whether an object is there.

        Raises:
            StoreError: The store cannot be asked.
        """
        if self.protocol == FILE:
            return (Path(self._root) / name).is_file()
        return self._call("looked up", name, lambda system, path: system.info(path)) is not None

    def remove(self, name: str) -> None:
        """Remove an object, if it is there.

        Raises:
            StoreError: It cannot be removed.
        """
        if self.protocol == FILE:
            (Path(self._root) / name).unlink(missing_ok=True)
            return
        self._call("removed", name, lambda system, path: system.rm_file(path))

    def remove_folder(self, name: str) -> None:
        """Remove all objects whose names start with a folder's.

        Raises:
            StoreError: They cannot be removed.
        """
        if self.protocol == FILE:
            shutil.rmtree(Path(self._root) / name, ignore_errors=True)
            return
        self._call("removed", name, lambda system, path: system.rm(path, recursive=True))

    def _call(self, done: str, name: str, action: Any) -> Any:
        """Use the file system of fsspec; None where the object does not exist."""
        path = f"{self._root.rstrip('/')}/{name}"
        try:
            return action(_system(self.protocol), path)
        except FileNotFoundError as error:
            if done == "written":
                raise StoreError(f"{self.url}: no such bucket or folder, or it is not yours") from error
            return None
        except MissingExtraError:
            raise
        except Exception as error:  # each protocol has errors of its own
            reason = f"{type(error).__name__}: {str(error)[:200]}"
            raise StoreError(f"{self.url}: {name} cannot be {done}: {reason}") from error


@lru_cache(maxsize=4)
def _system(protocol: str) -> Any:
    import fsspec

    try:
        return fsspec.filesystem(protocol, **({} if protocol == MEMORY else {"use_listings_cache": False}))
    except ImportError as error:
        raise MissingExtraError(f"a store of {protocol}://", _EXTRAS.get(protocol, protocol)) from error


def _replace(path: Path, data: bytes) -> None:
    """Write a file under a name of its own and rename it: several workers may write equal results at the same time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, partial = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".partial", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
        sync(Path(partial))
        os.replace(partial, path)
    except BaseException:
        Path(partial).unlink(missing_ok=True)
        raise
