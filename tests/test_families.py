"""The records of families, and what a family of another package gets by one."""

import sys
from importlib import import_module
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.estimators import DENSITIES, ESTIMATORS, SEQUENCE_MODELS, TRANSFORMERS

import clearwood as cw
from clearwood import families
from clearwood.cli import main
from clearwood.exceptions import InputError

SOURCE = Path(cw.__file__).parent

TOY = """
import click
import numpy as np
from sklearn.base import BaseEstimator
from clearwood import codec
from clearwood.families import Family, PageSection


class Toy(BaseEstimator):
    def fit(self, X, y):
        self.mean_ = float(np.mean(y))
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


class Louder(Toy):
    pass


def make(kind, values):
    toy = kind()
    toy.mean_ = values["mean_"]
    return toy


SAVED = codec.by_name(
    codec.Saved(Toy, (codec.Field("mean", codec.NUMBER, "mean_"),), make)
)


def section(toy, X=None, y=None):
    return {"mean": toy.mean_, "name": "<b>"}


@click.command("toy")
def command():
    "Say toy."
    click.echo("a toy")


FAMILY = Family(
    "toy",
    saved={"Toy": "toy"},
    sections={
        "Toy": PageSection(
            "toys", "A toy", "toy", "toy:pages/toy.html", has_rules=False
        )
    },
    commands={"toy": "toy:command"},
)
"""


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Install a package of one file that registers something as a family."""

    def install(entry="toy:FAMILY", text=TOY):
        (tmp_path / "toy").mkdir()
        (tmp_path / "toy" / "__init__.py").write_text(text)
        (tmp_path / "toy" / "pages").mkdir()
        template = "<p>{{ toys.name }} has the mean {{ toys.mean }}.</p>"
        (tmp_path / "toy" / "pages" / "toy.html").write_text(template)
        info = tmp_path / "toy-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            "Metadata-Version: 2.1\nName: toy\nVersion: 1.0\n"
        )
        (info / "entry_points.txt").write_text(f"[{families.GROUP}]\ntoy = {entry}\n")
        monkeypatch.syspath_prepend(tmp_path)
        families._registered.cache_clear()

    yield install
    families._registered.cache_clear()
    sys.modules.pop("toy", None)


def test_every_public_estimator_is_saved_and_in_one_family():
    public = [name for family in families.OWN for name in family.public]
    assert len(public) == len({*public})
    saved = [name for family in families.OWN for name in family.saved]
    assert len(saved) == len({*saved})
    makes = [case.make for case in ESTIMATORS]
    makes += [*DENSITIES, *SEQUENCE_MODELS, *TRANSFORMERS]
    for make in makes:
        assert make.__name__ in saved and make.__name__ in public
        assert getattr(cw, make.__name__) is make


def test_what_the_records_name_is_there():
    for family in families.OWN:
        for name, module in family.saved.items():
            assert import_module(module).SAVED[name].kind.__name__ == name
        for name, section in family.sections.items():
            module = import_module(section.module)
            assert callable(module.section)
            assert hasattr(module, "model_of") or not section.has_rules
            template = (SOURCE / section.template).read_text(encoding="utf-8")
            for anchor, _ in section.parts:
                assert f'id="{anchor}"' in template, (name, anchor)
        for name in family.commands:
            assert families.command_of(name).name == name


def test_a_family_of_another_package_is_saved_reported_and_has_a_command(
    installed, tmp_path
):
    installed()
    import toy

    result = toy.Toy().fit([[0.0], [1.0]], [1.0, 2.0])
    cw.save(result, tmp_path / "toy.zip")
    loaded = cw.load(tmp_path / "toy.zip")
    assert type(loaded) is toy.Toy and loaded.mean_ == 1.5
    assert cw.check(tmp_path / "toy.zip").supported
    for fitted in (loaded, toy.Louder().fit([[0.0]], [1.5])):
        cw.report(fitted, tmp_path / "page.html", overwrite=True)
        page = (tmp_path / "page.html").read_text(encoding="utf-8")
        assert "<p>&lt;b&gt; has the mean 1.5.</p>" in page and "<h1>A toy" in page
    assert CliRunner().invoke(main, ["toy"]).output == "a toy\n"
    assert "Say toy." in CliRunner().invoke(main, ["--help"]).output


def test_without_its_package_a_file_is_refused(installed, tmp_path):
    installed()
    import toy

    cw.save(toy.Toy().fit([[0.0]], [1.0]), tmp_path / "toy.zip")
    (tmp_path / "toy-1.0.dist-info" / "entry_points.txt").unlink()
    families._registered.cache_clear()
    with pytest.raises(cw.exceptions.ModelFormatError, match="'MiniSPN'"):
        cw.load(tmp_path / "toy.zip")
    assert CliRunner().invoke(main, ["toy"]).exit_code == 2


@pytest.mark.parametrize(
    ("entry", "text", "why"),
    [
        ("toy:NOTHING", TOY, "AttributeError"),
        ("toy:Toy", TOY, "expected a clearwood.families.Family"),
        ("toy:FAMILY", "import no_such_module", "no_such_module"),
        ("toy:FAMILY", TOY.replace('"Toy": "toy"', '"MiniSPN": "toy"'), "MiniSPN"),
        ("toy:FAMILY", TOY.replace('{"toy": "toy:', '{"sbfc": "toy:'), "sbfc"),
    ],
)  # fmt: skip
def test_a_record_that_cannot_be_used_is_named(installed, entry, text, why):
    installed(entry, text)
    with pytest.warns(UserWarning, match=rf"(?s)'toy' \({entry}\).*{why}"):
        assert families.families() == families.OWN
    # What belongs to this package works all the same.
    assert families.saving_module("MiniSPN") == "clearwood.circuits.saving"
    for arguments in (["sbfc", "--help"], ["--help"]):
        assert CliRunner().invoke(main, arguments).exit_code == 0


@pytest.mark.parametrize("name", ["family", "section", "title"])
def test_names_that_pages_and_files_use_are_refused(installed, name, tmp_path):
    text = TOY.replace('"toys", "A toy"', f'"{name}", "A toy"')
    installed(text=text.replace('codec.Field("mean"', 'codec.Field("version"'))
    import toy

    result = toy.Toy().fit([[0.0]], [1.0])
    with pytest.raises(InputError, match=repr(name)):
        cw.report(result, tmp_path / "page.html")
    with pytest.raises(InputError, match="'version'"):
        cw.save(result, tmp_path / "toy.zip")
