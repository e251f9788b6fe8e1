"""Rules as tools of an agent: what Python and other commands return, and no more."""

import json
import os
import subprocess
import sys
from functools import partial
from types import SimpleNamespace

import anyio
import numpy as np
import pandas as pd
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from tests.cli.test_cli import failed, run
from tests.cli.test_saved import RULES
from tests.wording import same_text

import clearwood as cw
from clearwood.cli.mcp_server import MOST_FILES, server_of
from clearwood.columns.info import ColumnInfo
from clearwood.rules import FeatureSpace, Interval, Rule, RuleSum

ROW = {"dose": 0.3, "ward": "north"}
SECRET = "Smith"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Rules, a table of 40 rows, of which 3 have a dose above 0.75, and two secrets."""
    folder = tmp_path_factory.mktemp("mcp")
    RULES.save(folder / "rules.json")
    doses = np.r_[np.full(3, 0.9), np.linspace(0, 0.7, 37)]
    frame = pd.DataFrame({"dose": doses, "ward": ["west", "north"] * 20})
    frame["state"] = np.where(frame["dose"] > 0.5, "ill", "well")
    (folder / "allowed").mkdir()
    frame.assign(name=SECRET).to_csv(folder / "allowed" / "new.csv", index=False)
    wrong = frame.astype({"dose": object})
    wrong.loc[7, "dose"] = SECRET
    wrong.to_csv(folder / "allowed" / "wrong.csv", index=False)
    (folder / "allowed" / "model.json").write_text(SECRET)
    frame[:4].to_csv(folder / "allowed" / "few.csv", index=False)
    frame.to_csv(folder / "outside.csv", index=False)
    (folder / "allowed" / "link.csv").symlink_to(folder / "outside.csv")
    (folder / "allowed" / "old").mkdir()
    frame.to_csv(folder / "allowed" / "old" / "new.csv", index=False)
    return folder


@pytest.fixture
def server(folder):
    return served(folder / "rules.json", folder / "allowed")


def served(rules, *allowed):
    """Server as of the command line, whose log is a list."""
    log = []
    cells = {"na": (), "sep": None, "encoding": None}
    args = SimpleNamespace(
        rules=str(rules), allow=[str(path) for path in allowed], log=log.append, **cells
    )
    server = server_of(args)
    server.log = log
    return server


def called(server, *calls):
    """Results of calls of tools, each a name and arguments."""

    async def results():
        with anyio.fail_after(60):
            async with Client(server) as client:
                return [await client.call_tool(name, given) for name, given in calls]

    return anyio.run(results)


def answer(server, name, **given):
    (result,) = called(server, (name, given))
    assert not result.is_error, result.content
    # Clients without structured output read the text.
    text, data = result.content[0].text, result.structured_content
    assert data == ({"result": text} if name == "rules" else json.loads(text))
    return text if name == "rules" else data


def refused(server, name, **given):
    (result,) = called(server, (name, given))
    assert result.is_error and len(result.content) == 1
    same_text(result.content[0].text)
    return result.content[0].text


def test_tools_only_read(folder):
    async def listed(server):
        async with Client(server) as client:
            return client.instructions, (await client.list_tools()).tools

    rules = folder / "rules.json"
    instructions, tools = anyio.run(partial(listed, served(rules, folder)))
    names = ["rules", "explain", "what_if", "check", "evaluate"]
    assert [tool.name for tool in tools] == names
    for tool in tools:
        assert tool.annotations.read_only_hint
        assert not tool.annotations.destructive_hint
    same_text(instructions)
    same_text("\n\n".join(f"{tool.name}: {tool.description}" for tool in tools))
    _, tools = anyio.run(partial(listed, served(rules)))
    assert [tool.name for tool in tools] == names[:-1]


def test_rules_are_complete_or_state_what_they_omit(server):
    assert cw.RuleList.from_prompt(answer(server, "rules")) == RULES
    least = len(RULES.to_prompt(500)) // 2
    assert "Omitted" in answer(server, "rules", max_tokens=least - 10)
    refused(server, "rules", max_tokens=5)


def test_survival_rules_of_few_rows_have_no_statistics(tmp_path):
    X = pd.DataFrame({"dose": np.r_[np.full(3, 0.9), np.linspace(0, 0.7, 57)]})
    y = pd.DataFrame(
        {"died": np.arange(60) % 3 < 2, "time": np.arange(60) * 7 % 60 / 10}
    )
    rules = cw.DistilledTreeSurvival(
        lambda X: np.where(np.asarray(X)[:, 0] > 0.8, 0.1, 0.9), horizons=3.0,
        n_rules=2, min_samples_leaf=1, n_synthetic=0, random_state=0,
    ).fit(X, y).rules_  # fmt: skip
    assert "3 rows" in str(rules)
    rules.save(tmp_path / "rules.json")
    server = served(tmp_path / "rules.json")
    told = answer(server, "rules")
    assert "(3 rows" not in told and "57 rows" in told
    assert told.count("survival ") == 2
    explained = answer(server, "explain", row={"dose": 0.3})
    assert explained["words"].startswith("survival ") and explained["words"] in told
    changed = answer(server, "what_if", row={"dose": 0.3}, changes={"dose": 0.9})
    assert changed["before"]["words"] == explained["words"]
    assert changed["after"]["words"] not in ("", explained["words"])


@pytest.mark.parametrize("row", [ROW, {"dose": None, "ward": "west", "name": "x"}])
def test_explanations_are_those_of_python(server, row):
    told = answer(server, "explain", row=row, fixed=["ward"])
    own = cw.explain(RULES, row, fixed=["ward"])
    assert told == json.loads(json.dumps(own.as_dict() | {"reasons": own.reasons()}))


def test_changes_do_what_they_state(server):
    told = answer(server, "what_if", row=ROW, changes={"dose": 0.75})
    assert told["before"] == told["after"] == {"prediction": "well", "rule": 3}
    assert len(told["smallest_changes"]) == 2
    for change in told["smallest_changes"]:
        changes = dict(zip(change["features"], change["values"]))
        after = answer(server, "what_if", row=ROW, changes=changes)["after"]
        wanted = RULES.predict(pd.DataFrame([ROW | changes]))[0]
        assert after["prediction"] == change["prediction"] == wanted == "ill"
        assert after["rule"] == change["rule"]


def test_wrong_rows_are_refused(server):
    refused(server, "explain", row={"dose": 0.3})
    refused(server, "explain", row=ROW | {"dose": "high"})
    refused(server, "what_if", row=ROW, changes={"age": 3})
    refused(server, "explain", row=ROW, fixed=["age"])


def test_numbers_of_a_sum(tmp_path):
    space = FeatureSpace(("dose",), (None,))
    rules = RuleSum((Rule((Interval(0, low=0.5),), 2.0),), Rule((), 1.0), space)
    rules.save(tmp_path / "sum.json")
    frame = pd.DataFrame({"dose": [0.7] * 3 + [0.1] * 9, "y": np.linspace(0, 4, 12)})
    frame.to_csv(tmp_path / "new.csv", index=False)
    server = served(tmp_path / "sum.json", tmp_path)
    assert answer(server, "explain", row={"dose": 0.7})["prediction"] == 3.0
    told = answer(server, "evaluate", table="new.csv")
    assert ["withheld" in line for line in told["rules"]] == [True, False]
    # A quantile of the errors would reveal the value of a row.
    assert {"rmse", "mean"} <= told["rates"][-1].keys()
    assert not any("%" in key for rate in told["rates"] for key in rate)


def test_dates_and_durations_are_texts(tmp_path):
    kinds = ColumnInfo(kind="date"), ColumnInfo(kind="duration")
    space = FeatureSpace(("start", "stay"), (None, None), info=kinds)
    box = (Interval(0, low=17897.0), Interval(1, low=2.0))
    cw.RuleList((Rule(box, 2.0),), Rule((), 1.0), space).save(tmp_path / "dates.json")
    server = served(tmp_path / "dates.json")
    row = {"start": "2019-01-02", "stay": "3 days"}
    assert answer(server, "explain", row=row)["prediction"] == 2.0
    changes = {"start": "2018-12-31"}
    after = answer(server, "what_if", row=row, changes=changes)["after"]
    assert after["prediction"] == 1.0
    refused(server, "explain", row=row | {"start": "soon"})
    refused(server, "explain", row=row | {"stay": "long"})


def test_numbers_are_those_of_the_command(folder, server):
    told = answer(server, "evaluate", table="new.csv")
    own = run("evaluate", folder / "rules.json", folder / "allowed/new.csv", "--json")
    own = json.loads(own.stdout)
    assert told["scores"] == own["scores"] and told["rows"] == own["rows"] == 40
    few, *others = told["rules"]
    assert few == {
        "conditions": "dose > 0.75",
        "prediction": "ill",
        "withheld": "fewer than 5 rows",
    }
    assert [line["rows_assigned"] for line in others] == [18, 19]
    assert [rate["value"] for rate in told["rates"]] == [
        pytest.approx(rate["value"]) for rate in own["decisions"]
    ]
    assert SECRET not in json.dumps(told)


def test_files_are_not_quoted(server):
    told = [refused(server, "evaluate", table=one) for one in ("wrong.csv", "few.csv")]
    told.append(json.dumps(found := answer(server, "check", file="model.json")))
    assert SECRET not in "".join(told) and not found["sound"]
    same_text(found["problem"])
    # The reason is where the operator reads it.
    assert sum(SECRET in line for line in server.log) == 2


def test_only_allowed_files_are_read(folder, server):
    outside = folder / "outside.csv"
    names = ["../outside.csv", "../absent.csv", str(outside), "link.csv", ".", "a\0b"]
    texts = [
        result.content[0].text
        for result in called(server, *(("evaluate", {"table": one}) for one in names))
    ]
    assert all(repr(name) in text for name, text in zip(names, texts))
    assert len({text.partition(" is ")[2] for text in texts}) == 1
    # It shows not whether another file exists.
    assert texts[0].replace("outside", "absent") == texts[1]
    refused(server, "check", file="../outside.csv")
    # What is listed is read, also in a folder; nothing else is listed.
    assert texts[0].count(".csv'") == 5 and "link" not in texts[0]
    assert answer(server, "evaluate", table="old/new.csv")["rows"] == 40
    long = refused(server, "evaluate", table="x" * 5000)
    assert str(folder) not in long and len(long) < 200
    refused(served(folder / "rules.json"), "check", file="rules.json")
    one = served(folder / "rules.json", outside)
    assert answer(one, "evaluate", table="outside.csv")["rows"] == 40
    assert called(one, ("check", {"file": "rules.json"}))[0].is_error


def test_many_allowed_files_are_not_all_listed(folder, tmp_path):
    for i in range(30):
        (tmp_path / f"{i:02}.csv").touch()
    text = refused(served(folder / "rules.json", tmp_path), "check", file="absent")
    assert text.count(".csv'") == MOST_FILES


def test_its_own_file_is_checked(server):
    found = answer(server, "check")
    assert found["sound"] and found["name"] == "rules.json"


def test_the_command_speaks_the_protocol_only(folder):
    """On standard output there is nothing else, and the process ends with its input."""
    arguments = ["-m", "clearwood", "mcp", str(folder / "rules.json")]

    async def text():
        process = StdioServerParameters(
            command=sys.executable, args=arguments, env=dict(os.environ)
        )
        with anyio.fail_after(120):
            async with Client(stdio_client(process)) as client:
                result = await client.call_tool("rules", {})
                return result.content[0].text

    assert cw.RuleList.from_prompt(anyio.run(text)) == RULES
    ended = subprocess.run(
        [sys.executable, *arguments], input=b"", capture_output=True, timeout=120
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")


def test_a_result_without_rules_and_the_missing_package(folder, monkeypatch):
    assert failed(run("mcp", folder / "outside.csv"))
    monkeypatch.setitem(sys.modules, "mcp.server", None)
    assert failed(run("mcp", folder / "rules.json"))
