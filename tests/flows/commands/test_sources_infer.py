"""`agenthard sources infer`, and an audit through the mapping it proposes."""

import json
from pathlib import Path

from typer.testing import CliRunner

from agenthard.flows.cli import app

LIBRARY = Path(__file__).parents[3] / "docs/examples/library"


def test_a_proposal_is_written_and_audited(tmp_path: Path) -> None:
    out = tmp_path / "m.yaml"
    proposed = CliRunner().invoke(app, ["sources", "infer", str(LIBRARY), "--out", str(out)])
    assert proposed.exit_code == 0, proposed.output
    assert "3 of 3 rows parse" in proposed.output
    audited = CliRunner().invoke(
        app, ["audit", "mapping", str(out), "--out", str(tmp_path / "run"), "--workers", "1", "--json"]
    )
    assert audited.exit_code in (0, 1), audited.output
    assert json.loads(audited.stdout)["checked"] == 3
    again = CliRunner().invoke(app, ["sources", "infer", str(LIBRARY), "--out", str(out)])
    assert again.exit_code != 0


def test_it_prints_yaml_or_json() -> None:
    printed = CliRunner().invoke(app, ["sources", "infer", str(LIBRARY)])
    assert printed.stdout.startswith("# A mapping proposed")
    facts = json.loads(CliRunner().invoke(app, ["sources", "infer", str(LIBRARY), "--json"]).stdout)
    assert (facts["rows"], facts["parsed"], facts["calls"]) == (3, 3, 3)
    assert facts["mapping"]["user"] == {"turns": "text"}


def test_the_example_of_the_docs_is_clean(tmp_path: Path) -> None:
    arguments = ["audit", "mapping", str(LIBRARY), "--runs", str(LIBRARY / "results"), "--workers", "1", "--json"]
    done = CliRunner().invoke(app, [*arguments, "--out", str(tmp_path / "run")])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["checked"] == 3
