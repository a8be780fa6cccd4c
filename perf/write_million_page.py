"""Writes the tables of docs/million-tasks.md: python perf/write_million_page.py"""

import json
import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from million_tasks import Assumptions, table, tables

PAGE = Path(__file__).parents[1] / "docs" / "million-tasks.md"
FOUND = Path(__file__).parent / "million_tasks.json"
"""What perf/simulate_million.py found."""


def page(text: str) -> str:
    """Return the page with its tables as the code calculates them."""
    found = json.loads(FOUND.read_text(encoding="utf-8"))
    for name, content in {**tables(Assumptions()), "simulation": simulation(found)}.items():
        block = f"<!-- {name} -->\n{content}<!-- /{name} -->"
        text, count = re.subn(f"<!-- {name} -->.*?<!-- /{name} -->", lambda _, b=block: b, text, flags=re.DOTALL)
        assert count == 1, name
    return text


def simulation(found: dict[str, Any]) -> str:
    """Return the table of what the simulation found, next to what the arithmetic says."""
    rows = []
    for name in ("agents", "judges"):
        each = found[name]
        shown = (f"{each['seconds'] / 60:.1f} minutes", f"{each['requests']:,}", f"{each['dollars']:,.2f} dollars")
        said = (
            f"{each['expected_seconds'] / 60:.1f} minutes",
            f"{each['expected_requests']:,}",
            f"{each['expected_dollars']:,.2f} dollars",
        )
        names = ("time", "requests", "cost")
        rows += [(name, what, one, other) for what, one, other in zip(names, said, shown, strict=True)]
        rows.append((name, "refused by a provider (429)", "0", f"{each['refused']:,}"))
    size = f"{found['tasks']:,} tasks, models: {found['models']}, judges: {Assumptions().judges}"
    return f"Simulated: {size}.\n\n{table(('', '', 'arithmetic', 'simulation'), rows)}"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
