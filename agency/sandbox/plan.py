"""Plans for a browser: what is done to a page, what must be true of it, and what is kept as an image."""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from agenthard.taxonomy.record import Record

MOST_STEPS = 500
MOST_FRAMES = 120
MOST_SECONDS = 300.0
MOST_READ = 2_000_000


class _Step(Record):
    """What all steps have."""

    label: str = ""
    """Name of the step in the record; empty for its number alone."""


class Open(_Step):
    """Open a page of the served folder again, or another one."""

    do: Literal["open"] = "open"
    path: str = "index.html"
    """Path below the folder, with a query or a fragment if wanted."""


class Wait(_Step):
    """Wait for a time, for an element, or until a script is true; exactly one of the three."""

    do: Literal["wait"] = "wait"
    milliseconds: int | None = Field(default=None, ge=0, le=60_000)
    """How long."""
    selector: str | None = None
    """Element that is waited for."""
    hidden: bool = False
    """Whether the element must be absent or hidden, not visible."""
    script: str | None = None
    """Expression in JavaScript that becomes true."""

    @model_validator(mode="after")
    def _one_reason(self) -> Self:
        if sum(reason is not None for reason in (self.milliseconds, self.selector, self.script)) != 1:
            raise ValueError("a wait has exactly one of milliseconds, selector and script")
        return self


class Click(_Step):
    """Click on an element, or at a place of it."""

    do: Literal["click"] = "click"
    selector: str = "body"
    """Element; the first that matches."""
    x: float | None = None
    """Place from the left edge of the element; None for its middle."""
    y: float | None = None
    """Place from its upper edge."""
    unit: Literal["px", "share"] = "px"
    """Whether the place is in pixels, or a share of the element's width and height."""
    button: Literal["left", "right", "middle"] = "left"
    """Button of the mouse."""
    count: int = Field(default=1, ge=1, le=100)
    """How often."""

    @model_validator(mode="after")
    def _both_or_none(self) -> Self:
        if (self.x is None) != (self.y is None):
            raise ValueError("a place has x and y: give both, or neither for the middle")
        return self


class Keys(_Step):
    """Press keys one by one."""

    do: Literal["keys"] = "keys"
    keys: tuple[str, ...] = Field(min_length=1)
    """Their names: ``ArrowUp``, ``Enter``, ``Control+z``, ``a``."""
    selector: str | None = None
    """Element that gets the focus first."""
    every_ms: int = Field(default=0, ge=0, le=10_000)
    """Pause after each key."""


class Type(_Step):
    """Replace the text of a field."""

    do: Literal["type"] = "type"
    selector: str
    """Field."""
    text: str
    """Text."""


class AssertScript(_Step):
    """Assert that an expression in JavaScript has a value."""

    do: Literal["assert_script"] = "assert_script"
    script: str
    """Expression; a promise is awaited."""
    equals: Any = True
    """Value that it must have, as JSON."""
    tolerance: float = Field(default=0.0, ge=0)
    """How far a number, at any depth of the value, may be off."""


class Read(_Step):
    """Keep the value of an expression in JavaScript, whatever it is."""

    do: Literal["read"] = "read"
    script: str
    """Expression; a promise is awaited."""
    most: int = Field(default=4000, ge=1, le=MOST_READ)
    """Characters of the value as JSON that are kept; of a longer one the beginning of its text."""


class AssertBox(_Step):
    """Assert where an element is and how large it is, in pixels."""

    do: Literal["assert_box"] = "assert_box"
    selector: str
    """Element; the first that matches."""
    x: float | None = None
    """Left edge."""
    y: float | None = None
    """Upper edge."""
    width: float | None = None
    """Width."""
    height: float | None = None
    """Height."""
    relative_to: str | None = None
    """Element that x and y are measured from; None for the page's window."""
    tolerance: float = Field(default=1.0, ge=0)
    """How far each may be off."""

    @model_validator(mode="after")
    def _asserts_something(self) -> Self:
        if all(edge is None for edge in (self.x, self.y, self.width, self.height)):
            raise ValueError("an assertion on a box states at least one of x, y, width and height")
        return self


class AssertQuiet(_Step):
    """Assert that no error was raised or written to the console so far."""

    do: Literal["assert_quiet"] = "assert_quiet"


class Screenshot(_Step):
    """Keep an image of the window, or of one element."""

    do: Literal["screenshot"] = "screenshot"
    selector: str | None = None
    """Element; None for the window."""


class Frames(_Step):
    """Keep several images of the window, one after the other, in place of a video."""

    do: Literal["frames"] = "frames"
    count: int = Field(ge=2, le=MOST_FRAMES)
    """How many."""
    every_ms: int = Field(default=200, ge=0, le=10_000)
    """Pause between two."""


Step = Annotated[
    Open | Wait | Click | Keys | Type | Read | AssertScript | AssertBox | AssertQuiet | Screenshot | Frames,
    Field(discriminator="do"),
]


class Plan(Record):
    """What a browser does with a folder, in order. The window has 1280 × 720 pixels."""

    entry: str = "index.html"
    """Page that is opened first."""
    steps: tuple[Step, ...] = Field(default=(), max_length=MOST_STEPS)
    """What is done then."""
    seconds: float = Field(default=60.0, gt=0, le=MOST_SECONDS)
    """Longest time for all of it, without the start of the browser."""
    step_seconds: float = Field(default=5.0, gt=0, le=60)
    """Longest time for one step, apart from the pauses that it asks for."""

    def images_of(self, number: int) -> tuple[str, ...]:
        """Return the names of the images that a step makes, in order.

        >>> Plan(steps=(Screenshot(), Frames(count=2))).images_of(2)
        ('step-002-000.png', 'step-002-001.png')
        """
        step = self.steps[number - 1]
        if isinstance(step, Screenshot):
            return (f"step-{number:03}.png",)
        if isinstance(step, Frames):
            return tuple(f"step-{number:03}-{frame:03}.png" for frame in range(step.count))
        return ()

    def name_of(self, number: int) -> str:
        """Name a step as messages do; 0 is the opening of the first page.

        >>> Plan(steps=(Screenshot(label="start"),)).name_of(1)
        'step 1 (screenshot, start)'
        """
        if number == 0:
            return f"opening {self.entry}"
        step = self.steps[number - 1]
        return f"step {number} ({step.do}{', ' + step.label if step.label else ''})"
