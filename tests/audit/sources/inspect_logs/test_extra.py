import sys
from pathlib import Path

import pytest

from agenthard.audit.sources.base import SourceError
from agenthard.audit.sources.inspect_logs import InspectLogs


def test_without_the_extra_the_message_names_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.eval").write_bytes(b"PK")
    monkeypatch.setitem(sys.modules, "inspect_ai.log", None)
    assert InspectLogs.recognises(tmp_path)
    with pytest.raises(SourceError, match=r"pip install 'agenthard\[inspect\]'"):
        InspectLogs(tmp_path)
