"""The front door: names, versions, and nothing else."""

import json
import re
import tomllib
from pathlib import Path

import jinja2
import pytest
import yaml

import clearwood

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("name", clearwood.__all__)
def test_every_public_name_is_there(name):
    assert getattr(clearwood, name) is not None
    assert name in dir(clearwood)


def test_simplify_is_the_verb_whatever_was_imported_before():
    import clearwood.simplifiers

    assert callable(clearwood.simplify)


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="'simplfy'"):
        clearwood.simplfy  # noqa: B018


def test_one_version():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert clearwood.__version__ == project["version"]
    assert f"version: {project['version']}" in (ROOT / "CITATION.cff").read_text()


def test_other_catalogues_say_the_same():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    zenodo = json.loads((ROOT / ".zenodo.json").read_text())
    for key in ("title", "license"):
        assert zenodo[key] == citation[key]
    assert zenodo["license"] == project["license"]
    assert zenodo["keywords"] == project["keywords"]
    names = [author["name"] for author in project["authors"]]
    assert [one["name"] for one in citation["authors"]] == names
    assert [one["name"] for one in zenodo["creators"]] == names


def test_the_conda_recipe_is_valid_and_follows_the_project():
    file = tomllib.loads((ROOT / "pyproject.toml").read_text())
    recipe = jinja2.Template((ROOT / "conda/meta.yaml").read_text()).render(
        load_file_data=lambda path, from_recipe_dir: file,
        compiler="{}_compiler".format,
        stdlib="{}_stdlib".format,
        PYTHON="python",
    )
    found, project = yaml.safe_load(recipe), file["project"]
    assert found["package"] == {"name": "clearwood", "version": clearwood.__version__}
    run = [line.replace(" ", "") for line in found["requirements"]["run"]]
    assert run == [f"python{project['requires-python']}", *project["dependencies"]]
    host = [line.replace(" ", "") for line in found["requirements"]["host"]]
    assert set(file["build-system"]["requires"]) <= set(host)


def test_the_lowest_versions_that_are_tested_are_those_declared():
    file = tomllib.loads((ROOT / "pyproject.toml").read_text())
    project, lowest = file["project"], {}
    extras = project["optional-dependencies"].values()
    for asked in (project["dependencies"], *extras, file["dependency-groups"]["test"]):
        for line in asked:
            name, bound = re.match(r"([\w-]+)(?:\[\w+\])?>=([\d.]+)", line).groups()
            lowest[name] = max(lowest.get(name, ""), bound, key=numbers)
    tested = (ROOT / "constraints-lowest.txt").read_text().splitlines()
    pinned = dict(line.split("==") for line in tested if not line.startswith("#"))
    assert pinned == lowest


def numbers(version):
    return [int(part) for part in version.split(".") if part]
