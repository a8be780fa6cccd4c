"""Peak memory of suites of 10,080 instances on the command line: generated, verified, in both formats.

Usage: python perf/bench_ace_stream.py [FOLDER]. Exit code 1 when a command fails or needs more than 500 MB; that is the
largest process of a command, as the system counts it. FOLDER (default: a temporary one) needs 1.5 GB.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

LIMIT_MB = 500.0
SUITE = ["-H", "1", "-H", "5", "-B", "0", "-B", "2", "-B", "4", "--per-cell", "280", "--workers", "2"]


def measured(*arguments: str) -> tuple[float, float, int]:
    """Peak memory in MB, CPU seconds and exit code of one ``agenthard ace`` command."""
    process = subprocess.Popen([sys.executable, "-m", "agenthard", "ace", *arguments], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    return usage.ru_maxrss / 1024, usage.ru_utime + usage.ru_stime, os.waitstatus_to_exitcode(status)


def main() -> int:
    """Measure every command; return 1 when one misses the limit."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(temporary)
        missed = False
        for form in ("jsonl", "parquet", "reference"):
            out = str(folder / form)
            for arguments in (("generate", "--out", out, "--format", form, *SUITE), ("verify", out)):
                memory, cpu, code = measured(*arguments)
                print(f"{form:10} {arguments[0]:9} {memory:5.0f} MB, {cpu:6.1f} CPU s, exit code {code}", flush=True)
                missed |= memory > LIMIT_MB or code != 0
        print("missed a limit" if missed else f"all below {LIMIT_MB:.0f} MB")
        return int(missed)


if __name__ == "__main__":
    sys.exit(main())
