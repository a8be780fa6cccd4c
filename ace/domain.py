"""What a domain is: the attributes of its items, the rules of a slot, the rules of the grid, and its wording.

A domain is data. The six of the paper are the files of :mod:`agenthard.ace.domains`; adding a file there adds a domain.
"""

from enum import StrEnum
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator


class _Spec(BaseModel):
    """Base of the records below: immutable, and a misspelt field is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Number(_Spec):
    """An attribute that holds a whole number, drawn uniformly."""

    name: str
    """Key of the attribute in an item."""
    low: int
    """Smallest natural value."""
    high: int
    """Largest natural value."""

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.low > self.high:
            raise ValueError(f"attribute {self.name!r}: low {self.low} is above high {self.high}")
        return self


class Choice(_Spec):
    """An attribute that holds one of a few words, drawn uniformly."""

    name: str
    """Key of the attribute in an item."""
    values: tuple[str, ...] = Field(min_length=1)
    """The words, each once."""


Attribute = Number | Choice
"""An attribute of an item other than its id and its name."""


class Naming(_Spec):
    """How the ``name`` of an item is made: a label that fits its category, and a number that means nothing."""

    by: str | None = None
    """The attribute that decides which labels fit; None where all items draw from the same labels."""
    labels: dict[str, tuple[str, ...]]
    """Labels by value of that attribute; under the key "" where ``by`` is None."""


class Bound(StrEnum):
    """Which side of its threshold a slot rule allows; the threshold itself is always allowed."""

    MAX = "max"
    """The value is at most the threshold."""
    MIN = "min"
    """The value is at least the threshold."""


class SlotRule(_Spec):
    """A rule that a single slot may carry, with the thresholds that the generator may give it."""

    name: str
    """Key of the rule in a slot's constraints."""
    bound: Bound
    """Which side of the threshold is allowed."""
    attribute: str
    """The number it limits."""
    thresholds: tuple[int, ...] = Field(min_length=1)
    """Thresholds the generator chooses from, ascending."""


class GlobalKind(StrEnum):
    """What a rule over the whole grid measures, and on which side of its threshold it allows the result."""

    SUM_MAX = "sum_max"
    """Sum of a number over the grid, at most the threshold."""
    SUM_MIN = "sum_min"
    """Sum of a number over the grid, at least the threshold."""
    REPEAT_MAX = "repeat_max"
    """How often the most frequent value of an attribute occurs, at most the threshold."""
    COUNT_MIN = "count_min"
    """How many items have one given value, at least the threshold."""
    COUNT_MIN_THRESHOLD = "count_min_threshold"
    """How many items have a number of at least a given value, at least the threshold."""
    MAX_ROW_SUM = "max_row_sum"
    """Sum of a number over each row, at most the threshold in every row."""

    @property
    def is_floor(self) -> bool:
        """True for the kinds that ask for at least the threshold: these cannot be decided on a partial grid."""
        return self in (GlobalKind.SUM_MIN, GlobalKind.COUNT_MIN, GlobalKind.COUNT_MIN_THRESHOLD)


class GlobalRule(_Spec):
    """A rule over the whole grid; its threshold is derived from the truth of each instance."""

    name: str
    """Key of the rule in an instance's global constraints."""
    kind: GlobalKind
    """What is measured, and the side that is allowed."""
    attribute: str
    """The attribute it is about."""
    counted: int | str | None = None
    """What a count rule counts: the one value (count_min) or the least value (count_min_threshold); else None."""
    slack: int = Field(default=0, ge=0)
    """How far the threshold may lie from the truth's own result, in units of the result (repeat_max: unused)."""
    limit: int | None = None
    """sum_max and max_row_sum: no threshold above this times the number of items summed; sum_min: none below this."""

    @model_validator(mode="after")
    def _counts_something(self) -> Self:
        if (self.counted is not None) != (self.kind in (GlobalKind.COUNT_MIN, GlobalKind.COUNT_MIN_THRESHOLD)):
            raise ValueError(f"rule {self.name!r}: `counted` belongs to the count rules, and only to them")
        return self


class Wording(_Spec):
    """The words of a domain in the text a solver reads."""

    task: str
    """What is planned, as in "You are solving a {task} task."."""
    grid: str
    """What rows and columns are, with the fields {rows} and {cols}."""
    item: str
    """One item, as in "the {item} in slot (0, 1)"."""
    items: str
    """Several items."""


Key = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]


class Domain(_Spec):
    """One domain: everything the generator, the environment and the proofs need to know about it."""

    name: Key
    """Name of the domain, and of its file."""
    id_key: str
    """Key under which an item repeats its id."""
    id_prefix: str
    """What item ids start with, before their number."""
    naming: Naming
    """How the ``name`` of an item is made."""
    attributes: tuple[Annotated[Attribute, Field()], ...]
    """Attributes in the order an item lists them, after its id and its name."""
    slot_rules: tuple[SlotRule, ...] = Field(min_length=1)
    """Rules a slot may carry, in the order the text lists them."""
    global_rules: tuple[GlobalRule, ...] = Field(min_length=1)
    """Rules of the whole grid, all of them active in every instance, in the order the text lists them."""
    wording: Wording
    """Words of the text."""

    def attribute(self, name: str) -> Attribute:
        """Returns the attribute of this name.

        Args:
            name: Key of the attribute.

        Returns:
            The attribute.

        Raises:
            ValueError: The domain has no such attribute; the message lists those it has.
        """
        for attribute in self.attributes:
            if attribute.name == name:
                return attribute
        have = ", ".join(a.name for a in self.attributes)
        raise ValueError(f"domain {self.name!r} has no attribute {name!r}; it has: {have}")

    def number(self, name: str) -> Number:
        """Returns the numeric attribute of this name.

        Args:
            name: Key of the attribute.

        Returns:
            The attribute.

        Raises:
            ValueError: No such attribute, or it holds words.
        """
        attribute = self.attribute(name)
        if not isinstance(attribute, Number):
            raise ValueError(f"domain {self.name!r}: attribute {name!r} holds words, a number is needed here")
        return attribute

    def slot_rule(self, name: str) -> SlotRule:
        """Returns the slot rule of this name.

        Args:
            name: Key of the rule.

        Returns:
            The rule.

        Raises:
            ValueError: The domain has no such rule; the message lists those it has.
        """
        for rule in self.slot_rules:
            if rule.name == name:
                return rule
        have = ", ".join(rule.name for rule in self.slot_rules)
        raise ValueError(f"domain {self.name!r} has no slot rule {name!r}; it has: {have}")

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        for kind, names in (
            ("attribute", [a.name for a in self.attributes] + [self.id_key, "name"]),
            ("slot rule", [r.name for r in self.slot_rules]),
            ("global rule", [r.name for r in self.global_rules]),
        ):
            twice = sorted({name for name in names if names.count(name) > 1})
            if twice:
                raise ValueError(f"domain {self.name!r}: {kind} named twice: {', '.join(twice)}")
        for slot_rule in self.slot_rules:
            number = self.number(slot_rule.attribute)
            for threshold in slot_rule.thresholds:
                allowed = threshold >= number.low if slot_rule.bound is Bound.MAX else threshold <= number.high
                if not allowed:
                    raise ValueError(
                        f"domain {self.name!r}: slot rule {slot_rule.name!r} with threshold {threshold} "
                        f"allows no natural {number.name} ({number.low} to {number.high})"
                    )
        for rule in self.global_rules:
            if rule.kind not in (GlobalKind.REPEAT_MAX, GlobalKind.COUNT_MIN):
                self.number(rule.attribute)
            attribute = self.attribute(rule.attribute)
            if isinstance(attribute, Choice) and rule.counted is not None and rule.counted not in attribute.values:
                raise ValueError(
                    f"domain {self.name!r}: rule {rule.name!r} counts {rule.counted!r}, which no {attribute.name} is"
                )
        self._check_names()
        return self

    def _check_names(self) -> None:
        wanted: tuple[str, ...] = ("",)
        if self.naming.by is not None:
            attribute = self.attribute(self.naming.by)
            if not isinstance(attribute, Choice):
                raise ValueError(f"domain {self.name!r}: names can only depend on an attribute that holds words")
            wanted = attribute.values
        missing = [value for value in wanted if not self.naming.labels.get(value)]
        if missing:
            raise ValueError(f"domain {self.name!r}: no label for the name of: {', '.join(map(repr, missing))}")
