"""Reads the tables and JSON documents of a run folder."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from agenthard.taxonomy.errors import AgentHardError


class RunTablesError(AgentHardError):
    """The folder holds no finished audit, or one of another layout; the message says what to do."""

    code = "AH706"
    remedy = "Name the run folder of a finished audit, or audit again with this version."


def table_file(folder: Path, name: str) -> Path:
    """Return the file of a table of a run folder.

    Raises:
        RunTablesError: when it is missing.
    """
    path = folder / "tables" / f"{name}.parquet"
    if not path.is_file():
        raise _not_finished(folder, f"tables/{path.name}")
    return path


def read_table(folder: Path, name: str, columns: list[str], *, dictionaries: list[str] | None = None) -> pa.Table:
    """Read columns of a table of a run folder.

    Args:
        folder: run folder of a finished audit.
        name: name of the table.
        columns: columns to read; the result has them in this order.
        dictionaries: columns to read dictionary-encoded, because many rows share their values.

    Returns:
        The table.

    Raises:
        RunTablesError: when the table or a column is missing.
    """
    path = table_file(folder, name)
    try:
        # pq.read_table would import pandas.
        with pq.ParquetFile(path, read_dictionary=dictionaries) as file:
            return file.read(columns).select(columns)
    except (OSError, KeyError, ValueError) as error:
        raise RunTablesError(
            f"{path}: cannot read its columns {', '.join(columns)} ({str(error)[:200]}); audit again with this version"
        ) from error


def read_rows(folder: Path, name: str, columns: list[str]) -> list[dict[str, Any]]:
    """Read columns of a table of a run folder as one mapping per row (see ``read_table``)."""
    rows: list[dict[str, Any]] = read_table(folder, name, columns).to_pylist()
    return rows


def load_json(folder: Path, name: str) -> dict[str, Any]:
    """Read a JSON document of a run folder.

    Raises:
        RunTablesError: when it is missing or not a JSON object.
    """
    path = folder / name
    if not path.is_file():
        raise _not_finished(folder, name)
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise RunTablesError(f"{path}: not valid JSON: {error}; audit again") from error
    if not isinstance(value, dict):
        raise RunTablesError(f"{path}: not a JSON object; audit again")
    return value


def _not_finished(folder: Path, missing: str) -> RunTablesError:
    return RunTablesError(f"{folder}: no finished audit here ({missing} is missing); run `agenthard audit` first")
