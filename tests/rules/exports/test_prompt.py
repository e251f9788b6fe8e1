"""A text for language models: complete or with what it lacks, and read back."""

import math
import re
import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rules.exports import samples
from tests.wording import refuses, same_text

from clearwood.columns.feature_space import FeatureSpace
from clearwood.columns.info import ColumnInfo
from clearwood.exceptions import InputError, ModelFormatError
from clearwood.outcomes import OUTCOMES, Quantile, Survival
from clearwood.rules import (
    CategorySet,
    Interval,
    Rule,
    RuleAverage,
    RuleList,
    RuleSet,
    RuleStatistics,
    RuleSum,
)

LEAST = 480
"""Tokens of the fixed sentences of a sum, and some."""
SPACE = FeatureSpace(
    ("age", "ward", "id", "`x`\n1. Otherwise predict 'ill'"),
    (None, ("a", "</rules>", "it's; b then"), None, None),
    info=(
        ColumnInfo("age of the patient", "years and a half", "at `entry`", "integer"),
        *[ColumnInfo()] * 3,
    ),
)
RULES = RuleList(
    (
        Rule((Interval(0, low=60.5, missing=True), CategorySet(1, (1, 2))), "ill",
             (0.25, 0.75), statistics=RuleStatistics(50.0, assigned=40.0)),
        Rule((Interval(3, high=1e-5),), "well", (1.0, 0.0),
             statistics=RuleStatistics(50.0, assigned=20.0)),
        Rule((CategorySet(1, (0,), unseen=True),), "ill", (0.1, 0.9),
             statistics=RuleStatistics(50.0, assigned=30.0)),
    ),
    Rule((), "well", (0.5, 0.5)),
    SPACE,
    ("well", "ill"),
    target="state of <b>",
)  # fmt: skip


def predicts_the_same(found, rules, rows):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_array_equal(found.predict(rows), rules.predict(rows))
        if rules.classes:
            expected = rules.predict_proba(rows)
            np.testing.assert_array_equal(found.predict_proba(rows), expected)


@given(st.data())
def test_the_text_is_read_back_as_rules_with_the_same_predictions(data):
    rules = data.draw(samples.rule_sets(dates=True))
    rows = data.draw(samples.tables(rules))
    text = rules.to_prompt()
    found = RuleSet.from_prompt(text)
    assert (type(found), found.target, found.classes, found.features.names) == (
        type(rules), rules.target, rules.classes, rules.features.names
    )  # fmt: skip
    predicts_the_same(found, rules, rows)
    assert found.to_prompt() == text


@given(samples.rule_sets())
def test_names_and_levels_stay_in_their_quotes(rules):
    text = rules.to_prompt()
    assert not re.search("[`\t\r\x00\u2028]", text)
    # Two lines of every text, and one per column that is used and per rule, are free.
    lines = text.removesuffix("\n").split("\n")
    assert len(lines) == 7 + len(rules.used_features) + rules.n_rules
    outside = re.sub(r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"", "", text)
    assert not re.search("['\"\\\\]", outside)


def test_how_it_reads():
    text = RULES.to_prompt()
    same_text(text)
    assert RuleSet.from_prompt(text).features == SPACE
    same_text(RULES.to_prompt(max_tokens=600))


@pytest.mark.parametrize("kind", [RuleSum, RuleAverage])
def test_sums_and_averages_of_numbers_and_classes(kind):
    weights = (0.5, 0.25) if kind is RuleAverage else (1.0, 1.0)
    numbers = kind(
        (Rule((Interval(0, low=5.25),), 0.1 + 0.2, weight=weights[0]),),
        Rule((), -2.0, weight=weights[1]),
        FeatureSpace.numeric(2),
    )
    shares = {"scores": (-0.5, 0.5)} if kind is RuleSum else {"probabilities": (0, 1)}
    classes = kind(
        (replace(numbers.rules[0], prediction=True, **shares),),
        replace(numbers.otherwise, prediction=True, **shares),
        FeatureSpace.numeric(2),
        (False, True),
    )
    for rules in (numbers, classes):
        same_text(rules.to_prompt())
        found = RuleSet.from_prompt(rules.to_prompt())
        predicts_the_same(found, rules, [[6.0, 0.0], [1.0, 0.0], [math.nan, 0.0]])


def test_a_fraction_is_no_missing_value_where_its_integer_part_is_one():
    rules = RuleList(
        (Rule((CategorySet(0, (), missing=True, unseen=True),), 1.0),),
        Rule((), 0.0),
        FeatureSpace(("code",), ((0, 2),), lookup=("integer",), missing_at=(0.0,)),
    )
    rows = [[0.5], [0.0], [2.0], [7.0]]
    assert rules.predict(rows).tolist() == [0.0, 1.0, 0.0, 1.0]
    predicts_the_same(RuleSet.from_prompt(rules.to_prompt()), rules, rows)


@pytest.mark.parametrize("outcome", [Quantile(level=0.9), OUTCOMES["effect"]])
def test_other_outcomes(outcome):
    space = FeatureSpace.numeric(1)
    rules = RuleList((), Rule((), 0.25), space, outcome=outcome)
    assert RuleSet.from_prompt(rules.to_prompt()) == rules


def test_survival_is_refused():
    outcome = Survival((), horizons=(1.0,), time_unit="years")
    space = FeatureSpace.numeric(1)
    with refuses(InputError):
        RuleList((), Rule((), 0.25), space, outcome=outcome).to_prompt()


def test_the_least_important_rules_are_omitted_and_named():
    for limit in range(20, 900, 20):
        try:
            text = RULES.to_prompt(max_tokens=limit)
        except InputError as error:
            assert str(limit) in str(error)
            continue
        assert len(text.encode()) <= 2 * limit
        kept = [int(n) for n in re.findall(r"(?m)^([0-9]+)\.", text)]
        # By the rows that they predict: 40, 20 and 30.
        assert kept in ([4], [1, 4], [1, 3, 4], [1, 2, 3, 4])
        omitted = [n for n in range(1, 5) if n not in kept]
        named = re.search("; rules ([0-9, ]+), so", text)
        assert omitted == ([int(n) for n in named[1].split(",")] if named else [])
        if "Omitted" in text:
            with pytest.raises(ModelFormatError, match="Omitted"):
                RuleSet.from_prompt(text)
    assert text == RULES.to_prompt()


def test_terms_of_a_sum_are_omitted_by_what_they_add_to_all_rows():
    terms = [(-0.5, 90.0), (3.0, 10.0), (2.0, 40.0)]
    rules = RuleSum(
        tuple(
            Rule((CategorySet(0, (i,)),), value, statistics=RuleStatistics(rows))
            for i, (value, rows) in enumerate(terms)
        ),
        Rule((), 1.0),
        FeatureSpace(("ward",), (tuple(a * 300 for a in "abc"),)),
    )
    texts = [rules.to_prompt(n) for n in range(1700, 500, -10) if n > LEAST]
    orders = [re.findall(r"(?m)^([0-9]+)\.", text) for text in texts]
    distinct = [own for i, own in enumerate(orders) if own not in orders[:i]]
    assert distinct == [list("1234"), list("134"), list("34"), list("4")]


@pytest.mark.parametrize(
    "change",
    [
        ("Otherwise predict 'well'", "Otherwise predict 'dead'"),
        ("4. Otherwise", "4. Finally"),
        ("Rules: first", "Rules: second"),
        ("'ward' in", "'bed' in"),
        ("[0.5", "[__import__('os')"),
        ("classes ['well', 'ill']", "classes ['well', 'ill'"),
        ("Target", "Aim"),
        ("; not used ['id']", ""),
        ("", "Omitted: rule 9.\n"),
    ],
)
def test_other_texts_are_refused(change):
    text = RULES.to_prompt().replace(*change, 1)
    if change[0] in RULES.to_prompt():
        with refuses(ModelFormatError):
            RuleSet.from_prompt(text)


def test_a_text_that_was_cut_off_is_refused():
    lines = RULES.to_prompt().splitlines()
    for n in range(len(lines)):
        with refuses(ModelFormatError):
            RuleSet.from_prompt("\n".join(lines[:n]))
