"""Names that try to become code: every export is run, and says what predict says."""

import ast
import itertools
import re
from functools import cache

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from tests._html.hostile import tags_of
from tests.rules.exports import engines
from tests.rules.exports.test_latex import WRITTEN
from tests.wording import refuses, same_lines

from clearwood._words.labels import CONTROL
from clearwood.columns.feature_space import FeatureSpace
from clearwood.columns.info import ColumnInfo
from clearwood.exceptions import InputError
from clearwood.reporting import report
from clearwood.rules import CategorySet, Interval, Rule, RuleSet
from clearwood.rules.drawn.display import TreeDisplay
from clearwood.rules.exports.dialects import DIALECT_NAMES, DIALECTS
from clearwood.rules.serialise import KIND_OF

sqlglot = pytest.importorskip("sqlglot")

CANARY = "CANARY_OF_A_NAME"
HARMLESS = "plain"
NAMES = [
    f"q\n{CANARY}\n#",
    f"q\r\n{CANARY}\r\n",
    f"\u2028{CANARY}",
    f"\x85{CANARY}",
    f"\\\n{CANARY}",
    f"GO\nGO\n{CANARY}\nGO",
    f"'; {CANARY}; --",
    f'"""\n{CANARY}\n"""',
    f"' + {CANARY} + '",
    f'\\" OR {CANARY} --',
    f"`; {CANARY}; --",
    f"x]; {CANARY}; --",
    f"*/ {CANARY} /*",
    f"%\n{CANARY}\\input{{x}}^^M$#&_~",
    f"$x^$ {{{CANARY}}}",
    "coding:utf_7 +AAo-",
    f"\x1b[2J\x9b2J\x7f{CANARY}",
    f"\u202e\u2066{CANARY}",
    "</script><img src=x onerror=alert(1)>",
    '" onmouseover=alert(1) x="{{ 7 * 7 }}',
]
DIALECT_OF_SQLGLOT = {
    "standard": "postgres", "postgresql": "postgres", "mssql": "tsql",
}  # fmt: skip


def made(combine, text, said=HARMLESS):
    """Rules that hold a text wherever one may stand, and rows for them."""
    info = (ColumnInfo(), ColumnInfo(*[f"{said}{i}" for i in range(3)]))
    space = FeatureSpace((text, f"{text}2"), (None, (text, f"{text}b", "z")), info=info)
    asked = [
        (Interval(0, 1.5, 60.0, missing=True), CategorySet(1, (1,), unseen=True)),
        (CategorySet(1, (0, 2)),),
    ]
    classes = (text, f"{text}yes")
    numbers = itertools.cycle([(0.25, 0.75), (0.625, 0.375), (0.875, 0.125)])

    def rule(conditions):
        shares = next(numbers)
        best = classes[int(np.argmax(shares))]
        if combine == "sum":
            return Rule(conditions, best, scores=shares)
        return Rule(conditions, best, shares, weight=0.5 if combine == "average" else 1)

    lines = [rule(conditions) for conditions in asked]
    rules = KIND_OF[combine](tuple(lines), rule(()), space, classes, text, {text: text})
    labels = [text, f"{text}b", "z", "unseen", None]
    rows = [[x, label] for x in (1.5, 2.0, 99.0, None) for label in labels]
    return rules, rows


def kinds(tree):
    """What a tree of Python or SQL is made of, whatever names it holds."""
    nodes = ast.walk(tree) if isinstance(tree, ast.AST) else tree.walk()
    # " OR " in a name puts its question in parentheses.
    return sorted(k for node in nodes if (k := type(node).__name__) != "Paren")


@cache
def usual(combine, dialect):
    """What the SQL of rules with harmless names is made of."""
    text = made(combine, HARMLESS)[0].to_sql(
        dialect, table=engines.TABLE, probabilities=True
    )
    return kinds(sqlglot.parse_one(text, read=DIALECT_OF_SQLGLOT.get(dialect, dialect)))


def tokens(latex):
    """Commands and signs of LaTeX, without comments and the letters of texts."""
    known = "|".join(map(re.escape, WRITTEN))
    body = "".join(x for x in latex.splitlines(True) if not x.startswith("%"))
    assert body.startswith(r"\begin{tabular}")
    # Backslashes in the output are escaped already, so those at the end are of a row.
    found = re.findall(
        rf"(\\\\$)|(?:{known})|(\\[a-zA-Z]+|\\.|[{{}}$&#^_~%])", body, re.M
    )
    return ["".join(signs) for signs in found if any(signs)]


@pytest.fixture(scope="module")
def databases():
    with engines.open_sqlite() as sqlite, engines.open_duckdb() as duckdb:
        yield {"sqlite": sqlite, "duckdb": duckdb}


@pytest.mark.filterwarnings("ignore::clearwood.exceptions.UnknownCategoriesWarning")
@pytest.mark.parametrize("combine", KIND_OF)
@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_no_name_leaves_its_place(name, combine, databases):
    in_one_line = not CONTROL.search(name)
    rules, rows = made(combine, name, name if in_one_line else HARMLESS)
    twin, _ = made(combine, HARMLESS)
    wanted = rules.predict(rows).tolist()

    source = rules.to_python()
    assert kinds(ast.parse(source)) == kinds(ast.parse(twin.to_python()))
    functions = {}
    # As bytes, as a file would be read, whose first lines may name an encoding.
    exec(compile(source.encode(), "rules.py", "exec"), functions)
    cells = [dict(zip(rules.features.names, row)) for row in rows]
    assert [functions["predict"](row) for row in cells] == wanted

    # The others are translated from these.
    for dialect in DIALECT_NAMES if combine == "first" else DIALECTS:
        how = {"table": engines.TABLE, "probabilities": True}
        try:
            text = rules.to_sql(dialect, **how)
        except InputError as error:
            assert dialect in ("mssql", "oracle") and re.search("[\r\n]", name)
            assert "rename" in str(error)
            same_lines(str(error))
            continue
        theirs = DIALECT_OF_SQLGLOT.get(dialect, dialect)
        trees = sqlglot.parse(text, read=theirs)
        assert [kinds(tree) for tree in trees] == [usual(combine, dialect)], dialect
        if dialect in databases:
            found = databases[dialect](rules, rows, text)
            assert [row[-3] for row in found] == wanted

    latex = rules.to_latex()
    assert tokens(latex) == tokens(twin.to_latex())

    if not in_one_line:
        with refuses(InputError):
            rules.to_json()
    else:
        assert RuleSet.from_json(rules.to_json()) == rules

    shown = [str(rules), repr(rules), rules.to_text(), str(rules.explain(rows[1]))]
    shown += [text for pair in rules.glossary() for text in pair]
    for text in shown:
        assert not CONTROL.search(text.replace("\n", ""))
        # Others may stand there where a long line is broken.
        assert in_one_line or not re.search(rf"^\s*{CANARY}", text, re.MULTILINE)
    assert tags_of(rules._repr_html_()) == tags_of(twin._repr_html_())


@pytest.mark.parametrize("name", NAMES[::6], ids=ascii)
def test_pages_and_pictures_show_names_as_text(name, tmp_path):
    import matplotlib.pyplot as plt

    pages = []
    for text in (name, HARMLESS):
        rules, rows = made("first", text)
        X = pd.DataFrame(rows, columns=rules.features.names).dropna()
        path = tmp_path / "page.html"
        report(rules, path, X=X, y=rules.predict(X), title=text, overwrite=True)
        pages.append(path.read_text(encoding="utf-8"))
    assert tags_of(pages[0]) == tags_of(pages[1])
    assert not CONTROL.search(pages[0].replace("\n", "").replace("\t", ""))
    rules, _ = made("first", f"$x^$ {name}")
    figure = TreeDisplay.from_estimator(rules).figure_
    figure.canvas.draw()
    for text in figure.findobj(mpl.text.Text):
        content = text.get_text()
        assert not CONTROL.search(content.replace("\n", ""))
        assert text._preprocess_math(content)[1] is not True
    plt.close(figure)


@pytest.mark.parametrize("place", ["name", "unit", "description"])
@pytest.mark.parametrize("name", [n for n in NAMES if CONTROL.search(n)], ids=ascii)
def test_what_is_said_of_a_column_is_one_line(name, place):
    with refuses(InputError):
        ColumnInfo(**{place: name})
    with refuses(InputError, match="'age'"):
        FeatureSpace.numeric(1, ["age"]).with_info({"age": {place: name}})


def test_backslashes_in_names_are_escaped_where_a_database_reads_escapes():
    """Whatever the version of sqlglot does, which for long did not."""
    rules, _ = made("first", '\\"')
    assert r'"\\""' in rules.to_sql("clickhouse", table="t")
    assert r"`\\" in rules.to_sql("bigquery", table="t")
