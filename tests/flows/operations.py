"""Run folders that tests of operating AgentHard share: the demo benchmark, and real processes that are killed."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from agenthard.flows.audit_flow import run_audit
from agenthard.flows.audit_plan import AuditInput, AuditSettings

PATIENCE = 120.0
SLOWED = """
import sys, time
import agenthard.flows.audit_flow as module
from agenthard.flows.audit_plan import AuditInput, AuditSettings
real = module.run_shard
def slow(settings, number, tasks):
    if number == 1:
        print("shard", flush=True)
        time.sleep(600)
    return real(settings, number, tasks)
module.run_shard = slow
module.run_audit(AuditInput(AuditSettings.model_validate_json(sys.argv[1])))
"""
"""An audit that stays in its second shard."""


def demo_settings(benchmark: Path, out: Path, *, runs: bool = True) -> AuditSettings:
    """Settings of an audit of a copy of the demo benchmark."""
    logs = (str(benchmark / "runs.jsonl.gz"),) if runs else ()
    return AuditSettings(source="native", path=str(benchmark), runs=logs, out=str(out), workers=1)


def audited(benchmark: Path, out: Path, *, runs: bool = True) -> Path:
    """Audit a benchmark, and return the run folder."""
    run_audit(AuditInput(demo_settings(benchmark, out, runs=runs)))
    return out


def start_slow_audit(settings: AuditSettings) -> "subprocess.Popen[str]":
    """Start an audit in another process, and return when it is in its second shard."""
    command = [sys.executable, "-c", SLOWED, settings.model_dump_json()]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ)
    assert process.stdout is not None
    assert process.stdout.readline() == "shard\n", process.communicate(timeout=PATIENCE)
    return process


def kill(process: "subprocess.Popen[str]") -> None:
    """Kill a process as ``kill -9`` does, and wait until it is gone."""
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=PATIENCE)
