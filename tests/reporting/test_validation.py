"""Validation documents: the report, with what a validator has to sign."""

import html
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.cli.test_cli import run
from tests.reporting.results import classes_rules, numbers_rules
from tests.wording import refuses

import clearwood as cw
from clearwood.outcomes.survival import Survival
from clearwood.rules.monitoring import groups


def sample(n=60):
    rng = np.random.default_rng(0)
    return pd.DataFrame({
        "temperature": rng.uniform(35, 40, n),
        "colour": rng.choice(["r", "g"], n),
        "ward": rng.choice(["north", "<b>"], n),
    })  # fmt: skip


def document(folder, rules=None, **options):
    X = options.setdefault("X", sample())
    rules = classes_rules() if rules is None else rules
    given = {"y": rules.predict(X), "purpose": "Triage by <telephone>"}
    path = folder / "document.html"
    cw.validation_document(rules, path, overwrite=True, **given | options)
    page = path.read_text("utf-8")
    parts = re.split(r'<h2 id="(\w+)"', page)
    text = {name: cell_texts(part) for name, part in zip(parts[1::2], parts[2::2])}
    return page, text


def cell_texts(part):
    found = re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", part, re.S)
    return [html.unescape(re.sub("<[^>]+>", "", one)).strip() for one in found]


def test_it_has_the_parts_of_a_validation(tmp_path):
    page, parts = document(tmp_path, limits=["Summer <only>"], roles=["Ann", "Bo"])
    wanted = (
        "purpose data limits verdict rules scores decisions segments sensitivity "
        "failures explained words settings signatures"
    ).split()
    order = [page.index(f'id="{name}"') for name in wanted]
    assert order == sorted(order)
    links = re.findall(r'<li><a href="#(\w+)"', page)
    assert [name for name in links if name in wanted] == wanted
    assert "Triage by &lt;telephone&gt;" in page and "Summer &lt;only&gt;" in page
    assert parts["signatures"][4::4] == ["Ann", "Bo"]
    assert "<script" not in page and "src=" not in page


def test_segments_are_those_of_the_rows(tmp_path):
    X = sample()
    y = np.where(X.index < 30, "ill", "well")
    _, parts = document(tmp_path, y=y, by="ward", pos_label="ill")
    found, _ = groups.errors_by_group(
        classes_rules(), groups_sample(X, y), "ward", "ill"
    )
    wanted = [[g.group, str(g.rows), *map(str, g.errors.values())] for g in found]
    assert parts["segments"][5:] == sum(wanted, [])
    assert document(tmp_path)[1]["segments"] == []


def groups_sample(X, y):
    from clearwood.rules.monitoring.quantities import read_sample

    return read_sample(classes_rules(), X, y, "X")


def test_sensitivity_is_that_of_shifted_columns(tmp_path):
    X, rules = sample(), classes_rules()
    _, parts = document(tmp_path)
    shift = 0.1 * X["temperature"].std(ddof=0)
    shares = [
        (rules.predict(X.assign(temperature=X["temperature"] + step))
         != rules.predict(X)).mean()
        for step in (-shift, shift)
    ]  # fmt: skip
    name, *found = parts["sensitivity"][3:]
    assert name == "temperature" and min(shares) > 0
    assert [float(text.split()[0]) for text in found] == pytest.approx(
        [100 * share for share in shares], abs=0.51
    )


def test_values(tmp_path):
    X = pd.DataFrame({"x0": np.linspace(0, 1, 40), "x1": 0.0})
    rules = numbers_rules()
    y = np.linspace(0, 4, 40)
    page, parts = document(tmp_path, rules, X=X, y=y, by=["a", "b"] * 20)
    assert parts["segments"][:4] == ["group", "Rows", "RMSE", "bias"]
    shift = 0.1 * X["x0"].std(ddof=0)
    change = np.abs(rules.predict(X + shift) - rules.predict(X)).mean()
    assert float(parts["sensitivity"][5]) == pytest.approx(change, rel=0.01)


def test_the_hash_is_that_of_the_data(tmp_path):
    X = sample()
    y = classes_rules().predict(X)

    def digest(**options):
        return document(tmp_path, **options)[1]["data"][-1]

    first = digest()
    order = np.random.default_rng(0).permutation(60)
    assert digest(X=X.iloc[order], y=y[order]) == first
    assert digest(X=X.assign(temperature=X["temperature"] + 1e-9)) != first
    assert len({digest(y=[label] * 60) for label in ("ill", "well")}) == 2
    y[0] = "ill" if y[0] == "well" else "well"
    assert digest(y=y) != first


def test_the_command(tmp_path):
    X = sample()
    frame = X.assign(state=classes_rules().predict(X))
    frame.to_csv(tmp_path / "new.csv", index=False)
    cw.save(classes_rules(), tmp_path / "rules.json")
    out = tmp_path / "document.html"
    asked = ("--purpose", "Triage", "--by", "ward", "--limit", "One", "--limit", "Two")
    result = run(
        "validate", tmp_path / "rules.json", tmp_path / "new.csv", "--out", out, *asked
    )
    assert result.exit_code == 0, result.stderr
    page = out.read_text("utf-8")
    assert "<p>Triage</p>" in page and "<li>Two</li>" in page and "&lt;b&gt;" in page
    again = run(
        "validate", tmp_path / "rules.json", tmp_path / "new.csv", "--out", out, *asked
    )
    assert again.exit_code == 1


def test_a_column_without_values(tmp_path):
    X = sample().assign(temperature=np.nan)
    assert document(tmp_path, X=X)[1]["sensitivity"][3:] == [
        "temperature",
        "0 %",
        "0 %",
    ]


@pytest.mark.parametrize(
    "given", [{"purpose": None}, {"limits": "One"}, {"limits": [1]}, {"roles": "Ann"}]
)
def test_texts_are_texts(tmp_path, given):
    with refuses(cw.exceptions.InputError):
        document(tmp_path, **given)


def test_the_command_refuses_survival_rules(tmp_path):
    rules = replace(numbers_rules(), outcome=Survival(horizons=(1.0,)))
    cw.save(rules, tmp_path / "rules.json")
    sample().to_csv(tmp_path / "new.csv", index=False)
    done = run(
        "validate", tmp_path / "rules.json", tmp_path / "new.csv", "--purpose", "X",
        "--out", tmp_path / "document.html",
    )  # fmt: skip
    assert done.exit_code == 1 and "task survival" in done.stderr


def test_an_existing_file_is_kept(tmp_path):
    document(tmp_path)
    X = sample()
    with refuses(cw.exceptions.InputError):
        cw.validation_document(
            classes_rules(), tmp_path / "document.html", X=X, y=["ill"] * 60, purpose=""
        )
