"""How much a search chose among, and what the prior makes of it."""

import numpy as np
import pandas as pd
import pytest
from tests.metatree import naive

from clearwood import MetaTreeClassifier, MetaTreeRegressor
from clearwood.metatree import given
from clearwood.metatree.posterior.prior import effective_questions

HUES = [f"h{i:02}" for i in range(50)]


def table(n, seed, holes=0.1):
    """Numbers with ties and holes, labels with holes, and a column of one value."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": rng.integers(12, size=n) / 4,
            "weight": rng.normal(size=n),
            "hue": rng.choice(HUES[:6], n).astype(object),
            "same": np.ones(n),
        }
    )
    frame.loc[rng.random(n) < holes, "size"] = np.nan
    frame.loc[rng.random(n) < holes, "hue"] = None
    return frame


def counted(tree, X, **settings):
    s = tree.structure_
    encoded = s.coder.features.encode(X)
    return effective_questions(s, encoded, s.route(s.encode(X)), **settings)


@pytest.mark.parametrize("max_features", [None, 2])
@pytest.mark.parametrize("missing", ["evidence", "branch"])
def test_counts_are_those_of_sets_of_values(missing, max_features):
    X = table(80, 0)
    y = (X.hue.isin(HUES[:3]) ^ (X["size"] > 1)).to_numpy() + 0.0
    y[:15] = 1 - y[:15]
    tree = MetaTreeRegressor(missing=missing, random_state=0).fit(X, y)
    s = tree.structure_
    assert set(s.feature) == {-1, 0, 1, 2}
    found = counted(tree, X, max_features=max_features)
    expected = naive.effective_questions(s, X, max_features)
    np.testing.assert_allclose(found, expected, rtol=1e-14)
    # How often a row comes, and in which order, plays no part.
    again = X.iloc[np.random.default_rng(1).permutation(np.tile(np.arange(80), 3))]
    np.testing.assert_array_equal(
        counted(tree, again, max_features=max_features), found
    )


def test_nodes_without_rows_count_one():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    tree = MetaTreeClassifier().fit(X, [0, 1, 0, 1])
    # All rows go left at the root.
    found = counted(tree, X[:1])
    assert (found == 1.0).all()


def test_questions_with_one_answer_per_value_count_features():
    structure = given([0, 1], n_values=3, n_features=2)
    X = np.array([[0, 0], [0, 2], [1, 0], [2, 2]])
    found = effective_questions(structure, X.astype(float), structure.route(X))
    np.testing.assert_array_equal(found[:4], [2, 1, 1, 1])


def test_a_thousand_categories_are_no_overflow():
    n = 3000
    X = pd.DataFrame({"name": [f"n{i % 1500}" for i in range(n)], "x": np.arange(n)})
    y = (X.x > n / 2).to_numpy().astype(int)
    tree = MetaTreeClassifier(random_state=0).fit(X[["name", "x"]], y)
    assert np.isfinite(tree.log_evidence_)
    # The column of names does not keep a true question about another one out.
    assert tree.inclusion_probability_[1] > 0.99


def by_lot(kind, n, rng):
    if kind == "50 categories":
        return pd.DataFrame({"hue": rng.choice(HUES, n).astype(object)})
    return rng.normal(size=(n, int(kind.split()[0])))


@pytest.mark.parametrize("kind", ["1 number", "10 numbers", "50 categories"])
@pytest.mark.parametrize("estimator", [MetaTreeClassifier, MetaTreeRegressor])
def test_a_target_by_lot_is_not_asked_about(estimator, kind):
    asked = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = by_lot(kind, 300, rng)
        y = rng.normal(size=300)
        y = (y > 0).astype(int) if estimator is MetaTreeClassifier else y
        tree = estimator(random_state=0).fit(X, y)
        asked.append(tree.meta_tree_.posterior().g[0])
    assert np.mean(asked) < 0.3


def test_a_true_question_is_found_beside_noise():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, 5)), columns=list("abcde"))
    X["hue"] = rng.choice(HUES, 300).astype(object)
    y = (rng.random(300) < np.where(X.c > 0.3, 0.85, 0.15)).astype(int)
    tree = MetaTreeClassifier(random_state=0).fit(X, y)
    assert tree.meta_tree_.posterior().g[0] > 0.999
    assert tree.structure_.feature[0] == 2
    # And hardly anything else.
    assert np.delete(tree.inclusion_probability_, 2).max() < 0.4
    assert tree.map_tree_.n_leaves == 2
