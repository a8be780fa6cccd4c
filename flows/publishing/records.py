"""The records of a publication: what to publish, what was published, and the manifest that lies in the folder."""

from typing import Literal

from agenthard.audit.sources.base import Version
from agenthard.taxonomy.record import Record

SplitChoice = Literal["clean", "hard", "repaired"]
Level = Literal["first", "major", "minor", "patch"]
MANIFEST, SIGNATURE = "manifest.json", "manifest.sig"


class PublishSettings(Record):
    """What to publish and how; every field is JSON."""

    run: str
    """Run folder of a finished audit."""
    split: SplitChoice = "clean"
    """Split to publish: of the audit (clean), of `agenthard report` (hard), or of `agenthard repair` (repaired)."""
    out: str | None = None
    """Folder to write; None = RUN/publication/SPLIT."""
    previous: str | None = None
    """Folder or manifest of the last publication; None = the one in ``out``, if there is one."""
    version: str | None = None
    """Version to publish as; None = the one that follows from the rules."""
    name: str | None = None
    """Name of the data set; None = source and split."""
    benchmark: str | None = None
    """Folder where the benchmark is now; None = where it was audited."""
    repair: str | None = None
    """Folder that `agenthard repair` wrote; None = RUN/repair."""
    sign: str | None = None
    """File with an Ed25519 private key (PEM) that signs the manifest; None = not signed."""
    push: str | None = None
    """Data set repository (OWNER/NAME) to upload to; None = nothing leaves this machine."""


class PublishedFile(Record):
    """One file of a publication."""

    path: str
    """Path relative to its folder, with forward slashes."""
    sha256: str
    """Hash of its bytes."""
    bytes: int
    """Length."""


class Release(Record):
    """One version of a published split."""

    version: str
    """Version, MAJOR.MINOR.PATCH."""
    level: Level
    """What the step from the version before it was."""
    changes: tuple[str, ...]
    """What changed, in words."""
    kept: int
    """Tasks in it."""
    split_id: str
    """Id of the split in the run folder that it was made from."""


class Licence(Record):
    """The terms of the benchmark, as far as its release states them."""

    id: str
    """Identifier that the Hugging Face Hub uses, such as mit; other = a text that is not recognised, unknown = none."""
    files: tuple[str, ...] = ()
    """Licence files of the release, in ``source/`` of the publication."""
    citation_files: tuple[str, ...] = ()
    """Citation files of the release, there too."""
    citation: str = ""
    """Text to cite it by; empty when the release states none."""


class Publication(Record):
    """The manifest of a published split."""

    schema_version: str = "1"
    """Version of this layout."""
    name: str
    """Name of the data set."""
    split: SplitChoice
    """Which split it is."""
    version: str
    """Version of the split, MAJOR.MINOR.PATCH."""
    source: str
    """Name of the source that reads the benchmark."""
    title: str
    """Name of the benchmark as people write it."""
    benchmark: Version
    """Release that was audited."""
    agenthard: str
    """Version of AgentHard."""
    checks: dict[str, str]
    """Version of every check that ran."""
    policy: str
    """Version of the policy."""
    total: int
    """Tasks read."""
    kept: int
    """Tasks in the split."""
    removed: int
    """Tasks that were read and are not in it."""
    under_review: int
    """Tasks in it that wait for a person."""
    unchecked: int
    """Tasks in it on which no deciding check could run."""
    unreadable: int
    """Records that could not be read; they are not in it."""
    not_read: int
    """Tasks that were seen and neither read nor left out on purpose."""
    split_id: str
    """Id of the split in the run folder."""
    native_home: str
    """Folder with the benchmark's own files, relative to that of the publication."""
    native_only: tuple[str, ...] = ()
    """Removed tasks that are in ``native/`` all the same, since one line of the benchmark serves several tasks."""
    renumbered: bool = False
    """Whether tasks have other ids in ``native/`` than in the benchmark, since an id is a position there."""
    licence: Licence
    """Terms of the benchmark."""
    tasks: dict[str, str]
    """Of each task in the split, a hash of everything that an agent sees or a score depends on."""
    shared: dict[str, str]
    """SHA-256 of each file in ``native/`` that holds no task: databases, policies, code of tools."""
    history: tuple[Release, ...]
    """All versions, this one last."""
    do_not_compare_with: tuple[str, ...]
    """Earlier versions whose scores cannot be compared with those of this one."""
    files: tuple[PublishedFile, ...]
    """Every file of the folder, except the manifest and its signature."""


class Published(Record):
    """What a publication came to."""

    folder: str
    """Folder written."""
    name: str
    """Name of the data set."""
    split: SplitChoice
    """Split."""
    version: str
    """Its version."""
    changed: bool
    """Whether anything differs from the previous publication."""
    level: Level | None
    """The step from the previous version; None when nothing changed."""
    changes: tuple[str, ...]
    """What changed, in words."""
    do_not_compare_with: tuple[str, ...]
    """Earlier versions whose scores cannot be compared with those of this one."""
    counts: dict[str, int]
    """Tasks: total, kept, removed, under_review, unchecked, unreadable, not_read."""
    licence: str
    """Licence of the benchmark, or unknown."""
    files: int
    """Files in the folder, the manifest included."""
    inspect: str
    """Why the split cannot be run as an Inspect task; empty when it can."""
    key_id: str | None = None
    """Id of the key that signed it; None = not signed."""
    pushed: str | None = None
    """Address that it was uploaded to; None = it was not."""
