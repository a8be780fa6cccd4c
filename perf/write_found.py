"""Write docs/found.md: flaws of public benchmarks, read by hand, as issue texts for their maintainers.

Usage: python perf/write_found.py --run KEY=NAME=RUN...
KEY is the corpus as perf/found.jsonl names it, NAME the benchmark with its version, RUN the run folder of an audit.
perf/found.jsonl has one line for each finding that was read by hand and judged to be true: what is wrong and what it
does to the score, in words of our own. Everything else (task, file, line, proof, command) comes from the audit.
A line whose finding the audit does not have, or has without a proof that was carried out, stops the script.
"""

import argparse
import json
import re
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
TARGET = HERE.parent / "docs" / "found.md"
HEAD = """# Found, and not yet known

{number} flaws that audits of this release found in public benchmarks, outside the tasks whose labels the checks were
developed on. Each was read by hand, in the benchmark's own files, and judged to be true; each has a proof that the
benchmark's own evaluator has scored: a run that passes and should not, or fails and should not. No published list of
fixes was consulted, so some may be known to the maintainers.

Each is a text for an issue. Name, place, proof and command come from the audit, the sentences from the reader
(`perf/found.jsonl`); `perf/write_found.py` puts them together. `PATH` is the folder of the benchmark. The command finds
the flaw and carries the proof out again.
"""


def findings_of(run: Path) -> dict[str, dict[str, Any]]:
    """Return the findings of an audit by id."""
    found = json.loads((run / "findings.json").read_text(encoding="utf-8"))["findings"]
    return {finding["id"]: finding for finding in found}


def command_of(finding: dict[str, Any]) -> str:
    """Return the command of a finding without the paths of the machine that ran the audit."""
    return re.sub(r"(?<= )/\S+", "PATH", finding["command"])


def proof_of(finding: dict[str, Any]) -> str:
    """Say what the evaluator did with the run of the proof."""
    proof = finding["proof"]
    verdict = "passes" if proof["passes"] else "fails"
    should = "pass" if proof["should_pass"] else "fail"
    return f"a constructed run {verdict} and should {should} ({proof['evaluator']})"


def place_of(finding: dict[str, Any]) -> str:
    """Name file and line of the evidence, each once."""
    native = [item["native"] for item in finding["evidence"] if item.get("native")]
    places = (f"`{one['file'].rpartition('site-packages/')[2]}:{one['line']}`" for one in native[:2])
    return ", ".join(dict.fromkeys(places))


def text_of(number: int, name: str, finding: dict[str, Any], read: dict[str, str]) -> str:
    """Write one issue."""
    tasks = finding["task_ids"]
    more = f" and {len(tasks) - 1} more" if len(tasks) > 1 else ""
    return "\n".join(
        (
            f"### {number}. {name}: `{tasks[0]}`{more}",
            "",
            read["says"],
            "",
            f"* Where: {place_of(finding)}",
            f"* Score: {read['effect']}. Proof: {proof_of(finding)}.",
            f"* Again: `{command_of(finding)}`",
            f"* Check: `{finding['check']}`, finding `{finding['id']}`",
            "",
        )
    )


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", action="append", required=True, metavar="KEY=NAME=RUN")
    runs = {}
    for given in parser.parse_args().run:
        key, name, folder = given.split("=")
        runs[key] = name, findings_of(Path(folder))
    lines = (HERE / "found.jsonl").read_text(encoding="utf-8").splitlines()
    texts, seen = [], ""
    for number, read in enumerate(map(json.loads, lines), 1):
        name, findings = runs[read["corpus"]]
        finding = findings.get(read["finding"])
        if finding is None or finding.get("proof") is None:
            raise SystemExit(f"perf/found.jsonl:{number}: the audit of {name} has no proof of {read['finding']}")
        if name != seen:
            texts.append(f"## {name}\n")
            seen = name
        texts.append(text_of(number, name, finding, read))
    TARGET.write_text(HEAD.format(number=len(lines)) + "\n" + "\n".join(texts), encoding="utf-8")


if __name__ == "__main__":
    main()
