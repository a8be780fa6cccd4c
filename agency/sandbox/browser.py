"""A headless Chromium that carries out a plan on a folder, inside a job.

Server, driver and browser are processes of one job: they reach each other on the loopback of their own network, the
port is free, no process outlives the plan, and the page's folder is a copy. What the machine lacks of that is said in
the record.
"""

import importlib.util
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from agenthard.agency.sandbox.plan import Plan
from agenthard.agency.sandbox.record import BrowserRecord, SavedImage, digest, png_size
from agenthard.containment import JobLimits, JobResult, run_job
from agenthard.containment.job import isolation_lines
from agenthard.taxonomy.errors import AgentHardError

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "headless_shell")
DRIVER = Path(__file__).parent / "inside"
START = "import sys; sys.path.append(sys.argv[1]); from inside.drive import main; main()"
"""Runs the driver as a package of its own, found in the folder that is given."""
START_SECONDS = 90.0
"""For the start of the browser and its end, in addition to the time of the plan."""
MIB = 1 << 20
MOST_RECORD, MOST_IMAGE = 16 * MIB, 32 * MIB
ARGUMENTS = (
    "--no-sandbox",  # its own needs namespaces, which the job's filter refuses; the job is the sandbox
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-breakpad",
    "--hide-scrollbars",
    "--mute-audio",
    "--font-render-hinting=none",
    "--force-color-profile=srgb",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--js-flags=--max-old-space-size=512",
)
NO_MEMORY_LIMIT = (
    "memory: Chromium reserves more address space than there is memory, so its processes have no limit on it; "
    "the heap of a page's script has 512 MiB"
)
NO_NETWORK = "network: the browser is told to ask nothing but its server, and nothing else enforces it"


class BrowserError(AgentHardError):
    """The browser or its driver is missing, or the browser did not start."""

    code = "AH655"
    remedy = 'Install Chromium (`apt-get install chromium`) and the extra: `pip install "agenthard[browser]"`.'


def find_browser() -> Path:
    """Find a Chromium on the search path.

    Raises:
        BrowserError: there is none, or the package that drives it is not installed.
    """
    found = next((path for name in PROGRAMS if (path := shutil.which(name))), None)
    if found is None:
        raise BrowserError(f"no browser: none of {', '.join(PROGRAMS)} is on the search path")
    if importlib.util.find_spec("playwright") is None:
        raise BrowserError("the package playwright, which drives the browser, is not installed")
    return Path(found)


def browse(
    folder: Path,
    plan: Plan,
    images: Path,
    *,
    files: Mapping[str, str] | None = None,
    hidden: Sequence[Path] = (),
    weak_isolation: bool = False,
) -> BrowserRecord:
    """Carry out a plan on a copy of a folder.

    Args:
        folder: what is served; links that lead out of it are not followed.
        plan: what is done.
        images: folder that the images are written to; it is made when it is missing.
        files: text files that are put into the top of the copy, in place of what has their name.
        hidden: folders that nothing in the job can look into.
        weak_isolation: go on although this machine lacks a layer of isolation; the record names it.

    Returns:
        What became of each step, and the images. Failures of the plan are in it.

    Raises:
        BrowserError: the browser could not be started.
        JobError: this machine cannot contain it.
    """
    program = find_browser()
    with tempfile.TemporaryDirectory(prefix="agenthard-browser-") as name:
        scratch = Path(name)
        shutil.copytree(folder, scratch / "site", symlinks=True)
        for file, text in (files or {}).items():
            _put(scratch / "site", file, text)
        order = {
            "program": str(program),
            "arguments": ARGUMENTS,
            "plan": plan.model_dump(mode="json"),
            "images": [[], *(plan.images_of(number) for number in range(1, len(plan.steps) + 1))],
        }
        (scratch / "order.json").write_text(json.dumps(order), encoding="utf-8")
        job = run_job(
            [sys.executable, "-I", "-c", START, str(DRIVER.parent)],
            scratch,
            _limits(plan),
            environment={"XDG_CONFIG_HOME": "/tmp", "XDG_CACHE_HOME": "/tmp"},
            readable=_readable(program),
            hidden=hidden,
            own_tcp=True,
            weak_isolation=weak_isolation,
        )
        return _record(scratch, plan, job, images)


def _put(site: Path, name: str, text: str) -> None:
    """Write a file in place of whatever has its name."""
    target = site / name
    if target.is_dir() and not target.is_symlink():
        shutil.rmtree(target)
    target.unlink(missing_ok=True)
    target.write_text(text, encoding="utf-8")


def _limits(plan: Plan) -> JobLimits:
    return JobLimits(
        wall_seconds=plan.seconds + START_SECONDS,
        cpu_seconds=int(plan.seconds + START_SECONDS) * 2,
        processes=512,
        memory_bytes=1 << 46,  # NO_MEMORY_LIMIT
        folder_bytes=1024 * MIB,
        folder_entries=50_000,
        temporary_bytes=512 * MIB,
        open_files=4096,
    )


def _readable(program: Path) -> list[Path]:
    """Return the folders of interpreter, driver and packages that an unprivileged user may not reach."""
    found = {Path(os.path.realpath(each)) for each in (sys.prefix, sys.base_prefix, DRIVER.parent, program.parent)}
    package = importlib.util.find_spec("playwright")
    if package is not None and package.origin is not None:
        found.add(Path(os.path.realpath(package.origin)).parents[1])
    return sorted(found)


def _record(scratch: Path, plan: Plan, job: JobResult, images: Path) -> BrowserRecord:
    """Read what the job left, as data that a page may have written."""
    try:
        raw: dict[str, Any] = json.loads(_bytes(scratch / "record.json", MOST_RECORD))
        running, browser = raw.pop("running"), raw["browser"]
        if not browser:
            raise BrowserError(f"the browser did not start: {_last(job)}")
        if running is not None:
            late = f"the browser was killed: {job.ending}" if job.ending != "exit" else "the browser ended"
            raw["steps"][running] |= {"status": "broken", "failure": "crash", "reason": late}
        saved = _images(scratch / "images", plan, images)
        missing = isolation_lines(job.isolation)
        contained = (NO_MEMORY_LIMIT, *([NO_NETWORK] if "network" in job.isolation.missing else []), *missing)
        record = BrowserRecord.model_validate(
            {**raw, "images": saved, "isolation": str(job.isolation), "not_contained": contained}
        )
    except (OSError, ValueError, KeyError, IndexError, TypeError, AttributeError, ValidationError) as error:
        raise BrowserError(f"the browser left no record that can be read: {error}; {_last(job)}") from None
    if [step.number for step in record.steps] != list(range(len(plan.steps) + 1)):
        raise BrowserError("the record of the browser has other steps than the plan")
    return record


def _last(job: JobResult) -> str:
    return job.stderr.strip()[-500:] or f"it ended by {job.ending}, exit code {job.exit_code}"


def _images(found: Path, plan: Plan, target: Path) -> list[SavedImage]:
    """Copy the images that the plan makes, if they are images."""
    saved = []
    target.mkdir(parents=True, exist_ok=True)
    for number, step in enumerate(plan.steps, start=1):
        for name in plan.images_of(number):
            try:
                data = _bytes(found / name, MOST_IMAGE)
            except OSError:
                continue
            size = png_size(data)
            if size is not None:
                (target / name).write_bytes(data)
                width, height = size
                image = SavedImage(
                    name=name, step=number, label=step.label, width=width, height=height, sha256=digest(data)
                )
                saved.append(image)
    return saved


def _bytes(path: Path, most: int) -> bytes:
    """Read a regular file; a link is not followed."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(handle, "rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise OSError(f"{path.name} is longer than {most} bytes")
    return data
