"""SARIF as GitHub's code scanning accepts it: paths from the root of the repository, and within its limits.

The log of an audit names places relative to the benchmark's folder and keeps everything. Code scanning looks for files
from the root of the repository, needs a file for every result, shows the first location only, does not read
suppressions, and refuses or cuts longer logs without saying which results are lost; so what does not fit is left out
here, and counted.
"""

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote as url_quote

from agenthard.reports.sarif import DATA, RUNS

MOST_RESULTS = 5_000
"""Results of a run that code scanning shows: of up to 25,000 that it reads, the most severe ones."""
MOST_LOCATIONS = 1_000
"""Locations of a result that it reads; of more it would refuse the log."""
MOST_TAGS = 20
"""Tags of a rule."""
_ORDER = {"error": 0, "warning": 1, "note": 2}


def for_code_scanning(log: Mapping[str, Any], folders: Mapping[str, Path], repository: Path) -> dict[str, Any]:
    """Return the log of an audit as code scanning takes it.

    Args:
        log: SARIF log of an audit.
        folders: Where the benchmark and the runs are: folders by the names that the log gives them.
        repository: Root of the repository.
    """
    found = copy.deepcopy(dict(log))
    prefixes = {name: _prefix(folder, repository) for name, folder in folders.items()}
    for run in found["runs"]:
        _fit(run, prefixes)
    return found


def _prefix(folder: Path, repository: Path) -> str | None:
    """Return what precedes a path of a folder; None for a folder outside of the repository."""
    folder, repository = folder.resolve(), repository.resolve()
    if not folder.is_relative_to(repository):
        return None
    inside = folder.relative_to(repository).as_posix()
    return "" if inside == "." else f"{url_quote(inside)}/"


def _fit(run: dict[str, Any], prefixes: Mapping[str, str | None]) -> None:
    run.pop("originalUriBaseIds", None)
    suppressed = [each for each in run["results"] if each.get("suppressions")]
    counting = [each for each in run["results"] if not each.get("suppressions")]
    artifacts = [location for each in run.get("artifacts", ()) if (location := _moved(each["location"], prefixes))]
    fallback = min((each["uri"] for each in artifacts), default=None)
    for result in counting:
        _place(result, prefixes, fallback)
    placed = [each for each in counting if each["locations"]]
    placed.sort(key=lambda each: _ORDER.get(each["level"], len(_ORDER)))
    run["results"] = placed[:MOST_RESULTS]
    run["artifacts"] = [
        {**each, "location": location}
        for each in run.get("artifacts", ())
        if (location := _moved(each["location"], prefixes))
    ]
    for rule in run["tool"]["driver"]["rules"]:
        rule["properties"]["tags"] = rule["properties"]["tags"][:MOST_TAGS]
    notes = run["invocations"][0]["toolExecutionNotifications"]
    for note in notes:
        note["locations"] = [each for each in note.get("locations", ()) if _relocate(each, prefixes)]
    for count, words in (
        (len(suppressed), "findings are suppressed by the configuration and are not listed"),
        (len(counting) - len(placed), "findings have no place in a file of this repository and are not listed"),
        (len(placed) - len(run["results"]), "findings of the least level are beyond what code scanning shows"),
    ):
        if count:
            notes.append({"level": "note", "message": {"text": f"{count:,} {words}."}})


def _place(result: dict[str, Any], prefixes: Mapping[str, str | None], fallback: str | None) -> None:
    """Give a result places in files of the repository: its own, else the first related one, else the first file."""
    related = [each for each in result.get("relatedLocations", ()) if _relocate(each, prefixes)][:MOST_LOCATIONS]
    result["relatedLocations"] = related
    located = [each for each in result["locations"] if _relocate(each, prefixes)]
    if not located and related:
        located = [{key: value for key, value in related[0].items() if key != "id"}]
    if not located and fallback is not None:
        physical = {"artifactLocation": {"uri": fallback}, "region": {"startLine": 1}}
        located = [{"physicalLocation": physical}]
        result["message"]["text"] += " (Its place is in no file of this repository.)"
    result["locations"] = located[:1]


def _relocate(location: dict[str, Any], prefixes: Mapping[str, str | None]) -> bool:
    """Move a location below the root of the repository; False where it is not in a file there."""
    physical = location.get("physicalLocation")
    moved = _moved(physical["artifactLocation"], prefixes) if physical else None
    if physical is None or moved is None:
        return False
    physical["artifactLocation"] = moved
    physical.setdefault("region", {"startLine": 1})
    return True


def _moved(artifact: Mapping[str, Any], prefixes: Mapping[str, str | None]) -> dict[str, Any] | None:
    prefix = prefixes.get(artifact.get("uriBaseId", DATA))
    uri = str(artifact["uri"])
    if prefix is None or uri.startswith(("/", "../")) or "/../" in uri:
        return None
    return {"uri": f"{prefix}{uri}"}


def repository_of(folder: Path) -> Path:
    """Return the root of the git repository that a folder is in; outside of one, the current folder."""
    whole = folder.resolve()
    return next((each for each in (whole, *whole.parents) if (each / ".git").exists()), Path.cwd())


BASES = (DATA, RUNS)
"""Names that the log of an audit gives to the folders of the benchmark and of the runs."""
