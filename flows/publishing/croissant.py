"""``croissant.json``: the tables as Croissant 1.0 metadata, which `mlcroissant` validates and loads records from."""

import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

import pyarrow as pa

from agenthard.flows.publishing.hub_tables import HubFile
from agenthard.flows.publishing.records import Publication

_TERMS = (
    "citeAs column conformsTo dataType:v equivalentProperty examples:j extract field fileProperty fileObject fileSet "
    "format includes isLiveDataset jsonPath key md5 parentField path recordSet references regex repeated replace "
    "samplingRate separator source subField transform data:j"
)
"""Names of the vocabulary; the mark says whether values are names of it (v) or JSON (j)."""


def croissant_json(made: Publication, files: Sequence[HubFile], hashes: Mapping[str, str]) -> str:
    """Describe the tables.

    Args:
        made: the publication.
        files: its Parquet files.
        hashes: SHA-256 of each, by path.

    Returns:
        JSON-LD. Addresses of files are relative to it.
    """
    document: dict[str, Any] = {
        "@context": _context(),
        "@type": "sc:Dataset",
        "name": made.name,
        "description": (
            f"{made.kept:,} of {made.total:,} tasks of {made.title} ({made.benchmark.label}): the {made.split} split "
            "of an audit. README.md says what was removed and why."
        ),
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "citeAs": made.licence.citation or "unknown: not found in the release",
        "license": made.licence.id,
        "url": f"urn:agenthard:{quote(made.name, safe='')}:{made.split_id}",
        "version": made.version,
        "distribution": [_file(each, hashes[each.path]) for each in files],
        "recordSet": [_records(each) for each in files],
    }
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def record_set_of(file: HubFile) -> str:
    """Return the name of the record set of a table.

    >>> record_set_of(HubFile("airline", "clean", "data/airline/clean-00000-of-00001.parquet", 1, ()))
    'airline.clean'
    """
    return f"{file.config}.{file.split}"


def _context() -> dict[str, Any]:
    kinds = {"v": {"@type": "@vocab"}, "j": {"@type": "@json"}}
    context: dict[str, Any] = {
        "@language": "en",
        "@vocab": "https://schema.org/",
        "sc": "https://schema.org/",
        "cr": "http://mlcommons.org/croissant/",
        "rai": "http://mlcommons.org/croissant/RAI/",
        "dct": "http://purl.org/dc/terms/",
    }
    for term in _TERMS.split():
        name, _, kind = term.partition(":")
        place = "dct:conformsTo" if name == "conformsTo" else f"cr:{name}"
        context[name] = {"@id": place, **kinds[kind]} if kind else place
    return context


def _file(file: HubFile, sha256: str) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": f"file.{record_set_of(file)}",
        "name": f"file.{record_set_of(file)}",
        "contentUrl": file.path,
        "encodingFormat": "application/x-parquet",
        "sha256": sha256,
    }


def _records(file: HubFile) -> dict[str, Any]:
    name = record_set_of(file)
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{name}/{column.name}",
                "name": column.name,
                "description": column.doc,
                "dataType": "sc:Integer" if pa.types.is_integer(column.type) else "sc:Text",
                "source": {"fileObject": {"@id": f"file.{name}"}, "extract": {"column": column.name}},
            }
            for column in file.columns
        ],
    }
