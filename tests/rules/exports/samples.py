"""Rule sets with every kind of condition, and rows that lie on their borders."""

import datetime
import math

import numpy as np
from hypothesis import strategies as st

from clearwood.columns.dates import DATES, as_times, date_number
from clearwood.columns.feature_space import FeatureSpace
from clearwood.columns.info import ColumnInfo
from clearwood.rules import CategorySet, Interval, Rule, RuleList
from clearwood.rules.serialise import KIND_OF

HOSTILE = [
    "a'b",
    'a"b',
    "a;--b",
    "/*x*/",
    "a\nb",
    "a\\b",
    "a\\",
    "\\\n  b",
    "a`b",
    "a]b[",
    "%s ?:x {y}",
    "é\u2028",
    " or 1=1",
    "x\r\ny",
    "'''",
    '"""',
]
NAME = st.one_of(st.sampled_from(HOSTILE), st.text("ab '\"\\\n#", min_size=1))
# Numbers that SQLite reads exactly: of others it may take the next double.
SHORT = st.decimals(-1000, 1000, places=3, allow_nan=False).map(float)
EXACT = st.floats(1e-15, 1e15) | st.floats(-1e15, -1e15)
CUT = st.one_of(
    SHORT,
    EXACT,
    st.sampled_from([0.0, -0.0, 1e308, -1e308, 5e-324, 2.0**53, 1e22, 0.1 + 0.2]),
)
# Points in time that all databases know, no finer than SQLite tells them apart.
TIME = st.datetimes(datetime.datetime(1900, 1, 1), datetime.datetime(2099, 12, 31)).map(
    lambda at: at.replace(microsecond=at.microsecond // 1000 * 1000)
)
TIME |= st.sampled_from(
    [datetime.datetime(2019, 4, 1), datetime.datetime(1969, 12, 31, 12, 0, 0, 1000)]
)
ZONE = st.sampled_from(
    [datetime.UTC, datetime.timezone(datetime.timedelta(hours=-3, minutes=30))]
)
SHARE = st.floats(0.0, 1.0, allow_subnormal=False).map(lambda p: round(p, 12))
SCORE = st.one_of(st.just(0.0), st.decimals(-20, 20, places=3).map(float))
CLASSES = [
    (),
    ("no", "yes"),
    ("b", "a", "c'\\\n--"),
    (0, 1),
    (False, True),
    (0.5, 1.5, -2.0),
    (2**60, 5),
]


def example(name="age", labels=("a", "b"), classes=("no", "yes")):
    space = FeatureSpace((name, "ward"), (None, labels))
    rule = Rule(
        (Interval(0, 1.5, 60.0, missing=True), CategorySet(1, (1,), unseen=True)),
        classes[1],
        (0.25, 0.75),
    )
    return RuleList((rule,), Rule((), classes[0], (0.9, 0.1)), space, classes)


@st.composite
def feature_spaces(draw, numeric=False, dates=False):
    """Distinct names that differ in more than case; every way to look up a cell."""
    kinds = ["number", "text", "code", "hash", "true", "value"]
    kinds += ["date", "datetime"] * dates
    n = draw(st.integers(1, 4))
    names = draw(
        st.lists(NAME, min_size=n, max_size=n, unique_by=str.casefold)
        | st.just([f"x{d}" for d in range(n)])
    )
    categories, lookup, missing_at, info = [], [], [], []
    for _ in range(n):
        kind = "number" if numeric else draw(st.sampled_from(kinds))
        labels = None
        if kind == "text":
            labels = draw(st.lists(NAME, min_size=1, max_size=4, unique=True))
        elif kind == "hash":
            labels = draw(
                st.lists(st.sampled_from(["5", "x", "-3", "05", "é"]), unique=True)
            )
        elif kind == "code":
            labels = sorted(draw(st.sets(st.integers(0, 6) | st.just(2**53))))
        elif kind == "true":
            labels = [True, False]
        elif kind == "value":
            labels = draw(st.sampled_from([[1, 2, 30], [0.5, 1.0, -1e300]]))
        categories.append(None if labels is None else tuple(labels))
        lookup.append({"code": "integer", "hash": "hash"}.get(kind, "exact"))
        at = st.none() | st.sampled_from([0.0, -999.0, 2.0, 0.1, 1e300, -1e300])
        missing_at.append(None if kind in DATES else draw(at))
        info.append(ColumnInfo())
        if kind in DATES:
            info[-1] = ColumnInfo(kind=kind, unit=draw(st.sampled_from(["", "UTC"])))
    return FeatureSpace(
        tuple(names),
        tuple(categories),
        lookup=tuple(lookup),
        missing_at=tuple(missing_at),
        info=tuple(info),
        float32=draw(st.booleans()),
    )


@st.composite
def rule_sets(draw, numeric=False, sums=True, dates=False):
    space = draw(feature_spaces(numeric, dates))
    classes = draw(st.sampled_from(CLASSES))
    combines = ["first", "sum", "average"] if sums else ["first"]
    combine = draw(st.sampled_from(combines))
    rules = []
    for _ in range(draw(st.integers(0, 4))):
        features = draw(
            st.sets(st.integers(0, space.n_features - 1), min_size=1, max_size=3)
        )
        conditions = tuple(draw(conditions_of(space, d)) for d in sorted(features))
        rules.append(draw(rules_that_say(conditions, classes, combine)))
    otherwise = draw(rules_that_say((), classes, combine))
    kind = KIND_OF[combine]
    return kind(tuple(rules), otherwise, space, classes, draw(NAME))


@st.composite
def conditions_of(draw, space, d):
    labels, missing = space.categories[d], draw(st.booleans())
    if labels is not None:
        codes = draw(st.sets(st.integers(0, len(labels) - 1))) if labels else ()
        return CategorySet(d, tuple(sorted(codes)), missing, draw(st.booleans()))
    cut = TIME.map(days) if space.info[d].is_time else CUT
    low, high = sorted([draw(cut | st.just(-math.inf)), draw(cut | st.just(math.inf))])
    if low == high or draw(st.integers(0, 4)) == 0:
        bounds = [(-math.inf, math.inf), (-math.inf, -math.inf), (math.inf, math.inf)]
        low, high = draw(st.sampled_from(bounds))
    return Interval(d, low, high, missing or low == math.inf)


def days(at):
    return date_number(str(at))


def in_zone(found):
    at, zone = found
    return at.replace(tzinfo=datetime.UTC).astimezone(zone)


@st.composite
def rules_that_say(draw, conditions, classes, combine):
    # Halves and quarters of numbers that SQLite reads exactly are such numbers, too.
    weight = draw(st.sampled_from([0.0, 0.25, 0.5, 1.0]))
    weight = weight if combine == "average" else 1.0
    if not classes:
        return Rule(conditions, draw(SHORT | EXACT), weight=weight)
    if combine == "sum":
        scores = [draw(SCORE) for _ in classes]
        return Rule(conditions, classes[int(np.argmax(scores))], scores=tuple(scores))
    shares = [draw(SHARE) for _ in classes]
    shares[draw(st.integers(0, len(classes) - 1))] += 1.5
    said = classes[int(np.argmax(shares))]
    return Rule(conditions, said, tuple(shares), weight=weight)


@st.composite
def tables(draw, rule_set, n_rows=12):
    """Rows as lists of cells: on cuts, beside them, far out, missing and unseen."""
    space = rule_set.features
    columns = [draw(columns_of(rule_set, d, n_rows)) for d in range(space.n_features)]
    return [list(row) for row in zip(*columns)]


@st.composite
def columns_of(draw, rule_set, d, n_rows):
    labels = rule_set.features.categories[d]
    lookup = rule_set.features.lookup[d]
    if rule_set.features.info[d].is_time:
        cells = st.sampled_from(border_times(rule_set, d)) | TIME
        if rule_set.features.info[d].unit:
            cells = st.tuples(cells, ZONE).map(in_zone)
        elif rule_set.features.info[d].kind == "date":
            cells = cells.map(datetime.datetime.date)
    elif labels is None or lookup == "integer":
        cells = st.sampled_from(border_numbers(rule_set, d)) | st.floats(allow_nan=True)
    elif lookup == "hash":
        cells = st.sampled_from([*labels, "unseen", "", "7"])
    elif isinstance(labels[0], str):
        cells = st.sampled_from([*labels, "unseen", "", labels[0] + " "])
        cells |= st.sampled_from([labels[0].upper()])
    elif isinstance(labels[0], bool):
        cells = st.booleans()
    else:
        cells = st.sampled_from([*map(float, labels), 7.25, math.nan])
    return draw(st.lists(st.none() | cells, min_size=n_rows, max_size=n_rows))


def border_times(rule_set, d):
    """As ``border_numbers``: the bounds of rules, and one step to both sides."""
    found = [datetime.datetime(2019, 4, 1)]
    for rule in rule_set.rules:
        for condition in rule.conditions:
            if condition.feature == d:
                bounds = np.array([condition.low, condition.high])
                found += as_times(bounds[np.isfinite(bounds)]).tolist()
    steps = [datetime.timedelta(milliseconds=1), datetime.timedelta(days=1)]
    return [at + by * step for at in found for step in steps for by in (-1, 0, 1)]


def border_numbers(rule_set, d):
    """Where an answer may change, with the numbers next to it, in both precisions."""
    space = rule_set.features
    at = [0.0, -1.0, 1.0, 1e-35, -1e-35, math.inf, -math.inf, 2.0**53, -0.5, 3.75]
    at += [] if space.missing_at[d] is None else [space.missing_at[d]]
    at += [float(label) for label in space.categories[d] or ()]
    for rule in rule_set.rules:
        for condition in rule.conditions:
            if condition.feature == d and isinstance(condition, Interval):
                at += [condition.low, condition.high]
    near = []
    for value in at:
        with np.errstate(over="ignore"):
            single = np.float32(value)
            steps = [np.nextafter(single, np.float32(s)) for s in (-np.inf, np.inf)]
            middles = [(float(single) + float(step)) / 2 for step in steps]
        for number in (value, *middles, value + 1):
            near += [
                np.nextafter(number, -np.inf),
                number,
                np.nextafter(number, np.inf),
            ]
        near += [float(step) for step in (single, *steps)]
    return sorted({float(x) for x in near if not math.isnan(x)})
