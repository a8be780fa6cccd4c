"""The file of `agenthard run`: what is refused and how, and the whole loop on a small suite."""

from pathlib import Path

import pytest

from agenthard.flows.errors import CommandError
from agenthard.flows.run_config import load_config


def write(folder: Path, text: str) -> Path:
    path = folder / "config.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    text = "benchmark: ace\nout: x\ntasks: suite\nevaluate: {models: [openai/a, m.yaml], prices: p.yaml}\n"
    config = load_config(write(tmp_path, text))
    assert config.out == str(tmp_path / "x") and config.tasks == str(tmp_path / "suite")
    assert config.evaluate.models == ("openai/a", str(tmp_path / "m.yaml"))
    assert config.evaluate.prices == str(tmp_path / "p.yaml") and config.evaluate.cache is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("benchmark: ace\nout: x\n", "either `tasks`"),
        ("benchmark: ace\nout: x\ntasks: a\ngenerate: {}\n", "either `tasks`"),
        ("benchmark: bfcl\nout: x\ngenerate: {}\n", "cannot be generated; these can: ace, escape"),
        ("benchmark: ace\nout: x\ntasks: a\nevaluate: {trial: 3}\n", "evaluate.trial: Extra inputs"),
        ("benchmark: ace\nout: x\ntasks: a\nreport: {draws: 1}\n", "report.draws: Input should be greater"),
        ("- a\n", "file: Input should be"),
        ("a: [", "not valid YAML"),
    ],
)
def test_a_wrong_file_is_refused_with_the_field(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(CommandError, match=message):
        load_config(write(tmp_path, text))


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="cannot be read"):
        load_config(tmp_path / "absent.yaml")
