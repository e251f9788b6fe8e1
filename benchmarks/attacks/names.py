"""Names: can the name of a column, category, class or file cause harm?

Markup in pages, keywords in SQL, control characters on the terminal, lone surrogates in
files: they are displayed or written literally, or refused.
"""

import sqlite3
import tempfile
import warnings
from functools import partial as bind
from pathlib import Path

import numpy as np
import pandas as pd
from markupsafe import Markup
from tests._html.hostile import HOSTILE, tags_of
from tests.estimators import ESTIMATORS

import clearwood as cw
from benchmarks.attacks.checks import Attack, command, held, of_all, refused, study
from clearwood.rules import CategorySet, Interval, Rule, RuleList

KEYWORDS = (
    *("true", "false", "null", "TRUE", "prediction", "rowid", "oid", "_rowid_"),
    *("select", "from", "where", "case", "when", "then", "else", "end", "and", "or"),
    *("current_date", "current_time", "user", "order", "group", "table", "column"),
    *("nan", "inf", "e", "x'41'", '"', '""', "'", "a b", "a.b", "*", "?", "1", "--"),
)
WITHOUT_PAGE = ("MetaForest", "ProjectedLinear", "ProjectedLogistic")
PAGED = [c for c in ESTIMATORS if not c.make.__name__.startswith(WITHOUT_PAGE)]
"""Estimators with a report page."""


def main():
    study("names", __doc__, attacks)


def attacks(count):
    """All attacks; ``count`` determines the number of hostile names."""
    inert = "the tags of a page with plain names"
    chunks = [HOSTILE[i : i + 5] for i in range(0, len(HOSTILE) - 4, 5)]
    chunks = chunks[: max(2, count // 8)]
    written = "written, or refused with a message"
    return [
        Attack(
            "pages of hostile names",
            inert,
            bind(of_all, pages, chunks, cases=PAGED),
        ),
        Attack("a title of class Markup", "escaped", markup_title),
        Attack("columns named as SQL keywords", "equal to predict", sql_keywords),
        Attack("numbers and booleans as classes in SQL", "equal to predict", sql_truth),
        Attack(
            "lone surrogates in names", written, bind(of_all, surrogates, cases=PAGED)
        ),
        Attack("control characters in a file's name", "not printed raw", file_name),
        Attack("null characters and long paths", "refused with a message", odd_paths),
        Attack("a header field of 200,000 letters", "done, or refused", long_header),
    ]


# Pages


def named_fit(case, names):
    """A small fit with five names of columns, categories, classes and target."""
    rng = np.random.default_rng(0)
    first, second, one, other, target = names
    # Objects, because string columns of pandas cannot hold surrogates.
    kinds = pd.Index([one, other], dtype=object)
    hue = pd.Categorical.from_codes(rng.integers(0, 2, 120), kinds)
    X = pd.DataFrame({0: rng.normal(size=120), 1: hue})
    high = ((X[0] > 0) & (hue.codes == 0)).to_numpy()
    X.columns = pd.Index([first, second], dtype=object)
    y = 1.0 * high
    if case.classifies:
        # In the sorted order of the classes.
        low_label, high_label = sorted([one, other])
        y = np.where(high, high_label, low_label).astype(object)
    y = pd.Series(y, name=target, dtype=None if not case.classifies else object)
    return case.made(None).fit(X, y), X, y


def page_of(case, names):
    found, X, y = named_fit(case, names)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        cw.report(found, path, X=X, y=y, title=names[0])
        page = path.read_text(encoding="utf-8")
    if hasattr(found, "rules_"):
        rules = found.rules_
        page += rules._repr_html_() + rules.explain(X.iloc[0])._repr_html_()
    return page


LINE = [("text", ["class", "style", "x", "y", "text-anchor"]), ("/", "text")]
"""Tags of a line of text in a chart; a long name takes several lines."""


def tags_in(page):
    """All tags without complete lines of text."""
    found = []
    for tag in tags_of(page):
        found.append(tag)
        if found[-2:] == LINE:
            del found[-2:]
    return found


def pages(case, chunks):
    plain, wrong = tags_in(page_of(case, ["first", "second", "a", "b", "target"])), []
    for names in chunks:
        # Sorted classes and categories, so that the order of lines is the same.
        first, second, one, other, target = names
        one, other = sorted([one, other])
        if tags_in(page_of(case, [first, second, one, other, target])) != plain:
            wrong.append(repr(names[0]))
    return held(not wrong, f"other tags: {', '.join(wrong)}")


def markup_title():
    found, X, y = named_fit(PAGED[0], ["first", "second", "a", "b", "target"])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        cw.report(found, path, title=Markup("<b id=attack>title</b>"))
        page = path.read_text(encoding="utf-8")
    return held("&lt;b id=attack&gt;" in page, f"{page.count('id=attack')} titles")


# SQL


def from_sqlite(rules, table):
    """Result of a query for every row of a table."""
    with sqlite3.connect(":memory:") as database:
        names = ", ".join('"' + name.replace('"', '""') + '"' for name in table)
        database.execute(f"CREATE TABLE data ({names})")
        marks = ", ".join("?" for _ in table)
        rows = table.astype(object).to_numpy().tolist()
        database.executemany(f"INSERT INTO data VALUES ({marks})", rows)
        query = f"SELECT {rules.to_sql('sqlite')} FROM data"
        return [row[0] for row in database.execute(query)]


def sql_keywords():
    wrong = []
    for name in KEYWORDS:
        space = cw.FeatureSpace((name,), (None,))
        line = Rule((Interval(0, high=0.5),), False, (1.0, 0.0))
        rules = RuleList((line,), Rule((), True, (0.0, 1.0)), space, (False, True))
        table = pd.DataFrame({name: [0.1, 0.7]})
        if from_sqlite(rules, table) != rules.predict(table).tolist():
            wrong.append(name)
    return held(
        not wrong, f"{len(KEYWORDS)} names; wrong: {', '.join(wrong) or 'none'}"
    )


def sql_truth():
    wrong = []
    truth = cw.FeatureSpace(("false",), ((False, True),))
    rules = RuleList((Rule((CategorySet(0, (1,)),), 1.0),), Rule((), 0.0), truth)
    table = pd.DataFrame({"false": [False, True]})
    if from_sqlite(rules, table) != rules.predict(table).tolist():
        wrong.append("booleans")
    ids = pd.DataFrame({"id": [2**53 - 1, 2**53, 2**53 + 1, 2**53 + 2]})
    number = cw.FeatureSpace(("id",), (None,))
    rules = RuleList((Rule((Interval(0, high=2.0**53),), 1.0),), Rule((), 0.0), number)
    if from_sqlite(rules, ids) != rules.predict(ids).tolist():
        wrong.append("integers above 2**53")
    return held(not wrong, f"wrong: {', '.join(wrong) or 'none'}")


# Texts that cannot be encoded


def surrogates(case):
    """A lone surrogate in every place, one at a time."""
    outcomes = set()
    for place in range(5):
        names = ["first", "second", "a", "b", "target"]
        names[place] += "\ud800"
        outcomes.add(refused(write_all, case, names))
    return ", ".join(sorted(outcomes))


def write_all(case, names):
    found, X, y = named_fit(case, names)
    with tempfile.TemporaryDirectory() as folder:
        cw.report(found, f"{folder}/page.html", X=X, y=y)
        if hasattr(found, "rules_"):
            rules = found.rules_
            cw.save(rules, f"{folder}/rules.json")
            (str(rules) + str(rules.explain(X.iloc[0]))).encode()


def file_name():
    found, X, y = named_fit(PAGED[0], ["first", "second", "a", "b", "target"])
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/\x1b[31mred\x07.json"
        Path(path).write_text("{}")
        try:
            output = str(cw.check(path))
        except cw.exceptions.ClearwoodError as error:
            output = str(error)
        done = command("check", path)
    output += done.stdout + done.stderr
    return held("\x1b[31m" not in output, repr(output[:120]))


def odd_paths():
    rules = RuleList((), Rule((), 1.0), cw.FeatureSpace.numeric(1))
    outcomes = {
        refused(act)
        for path in ("a\0b", "a" * 5000, "")
        for act in (
            lambda path=path: rules.save(path),
            lambda path=path: cw.load(path),
            lambda path=path: cw.check(path),
            lambda path=path: cw.report(rules, path),
        )
    }
    return held("accepted" not in outcomes, ", ".join(sorted(outcomes)))


def long_header():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.csv"
        rows = "\n".join(f"{i},{i % 2}" for i in range(60))
        path.write_text(f"{'a' * 200_000},y\n{rows}\n", encoding="utf-8")
        done = command("simplify", path, "--target", "y", "--train", "decision-tree")
    output = done.stderr.strip().splitlines()[-1:] or ["done"]
    fine = done.returncode in (0, 1) and "unexpected" not in done.stderr.lower()
    return held(fine, output[0][-200:])


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
