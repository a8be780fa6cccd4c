"""What is audited on a schedule, how, and who is told: one YAML file, or JSON parameters of a deployment."""

import os
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, model_validator

from agenthard.flows.errors import CommandError
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.yaml_text import load_record


class PathOrigin(Record):
    """A folder of this machine."""

    path: str
    """The folder."""
    copy_files: bool = True
    """Keep a copy of every version that is audited, so that reviews and replays of earlier audits still find it."""


class GitOrigin(Record):
    """A git repository."""

    git: str
    """What ``git clone`` takes."""
    ref: str = "HEAD"
    """Branch, tag or commit."""
    folder: str = "."
    """Folder of the benchmark in the repository."""


class DatasetOrigin(Record):
    """A dataset of the Hugging Face hub, or of a server that HF_ENDPOINT names."""

    dataset: str
    """Such as ``owner/name``."""
    revision: str = "main"
    """Branch, tag or commit."""
    folder: str = "."
    """Folder of the benchmark in the dataset."""


class UrlOrigin(Record):
    """Files behind a URL that fsspec reads (http, s3, gs, a zip archive …)."""

    url: str
    """URL of a folder, or of a ``.zip``, ``.tar.gz`` or single file."""
    files: tuple[str, ...] = ()
    """Names below the folder to fetch; needed where the protocol cannot list files, as with http."""


Origin = PathOrigin | GitOrigin | DatasetOrigin | UrlOrigin


class Webhook(Record):
    """A message as Slack's incoming webhooks take it; many other chats do too."""

    kind: Literal["webhook"] = "webhook"
    """Kind of notification."""
    url: str | None = None
    """Address; it is a secret, so prefer `url_env`."""
    url_env: str | None = None
    """Environment variable with the address."""


class Email(Record):
    """A message by SMTP."""

    kind: Literal["email"] = "email"
    """Kind of notification."""
    to: tuple[str, ...] = Field(min_length=1)
    """Recipients."""
    sender: str = "agenthard@localhost"
    """Sender."""
    host: str = "localhost"
    """Mail server."""
    port: int = 25
    """Its port."""
    starttls: bool = False
    """Whether the connection is encrypted before anything is sent."""
    user_env: str | None = None
    """Environment variable with the user name, where the server wants one."""
    password_env: str | None = None
    """Environment variable with the password."""


class GithubComment(Record):
    """A Markdown comment on an issue or a pull request."""

    kind: Literal["github"] = "github"
    """Kind of notification."""
    repository: str = Field(pattern=r"^[\w.-]+/[\w.-]+$")
    """Such as ``owner/name``."""
    issue: int = Field(ge=1)
    """Number of the issue or pull request."""
    token_env: str = "GITHUB_TOKEN"
    """Environment variable with a token that may write issues."""
    api: str = "https://api.github.com"
    """Address of the interface; GitHub Enterprise has another one."""


Notification = Annotated[Webhook | Email | GithubComment, Field(discriminator="kind")]


class JudgeStep(Record):
    """Judges that look at the tasks after the checks."""

    judges: str
    """Judge file (YAML)."""
    sample: int | None = Field(default=None, ge=1)
    """Tasks to judge; None = all. Equal questions are answered from the cache."""
    budget: float | None = Field(default=None, ge=0)
    """Upper limit of the cost of one audit."""


class SplitStep(Record):
    """The split that others use, which changes only when a person says so."""

    split: Literal["clean"] = "clean"
    """Which split."""
    name: str | None = None
    """Name of the data set; None = that of the schedule."""
    sign: str | None = None
    """File with a private key that signs the manifest (`agenthard publish --sign`); None = not signed."""
    push: str | None = None
    """Repository on the hub to upload to; None = nothing leaves this machine."""
    gate: bool = True
    """Whether a person is asked before it changes; False = it changes at once."""
    wait_seconds: int = Field(default=7 * 24 * 3600, ge=1)
    """How long a Prefect flow waits for the answer; afterwards `agenthard schedule approve` still takes it."""


class Schedule(Record):
    """One benchmark that is audited again and again."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")
    """Name: lower-case letters, digits and dashes."""
    source: str
    """Name of the source."""
    origin: Origin
    """Where the benchmark is."""
    folder: str
    """Folder that keeps the audits, their results by content and the history."""
    cron: str | None = None
    """When, as a cron expression."""
    interval_seconds: int | None = Field(default=None, ge=1)
    """When, as a time between two audits."""
    timezone: str = "UTC"
    """Time zone of `cron`."""
    domains: tuple[str, ...] = ()
    """Subtasks or domains; empty = all."""
    runs: tuple[str, ...] = ()
    """Files or folders of model runs."""
    policy: str | None = None
    """Decision policy (YAML); None = the one that ships."""
    checkout: str | None = None
    """Folder with the benchmark's own code; relative names are within the benchmark."""
    weak_isolation: bool = False
    """Whether benchmark code is executed where this machine lacks a layer of containment."""
    workers: int = Field(default=1, ge=1)
    """Processes that check."""
    judge: JudgeStep | None = None
    """Judges; None = none."""
    publish: SplitStep | None = None
    """The split that others use; None = none."""
    notify: tuple[Notification, ...] = ()
    """Who is told."""
    notify_on: Literal["changes", "always"] = "changes"
    """changes: when a finding, a task or the split changed, and when an audit failed."""
    keep: int = Field(default=50, ge=2)
    """Audits that are kept; of older ones the line in the history stays."""

    @model_validator(mode="after")
    def _has_one_rhythm(self) -> "Schedule":
        if self.cron is not None and self.interval_seconds is not None:
            raise ValueError("give either `cron` or `interval_seconds`")
        return self

    def within(self, folder: Path) -> "Schedule":
        """Return the schedule with paths that are relative to a folder made relative to the current one."""

        def there(name: str) -> str:
            return os.path.normpath(folder / name)

        changes: dict[str, Any] = {"folder": there(self.folder), "runs": tuple(map(there, self.runs))}
        if isinstance(self.origin, PathOrigin):
            changes["origin"] = self.origin.model_copy(update={"path": there(self.origin.path)})
        if self.policy:
            changes["policy"] = there(self.policy)
        if self.publish and self.publish.sign:
            changes["publish"] = self.publish.model_copy(update={"sign": there(self.publish.sign)})
        if self.judge:
            changes["judge"] = self.judge.model_copy(update={"judges": there(self.judge.judges)})
        return self.model_copy(update=changes)

    def absolute(self) -> "Schedule":
        """Return the schedule with absolute paths, for a worker that starts elsewhere."""
        return self.within(Path.cwd())


def load_schedule(path: Path) -> Schedule:
    """Read a schedule; paths in it are relative to its folder.

    Raises:
        CommandError: It cannot be read, is not valid YAML or has a wrong field; the message names each field.
    """
    found = load_record(path, Schedule, error=CommandError, docs="docs/scheduling.md", explain=_faults)
    return found.within(path.parent)


def _faults(error: ValidationError) -> str:
    return "; ".join(f"{'.'.join(map(str, e['loc'])) or 'file'}: {e['msg']}" for e in error.errors())
