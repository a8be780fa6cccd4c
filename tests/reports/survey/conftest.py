"""Audits of a small benchmark, made once per module."""

from pathlib import Path

import pytest

from tests.reports.survey.library import audit_library

LENIENT = 'version: "kept"\nrules:\n  - {action: keep}\n'


@pytest.fixture(scope="module")
def audits(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two versions of a benchmark with runs, one without runs, and one with another policy and fewer checks."""
    root = tmp_path_factory.mktemp("audits")
    return {
        "first": audit_library(root, "first"),
        "second": audit_library(root, "second", flawed=(5, 7)),
        "bare": audit_library(root, "bare", models={}),
        "other": audit_library(root, "other", policy=LENIENT, ignore=("call-schema",)),
    }
