"""All outputs of the library as text, to compare two commits.

    make same BASE=v0.1.0                                  # this tree against a commit
    python benchmarks/same_answers.py after                # write one side by hand
    python benchmarks/same_answers.py before after         # compare two sides

A refactoring must not change these files; other changes show their effects here. One
folder per estimator and table: predictions, probabilities, densities, states, seeded
draws, graphs (``answers.txt``, a digest of all bits before the first values), rules
with their exports, the page as HTML, each chart as marks in data units, and the members
of the saved file. One file per command: exit code, stdout, stderr.
"""

import difflib
import hashlib
import io
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import warnings
import zipfile
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"
os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["MPLBACKEND"] = "Agg"

import numpy as np
import pandas as pd
from sklearn import ensemble
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.linear_model import BayesianRidge

import clearwood as cw

MOST_VALUES, MOST_DIFFERENCES = 8, 12
"""Number of values after a digest; number of lines of a file that differs."""

CLOCK = "import time\n\ntime.perf_counter = float\n"
"""Replacement of the clock of ``compare``, always at 0.0."""

SIMPLIFIERS = (
    "AdditiveRules BornAgainTree DistilledTree FABRules InTrees NodeHarvest RuleList"
)
PROJECTIONS = "ProjectedTree ProjectedRuleList"
DENSITIES = "MiniSPN LearnSPN ParetoSPN HybridSPN"
FORESTS = "MetaTree MetaForest"

TEXT = "the cat sat on the mat and the dog sat on the log " * 8

CALLS: dict[str, Callable[[Any, Any], Any]] = {
    **{
        name: (lambda method, X: method(X))
        for name in (
            "predict predict_proba predict_proba_error predict_interval predict_draws "
            "predict_next score_samples transform most_probable decode filter_proba "
            "hidden_states step_log_likelihood explain"
        ).split()
    },
    "sample": lambda method, X: method(20, random_state=0),
    "sample_states": lambda method, X: method(X, random_state=0),
    "sample_trees": lambda method, X: method(3, random_state=0),
    "top_trees": lambda method, X: method(3),
    "feature_ranking": lambda method, X: method(),
    "diagnose": lambda method, X: method(),
    "summary": lambda method, X: method(),
}
"""Methods whose results are written, and their calls."""

EXPORTS = "to_text to_json to_sql to_python to_latex to_frame".split()


# Data and estimators


def graphs() -> Any:
    return cw.SelectiveBayesianForestClassifier(n_graphs=100, random_state=0)


def mixed(classify: bool) -> tuple[pd.DataFrame, pd.Series]:
    """Numbers, categories, dates, booleans and missing values."""
    rng = np.random.default_rng(0)
    n = 400
    days = pd.to_timedelta(rng.integers(0, 900, n), "D")
    X = pd.DataFrame(
        {
            "age": rng.integers(20, 80, n),
            "dose": np.where(rng.random(n) < 0.1, np.nan, rng.normal(5, 2, n).round(2)),
            "ward": rng.choice(["north", "south", "east"], n),
            "admitted": pd.Timestamp("2020-01-01") + days,
            "smoker": rng.random(n) < 0.3,
        }
    )
    risk = 0.05 * X["age"] + X["dose"].fillna(8) / 2 + 1.5 * X["smoker"]
    risk += (X["ward"] == "north") + rng.normal(size=n) / 2
    if classify:
        return X, pd.Series(np.where(risk > risk.median(), "ill", "well"), name="state")
    return X, risk.rename("risk")


def tables(classify: bool) -> Iterator[tuple[str, pd.DataFrame, pd.Series]]:
    """Training tables by name."""
    if classify:
        X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        yield "cancer", X.iloc[:, :10], y.map({0: "malignant", 1: "benign"})
        yield "wine", *load_wine(return_X_y=True, as_frame=True)
    else:
        yield "diabetes", *load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    yield "mixed", *mixed(classify)


def black_box(X: pd.DataFrame, y: pd.Series, classify: bool) -> Any:
    """A fitted forest, or gradient boosting where columns are not all numbers."""
    kind = "Classifier" if classify else "Regressor"
    if all(pd.api.types.is_numeric_dtype(X[column]) for column in X):
        make = getattr(ensemble, f"RandomForest{kind}")
        return make(20, max_depth=6, random_state=0).fit(X, y)
    return getattr(ensemble, f"HistGradientBoosting{kind}")(max_iter=20, random_state=0)


def cases() -> Iterator[tuple[str, Any, tuple[Any, ...]]]:
    """Name, unfitted estimator and its training data."""
    for classify in (True, False):
        kind = "Classifier" if classify else "Regressor"
        for table, X, y in tables(classify):
            rows = slice(0, len(X), 2)
            data = X[rows].reset_index(drop=True), y[rows].reset_index(drop=True)
            model = black_box(*data, classify)
            for method in SIMPLIFIERS.split():
                few = {} if method == "FABRules" else {"max_rules": 6}
                few |= {"n_init": 3} if method == "FABRules" else {}
                made = getattr(cw, method + kind)(model, random_state=0, **few)
                yield f"{method}{kind} {table}", made, data
            for method in FORESTS.split():
                yield (
                    f"{method}{kind} {table}",
                    getattr(cw, method + kind)(random_state=0),
                    data,
                )
            if table == "mixed":
                continue  # Forests of scikit-learn require numbers.
            linear = f"Projected{'Logistic' if classify else 'Linear'}Regression"
            for name in (
                *(f"{method}{kind}" for method in PROJECTIONS.split()),
                linear,
            ):
                alpha = {} if name == linear else {"alpha": 0.001}
                made = getattr(cw, name)(model, random_state=0, **alpha)
                yield f"{name} {table}", made, data
            if table == "cancer":  # Chains; for few columns graphs are summed exactly.
                yield "SelectiveBayesianForestClassifier cancer", graphs(), data
        if classify:
            X, y = mixed(classify)
            yield "SelectiveBayesianForestClassifier mixed", graphs(), (X, y)
            for name in ("SPNClassifier", "MDLPDiscretizer", "BinaryBinner"):
                settings = {"random_state": 0} if name == "SPNClassifier" else {}
                columns = X.drop(columns="admitted")
                yield f"{name} mixed", getattr(cw, name)(**settings), (columns, y)
    X = mixed(True)[0].drop(columns="admitted")
    for name in [*DENSITIES.split(), "SPNImputer"]:
        yield f"{name} mixed", getattr(cw, name)(random_state=0), (X,)
    series = load_diabetes(as_frame=True).data.iloc[:200, 2:5]
    for algorithm in ("em", "gibbs"):
        settings = {"algorithm": algorithm, "random_state": 0}
        settings |= {"n_init": 4} if algorithm == "em" else {"n_draws": 30}
        text = cw.HiddenMarkovModel(3, **settings)
        yield f"HiddenMarkovModel {algorithm} text", text, ([TEXT],)
        normal = cw.HiddenMarkovModel(3, emission="gaussian", **settings)
        yield f"HiddenMarkovModel {algorithm} series", normal, (series,)
    network = cw.HMMLSTM(n_hidden=6, n_states=3, n_epochs=2, random_state=0)
    yield "HMMLSTM text", network, ([TEXT],)


# Results as text


def as_text(value: Any) -> str:
    """A digest of all bits and the first values of arrays; other values in full."""
    if isinstance(value, tuple | list):
        return "\n".join(as_text(part) for part in value)
    if isinstance(value, dict):
        return "\n".join(f"{key}: {as_text(part)}" for key, part in value.items())
    if isinstance(value, pd.DataFrame | pd.Series):
        return value.to_csv()
    if isinstance(value, np.ndarray):
        numeric = value.dtype.kind in "fiub"
        bits = value.tobytes() if numeric else repr(value.tolist()).encode()
        first = np.array2string(value.ravel()[:MOST_VALUES], precision=12)
        digest = hashlib.sha256(np.ascontiguousarray(bits)).hexdigest()[:16]
        return f"{value.dtype} {value.shape} {digest} {first}"
    return re.sub(r" at 0x[0-9a-f]+", "", str(value))


def marks(figure: Any) -> str:
    """All artists of a figure, in data units."""
    lines, every = [], list(figure.axes)
    for axes in every:
        every += axes.child_axes  # Panels of a figure are insets.
        lines.append(f"axes {axes.get_title()!r} {axes.get_xlabel()!r}")
        lines.append(f"  {axes.get_ylabel()!r} {axes.get_xlim()} {axes.get_ylim()}")
        for artist in axes.get_children():
            shown = [type(artist).__name__]
            for getter in (
                "get_text", "get_position", "get_xydata", "get_offsets", "get_segments",
                "get_array", "get_xy", "get_width", "get_height", "get_color",
                "get_facecolor",
            ):  # fmt: skip
                try:
                    value = getattr(artist, getter)()
                except (AttributeError, TypeError, ValueError):
                    continue
                shown.append(f"{getter[4:]}={rounded(value)}")
            lines.append("  " + " ".join(shown))
    return "\n".join(lines) + "\n"


def rounded(value: Any) -> str:
    """Ten digits of numbers: layouts may differ in the last bits."""
    try:
        return np.array2string(
            np.asarray(value, dtype=float), precision=10, threshold=10_000
        )
    except (TypeError, ValueError):
        return repr(value)


def charts(result: Any, X: Any = None, y: Any = None) -> Iterator[tuple[str, str]]:
    """All charts of a result, by name."""
    import matplotlib.pyplot as plt

    with_data: list[tuple[Any, ...]] = [()]
    if X is not None:
        with_data = [(X, y), (X,), (), (X[:1],), tuple(getattr(X, "columns", ())[:1])]
    families = (
        "circuits comparison metatree projection rules sbfc sequences simplifiers"
    )
    modules = [import_module(f"clearwood.{family}") for family in families.split()]
    every = {name: module for module in modules for name in module.__all__}
    for name in sorted(name for name in every if name.endswith("Display")):
        display = getattr(every[name], name)
        makers = [getattr(display, key) for key in dir(display) if key[:5] == "from_"]
        for make, data in itertools.product(makers or [display], with_data):
            try:
                drawn = make(result, *data).plot()
            except Exception:  # not a chart of this result
                plt.close("all")
                continue
            yield name, marks(drawn.figure_)
            plt.close("all")
            break


def saved_members(model: Any, folder: Path) -> Iterator[tuple[str, str]]:
    """The parts of the saved file as text."""
    path = folder / "saved.cw"
    cw.save(model, path, overwrite=True)
    data = path.read_bytes()
    path.unlink()
    if not zipfile.is_zipfile(io.BytesIO(data)):
        yield "saved.json", data.decode()
        return
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for member in archive.namelist():
            content = archive.read(member)
            if member.endswith(".json"):
                text = json.dumps(json.loads(content), indent=1)
            else:
                text = hashlib.sha256(content).hexdigest()
            yield f"saved {member.replace('/', ' ')}", text


def results(model: Any, X: Any, y: Any, folder: Path) -> Iterator[tuple[str, str]]:
    """All files of one fitted estimator."""
    answers = []
    for name, call in CALLS.items():
        if (method := getattr(model, name, None)) is not None:
            try:
                answers.append(f"{name}: {as_text(call(method, X))}")
            except Exception as error:  # written for the comparison
                answers.append(f"{name}: {type(error).__name__} {error}")
    yield "answers.txt", "\n".join(answers) + "\n"
    if isinstance(rules := getattr(model, "rules_", None), cw.RuleSet):
        for export in EXPORTS:
            try:
                yield f"rules {export}.txt", as_text(getattr(rules, export)())
            except Exception as error:
                yield f"rules {export}.txt", f"{type(error).__name__} {error}"
        path = getattr(model, "path_", ())
        yield "path.txt", "\n\n".join(str(one) for one in path)
    for name, text in charts(model, X, y):
        yield f"chart {name}.txt", text
    try:
        yield from saved_members(model, folder)
    except Exception as error:
        yield "saved error.txt", f"{type(error).__name__} {error}"
    data = {"X": X} if y is None else {"X": X, "y": y}
    yield "page.html", page_of(model, data, folder)


def page_of(result: Any, data: dict[str, Any], folder: Path) -> str:
    """The HTML page, one element per line; or the error."""
    page = folder / "page.html"
    try:
        cw.report(result, page, overwrite=True, **data)
    except Exception as error:
        return f"{type(error).__name__} {error}"
    return page.read_text(encoding="utf-8").replace(">", ">\n")


def other_results() -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """Results of functions: name, result and data of its page."""
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    X, y, new = X[:200], y[:200], X[200:]
    forest = ensemble.RandomForestRegressor(20, max_depth=6, random_state=0).fit(X, y)
    few = {"methods": ["list", "tree"], "cv": 3, "random_state": 0}
    yield "compare", cw.compare(forest, X, y, **few), {}
    reference = cw.reference(BayesianRidge().fit(X, y), random_state=0)
    yield "explain_local", cw.explain_local(reference, new.iloc[0], X), {}
    yield "compare_methods", cw.compare_methods([3.0, 2.0, 4.0], [2.0, 2.5, 2.0]), {}
    rules = cw.RuleListRegressor(forest, max_rules=4, random_state=0).fit(X, y)
    yield "stability", cw.stability(rules, X, y, n_refits=3, random_state=0), {}
    yield "simplify", cw.simplify(forest, X, y, max_rules=4, random_state=0), {"X": new}
    yield "check", cw.check(forest), {}
    network = cw.HMMLSTM(n_hidden=6, n_states=3, n_epochs=2, random_state=0)
    yield (
        "explain_rnn",
        cw.explain_rnn(network.fit([TEXT]), [TEXT], n_states=[2, 3]),
        {},
    )


def other_files(result: Any, data: dict[str, Any], folder: Path) -> Iterator[Any]:
    """Text, charts and page of a function's result."""
    yield "text.txt", as_text(result)
    for name, text in charts(result):
        yield f"chart {name}.txt", text
    yield "page.html", page_of(result, data, folder)


def commands(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Command lines by name; each runs in a folder with these files."""
    for name, classify in (("classes", True), ("values", False)):
        X, y = mixed(classify)
        X.assign(**{y.name: y}).to_csv(folder / f"{name}.csv", index=False)
    load_diabetes(as_frame=True).data.iloc[:150, 2:5].to_csv(
        folder / "series.csv", index=False
    )
    (folder / "text.txt").write_text(TEXT)
    train = ["--train", "random-forest"]
    for name, target in (("classes", "state"), ("values", "risk")):
        data = [f"{name}.csv", "--target", target]
        out = ["--out", f"{name}.json", "--report", f"{name}.html", "--overwrite"]
        yield f"simplify {name}", ["simplify", *data, *train, *out]
        rules, rows = f"{name}.json", f"{name}.csv"
        yield f"check {name}", ["check", rules]
        yield f"predict {name}", ["predict", rules, rows]
        yield f"explain {name}", ["explain", rules, rows, "--row", "1"]
        yield f"evaluate {name}", ["evaluate", rules, rows, "--target", target]
        for language in ("sql", "python", "latex"):
            yield f"export {language} {name}", ["export", rules, "--to", language]
        page = ["--target", target, "--out", f"{name}_again.html", "--overwrite"]
        yield f"report {name}", ["report", rules, rows, *page]
        page = ["--report", f"{name}_x.html", "--overwrite"]
        yield f"compare {name}", ["compare", *data, *train, *page]
        yield f"metatree {name}", ["metatree", *data, *page]
        yield f"project {name}", ["project", *data, *page]
        yield f"stability {name}", ["stability", *data, *train]
        yield f"density {name}", ["density", rows, *page]
    page = ["--report", "x.html", "--overwrite"]
    yield "sbfc", ["sbfc", "classes.csv", "--target", "state", *page]
    yield "states series", ["states", "series.csv", "--n-states", "2", *page]
    yield "states text", ["states", "text.txt", "--n-states", "2", *page]


def without_varying_parts(text: str, folder: Path) -> str:
    """Text without parts that vary between runs: folders, versions, times, bars."""
    text = text.replace(str(folder), "FOLDER").replace(cw.__version__, "VERSION")
    text = re.sub(r"\b\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d)?", "TIME", text)
    text = re.sub(r"(^(\w[^:\n]*): +\d+%\|.*\n?)+", r"\2: BAR\n", text, flags=re.M)
    return re.sub(r"\b\d+(\.\d+)? (s|seconds|ms)\b", "SECONDS", text)


def stop_the_clock(folder: Path) -> None:
    """Set every duration to 0, in this process and in child processes."""
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(CLOCK)
    sys.path.insert(0, str(folder))
    path = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ["PYTHONPATH"] = os.pathsep.join(path)
    exec(CLOCK)


# Both sides


def write(out: Path, only: str = "") -> None:
    """Write all results below a folder."""
    tree = os.environ.get("PYTHONPATH", "").split(os.pathsep)[0]
    if not Path(cw.__file__).is_relative_to(tree or "/"):
        sys.exit(f"clearwood comes from {cw.__file__}, not from {tree}")
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        stop_the_clock(folder / "clock")

        def keep(name: str, text: str) -> None:
            path = out / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(without_varying_parts(text, folder), encoding="utf-8")

        for case, model, data in cases():
            if only not in case:
                continue
            print(case, flush=True)
            X, y = (*data, None)[:2]
            try:
                model.fit(*data)
            except Exception as error:  # written for the comparison
                keep(f"{case}/error.txt", f"{type(error).__name__} {error}\n")
                continue
            for name, text in results(model, X, y, folder):
                keep(f"{case}/{name}", text)
        for case, result, data in other_results() if only in "functions" else ():
            print(case, flush=True)
            for name, text in other_files(result, data, folder):
                keep(f"functions/{case} {name}", text)
        for name, arguments in commands(folder):
            if only not in f"command {name}":
                continue
            for more in ([], ["--json"]):
                print("command", name, *more, flush=True)
                done = subprocess.run(
                    [sys.executable, "-m", "clearwood", *arguments, *more],
                    capture_output=True,
                    text=True,
                    cwd=folder,
                    timeout=600,
                )
                output = f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
                keep(f"commands/{' '.join([name, *more])}.txt", output)
            for page in folder.glob("*.html"):
                keep(
                    f"commands/{name} {page.name}",
                    page.read_text(encoding="utf-8").replace(">", ">\n"),
                )
                page.unlink()


def compare(before: Path, after: Path) -> int:
    """Print differences, and return 1 if there are any."""
    files = [
        {path.relative_to(side): path for path in side.rglob("*") if path.is_file()}
        for side in (before, after)
    ]
    differ = 0
    for name in sorted(files[0].keys() | files[1].keys()):
        sides = [side[name].read_text() if name in side else None for side in files]
        if sides[0] == sides[1]:
            continue
        differ += 1
        print(f"## {name}")
        if None in sides:
            print("   only", "after" if sides[0] is None else "before")
            continue
        lines = difflib.unified_diff(*(text.splitlines() for text in sides), n=0)
        shown = [line for line in lines if not line.startswith(("---", "+++", "@@"))]
        for line in shown[:MOST_DIFFERENCES]:
            print("  ", line[:160])
        if len(shown) > MOST_DIFFERENCES:
            print(f"   and {len(shown) - MOST_DIFFERENCES} lines more")
    print(f"{differ} of {len(files[0].keys() | files[1].keys())} files differ")
    return int(differ > 0)


def against(revision: str) -> int:
    """Compare this tree with a commit, with this script for both."""
    root = Path(__file__).parents[1]
    with tempfile.TemporaryDirectory() as place:
        old, library = Path(place) / "old", Path(place) / "library"
        git = ["git", "-C", str(root), "worktree"]
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
        subprocess.run([*git, "add", "--detach", str(old), revision], check=True)
        try:
            subprocess.run([*pip, "--target", str(library), str(old)], check=True)
        finally:
            subprocess.run([*git, "remove", "--force", str(old)], check=True)
        for side, tree in (("before", library), ("after", root / "src")):
            subprocess.run(
                [sys.executable, __file__, str(Path(place) / side)],
                env=os.environ | {"PYTHONPATH": str(tree)},
                check=True,
            )
        kept = root / "build" / "same"
        shutil.rmtree(kept, ignore_errors=True)
        for side in ("before", "after"):
            shutil.copytree(Path(place) / side, kept / side)
    return compare(kept / "before", kept / "after")


if __name__ == "__main__":
    if sys.argv[1] == "--against":
        sys.exit(against(sys.argv[2]))
    if len(sys.argv) == 3 and Path(sys.argv[2]).is_dir():
        sys.exit(compare(*map(Path, sys.argv[1:])))
    write(Path(sys.argv[1]), *sys.argv[2:])
