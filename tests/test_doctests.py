"""The examples in docstrings are right."""

import doctest
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = (
    "agenthard",
    "ace",
    "agency",
    "audit",
    "containment",
    "escape",
    "flows",
    "models",
    "play",
    "reports",
    "taxonomy",
)


def modules_with_examples() -> list[str]:
    paths = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
    names = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts) for path in paths if ">>> " in path.read_text("utf-8")
    ]
    return [name.removesuffix(".__init__") for name in names]


@pytest.mark.parametrize("name", modules_with_examples())
def test_examples(name: str) -> None:
    module = importlib.import_module(name if name.startswith("agenthard") else f"agenthard.{name}")
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0
