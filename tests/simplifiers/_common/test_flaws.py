"""What speaks against reading rules as an explanation is said, whatever the method."""

import shlex
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from tests.estimators import SIMPLIFIERS, each
from tests.wording import same_lines, same_text

import clearwood as cw
from clearwood.exceptions import ClassOrderWarning, PoorFidelityWarning
from clearwood.reporting.summary import summarize
from clearwood.rules import (
    FeatureBins,
    FeatureSpace,
    Interval,
    Rule,
    RuleList,
    Training,
)
from clearwood.simplifiers._common import base
from clearwood.simplifiers._common.flaws import (
    SingleSplit,
    best_single_split,
    class_order_warning,
    diagnose,
)

CLASSIFIERS = [case for case in SIMPLIFIERS if case.classifies]


def told_by(make, X, y, weight=None):
    """An estimator, and what its fit warned of."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = make.fit(X, y, sample_weight=weight)
    # They point to the line that called fit.
    assert {w.filename for w in told} <= {__file__}
    kinds = sorted({w.category for w in told}, key=str)
    return found, {
        kind: " ".join(str(w.message) for w in told if w.category is kind)
        for kind in kinds
    }


@each(SIMPLIFIERS)
def test_rules_worse_than_one_split_are_called_so(case, monkeypatch):
    X, y = case.data()
    best = SingleSplit(2.0, apart=2.0)
    monkeypatch.setattr(base, "best_single_split", lambda *_: best)
    found, told = told_by(case.made(case.forest()), X, y)
    text = told[PoorFidelityWarning]
    assert "less" in text
    same_lines(text)
    assert found.rules_.about["warning"] == text
    assert summarize(found)["warning"] == text
    again = cw.RuleSet.from_json(found.rules_.to_json())
    assert summarize(again)["warning"] == text
    assert text not in str(summarize(again)["settings"])
    # One line is what was asked for.
    _, told = told_by(case.made(case.forest(), n_rules=1), X, y)
    assert told == {}


@each(SIMPLIFIERS)
def test_rules_that_say_one_thing_are_called_so(case):
    X, y = case.data()
    _, told = told_by(case.made(case.forest(), exclude_features=list(X)), X, y)
    same_lines(told[PoorFidelityWarning])
    flat = case.unfitted(min_samples_leaf=len(y)).fit(X, y)
    _, told = told_by(case.made(flat), X, y)
    assert told == {}


@each(SIMPLIFIERS)
def test_good_rules_are_not_doubted(case):
    X, y = case.gaps()
    found, told = told_by(case.made(case.reader()), X, y)
    assert told == {}
    assert "warning" not in found.rules_.about
    assert summarize(found)["warning"] is None


@each(CLASSIFIERS)
def test_classes_in_the_wrong_order_are_called_so(case):
    X, y = case.data()
    ensemble = cw.read_ensemble(case.forest())
    wrong = ensemble.with_classes(np.roll(ensemble.classes, 1).tolist())
    found, told = told_by(case.made(wrong), X, y)
    text = told[ClassOrderWarning]
    assert f"--classes {','.join(ensemble.classes)}." in text
    assert text in found.rules_.about["warning"]
    # Without labels nobody can know.
    assert ClassOrderWarning not in told_by(case.made(wrong), X, None)[1]


# Order of classes


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_the_order_that_is_right_is_named(n_classes):
    rng = np.random.default_rng(n_classes)
    truth = rng.integers(n_classes, size=500)
    order = np.roll(np.arange(n_classes), 1)
    # The model knows class k as what is order[k] in truth, and errs in a tenth.
    said = np.where(rng.random(500) < 0.9, np.argsort(order)[truth], truth)
    names = tuple(f"c{k}" for k in range(n_classes))
    text = class_order_warning(names, truth, said)
    assert f"--classes {','.join(names[k] for k in order)}." in text
    # Unknown labels count for nothing.
    mixed = np.where(np.arange(500) < 100, -1, truth)
    assert class_order_warning(names, mixed, said) is not None


def test_the_option_can_be_typed_or_is_not_named():
    said = np.repeat([0, 1], 10)

    def warning(*labels):
        return class_order_warning(labels, 1 - said, said)

    assert shlex.split(warning("its", "$(ls)"))[-2:] == ["--classes", "$(ls),its."]
    same_lines(warning("a b", "c"))
    assert shlex.split(warning("no\x1b[2J", "yes"))[-1].startswith("yes,'no\\x1b")
    # The command takes these apart in another way.
    assert warning("a,b", "c").endswith("with_classes(['c', 'a,b']).")
    assert warning(" a", "c").endswith("with_classes(['c', ' a']).")


def test_a_poor_model_is_no_disorder():
    """Among so many models that guess, chance alone would call some upside down."""
    rng = np.random.default_rng(0)
    for n_rows, n_classes in ((6, 2), (30, 2), (200, 2), (200, 5)):
        names = tuple(range(n_classes))
        for _ in range(300):
            truth, said = rng.integers(n_classes, size=(2, n_rows))
            assert class_order_warning(names, truth, said) is None
    # Nor is one that says one class of all rows.
    truth = np.arange(100) % 2
    assert class_order_warning((0, 1), truth, np.zeros(100, int)) is None


def test_compare_doubts_the_order_of_a_model(cancer, in_this_process):
    X, y, forest = cancer
    ensemble = cw.read_ensemble(forest)
    wrong = ensemble.with_classes(ensemble.classes.tolist()[::-1])
    quick = {"methods": ["tree"], "cv": 2, "n_refits": 0, "max_rules": 2}
    with pytest.warns(ClassOrderWarning, match="with_classes"):
        found = cw.compare(wrong, X, y, **quick, random_state=0)
    # What is true of the largest rules need not be true of all.
    assert all("warning" not in point.rules.about for point in found.points)


# What is left out


def training_of(target, values, classes=(), weight=None):
    space = FeatureSpace.numeric(1)
    cuts = np.unique(values)[:-1] + 0.5
    bins = FeatureBins.from_splits(space, feature=[0] * len(cuts), cut=cuts)
    said = target.argmax(axis=1) if classes else target
    weight = np.ones(len(values)) if weight is None else weight
    rows = np.asarray(values, dtype=float)[:, None]
    return Training(rows, target, None, weight, said, bins, classes)


def test_a_class_that_no_rule_says_is_named():
    names = ("no", "rare", "yes")
    kinds = np.repeat([0, 1, 2], [60, 8, 40])
    training = training_of(np.eye(3)[kinds], np.arange(108), names)
    rules = RuleList(
        (Rule((Interval(0, low=64.5),), "yes", (0.0, 0.1, 0.9)),),
        Rule((), "no", (0.9, 0.1, 0.0)),
        FeatureSpace.numeric(1),
        names,
    )
    (found,) = diagnose(rules, training, SingleSplit(0.5), 5)
    same_text(found.text)
    # So few rows need no rule.
    assert diagnose(rules, training, SingleSplit(0.5), 9) == []
    # Rules as good as the split are not called worse.
    assert diagnose(rules, training, SingleSplit(100 / 108), 9) == []
    worse, never_predicted = diagnose(rules, training, SingleSplit(0.99, apart=1.0), 5)
    same_text(worse.text)
    assert (worse.kind, never_predicted) == ("worse", found)
    # Nor are those that tell rows apart better.
    assert diagnose(rules, training, SingleSplit(0.99, apart=0.1), 5) == [found]


def test_a_constant_is_doubted_where_the_model_orders_rows():
    names = ("no", "yes")
    target = np.repeat([[0.9, 0.1], [0.6, 0.4]], 20, axis=0)
    training = training_of(target, np.arange(40), names)
    rest = Rule((), "no", (0.75, 0.25))
    rules = RuleList((), rest, FeatureSpace.numeric(1), names)
    (found,) = diagnose(rules, training, SingleSplit(0.5), 5)
    assert found.kind == "constant"
    same_text(found.text)
    same = replace(training, target=np.repeat([[0.9, 0.1]], 40, axis=0))
    assert diagnose(rules, same, SingleSplit(0.5), 5) == []
    # Rules that order rows explain something, though all say one class.
    first = Rule((Interval(0, high=19.5),), "no", (0.9, 0.1))
    apart = replace(rules, rules=(first,))
    assert diagnose(apart, training, SingleSplit(0.5), 5) == []
    # Where a "yes" counts three times, the model says it of half the rows.
    weighted = replace(training, class_weight=np.array([0.5, 1.5]))
    (found,) = diagnose(apart, weighted, SingleSplit(0.4), 5)
    same_text(found.text)


# One split


def naive_split(training, min_samples_leaf):
    """The least squares of all cuts of all features, one after the other."""
    target, weight = training.target, training.weight
    best = 0.0
    total = np.average(
        (target - np.average(target, weights=weight)) ** 2, weights=weight
    )
    for column in training.encoded.T:
        for cut in np.unique(column)[:-1]:
            low = column <= cut
            if min(low.sum(), (~low).sum()) < min_samples_leaf:
                continue
            said = np.where(
                low,
                np.average(target[low], weights=weight[low]),
                np.average(target[~low], weights=weight[~low]),
            )
            lost = np.average((target - said) ** 2, weights=weight)
            best = max(best, 1.0 - lost / total)
    return best


@pytest.mark.parametrize("min_samples_leaf", [1, 10])
@pytest.mark.parametrize("unit", [1.0, 1e-9, 1e9])
def test_the_best_split_is_the_best_of_all(min_samples_leaf, unit):
    rng = np.random.default_rng(0)
    for _ in range(5):
        values = rng.integers(20, size=60)
        target = unit * (rng.normal(size=60) + (values > 17))
        training = training_of(target, values, weight=1e-6 + rng.random(60))
        assert best_single_split(training, min_samples_leaf).fidelity == pytest.approx(
            naive_split(training, min_samples_leaf)
        )


def test_a_fit_says_nothing_of_the_best_split_of_so_few_rows():
    X = pd.DataFrame({"x": [0.0, 1.0, 2.0]})
    forest = RandomForestClassifier(3, random_state=0).fit(X, ["a", "b", "b"])
    found = cw.DistilledTreeClassifier(forest, random_state=0).fit(X)
    assert 0.0 <= found.single_split_fidelity_ <= 1.0


def test_heavy_rows_do_not_turn_classes_round():
    """A third of the rows is labelled wrong and weighs fifty times as much."""
    X = np.random.default_rng(0).normal(size=(300, 2))
    right = np.where(X[:, 0] > 0, "yes", "no")
    forest = RandomForestClassifier(5, max_depth=2, random_state=0).fit(X, right)
    wrong = np.arange(300) % 3 == 0
    y = np.where(wrong, np.where(right == "yes", "no", "yes"), right)
    made = cw.InTreesClassifier(forest, random_state=0)
    told = told_by(made, X, y, np.where(wrong, 50.0, 1.0))[1]
    assert ClassOrderWarning not in told
