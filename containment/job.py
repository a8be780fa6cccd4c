"""Jobs: commands that may start processes, inside all layers of isolation, with limits on all of them together."""

import json
import os
import selectors
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from agenthard.containment.cgroup import Cgroup
from agenthard.containment.command import (
    LOOK_SECONDS,
    PLACE,
    TEMPORARY,
    CommandResult,
    Ending,
    JobLimits,
    KeptOutput,
    exceeds,
)
from agenthard.containment.isolation import LAYERS, OPTION, Isolation, refusal, switched_off
from agenthard.containment.programs import INSIDE, JOB_LAUNCHER
from agenthard.taxonomy.errors import AgentHardError

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
ENVIRONMENT = {"LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "PATH": PATH, "PYTHONHASHSEED": "0", "TZ": "UTC"}
SETTING = "--set weak_isolation=true"
"""How an evaluation accepts weak isolation."""
READ_BYTES = 1 << 16


class JobError(AgentHardError):
    """A job could not be started, or this machine lacks a layer of isolation and that was not allowed."""

    code = "AH312"
    remedy = "Run on Linux with the layers that the message names, or allow weak isolation for code that you trust."


class JobResult(CommandResult):
    """How a job ended."""

    isolation: Isolation
    """The layers that it ran in."""
    counted_by: Literal["control group", "user"]
    """What bounds the number of its processes."""


def run_job(
    command: Sequence[str],
    folder: Path,
    limits: JobLimits | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    readable: Sequence[Path] = (),
    hidden: Sequence[Path] = (),
    own_tcp: bool = False,
    weak_isolation: bool = False,
) -> JobResult:
    """Run a command on a folder, and kill everything that it started when it ends.

    The command sees the folder as :data:`PLACE`, may write there and under :data:`TEMPORARY`, has no network beyond
    itself, and no right that the user of this process has. Where root runs this, what the job writes belongs to root.

    Args:
        command: program and arguments.
        folder: the folder that it works on.
        limits: what it may use.
        environment: variables in addition to :data:`ENVIRONMENT`.
        readable: folders that it must be able to read although the unprivileged user might not reach them.
        hidden: folders that it must not look into.
        own_tcp: let its processes reach each other by TCP even where it has no network of its own, which needs
            weak isolation; the machine's network is open to it then.
        weak_isolation: run the command although this machine lacks a layer; the result names it.

    Raises:
        JobError: when it cannot be started, or a layer is missing and that was not allowed.
    """
    if sys.platform != "linux":
        raise JobError("jobs run on Linux only: elsewhere they could not be contained")
    limits = limits or JobLimits()
    scratch = Path(tempfile.mkdtemp(prefix="agenthard-job-")).resolve()
    cgroup = Cgroup.make(limits.processes)
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        order = {
            "control": theirs.fileno(),
            "command": list(command),
            "environment": {**ENVIRONMENT, **(environment or {})},
            "folder": str(folder.resolve(strict=True)),
            "inside": PLACE,
            "temporary": TEMPORARY,
            "scratch": str(scratch),
            "readable": [str(path.resolve()) for path in readable],
            "hidden": [str(path.resolve()) for path in hidden],
            "limits": limits.model_dump(),
            "off": switched_off(),
            "tcp": own_tcp,
            "weak": weak_isolation,
            "cgroup": str(cgroup.folder) if cgroup else None,
        }
        return _run(order, limits, ours, theirs, "control group" if cgroup else "user")
    finally:
        ours.close()
        if cgroup:
            cgroup.remove()
        shutil.rmtree(scratch, ignore_errors=True)


def _run(
    order: dict[str, Any],
    limits: JobLimits,
    ours: socket.socket,
    theirs: socket.socket,
    counted_by: Literal["control group", "user"],
) -> JobResult:
    started = time.monotonic()
    launcher = subprocess.Popen(
        [sys.executable, "-I", "-S", JOB_LAUNCHER, json.dumps(order)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={"PATH": ""},
        pass_fds=[theirs.fileno()],
        start_new_session=True,
        cwd=INSIDE,
    )
    theirs.close()
    outputs = KeptOutput(limits.kept_output_bytes), KeptOutput(limits.kept_output_bytes)
    with launcher:
        try:
            isolation = _isolation(ours, launcher)
            reason = refusal(isolation, weak_isolation=bool(order["weak"]))
            if reason:
                reason = reason.replace("benchmark code is not executed", "the job is not started")
                raise JobError(reason.replace(OPTION, f"{OPTION}, or in an evaluation with {SETTING}"))
            ending = _watch(launcher, Path(order["folder"]), limits, started, outputs)
        finally:
            ours.close()  # the launcher kills the job and what it left
        ended = launcher.wait()
    return JobResult(
        ending=ending,
        exit_code=ended if ending == "exit" else None,
        stdout=outputs[0].text(),
        stderr=outputs[1].text(),
        left_out=sum(output.left_out for output in outputs),
        seconds=time.monotonic() - started,
        isolation=isolation,
        counted_by=counted_by,
    )


def _isolation(ours: socket.socket, launcher: subprocess.Popen[bytes]) -> Isolation:
    ours.settimeout(60)
    try:
        message = ours.recv(1 << 16)
        return Isolation.model_validate(json.loads(message)["isolation"])
    except (OSError, ValueError, KeyError):
        ours.close()
        said = (launcher.stderr.read() if launcher.stderr else b"").decode("utf-8", errors="replace").strip()
        raise JobError(f"the job cannot be started: {said[-500:] or 'its launcher ended without a word'}") from None


def _watch(
    launcher: subprocess.Popen[bytes],
    folder: Path,
    limits: JobLimits,
    started: float,
    outputs: tuple[KeptOutput, KeptOutput],
) -> Ending:
    """Read what the job writes until it ends or reaches a limit."""
    look = started
    with selectors.DefaultSelector() as streams:
        for stream, output in zip((launcher.stdout, launcher.stderr), outputs, strict=True):
            if stream is not None:
                streams.register(stream, selectors.EVENT_READ, output)
        while streams.get_map():
            left = limits.wall_seconds - (time.monotonic() - started)
            if left <= 0:
                return "timeout"
            for key, _ in streams.select(min(left, LOOK_SECONDS)):
                data = os.read(key.fd, READ_BYTES)
                key.data.add(data)
                if not data:
                    streams.unregister(key.fileobj)
            if sum(output.size for output in outputs) > limits.output_bytes:
                return "output"
            now = time.monotonic()
            if now >= look:
                if exceeds(folder, limits):
                    return "folder"
                look = now + max(LOOK_SECONDS, 10 * (time.monotonic() - now))  # a large folder is looked at less often
    return "folder" if exceeds(folder, limits) else "exit"


def isolation_lines(isolation: Isolation) -> tuple[str, ...]:
    """Say in the words of a manifest which layers a job ran without, and why."""
    return tuple(f"without {LAYERS[name]}: {why}" for name, why in sorted(isolation.missing.items()))
