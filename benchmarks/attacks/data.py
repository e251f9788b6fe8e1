"""Data: is any column, cell or table predicted wrongly without a warning?

64-bit ids, the same column in other types, unusual cells, tables of all kinds, and CSV
files with an invalid cell: correct predictions, a warning, or an error that names the
place.
"""

import decimal
import tempfile
import warnings
from datetime import date
from functools import partial as bind
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
from tests.estimators import IDS, KINDS, says

import clearwood as cw
from benchmarks.attacks.checks import (
    Attack,
    Failed,
    command,
    held,
    of_all,
    study,
    with_warnings,
)
from clearwood.exceptions import ClearwoodError
from clearwood.rules import CategorySet, Rule, RuleList

LARGE = 1_500_000_000_000_000_000
UNKNOWN = "UnknownCategoriesWarning"

CELLS = {
    "a list": [1, 2],
    "a set": {1},
    "an array": np.arange(2),
    "a tuple": (1, 2),
    "a signalling NaN": decimal.Decimal("sNaN"),
    "10**400": 10**400,
    "a lone surrogate": "\ud800",
    "a date": date(2024, 1, 1),
    "a complex number": 1 + 2j,
    "bytes": b"a",
    "an object": object(),
}

TABLES = {
    "a dash": ("-", 70),
    "a null character": ("\0", 70),
    "a number with a unit": ("1.5 kg", 3),
    "a comma for the point": ('"1,5"', 3),
}


def main():
    study("data", __doc__, attacks)


def attacks(count):
    """All attacks; ``count`` is the number of random tables."""
    named = "correct, or an error that names the column"
    return [
        Attack("rules on ids above 2**53", "exact", rules_on_large_ids),
        Attack("LightGBM on 64-bit ids", "as predicted by LightGBM", lightgbm_ids),
        Attack(
            "64-bit integers in XGBoost", "as predicted by XGBoost", xgboost_integers
        ),
        Attack("fits to 64-bit ids", "score as for text", bind(of_all, large_ids)),
        Attack("kinds of tables", "the same predictions", bind(of_all, kinds)),
        Attack("ids in other types", "the same predictions", bind(of_all, spellings)),
        Attack("unknown categories", "a warning", bind(of_all, unknown)),
        Attack("unusual cells", named, bind(of_all, odd_cells)),
        Attack("random tables", named, bind(of_all, random_tables, count)),
        Attack("invalid cells in a CSV file", "an error with the line", bad_cells),
        Attack("--classes in the wrong order", "a warning", classes_in_wrong_order),
    ]


# Ids


def rules_on_large_ids():
    ids = (2**53, 2**53 + 1)
    space = cw.FeatureSpace(("id",), (ids,))
    rules = RuleList((Rule((CategorySet(0, (1,)),), 1.0),), Rule((), 0.0), space)
    tables = [
        np.array(ids)[:, None],
        pd.DataFrame({"id": ids}),
        pl.DataFrame({"id": ids}),
    ]
    predictions = [rules.predict(table).tolist() for table in tables]
    return held(
        all(one == [0, 1] for one in predictions),
        f"array, pandas, polars: {predictions}",
    )


def id_rows(base, case, n=600):
    """Six ids on which the target depends, and numbers on which it does not."""
    rng = np.random.default_rng(0)
    code = rng.integers(0, 6, n)
    ids = base + 7 * np.arange(6)
    y = np.array([0.0, 5.0, 1.0, 7.0, 2.0, 9.0])[code]
    X = pd.DataFrame(
        {"id": pd.Categorical(ids[code], categories=ids), "a": rng.normal(size=n)}
    )
    return X, np.where(y > 4, "high", "low") if case.classifies else y


def large_ids(case):
    scores = {}
    for name, base in {"small": 1, "large": LARGE}.items():
        X, y = id_rows(base, case)
        found = case.made(None).fit(X, y)
        scores[name] = found.score(X, y)
        scores[f"{name} as integers"] = found.score(X.astype({"id": "int64"}), y)
    X, y = id_rows(1, case)
    text = X.assign(id=X["id"].cat.rename_categories(list("abcdef")))
    scores["text"] = case.made(None).fit(text, y).score(text, y)
    text = ", ".join(f"{name}: {score:.3f}" for name, score in scores.items())
    return held(min(scores.values()) > scores["text"] - 1e-9, text)


def lightgbm_ids():
    import lightgbm

    rng = np.random.default_rng(0)
    code, ids = rng.integers(0, 6, 600), LARGE + 7 * np.arange(6)
    column = pd.Categorical(ids[code], categories=ids)
    X = pd.DataFrame({"id": column, "a": rng.normal(size=600)})
    y = np.array([0.0, 5.0, 1.0, 7.0, 2.0, 9.0])[code]
    settings = {"min_child_samples": 5, "min_data_per_group": 5, "cat_smooth": 1}
    model = lightgbm.LGBMRegressor(verbose=-1, n_jobs=1, **settings).fit(X, y)
    native, ours = model.predict(X), cw.read_ensemble(model)
    errors = [
        float(np.abs(native - ours.predict(table)).max())
        for table in (
            X,
            X.astype({"id": "int64"}),
            pl.from_pandas(X.astype({"id": int})),
        )
    ]
    return held(max(errors) < 1e-9, f"category, int64, polars: {errors}")


def xgboost_integers():
    import xgboost

    low = 2**60
    X = np.array([[low], [low + 2**37]], dtype=np.int64).repeat(20, 0)
    y = np.repeat([0.0, 1.0], 20)
    settings = {"n_estimators": 1, "learning_rate": 1, "min_child_weight": 0}
    model = xgboost.XGBRegressor(base_score=0, n_jobs=1, **settings).fit(X, y)
    X_new = np.array([[low + 2**36 + 1]], dtype=np.int64)
    native, ours = model.predict(X_new)[0], cw.read_ensemble(model).predict(X_new)[0]
    return held(native == ours, f"XGBoost {native:g}, read {ours:g}")


# Kinds of tables


def kinds(case):
    X, y = case.gaps()
    found = case.made(case.gap_teacher()).fit(X, y)
    other = [
        name
        for name, made in KINDS.items()
        if (says(found, made(X)) != says(found, X)).any()
    ]
    return held(
        not other,
        f"{len(KINDS)} kinds; different predictions: {', '.join(other) or 'none'}",
    )


def spellings(case):
    X, y = case.gaps()
    other = []
    for name, labels in IDS.items():
        table = X.assign(ward=X["ward"].cat.rename_categories(labels))
        found = case.made(case.gap_teacher(labels)).fit(table, y)
        plain = table.astype({"ward": type(labels[0])})
        forms = {"plain": plain, "object": plain.astype({"ward": object})}
        forms["polars"] = pl.from_pandas(plain)
        for form, cells in forms.items():
            if (says(found, cells) != says(found, table)).any():
                other.append(f"{name} {form}")
    return held(not other, f"different predictions: {', '.join(other) or 'none'}")


def unknown(case):
    """A column of digits that a file returns as numbers."""
    X, y = case.gaps()
    table = X.assign(ward=X["ward"].cat.rename_categories(IDS["digits"]))
    found = case.made(case.gap_teacher(IDS["digits"])).fit(table, y)
    numbers = table.astype({"ward": str}).astype({"ward": int})
    with tempfile.TemporaryDirectory() as folder:
        ways = {
            "predict": lambda: found.predict(numbers),
            "score": lambda: found.score(numbers, y),
        }
        if hasattr(found, "ensemble_"):
            ways["ensemble"] = lambda: found.ensemble_.predict(numbers)
        if hasattr(found, "rules_"):
            ways["rules"] = lambda: found.rules_.predict(numbers)
            page = f"{folder}/a.html"
            ways["report"] = lambda: cw.report(found, page, X=numbers, y=y)
            ways["evaluate"] = lambda: found.rules_.evaluate(numbers, y)
        if hasattr(found, "partial_fit"):
            ways["partial_fit"] = lambda: found.partial_fit(numbers, y)
        silent = [
            name for name, way in ways.items() if UNKNOWN not in with_warnings(way)[1]
        ]
    return held(
        not silent, f"{len(ways)} ways; no warning: {', '.join(silent) or 'none'}"
    )


# Unusual cells


def odd_cells(case):
    """Predict with every unusual cell, in a categorical and in a numeric column."""
    X, y = case.gaps()
    found = case.made(case.gap_teacher()).fit(X, y)
    wrong = []
    for column in X:
        for name, cell in CELLS.items():
            table = X.astype({column: object})
            table[column] = pd.Series([cell, *table[column][1:]], dtype=object)
            wrong += foreign(f"{name} in {column}", found.predict, table, column)
    return held(not wrong, f"wrong: {'; '.join(wrong) or 'none'}")


def foreign(name, function, table, column):
    """Outcomes that are neither a prediction nor an error that names the column."""
    try:
        with_warnings(function, table)
    except (ClearwoodError, ValueError, TypeError) as error:
        if isinstance(error, ClearwoodError) and column not in str(error):
            return [f"{name}: the column is not named"]
        if not isinstance(error, ClearwoodError):
            return [f"{name}: {type(error).__name__}"]
    except Exception as error:
        return [f"{name}: {type(error).__name__}"]
    return []


def random_tables(case, count):
    """Tables of random columns and cells: fitted, predicted and read, or refused."""
    rng = np.random.default_rng(len(case.make.__name__))
    wrong = set()
    for _ in range(max(2, count // 20)):
        X, y = random_rows(rng, case)
        try:
            found = case.made(None).fit(X, y)
            predictions = found.predict(X)
            if not case.classifies and not np.isfinite(predictions).all():
                wrong.add("not finite")
            if hasattr(found, "rules_"):
                str(found.rules_), found.rules_.to_json()
        except (ClearwoodError, Failed):
            pass
        except Exception as error:
            if "clearwood" in innermost(error):
                wrong.add(f"{type(error).__name__}: {error}"[:80])
    return held(not wrong, f"wrong: {'; '.join(sorted(wrong)) or 'none'}")


def innermost(error):
    """The file that raised; errors of scikit-learn may have its own wording."""
    trace = error.__traceback__
    while trace.tb_next:
        trace = trace.tb_next
    return trace.tb_frame.f_code.co_filename


def random_rows(rng, case, n=60):
    makers = (
        lambda: rng.normal(size=n),
        lambda: rng.normal(size=n) * 10.0 ** rng.integers(-300, 300),
        lambda: rng.integers(0, 3, n),
        lambda: LARGE + rng.integers(0, 5, n),
        lambda: np.where(rng.random(n) < 0.5, np.nan, 1.0),
        lambda: np.full(n, np.nan),
        lambda: np.full(n, 7.0),
        lambda: pd.Categorical(rng.choice(["a", "b", "", "nan"], n)),
        lambda: pd.Categorical(rng.integers(0, 3, n)),
        lambda: pd.array(rng.choice([True, False, None], n), dtype="boolean"),
        lambda: pd.array(rng.choice([1, 2, None], n), dtype="Int64"),
        lambda: pd.array(rng.choice(["x", "y", None], n), dtype="string"),
        lambda: rng.random(n) < 0.5,
        lambda: rng.normal(size=n).astype(np.float16),
    )
    columns = rng.choice(len(makers), 3)
    X = pd.DataFrame({f"c{i}": makers[k]() for i, k in enumerate(columns)})
    y = rng.normal(size=n) * 10.0 ** rng.integers(-20, 20)
    return X, np.where(y > 0, "p", "n") if case.classifies else y


# The command


def bad_cells():
    """One cell in a column of 120 numbers."""
    rng, silent = np.random.default_rng(0), []
    with tempfile.TemporaryDirectory() as folder:
        for name, (cell, row) in TABLES.items():
            a = rng.normal(size=120)
            lines = [f"{x},{x * 0.5 + 1},{int(x > 0)}" for x in a]
            lines[row] = f"{cell},{a[row] * 0.5 + 1},{int(a[row] > 0)}"
            path = Path(folder) / "bad.csv"
            path.write_text("\n".join(["a,b,y", *lines]) + "\n", encoding="utf-8")
            train = ("--target", "y", "--train", "decision-tree", "--max-rules", 3)
            done = command("simplify", path, *train)
            held(done.returncode in (0, 1), f"{name}: {done.stderr[-200:]}")
            if f"line {row + 2}" not in done.stderr:
                silent.append(name)
    return held(not silent, f"no warning: {', '.join(silent) or 'none'}")


def classes_in_wrong_order():
    import lightgbm

    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = np.where(X[:, 0] > 0, "yes", "no")
    model = lightgbm.LGBMClassifier(n_estimators=5, verbose=-1, n_jobs=1)
    model.fit(X, (X[:, 0] > 0).astype(int))
    with tempfile.TemporaryDirectory() as folder:
        table, file = f"{folder}/data.csv", f"{folder}/model.txt"
        pd.DataFrame(X, columns=["Column_0", "Column_1"]).assign(y=y).to_csv(
            table, index=False
        )
        model.booster_.save_model(file)
        done = command("simplify", file, table, "--target", "y", "--classes", "yes,no")
    held(done.returncode == 0, done.stderr)
    return held("warning" in done.stderr.lower(), done.stderr.strip() or "no warning")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
