"""The libraries that others use read the folder: `datasets` and `mlcroissant`."""

import json
import shutil
from pathlib import Path

import pytest

from agenthard.flows.publishing.versions import read_publication
from tests.flows.publishing.conftest import published

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def folder(demo_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("published") / "demo"
    published(demo_run, out)
    return out


def test_datasets_loads_every_configuration(folder: Path, tmp_path: Path) -> None:
    import datasets

    def load(*words: str) -> "datasets.DatasetDict":
        return datasets.load_dataset(str(folder), *words, cache_dir=str(tmp_path / "cache"))

    names = ["default", "library", "parcels", "environments", "removals"]
    assert datasets.get_dataset_config_names(str(folder)) == names
    tasks = load()["clean"]  # without a name: the default configuration
    assert sorted(tasks["id"]) == sorted(read_publication(folder).tasks)
    assert load("library")["clean"].num_rows + load("parcels")["clean"].num_rows == tasks.num_rows == 55
    first = tasks[0]
    assert json.loads(first["ground_truth"])["turns"] and json.loads(first["tools"])[0]["parameters"]
    environments = {row["id"]: row for row in load("environments")["clean"]}
    assert "library" in environments[first["environment"]]["policy"].lower()
    removals = load("removals")
    assert (removals["removed"].num_rows, removals["in_split"].num_rows) == (5, 9)
    assert json.loads(removals["removed"][0]["findings"])[0]["evidence"][0]["line"]


def test_mlcroissant_validates_the_metadata_and_loads_the_records(folder: Path) -> None:
    import mlcroissant

    data = mlcroissant.Dataset(jsonld=str(folder / "croissant.json"))
    issues = data.metadata.ctx.issues
    assert not issues.errors
    assert {warning.split('"')[1] for warning in issues.warnings} == {"https://schema.org/datePublished"}
    assert data.metadata.version == "1.0.0" and data.metadata.license == ["unknown"]
    found = []
    for name in ("library.clean", "parcels.clean"):
        found += [row[f"{name}/id"].decode() for row in data.records(name)]
    assert sorted(found) == sorted(read_publication(folder).tasks)
    [first, *_] = data.records("removals.removed")
    assert first["removals.removed/status"] == b"removed"


def test_mlcroissant_refuses_a_table_that_was_changed(folder: Path, tmp_path: Path) -> None:
    import mlcroissant

    copy = shutil.copytree(folder, tmp_path / "copy")
    other = copy / "data" / "parcels" / "clean-00000-of-00001.parquet"
    shutil.copyfile(other, copy / "data" / "library" / "clean-00000-of-00001.parquet")
    data = mlcroissant.Dataset(jsonld=str(copy / "croissant.json"))
    with pytest.raises(Exception, match=r"Download\(file\.library\.clean\)"):
        list(data.records("library.clean"))
