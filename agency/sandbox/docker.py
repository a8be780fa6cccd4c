"""Commands in containers of a Docker engine on this machine: one container per command, removed when it has ended."""

import hashlib
import os
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from agenthard.agency.workspace.runner import Command
from agenthard.containment import CommandResult, JobError, JobLimits
from agenthard.containment.command import LOOK_SECONDS, PLACE, TEMPORARY, Ending, KeptOutput, exceeds
from agenthard.containment.job import ENVIRONMENT

LABEL = "org.agenthard.workspace"
"""Label of every container, with a hash of the folder that it works on."""
UNPRIVILEGED = 65534
"""User and group of commands where root runs this; otherwise they have those of this process."""
PROCESSORS = 1
"""How many processors the processes of a command may use together."""
REQUEST_SECONDS = 60
"""How long the engine may take for an answer, and to end a container that was killed."""


class EngineError(JobError):
    """A Docker engine cannot be reached or used, lacks the image, or refuses a container."""

    code = "AH657"
    remedy = (
        "Install the extra (`pip install agenthard[docker]`), start the engine, and get the image with `docker pull`; "
        "`--set image=NAME` and `--set engine=ADDRESS` name others."
    )


class Containers:
    """Runs each command in a container of its own."""

    def __init__(self, image: str, engine: str = "") -> None:
        """Prepare; the engine is asked when it is needed.

        Args:
            image: name of an image that the engine has; none is ever pulled.
            engine: address such as ``unix:///var/run/docker.sock``; empty for that of the environment.
        """
        self._image, self._engine = image, engine
        self._image_id = ""
        self._tidied: set[str] = set()
        """Labels of folders for which containers of a process that was killed were looked for."""

    def image_id(self) -> str:
        """Return the id of the image.

        Raises:
            EngineError: the engine cannot be used, or lacks the image.
        """
        with self._connected() as client:
            return self._checked(client)

    def obstacle(self) -> str | None:
        """Say why commands cannot run; None when they can."""
        try:
            self.image_id()
        except EngineError as error:
            return str(error)
        return None

    def described(self) -> str:
        """Say in one line what commands run in, or ``none:`` and why they cannot run."""
        try:
            image = self.image_id()
        except EngineError as error:
            return f"none: {error}"
        return (
            f"Docker containers of {self._image} ({image}): user {_user()}, no network, read-only root, "
            f"no capabilities, no new privileges, {PROCESSORS} processor; memory and processes counted by the engine"
        )

    def run(self, command: Command) -> CommandResult:
        """Run a command, and remove its container whatever happens.

        Args:
            command: the image must have its program; its folder is mounted, and what it reads is mounted read-only; its
                limit of memory is that of all its processes together.

        Raises:
            EngineError: the engine cannot be used, lacks the image, or refuses the container.
        """
        folder = command.folder.resolve(strict=True)
        label = hashlib.sha256(os.fsencode(folder)).hexdigest()
        _give_to_user(folder)
        with self._connected() as client:
            image = self._checked(client)
            if label not in self._tidied:
                for left in client.containers.list(all=True, filters={"label": f"{LABEL}={label}"}):
                    left.remove(force=True, v=True)
                self._tidied.add(label)
            order = _order(command)
            container = client.containers.create(image, labels={LABEL: label}, **order)
            try:
                return _carried_out(client, container, folder, command.limits)
            finally:
                container.remove(force=True, v=True)

    @contextmanager
    def _connected(self) -> Iterator[Any]:
        """Connect to the engine; what goes wrong with it is an error of ours."""
        try:
            from docker.client import DockerClient
            from docker.errors import DockerException, ImageNotFound
            from requests.exceptions import RequestException
        except ImportError as error:
            raise EngineError(f"the Docker SDK is not installed: {error}") from None
        where = self._engine or os.environ.get("DOCKER_HOST") or "its usual address"
        try:
            named = {"base_url": self._engine} if self._engine else {}
            make = DockerClient if self._engine else DockerClient.from_env
            with closing(make(timeout=REQUEST_SECONDS, **named)) as client:
                yield client
        except ImageNotFound:
            raise EngineError(f"the Docker engine at {where} has no image {self._image!r}") from None
        except (DockerException, RequestException, OSError, ValueError) as error:
            raise EngineError(f"the Docker engine at {where} cannot be used: {error}") from error

    def _checked(self, client: Any) -> str:
        """Return the id of the image, after a look at the engine: a name may come to mean another image."""
        if not self._image_id:
            told = client.info()
            if told.get("OSType") != "linux":
                raise EngineError(f"the Docker engine runs containers of {told.get('OSType')}, and Linux is needed")
            for option in told.get("SecurityOptions") or ():
                name = option.partition(",")[0].removeprefix("name=")
                if name in ("rootless", "userns"):
                    raise EngineError(f"the Docker engine maps users ({name}): commands could not write the workspace")
            self._image_id = str(client.images.get(self._image).id)
        return self._image_id


class _Reading(threading.Thread):
    """Reads what a container writes, and waits for its end."""

    def __init__(self, container: Any, stream: Any, outputs: tuple[KeptOutput, KeptOutput]) -> None:
        super().__init__(daemon=True)
        self._container, self._stream, self._outputs = container, stream, outputs
        self.exit_code: int | None = None
        self.error: Exception | None = None

    def run(self) -> None:
        try:
            for parts in self._stream:
                for output, data in zip(self._outputs, parts, strict=True):
                    output.add(data or b"")
            self.exit_code = int(self._container.wait(timeout=None)["StatusCode"])
        except Exception as error:  # raised again by the thread that waits for this one
            self.error = error


def _carried_out(client: Any, container: Any, folder: Path, limits: JobLimits) -> CommandResult:
    """Start a container, and kill it when it reaches a limit."""
    from docker.errors import APIError

    outputs = KeptOutput(limits.kept_output_bytes), KeptOutput(limits.kept_output_bytes)
    stream = client.api.attach(container.id, stdout=True, stderr=True, stream=True, demux=True)
    started = time.monotonic()
    container.start()
    reading = _Reading(container, stream, outputs)
    reading.start()
    ending = _watch(reading, folder, limits, started, outputs)
    if reading.is_alive():
        with suppress(APIError):  # it has ended meanwhile
            container.kill()
        reading.join(REQUEST_SECONDS)
    if reading.error is not None:
        raise reading.error
    if reading.is_alive():
        raise EngineError(f"the Docker engine did not end a container within {REQUEST_SECONDS} seconds")
    return CommandResult(
        ending=ending,
        exit_code=reading.exit_code if ending == "exit" else None,
        stdout=outputs[0].text(),
        stderr=outputs[1].text(),
        left_out=sum(output.left_out for output in outputs),
        seconds=time.monotonic() - started,
    )


def _watch(
    reading: _Reading, folder: Path, limits: JobLimits, started: float, outputs: tuple[KeptOutput, KeptOutput]
) -> Ending:
    look = started
    while True:
        left = limits.wall_seconds - (time.monotonic() - started)
        if left <= 0:
            return "timeout"
        reading.join(min(left, LOOK_SECONDS))
        if sum(output.size for output in outputs) > limits.output_bytes:
            return "output"
        if not reading.is_alive():
            return "folder" if exceeds(folder, limits) else "exit"
        now = time.monotonic()
        if now >= look:
            if exceeds(folder, limits):
                return "folder"
            look = now + max(LOOK_SECONDS, 10 * (time.monotonic() - now))  # a large folder is looked at less often


def _order(command: Command) -> dict[str, Any]:
    """Say what container a command gets, in the words of the SDK."""
    from docker.types import LogConfig, Mount, Ulimit

    own = {name: value for name, value in ENVIRONMENT.items() if name != "PATH"}  # the image knows its programs
    limits = command.limits
    most = {"cpu": limits.cpu_seconds, "fsize": limits.file_bytes, "nofile": limits.open_files, "core": 0}
    size = f"size={limits.temporary_bytes},nr_inodes={limits.temporary_entries}"
    seen = sorted({str(path.resolve(strict=True)) for path in command.readable})
    return {
        "entrypoint": [command.words[0]],
        "command": list(command.words[1:]),
        "working_dir": PLACE,
        "environment": {**own, "HOME": TEMPORARY, "TMPDIR": TEMPORARY, **command.environment},
        "user": _user(),
        "mounts": [
            Mount(PLACE, str(command.folder.resolve()), type="bind"),
            *(Mount(path, path, type="bind", read_only=True) for path in seen),
        ],
        "tmpfs": {TEMPORARY: f"rw,exec,nosuid,nodev,mode=1777,{size}"},
        "shm_size": limits.temporary_bytes,
        "read_only": True,
        "network_mode": "none",
        "network_disabled": True,
        "cap_drop": ["ALL"],
        "security_opt": ["no-new-privileges"],
        "pids_limit": limits.processes + 1,  # with the engine's own first process
        "mem_limit": limits.memory_bytes,
        "memswap_limit": limits.memory_bytes,
        "nano_cpus": PROCESSORS * 10**9,
        "ulimits": [Ulimit(name=name, soft=value, hard=value) for name, value in most.items()],
        "init": True,  # reaps what is left, and lets signals end the command as they do elsewhere
        "healthcheck": {"test": ["NONE"]},
        "log_config": LogConfig(type="none"),  # output without end must not fill the engine's disk
    }


def _user() -> str:
    return f"{UNPRIVILEGED}:{UNPRIVILEGED}" if os.geteuid() == 0 else f"{os.geteuid()}:{os.getegid()}"


def _give_to_user(folder: Path) -> None:
    """Where root runs this, let the user of the command own what is in the folder; no link is followed."""
    if os.geteuid() != 0:
        return
    for above, folders, files in os.walk(folder):
        for path in (above, *(os.path.join(above, name) for name in (*folders, *files))):
            if os.lstat(path).st_uid != UNPRIVILEGED:
                os.lchown(path, UNPRIVILEGED, UNPRIVILEGED)
