"""Fit material into a token budget: drop or shorten passages by rank, and list everything that is left out."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from agenthard.audit.judge.context.material import (
    Material,
    Omission,
    Passage,
    omission_tokens,
    passage_tokens,
    text_tokens,
)
from agenthard.audit.judge.context.state_index import StateIndex, no_room, own_index, shared_index
from agenthard.taxonomy.errors import AgentHardError
from agenthard.taxonomy.task import AgentTask

_ORDER = {"state": 0, "tools": 2, "user_tools": 2}
"""What of one rank is kept first: the state, then what the audit found out, then tools that no gold call uses."""
_SHORTENED = ("about", "replay", "checks", "run")
"""Parts with texts that say something even without their middle."""
_WHOLE = ("user", "ground_truth", "state")
"""Parts whose needed texts are never shortened: a call or a record without its middle cannot be checked."""
_ROUNDS = 8
"""Tries to make room for the statements of what is omitted."""
_MARGIN = 64
"""Tokens by which a try makes more room than the last one needed."""


class PromptTooLongError(AgentHardError):
    """The material that every decision needs does not fit; the message says how long it is and what to do."""

    code = "AH405"
    remedy = "Raise the prompt limit in the judge file, or choose a model with a longer context."


def trim(material: Material, task: AgentTask, limit: int) -> Material:
    """Cut material to a limit.

    When room is short, long responses and messages are shortened in their middle, and passages of the highest rank go
    first. Needed passages stay, and only where they alone are too long, their longest texts are shortened in
    the middle, except the user's words, calls of the ground truth and records.

    Args:
        material: what `gather` returned.
        task: the same task.
        limit: tokens that passages and the statements of omissions may have, by UTF-8 bytes / 2, labels, titles and the
            marks around each passage included.

    Returns:
        The material that is left, in its old order, with an omission for all that is not.

    Raises:
        PromptTooLongError: when what is needed does not fit.
    """
    indexes = [index for index in (own_index(task), shared_index(task.environment)) if index.records]
    choice = _Choice(material, indexes)
    reserve = 0
    for _ in range(_ROUNDS):
        kept, omitted = choice.within(limit - reserve)
        statements = sum(map(omission_tokens, omitted))
        if sum(map(passage_tokens, kept)) + statements <= limit:
            return material.model_copy(update={"passages": tuple(kept), "omitted": tuple(omitted)})
        reserve = max(reserve, statements) + _MARGIN
    raise PromptTooLongError(f"{task.id}: what is left out takes more room to state than the {limit} tokens leave")


class _Choice:
    """Chooses which passages of a material are kept under a limit."""

    def __init__(self, material: Material, indexes: Sequence[StateIndex]) -> None:
        self._material = material
        spared = [passage for passage in material.passages if not passage.needed]
        self._order = sorted(spared, key=lambda passage: (passage.rank, _ORDER.get(passage.part, 1)))
        self._indexes = indexes

    def within(self, limit: int) -> tuple[list[Passage], list[Omission]]:
        """Return what fits, and what that omits."""
        pieces: dict[str, list[Passage]] = {}
        notes: list[Omission] = []
        used = self._needed(limit, pieces, notes)
        everything = used + sum(map(passage_tokens, self._order))
        for passage in self._order:
            parts, note = [passage], None
            if everything > limit and passage.part in _SHORTENED and len(passage.text) > LONG_RESPONSE:
                parts, note = shortened(passage, LONG_RESPONSE)
            tokens = sum(map(passage_tokens, parts)) + (omission_tokens(note) if note else 0)
            if used + tokens <= limit:
                used += tokens
                pieces[passage.label] = parts
                notes += [note] if note else []
        kept = [part for passage in self._material.passages for part in pieces.get(passage.label, ())]
        dropped = [passage for passage in self._order if passage.label not in pieces]
        omitted = [*self._material.omitted, *notes, *self._left_out(dropped)]
        for index in self._indexes:
            omitted += no_room(index, dropped)
        return kept, omitted

    def _needed(self, limit: int, pieces: dict[str, list[Passage]], notes: list[Omission]) -> int:
        needed = [passage for passage in self._material.passages if passage.needed]
        for passage in needed:
            pieces[passage.label] = [passage]
        used = sum(map(passage_tokens, needed))
        for passage in sorted(needed, key=lambda each: -len(each.text)):
            excess = used - limit
            if excess <= 0:
                return used
            if len(passage.text) > LONG and passage.part not in _WHOLE:
                parts, note = shortened(passage, max(LONG, len(passage.text) - 2 * excess - LONG))
                used += sum(map(passage_tokens, parts)) + omission_tokens(note) - passage_tokens(passage)
                pieces[passage.label] = parts
                notes.append(note)
        if used > limit:
            longest = max(needed, key=passage_tokens)
            raise PromptTooLongError(
                f"{self._material.task_id}: what a decision needs has {used} tokens (UTF-8 bytes / 2), and there is "
                f"room for {limit}; the longest text is {longest.label}. Give the judge more context_tokens"
            )
        return used

    def _left_out(self, dropped: Sequence[Passage]) -> Iterator[Omission]:
        """Describe what is left out: tools and messages grouped by kind, everything else one by one."""
        groups: dict[str, list[Passage]] = defaultdict(list)
        for passage in dropped:
            if passage.part != "state":
                groups[_group(passage)].append(passage)
        for label, passages in groups.items():
            what = passages[0].title
            if len(passages) > 1:
                of = sum(1 for each in self._material.passages if _group(each) == label)
                what = f"{len(passages)} of {of}: {', '.join(sorted({each.title for each in passages}))}"
            yield Omission(label=label, what=f"{what}: no room", tokens=sum(map(passage_tokens, passages)))


def _group(passage: Passage) -> str:
    if passage.part in ("tools", "user_tools"):
        return f"/environment/{passage.part}"
    return passage.label.rsplit("/", 1)[0] if passage.part == "run" else passage.label


LONG = 4000
"""Characters up to which no needed text is shortened."""
LONG_RESPONSE = 2400
"""Characters up to which no other text is shortened."""
HEAD = 0.75
"""Share of the remaining text that comes before the gap."""


def shortened(passage: Passage, most: int) -> tuple[list[Passage], Omission]:
    """Split a passage into its head and its tail, each a contiguous piece of its text.

    Args:
        passage: a passage longer than ``most``.
        most: characters that both have together.

    Returns:
        The two pieces, labelled ``LABEL#head`` and ``LABEL#tail``, and the statement of what lay between.
    """
    head = int(most * HEAD)
    tail = len(passage.text) - (most - head)
    pieces = [
        passage.model_copy(update={"label": f"{passage.label}#head", "text": passage.text[:head]}),
        passage.model_copy(update={"label": f"{passage.label}#tail", "text": passage.text[tail:]}),
    ]
    what = f"the middle of {passage.title}: characters {head} to {tail} of {len(passage.text)}"
    return pieces, Omission(label=passage.label, what=what, tokens=text_tokens(passage.text[head:tail]))
