"""Runs the steps of the Dockerfile without Docker: where no image can be built, this shows that its steps work.

    python docker/check_image_steps.py [--root FOLDER] [--json]

The steps are read from the Dockerfile itself. Each stage gets a folder in place of its file system; absolute paths of
the image are moved below it, COPY takes only what .dockerignore lets through, and RUN gets an environment with
nothing but the ENV of the stage and what pip needs to reach an index. What needs root or a base
image is named as not run.
In the end the entry point runs with the environment of the last stage: its CMD, the demo, `status` and `verify`.
"""

import argparse
import fnmatch
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
NEED_ROOT = frozenset({"groupadd", "useradd", "chown", "apt-get", "adduser", "addgroup"})
PASSED_ON = re.compile(r"PIP_\w+|(?:HTTPS?|ALL|NO)_PROXY|SSL_CERT_\w+|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE", re.IGNORECASE)
"""Variables that say how a package index is reached; an image has them from its builder."""
OF_THE_SYSTEM = ("/usr/", "/bin", "/lib", "/etc/", "/dev/", "/tmp")
SECONDS = 1800


@dataclass
class Stage:
    """One stage of the Dockerfile."""

    base: str
    name: str
    root: Path
    environment: dict[str, str] = field(default_factory=dict)
    folder: str = "/"
    user: str = ""
    entry: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)


@dataclass
class Report:
    """What was run and what was not."""

    run: list[str] = field(default_factory=list)
    not_run: list[str] = field(default_factory=list)


def instructions(text: str) -> Iterator[tuple[str, str]]:
    """Yield the instructions of a Dockerfile with their arguments, with lines that go on joined."""
    whole = re.sub(r"^\s*#[^\n]*\n", "", text, flags=re.MULTILINE)
    for line in re.sub(r"\\\s*\n", " ", whole).splitlines():
        if line.strip():
            word, _, rest = line.strip().partition(" ")
            yield word.upper(), rest.strip()


class Image:
    """Carries out the instructions."""

    def __init__(self, root: Path, context: Path) -> None:
        self._root, self._context = root, context
        self._ignored = Ignored(context / ".dockerignore")
        self._arguments: dict[str, str] = {}
        self.stages: list[Stage] = []
        self.report = Report()

    @property
    def stage(self) -> Stage:
        """The stage that is being made."""
        return self.stages[-1]

    def build(self, text: str) -> None:
        """Carry out a Dockerfile.

        Raises:
            SystemExit: an instruction is unknown here, or a step failed.
        """
        for word, rest in instructions(text):
            act = getattr(self, f"_{word.lower()}", None)
            if act is None:
                raise SystemExit(f"{word}: this script does not know the instruction; extend it")
            act(self._filled(rest))

    def _arg(self, rest: str) -> None:
        name, _, value = rest.partition("=")
        self._arguments[name] = value

    def _from(self, rest: str) -> None:
        base, _, name = re.sub(r"\s+AS\s+", "\0", rest, flags=re.IGNORECASE).partition("\0")
        stage = Stage(base=base, name=name, root=self._root / (name or f"stage-{len(self.stages)}"))
        for folder in ("usr/local/bin", "tmp"):
            (stage.root / folder).mkdir(parents=True, exist_ok=True)
        (stage.root / "usr/local/bin/python").symlink_to(sys.executable)
        self.stages.append(stage)
        self.report.not_run.append(
            f"FROM {base}: Python {sys.version.split()[0]} and the system of this machine instead"
        )

    def _env(self, rest: str) -> None:
        for word in shlex.split(rest):
            name, _, value = word.partition("=")
            self.stage.environment[name] = value

    def _workdir(self, rest: str) -> None:
        self.stage.folder = rest
        self.inside(rest).mkdir(parents=True, exist_ok=True)
        self.report.run.append(f"WORKDIR {rest}")

    def _user(self, rest: str) -> None:
        self.stage.user = rest
        self.report.not_run.append(f"USER {rest}: the steps run as user {os.getuid()}")

    def _entrypoint(self, rest: str) -> None:
        self.stage.entry = json.loads(rest)

    def _cmd(self, rest: str) -> None:
        self.stage.command = json.loads(rest)

    def _copy(self, rest: str) -> None:
        words = shlex.split(rest)
        options = [word for word in words if word.startswith("--")]
        *sources, target = [word for word in words if not word.startswith("--")]
        other = next((option.removeprefix("--from=") for option in options if option.startswith("--from=")), None)
        for source in sources:
            if other is not None:
                origin = next(stage for stage in self.stages if stage.name == other)
                self._copy_stage(origin, source, target)
            else:
                self._copy_context(source, target, into=target.endswith("/"))
        self.report.run.append(f"COPY {rest}")

    def _copy_stage(self, origin: Stage, source: str, target: str) -> None:
        made = self.inside(target)
        shutil.copytree(origin.root / source.lstrip("/"), made, symlinks=True)
        # Scripts of a virtual environment name its path. In an image it is the same in both stages.
        before, after = str(origin.root).encode(), str(self.stage.root).encode()
        for path in (*made.glob("bin/*"), *made.glob("pyvenv.cfg")):
            if path.is_file() and not path.is_symlink() and before in path.read_bytes():
                path.write_bytes(path.read_bytes().replace(before, after))

    def _copy_context(self, source: str, target: str, *, into: bool) -> None:
        origin = self._context / source
        goal = self.inside(os.path.normpath(os.path.join(self.stage.folder, target)))
        goal = goal / source if into else goal
        files = [origin] if origin.is_file() else [path for path in origin.rglob("*") if path.is_file()]
        wanted = [path for path in files if not self._ignored.matches(path.relative_to(self._context).as_posix())]
        if not wanted:
            raise SystemExit(f"COPY {source}: .dockerignore lets nothing of it through")
        for path in wanted:
            made = goal if origin.is_file() else goal / path.relative_to(origin)
            made.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, made)

    def _run(self, rest: str) -> None:
        for part in re.split(r"\s+&&\s+", rest):
            if part.split()[0] in NEED_ROOT:
                self.report.not_run.append(f"RUN {part}: needs root in an image")
                continue
            done = self.execute(["sh", "-c", self._moved(part)], building=True)
            if done.returncode:
                raise SystemExit(f"RUN {part}\nfailed with {done.returncode}:\n{(done.stdout + done.stderr)[-4000:]}")
            self.report.run.append(f"RUN {part}")

    def execute(self, command: list[str], *, building: bool = False) -> "subprocess.CompletedProcess[str]":
        """Run a command in the folder and the environment of the stage."""
        environment = {name: self._moved_paths(value) for name, value in self.stage.environment.items()}
        path = environment.get("PATH", self._moved_paths("/usr/local/bin:/usr/bin:/bin"))
        given = {name: value for name, value in os.environ.items() if building and PASSED_ON.fullmatch(name)}
        return subprocess.run(
            command,
            cwd=self.inside(self.stage.folder),
            env={"HOME": str(self.stage.root / "tmp"), **given, **environment, "PATH": path},
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=SECONDS,
            check=False,
        )

    def inside(self, path: str) -> Path:
        """Return where a path of the image is on this machine."""
        return self.stage.root / path.lstrip("/")

    def program(self, name: str) -> str:
        """Find a program in the PATH of the stage.

        Raises:
            SystemExit: it is not there.
        """
        found = shutil.which(name, path=self._moved_paths(self.stage.environment["PATH"]))
        if found is None or not Path(found).is_relative_to(self.stage.root):
            raise SystemExit(f"{name}: the image would not have this program")
        return found

    def _moved_paths(self, value: str) -> str:
        return ":".join(self._moved(part) for part in value.split(":"))

    def _moved(self, text: str) -> str:
        """Move the absolute paths in a text below the folder of the stage; those of the system stay."""

        def replaced(found: "re.Match[str]") -> str:
            path = found[0]
            own = path.startswith("/usr/local/bin") or not path.startswith(OF_THE_SYSTEM)
            return f"{self.stage.root}{path}" if own else path

        return re.sub(r"(?<![\w./:~-])/[\w./-]+", replaced, text)

    def _filled(self, text: str) -> str:
        return re.sub(r"\$\{(\w+)\}", lambda found: self._arguments.get(found[1], found[0]), text)


class Ignored:
    """The rules of .dockerignore: the last one that matches a path, or a folder above it, counts."""

    def __init__(self, file: Path) -> None:
        lines = (line.strip() for line in file.read_text(encoding="utf-8").splitlines())
        self._rules = [line for line in lines if line and not line.startswith("#")]

    def matches(self, path: str) -> bool:
        """Tell whether a path is left out."""
        parts = path.split("/")
        above = ["/".join(parts[:length]) for length in range(1, len(parts) + 1)]
        ignored = False
        for rule in self._rules:
            pattern = rule.removeprefix("!").rstrip("/")
            if any(self._fits(each, pattern) for each in above):
                ignored = not rule.startswith("!")
        return ignored

    @staticmethod
    def _fits(path: str, pattern: str) -> bool:
        if pattern.startswith("**/"):
            return fnmatch.fnmatchcase(path.rsplit("/", 1)[-1], pattern.removeprefix("**/"))
        return path.count("/") == pattern.count("/") and fnmatch.fnmatchcase(path, pattern)


def use(image: Image) -> None:
    """Run the entry point of the last stage as a container would.

    Raises:
        SystemExit: it fails.
    """
    entry = [image.program(image.stage.entry[0]), *image.stage.entry[1:]]
    uses = (
        (image.stage.command, 0),
        (["demo", "--offline", "--out", "demo"], 0),
        (["status", "demo/demo"], 0),
        (["verify", "demo/demo"], 0),
    )
    for words, code in uses:
        done = image.execute([*entry, *words])
        if done.returncode != code:
            raise SystemExit(
                f"{shlex.join(words)} failed with {done.returncode}:\n{(done.stdout + done.stderr)[-4000:]}"
            )
        image.report.run.append(f"{image.stage.entry[0]} {shlex.join(words)}")
    for name in ("prefect",):  # of the services in compose.yaml
        done = image.execute([image.program(name), "version"])
        if done.returncode:
            raise SystemExit(f"{name} version failed:\n{done.stderr[-4000:]}")
        image.report.run.append(f"{name} version")


def main() -> None:
    """Carry out the Dockerfile of the repository, and say what was run."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--root", type=Path, help="folder to work in; default: a temporary one, which is removed")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="agenthard-image-") as temporary:
        image = Image(options.root or Path(temporary), REPOSITORY)
        image.build((REPOSITORY / "Dockerfile").read_text(encoding="utf-8"))
        use(image)
    if options.json:
        print(json.dumps({"run": image.report.run, "not_run": image.report.not_run}, indent=1))
        return
    for step in image.report.run:
        print(f"run      {step}")
    for step in image.report.not_run:
        print(f"not run  {step}")


if __name__ == "__main__":
    main()
