"""What matters to rules and to the model: what is used, and how much."""

import itertools

import numpy as np
import pandas as pd
import pytest
from tests.wording import refuses, same_text

import clearwood as cw
from clearwood.exceptions import InputError
from clearwood.rules.conditions import Interval
from clearwood.rules.importances.permuted import permutation_importance

SPACE = cw.FeatureSpace(("a", "b", "c"), (None,) * 3)
A = cw.RuleList((cw.Rule((Interval(0, low=0.5),), 1.0),), cw.Rule((), 0.0), SPACE)


class Model:
    """Says mostly b, and a little a."""

    def predict(self, X):
        X = np.asarray(X)
        return X[:, 0] + 3 * X[:, 1]


def table(n=400):
    values = np.random.default_rng(0).integers(0, 2, (n, 3)).astype(float)
    return pd.DataFrame(values, columns=list("abc"))


def test_what_the_model_uses_and_no_rule_asks_is_named():
    found = permutation_importance(A, table(), model=Model())
    assert found.names == ("b", "a")
    assert found.unused_features == ("b",)
    assert found.rules[0] == 0


def test_columns_of_a_frame_are_found_by_name():
    """Others may stand among them, and they in another order."""
    rows = table()
    for X in (rows, rows.assign(more="x")[["more", "b", "c", "a"]]):
        found = permutation_importance(A, X, model=A)
        assert found.names == ("a",) and found.model[0] > 0.3


def test_amounts_are_those_that_are_expected():
    # A shuffled feature of half the variance v changes R2 by twice its share of v.
    found = permutation_importance(A, table(), model=Model(), n_repeats=20)
    both = dict(zip(found.names, found.model))
    assert both["b"] == pytest.approx(2 * 0.9, abs=0.1)
    assert both["a"] == pytest.approx(2 * 0.1, abs=0.1)
    assert found.rules[1] == pytest.approx(2.0, abs=0.15)
    assert (found.model_error > 0).all() and (found.model_error < 0.05).all()


def test_rows_are_drawn_and_the_same_seed_gives_the_same():
    one = permutation_importance(A, table(), model=Model(), max_samples=50)
    two = permutation_importance(A, table(), model=Model(), max_samples=50)
    assert one.n_rows == 50
    assert one.model.tolist() == two.model.tolist()
    other = permutation_importance(
        A, table(), model=Model(), max_samples=50, random_state=1
    )
    assert one.model.tolist() != other.model.tolist()


def test_what_the_model_does_not_use_stands_by_what_it_matters_to_the_rules():
    rules = cw.rules.RuleSum(
        (
            cw.Rule((Interval(0, low=0.5),), 1.0),
            cw.Rule((Interval(1, low=0.5),), 3.0),
        ),
        cw.Rule((), 0.0),
        SPACE,
    )
    of_c = cw.RuleList(
        (cw.Rule((Interval(2, low=0.5),), 1.0),), cw.Rule((), 0.0), SPACE
    )
    found = permutation_importance(rules, table(), model=of_c)
    assert found.names == ("c", "b", "a")


def test_what_cannot_be_measured_is_refused():
    with refuses(InputError):
        permutation_importance(A, table())
    with refuses(InputError):
        permutation_importance(A, table(1), model=Model())
    with refuses(InputError):
        permutation_importance(A, table(), model=Model(), n_repeats=1)


def test_the_display_draws_both():
    pytest.importorskip("matplotlib").use("agg")
    found = permutation_importance(A, table(), model=Model(), n_repeats=2)
    shown = cw.rules.ImportancesDisplay(found).plot()
    assert [len(bars) for bars in shown.ax_.containers if len(bars) == 2]
    ends = sorted((b.get_y(), b.get_y() + b.get_height()) for b in shown.ax_.patches)
    assert all(upper <= low for (_, upper), (low, _) in itertools.pairwise(ends))
    labels = [label.get_text() for label in shown.ax_.get_yticklabels()]
    same_text(labels)
