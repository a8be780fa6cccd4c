"""Which taxonomy category a label set means: by id, by name, or by a mapping; never by guessing."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from agenthard.taxonomy.categories import COMPONENT_TITLES, Taxonomy


@dataclass
class Names:
    """Turns a label set's words into ids of the taxonomy."""

    taxonomy: Taxonomy
    """The taxonomy."""
    mapping: Mapping[str, str] = field(default_factory=dict)
    """Word of the label set → id of a category."""

    def __post_init__(self) -> None:
        ids = {category.id for category in self.taxonomy.categories}
        for word, target in self.mapping.items():
            if target not in ids:
                known = "`agenthard taxonomy` lists the categories"
                raise ValueError(f"{word!r} is mapped to {target!r}, which is none; {known}")
        self._known = {slug(name): c.id for c in self.taxonomy.categories for name in (c.id, c.name)}
        self._known |= {slug(word): target for word, target in self.mapping.items()}
        self._components = {slug(name): key for key, title in COMPONENT_TITLES.items() for name in (key, title)}

    def category(self, word: str | None) -> str | None:
        """Return the id of the category that ``word`` names; None when it names none."""
        return None if word is None else self._known.get(slug(word))

    def component(self, word: str | None, category: str | None) -> str | None:
        """Return the component that ``word`` names, else that of the category, else None."""
        named = self._components.get(slug(word or ""))
        return named or (self.taxonomy[category].component if category else None)


def slug(text: str) -> str:
    """Write words in lower case with hyphens between them, so that spelling variants meet.

    >>> slug("Incorrect tool-call  responses"), slug("ground_truth")
    ('incorrect-tool-call-responses', 'ground-truth')
    """
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
