"""The image: its steps run without Docker, nothing secret gets into it, and the services of compose.yaml exist."""

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from agenthard.flows.command_table import load_command

ROOT = Path(__file__).parents[1]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_image_steps", ROOT / "docker" / "check_image_steps.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.long
@pytest.mark.network
def test_the_steps_of_the_image_run_in_an_empty_environment(script: ModuleType, tmp_path: Path) -> None:
    command = [sys.executable, ROOT / "docker" / "check_image_steps.py", "--root", tmp_path, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    steps = [rest for word, rest in script.instructions(DOCKERFILE) if word == "RUN"]
    told = "\n".join([*report["run"], *report["not_run"]])
    assert all(f"RUN {part}" in told for step in steps for part in step.split(" && "))
    assert "agenthard verify demo/demo" in report["run"] and "agenthard --help" in report["run"]
    # The page on operations says exactly this.
    page = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    for step in report["not_run"]:
        word = " ".join(step.split()[:2]).rstrip(":")
        assert f"`{word}" in page, f"docs/operations.md does not say that {word} was not run"


def test_the_image_does_not_run_as_root_and_its_base_is_pinned() -> None:
    final = DOCKERFILE.rpartition("\nFROM ")[2]
    assert re.search(r"^USER (\d+):(\d+)$", final, re.M) and "USER 0" not in final
    assert re.search(r"^ARG BASE=python:\d+\.\d+\.\d+-slim-\w+$", DOCKERFILE, re.M)
    assert not re.search(r"(?i)(password|secret|token|api_key)", DOCKERFILE)


def test_only_what_the_image_needs_reaches_the_builder(script: ModuleType) -> None:
    ignored = script.Ignored(ROOT / ".dockerignore")
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )
    sent = {path.split("/")[0] for path in filter(None, tracked) if not ignored.matches(path)}
    packages = {
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
    }
    assert sent == {*packages, "LICENSE", "README.md", "pyproject.toml", "requirements-dev.txt"}
    for path in (".env", "flows/.env", "runs/x/manifest.json", "models/server.key", "audit/review.db", ".git/config"):
        assert ignored.matches(path), path


def test_a_failing_or_unknown_step_is_an_error(script: ModuleType, tmp_path: Path) -> None:
    image = script.Image(tmp_path, ROOT)
    with pytest.raises(SystemExit, match="RUN false\nfailed with 1"):
        image.build("FROM x AS a\nRUN true && \\\n    false\n")
    with pytest.raises(SystemExit, match="VOLUME: this script does not know"):
        script.Image(tmp_path / "b", ROOT).build("FROM x\nVOLUME /data\n")
    with pytest.raises(SystemExit, match="lets nothing of it through"):
        script.Image(tmp_path / "c", ROOT).build("FROM x\nCOPY tests ./tests\n")


def test_paths_of_the_image_are_moved_and_those_of_the_system_are_not(script: ModuleType, tmp_path: Path) -> None:
    image = script.Image(tmp_path, ROOT)
    image.build(
        "FROM x AS a\nENV PATH=/opt/x/bin:/usr/local/bin:/usr/bin\nRUN mkdir -p /data/x && echo hi > /data/x/f\n"
    )
    assert (tmp_path / "a" / "data" / "x" / "f").read_text() == "hi\n"
    assert image._moved_paths("/opt/x/bin:/usr/bin") == f"{tmp_path}/a/opt/x/bin:/usr/bin"
    assert image._moved("pip install https://example.org/a b/c") == "pip install https://example.org/a b/c"


def test_the_services_hold_no_secret_and_are_contained() -> None:
    services = COMPOSE["services"]
    assert set(services) == {"postgres", "prefect-server", "worker", "review"}
    for name, service in services.items():
        if name != "postgres":
            assert service["read_only"] and service["cap_drop"] == ["ALL"], name
            assert service["security_opt"] == ["no-new-privileges:true"], name
        assert re.search(r":\d+\.\d+", service["image"]), f"{name}: the image has no version"
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ())), name
        given = json.dumps(service.get("environment", {}))
        assert not re.search(r"(?i)(password|token|key)(?!_FILE)\"?: \"[^$/]", given), name
    assert all(each["file"].startswith("./secrets/") for each in COMPOSE["secrets"].values())
    used = {secret for service in services.values() for secret in service.get("secrets", ())}
    assert used == set(COMPOSE["secrets"])
    assert COMPOSE["networks"]["inside"]["internal"] and services["postgres"]["networks"] == ["inside"]


def test_the_commands_of_the_services_have_these_options() -> None:
    words = COMPOSE["services"]["review"]["command"]
    options = {option for parameter in load_command("review").params for option in parameter.opts}
    assert words[0] == "review" and {word for word in words if word.startswith("--")} <= options
    for service, group in (("worker", "worker"), ("prefect-server", "server")):
        given = COMPOSE["services"][service]
        text = " ".join([*given["entrypoint"], *given["command"]])
        done = subprocess.run(
            [sys.executable, "-m", "prefect", group, "start", "--help"], capture_output=True, text=True, check=True
        )
        for option in re.findall(r" (--[a-z-]+)", text):
            assert option in done.stdout, f"prefect {group} start has no {option}"
