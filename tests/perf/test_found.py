"""The pages of what was read by hand: made from the readings, without a path of the machine that audited."""

import json
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


def module(name: str) -> ModuleType:
    sys.path.insert(0, str(ROOT / "perf"))
    try:
        return __import__(name)
    finally:
        sys.path.remove(str(ROOT / "perf"))


def test_the_page_of_readings_is_what_the_script_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = module("write_leave_one_out")
    written = script.TARGET.read_text(encoding="utf-8")
    monkeypatch.setattr(script, "TARGET", tmp_path / "page.md")
    script.main()
    assert (tmp_path / "page.md").read_text(encoding="utf-8") == written


def test_every_reading_is_an_issue_with_place_proof_and_command() -> None:
    read = [json.loads(line) for line in (ROOT / "perf" / "found.jsonl").read_text(encoding="utf-8").splitlines()]
    page = (ROOT / "docs" / "found.md").read_text(encoding="utf-8")
    issues = re.split(r"^### ", page, flags=re.MULTILINE)[1:]
    assert len(issues) == len(read) == len({(one["corpus"], one["finding"]) for one in read}) >= 40
    for issue, one in zip(issues, read, strict=True):
        assert one["says"] in issue and f"finding `{one['finding']}`" in issue
        assert re.search(r"\* Where: `\S+:\d+`", issue) and "Proof: a constructed run " in issue
        assert re.search(r"\* Again: `agenthard replay \w[\w-]* PATH ", issue)
    assert not re.search(r"(?<![\w.`])/(?:work|root|home|tmp)/", page)


def test_a_finding_without_a_proof_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = module("write_found")
    (tmp_path / "findings.json").write_text(json.dumps({"findings": []}), encoding="utf-8")
    keys = {json.loads(line)["corpus"] for line in (ROOT / "perf" / "found.jsonl").read_text("utf-8").splitlines()}
    runs = [part for key in sorted(keys) for part in ("--run", f"{key}=A benchmark={tmp_path}")]
    monkeypatch.setattr(sys, "argv", ["write_found.py", *runs])
    with pytest.raises(SystemExit, match=r"perf/found\.jsonl:1: the audit of A benchmark has no proof of"):
        script.main()
