"""What a newcomer tries first, and what comes of it: works, is refused, or breaks.

``python -m benchmarks.mistakes before.csv`` writes what the library that is imported
makes of every case; with two files, ``python -m benchmarks.mistakes before.csv
after.csv --table``, both become the table of ``results/mistakes.md``.
"""

from __future__ import annotations

import csv
import datetime
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
from click.testing import CliRunner
from sklearn.ensemble import RandomForestClassifier

import clearwood as cw
from clearwood.cli import main
from clearwood.exceptions import ClearwoodError

RESULT = Path(__file__).parent / "results" / "mistakes.md"


def visits(n=120):
    rng = np.random.default_rng(0)
    begun = pd.Timestamp("2018-01-01") + pd.to_timedelta(rng.permutation(n) * 7, "D")
    X = pd.DataFrame(
        {
            "age": rng.integers(18, 90, n),
            "country": rng.choice(["NA", "IT", "NO"], n),
            "begun": begun,
            "stay": pd.to_timedelta(rng.integers(1, 90, n), "h"),
            "member": rng.random(n) < 0.5,
        }
    )
    y = np.where((begun >= "2019-04-01") & (X["country"] != "NO"), "yes", "no")
    return X, y


X, Y = visits()
PLAIN = X[["age", "member"]]


def rules(**changed):
    return cw.RuleListClassifier(random_state=0, **changed)


def of_age():
    """Rules that ask one of two columns."""
    old = X["age"] > 50
    model = RandomForestClassifier(10, random_state=0).fit(PLAIN, old)
    return cw.simplify(model, PLAIN, old, max_rules=2, random_state=0)


def zoned():
    return X[["age"]].assign(at=X["begun"].dt.tz_localize("Europe/Rome"))


IN_PYTHON = {
    "a column of text, no ensemble named": lambda: rules().fit(X[["country"]], Y),
    "the same in polars": lambda: rules().fit(pl.from_pandas(X[["country"]]), Y),
    "a column of text, a random forest": lambda: rules(
        estimator=RandomForestClassifier(10, random_state=0)
    ).fit(X[["country"]], Y),
    "a declared category of text, a random forest": lambda: rules(
        estimator=RandomForestClassifier(10, random_state=0)
    ).fit(X[["country"]].astype("category"), Y),
    "a column of dates": lambda: rules().fit(X[["begun"]], Y),
    "dates with a time zone": lambda: rules().fit(zoned(), Y),
    "dates as objects of Python": lambda: rules().fit(
        pd.DataFrame({"day": [day.date() for day in X["begun"]]}), Y
    ),
    "dates in polars": lambda: rules().fit(pl.from_pandas(X[["begun"]]), Y),
    "durations": lambda: rules().fit(X[["stay", "begun"]], Y),
    "dates, a meta-tree": lambda: cw.MetaTreeClassifier().fit(X, Y),
    "truth values with gaps": lambda: rules().fit(
        X[["age"]].assign(member=X["member"].astype("boolean").mask(X.index < 3)), Y
    ),
    "times of the day": lambda: rules().fit(
        X.assign(at=[datetime.time(3)] * len(X)), Y
    ),
    "free text": lambda: rules().fit(
        pd.concat([X] * 3).assign(note=[f"n{i}" for i in range(360)]), np.tile(Y, 3)
    ),
    "numbers and text in one column": lambda: rules().fit(
        X.assign(age=["old", *X["age"][1:]]), Y
    ),
    "rules on a frame without a column that they do not ask": lambda: of_age().predict(
        X[["age"]]
    ),
    "rules on a frame without a column that they ask": lambda: of_age().predict(
        X[["member"]]
    ),
    "rules on a frame with more columns, in another order": lambda: of_age().predict(
        X[X.columns[::-1]]
    ),
    "an estimator on columns in another order": lambda: (
        rules().fit(PLAIN, Y).predict(PLAIN[["member", "age"]])
    ),
    "a model that is not fitted": lambda: cw.simplify(
        RandomForestClassifier(), PLAIN, Y
    ),
    "a Series for a table": lambda: rules().fit(X["age"], Y),
    "a list of texts for a table": lambda: rules().fit([["a"]] * len(Y), Y),
    "y of another length": lambda: rules().fit(PLAIN, Y[1:]),
    "y with a gap": lambda: rules().fit(PLAIN, [None, *Y[1:]]),
    "y of one class": lambda: rules().fit(PLAIN, ["no"] * len(Y)),
    "the regressor for labels": lambda: cw.RuleListRegressor().fit(PLAIN, Y),
    "two columns of one name": lambda: rules().fit(X[["age", "age"]], Y),
    "n_rules above max_rules": lambda: rules(n_rules=20).fit(PLAIN, Y),
    "rules judged beside a function": lambda: of_age().evaluate(
        PLAIN, X["age"] > 50, model=lambda frame: frame["age"] > 50
    ),
    "rules judged beside probabilities": lambda: of_age().evaluate(
        PLAIN, model=np.column_stack([X["age"] <= 50, X["age"] > 50])
    ),
    "a model of another number of columns": lambda: rules(
        estimator=RandomForestClassifier(10, random_state=0).fit(PLAIN.to_numpy(), Y)
    ).fit(X[["age"]].to_numpy(), Y),
    "the target among the columns": lambda: rules().fit(
        PLAIN.assign(member=Y), pd.Series(Y, name="member")
    ),
    "the name of the target in its place": lambda: rules().fit(PLAIN.assign(y=Y), "y"),
    "the target first, then the table": lambda: rules().fit(Y, PLAIN),
    "the name of a file for a table": lambda: rules().fit("data.csv", Y),
    "a lazy frame of polars": lambda: rules().fit(pl.from_pandas(PLAIN).lazy(), Y),
    "weights called balanced": lambda: rules().fit(PLAIN, Y, sample_weight="balanced"),
    "a file that is not there": lambda: cw.read_ensemble("model.json"),
}


def table(change=lambda frame: frame, **written):
    """A CSV, and the simplify command without a model for it."""
    return change(X.drop(columns="stay").assign(y=Y)).to_csv(index=False, **written)


SHORT = ("--max-rules", "3", "--quiet")
IN_THE_SHELL = {
    "neither a model nor --train": (table(), SHORT),
    "text, --train random-forest": (table(), ("--train", "random-forest", *SHORT)),
    "a country called NA": (table(), ("--drop", "begun", *SHORT)),
    "semicolons": (table(sep=";"), SHORT),
    "tabs": (table(sep="\t"), SHORT),
    "UTF-8 with a mark": (table().encode("utf-8-sig"), SHORT),
    "UTF-16": (table().encode("utf-16"), SHORT),
    "Windows' letters": (table().replace("IT", "Italià").encode("cp1252"), SHORT),
    "Windows' letters, said": (
        table().replace("IT", "Italià").encode("cp1252"),
        ("--encoding", "cp1252", *SHORT),
    ),
    "one bad cell in a column of numbers": (
        table(lambda frame: frame.assign(age=[*frame["age"][1:], "n.d."])), SHORT
    ),
    "no target": (table(), ("--target", "z", *SHORT)),
    "a target with a gap": (
        table(lambda frame: frame.assign(y=[None, *Y[1:]])), SHORT
    ),
    "names of rows": (
        table(lambda f: pd.concat([f] * 3).assign(id=[f"c{i}" for i in range(360)])),
        SHORT,
    ),
    "dates of Europe": (
        table(lambda f: f.assign(begun=f["begun"].dt.strftime("%d.%m.%Y"))), SHORT
    ),
    "no rows": ("age,y\n", SHORT),
    "an empty file": ("", SHORT),
    "a column twice": ("a,a,y\n1,2,x\n", SHORT),
    "an unknown option": (table(), ("--rules", "3")),
}  # fmt: skip


def outcome(case):
    """How a case ends, and the message."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            case()
    except ClearwoodError as error:
        return "refused", str(error)
    except SystemExit:
        raise
    except Exception as error:
        return "breaks", f"{type(error).__name__}: {error}"
    return "works", ""


def in_the_shell(case, content, options, folder):
    path = Path(folder) / "data.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    given = ["simplify", str(path), "--target", "y", *options]
    if "neither" not in case and "--train" not in options:
        given += ["--train", "hist-gradient-boosting"]
    done = CliRunner().invoke(main, given)
    if done.exit_code == 0:
        return "works", ""
    words = done.stderr.strip().splitlines()[-1]
    return "refused", words.replace(str(path), "data.csv")


def run(name):
    with tempfile.TemporaryDirectory() as folder, open(name, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["case", "outcome", "message"])
        for case, tried in IN_PYTHON.items():
            writer.writerow([case, *outcome(tried)])
        for case, (content, options) in IN_THE_SHELL.items():
            found = in_the_shell(case, content, options, folder)
            file.flush()
            writer.writerow([f"command: {case}", *found])


def tell(before, after):
    both = [pd.read_csv(name, keep_default_na=False) for name in (before, after)]
    lines = [
        "# What a newcomer tries first",
        "",
        'Made with `python -m benchmarks.mistakes`. "Refused" is one sentence that '
        'names the remedy; "breaks" is an error of another library, or a traceback.',
        "",
        "| case | before | after | what is said now |",
        "|---|---|---|---|",
    ]
    for (_, old), (_, new) in zip(both[0].iterrows(), both[1].iterrows()):
        words = " ".join(new["message"].split())[:300].replace("|", "\\|")
        lines.append(
            f"| {new['case']} | {old['outcome']} | {new['outcome']} | {words} |"
        )
    counts = [frame["outcome"].value_counts().to_dict() for frame in both]
    lines += ["", f"Before {counts[0]}, after {counts[1]}.", ""]
    RESULT.write_text("\n".join(lines))


if __name__ == "__main__":
    names = [name for name in sys.argv[1:] if not name.startswith("--")]
    if "--table" in sys.argv:
        tell(*names)
    else:
        run(*names)
