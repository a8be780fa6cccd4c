"""What tells which release of BFCL a task is of: a hash of the bytes that decide what is asked and what answers it.

A release is its questions, its answers and the documentation of its classes; its classes and its checker are the code
of just these. So a task is of a release when its question line, its answer line and the documentation of the classes it
involves are there with the same bytes. This holds for each task alone: a copied part of a release is still of it.
"""

import hashlib
import json

from agenthard.audit.sources.bfcl.categories import CLASS_DOCS, Category
from agenthard.audit.sources.bfcl.layout import Layout
from agenthard.audit.sources.formats.reading import RawRecord

MANIFEST = "manifest.json"


class Contents:
    """Hashes the tasks of one copy."""

    def __init__(self, layout: Layout) -> None:
        """Prepare; files of documentation are read when a task needs them."""
        self._layout = layout
        self._docs: dict[str, bytes] = {}

    def hash_of(self, category: Category, question: RawRecord, answer: RawRecord | None) -> str:
        """Return the version of the data, a colon, and the first 16 hexadecimal digits of a SHA-256.

        Args:
            category: category of the task; the several that read one line give the same hash.
            question: its question.
            answer: its answer, where the category has answers.
        """
        parts = [category.stem.encode(), question.raw.strip(), answer.raw.strip() if answer else b""]
        if category.scoring == "state":
            classes = question.value.get("involved_classes")
            parts += [self._documentation(name) for name in classes] if isinstance(classes, list) else []
        total = hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts))
        return f"{self._layout.version}:{total.hexdigest()[:16]}"

    def _documentation(self, name: object) -> bytes:
        if not isinstance(name, str) or name not in CLASS_DOCS:
            return b""
        if name not in self._docs:
            path = self._layout.docs(name)
            self._docs[name] = path.read_bytes().strip() if path.is_file() else b""
        return self._docs[name]


def repaired_tasks(layout: Layout) -> dict[str, str]:
    """Return the hashes that repaired tasks had before the repair, from the manifest of a repaired split.

    Such a task is of the release that it was repaired from, though its bytes are no release's.
    """
    try:
        manifest = json.loads((layout.root / MANIFEST).read_text("utf-8"))
        listed = [(task["task_id"], task["content_hash"]) for task in manifest["repaired"]]
    except (OSError, ValueError, RecursionError, KeyError, TypeError):
        return {}
    return {name: value for name, value in listed if isinstance(name, str) and isinstance(value, str)}
