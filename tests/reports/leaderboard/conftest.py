"""Audits of a small benchmark, made once per module."""

from pathlib import Path

import pytest

from tests.reports.survey.library import audit_library


@pytest.fixture(scope="module")
def audits(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two versions of a benchmark with runs, and one without runs."""
    root = tmp_path_factory.mktemp("audits")
    return {
        "first": audit_library(root, "first"),
        "second": audit_library(root, "second", flawed=(5, 7)),
        "bare": audit_library(root, "bare", models={}),
    }
