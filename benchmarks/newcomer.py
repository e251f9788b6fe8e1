"""Time of a new user's first steps, in a separate virtual environment.

The input is a table with texts, dates and missing values, and a pickled pipeline of
scikit-learn; the results are rules, a page, their scores on new rows, and equivalent
SQL. ``python -m benchmarks.newcomer`` (``--fresh`` for another environment).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time

from benchmarks._study import ROOT, Study, arguments, markdown_table

FOLDER = ROOT / "build" / "newcomer"

TABLE = """
import numpy as np, pandas as pd
rng = np.random.default_rng(0)
n = 4000
days = pd.to_timedelta(rng.integers(0, 900, n), "D")
wards = ["surgery", "medicine", "NA", None]
frame = pd.DataFrame({
    "patient": [f"P{i:05}" for i in range(n)],
    "admitted": pd.Timestamp("2018-01-01") + days,
    "ward": rng.choice(wards, n, p=[0.4, 0.4, 0.15, 0.05]),
    "age": rng.integers(18, 95, n).astype(float),
    "pulse": rng.normal(80, 12, n).round(),
})
risk = (frame["age"] > 70) + (frame["ward"] == "surgery") + (frame["pulse"] > 95) * 1.0
late = risk + (frame["admitted"] >= "2019-07-01") + rng.normal(0, 0.4, n) > 1.6
frame["outcome"] = np.where(late, "long stay", "short stay")
frame.loc[rng.random(n) < 0.1, "pulse"] = np.nan
frame[:3000].to_csv("stays.csv", index=False)
frame[3000:].to_csv("new.csv", index=False)
"""

PIPELINE = """
import joblib, pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
X = pd.read_csv("stays.csv", keep_default_na=False, na_values=[""])
encoded = make_column_transformer(
    (OneHotEncoder(handle_unknown="ignore"), ["ward"]),
    (SimpleImputer(), ["age", "pulse"]),
)
forest = RandomForestClassifier(100, min_samples_leaf=5, random_state=0, n_jobs=1)
columns = ["ward", "age", "pulse"]
joblib.dump(make_pipeline(encoded, forest).fit(X[columns], X["outcome"]), "model.pkl")
"""

TO_SKOPS = "import joblib, skops.io; skops.io.dump(joblib.load('model.pkl'), 'm.skops')"

COMPARISON = """
import sqlite3, subprocess, pandas as pd
predicted = pd.read_csv("predicted.csv")["prediction"]
new = pd.read_csv("new.csv", keep_default_na=False, na_values=[""])
with sqlite3.connect(":memory:") as base:
    new.to_sql("stays", base, index=False)
    found = pd.read_sql(open("rules.sql").read(), base)["prediction"]
print(f"{(found == predicted).sum():,} of {len(predicted):,} rows equal")
"""

MODEL = (
    "simplify m.skops stays.csv --target outcome --out rules.json --report page.html"
)

STEPS = [
    # Step, code or command, and whether it is part of the path or makes its input.
    ("virtual environment", None, True),
    ("install", None, True),
    ("a table", TABLE, False),
    ("a pickled pipeline", PIPELINE, False),
    ("import", "import clearwood", True),
    ("help", "--help", True),
    ("the pickle is refused", "check model.pkl", True),
    ("conversion to a file without code", TO_SKOPS, True),
    ("its contents", "check m.skops", True),
    ("rules and a page, first run", MODEL, True),
    ("rules and a page, second run", f"{MODEL} --overwrite", True),
    (
        "rules without a model",
        "simplify stays.csv --target outcome --drop patient",
        True,
    ),
    ("scores on new rows", "evaluate rules.json new.csv --model m.skops", True),
    (
        "a page about new rows",
        "report rules.json new.csv --model m.skops --held-out-from model"
        " --out new.html",
        True,
    ),
    (
        "predictions",
        "predict rules.json new.csv --id patient --out predicted.csv",
        True,
    ),
    (
        "SQL",
        "export rules.json --to sql --dialect sqlite --table stays --out rules.sql",
        True,
    ),
    ("BigQuery", "export rules.json --to sql --dialect bigquery --table stays", True),
    ("equality of SQL and rules", COMPARISON, True),
]


def command_of(step, text):
    """The arguments of a step's command."""
    python = FOLDER / "venv" / "bin" / "python"
    if step == "virtual environment":
        return [sys.executable, "-m", "venv", "venv"]
    if step == "install":
        return [python, "-m", "pip", "install", "-q", f"{ROOT}[skops,sql]"]
    if text.startswith(("\n", "import")):
        return [python, "-c", text]
    return [python.with_name("clearwood"), *text.split()]


def measure(step, text):
    """One step: seconds, and the last line of its output."""
    own = {
        k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")
    }
    begin = time.perf_counter()
    done = subprocess.run(
        list(map(str, command_of(step, text))),
        cwd=FOLDER, env=own, capture_output=True, text=True,
    )  # fmt: skip
    seconds = time.perf_counter() - begin
    if done.returncode and step != "the pickle is refused":
        raise RuntimeError(f"{step}: {done.stderr}")
    # All lines for a refused file, otherwise the last line.
    lines = [" ".join(line.split()) for line in done.stdout.strip().splitlines()]
    shown = " ".join(lines) if done.returncode else " ".join(lines[-1:])
    silent = step in ("install", "help")
    return [{"seconds": seconds, "says": "" if silent else shown[:300]}]


def main():
    """Run all steps in order, and write the page."""
    options = arguments(__doc__.splitlines()[0])
    study = Study("newcomer", ("step",), options)
    # Every step needs the files of previous steps.
    if study.is_new or not FOLDER.exists():
        study.csv.unlink(missing_ok=True)
        shutil.rmtree(FOLDER, ignore_errors=True)
        FOLDER.mkdir(parents=True)
    study.run(
        {(step,): lambda s=step, t=text: measure(s, t) for step, text, _ in STEPS},
        warm=lambda: None,
    )
    found = {row["step"]: row for row in study.rows()}
    lines, total = [], 0.0
    for step, text, is_path in STEPS:
        row = found[step]
        total += float(row["seconds"]) * is_path
        is_verb = text and not text.startswith(("\n", "import"))
        shown = f"`clearwood {text}`" if is_verb else ""
        who = "" if is_path else " (input)"
        lines.append([step + who, float(row["seconds"]), shown, row["says"]])
    study.write_markdown(
        "First steps of a new user",
        "From a CSV file with texts, dates and missing values, and a pickled "
        "pipeline of scikit-learn, to rules, a page, scores on new rows and SQL, in "
        "a separate virtual environment. Wall times; installation depends on the "
        "connection to the package index and includes the compilation of kernels, "
        "and the import loads no other modules yet.",
        markdown_table(["step", "seconds", "command", "last line of output"], lines),
        f"Total: {total:.0f} s.",
    )


if __name__ == "__main__":
    main()
