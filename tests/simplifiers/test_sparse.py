"""Sparse tables go through whole: the same rules as of dense ones, in little memory."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csc_array, csr_array, csr_matrix, random_array
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from tests.wording import refuses, warns

import clearwood as cw
from clearwood.columns import sparse_tables
from clearwood.exceptions import InputError
from clearwood.rules.training import HASHES

METHODS = ("list", "tree", "additive")
QUICK = {"max_rules": 4, "n_synthetic": 200, "random_state": 0}


@pytest.fixture(scope="module")
def table():
    """Counts, most of them 0; labels and values that hang on three columns."""
    rng = np.random.default_rng(0)
    X = rng.poisson(0.3, size=(240, 30)).astype(float)
    score = 2.0 * (X[:, 3] > 0) - 1.0 * (X[:, 7] > 1) + (X[:, 20] > 0)
    return X, np.where(score > 0.5, "yes", "no"), score + rng.normal(0, 0.1, 240)


@pytest.fixture(scope="module")
def models(table):
    X, labels, values = table
    few = {"n_estimators": 5, "max_depth": 4, "random_state": 0}
    linear = LogisticRegression().fit(X, labels)
    # Sums of these are exact, in whatever order they are added.
    linear.coef_ = np.round(64 * linear.coef_) / 64
    linear.intercept_ = np.round(64 * linear.intercept_) / 64
    return {
        "forest": (RandomForestClassifier(**few).fit(X, labels), labels),
        "values": (RandomForestRegressor(**few).fit(X, values), values),
        "black box": (linear, labels),
        "pipeline": (make_pipeline(MaxAbsScaler(), Ridge()).fit(X, values), values),
    }


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["forest", "values", "black box", "pipeline"])
def test_a_sparse_table_has_the_rules_of_the_dense_one(name, method, table, models):
    X, (model, y) = table[0], models[name]
    weight = np.arange(len(y)) % 3 + 1.0
    settings = {**QUICK, "method": method, "sample_weight": weight}
    dense = cw.simplify(model, X, y, **settings)
    sparse = cw.simplify(model, csr_array(X), y, n_jobs=2, **settings)
    # What a linear model says of sparse rows differs in its last digits.
    assert str(sparse) == str(dense)
    # Of a sparse table the columns that matter are hashed.
    abouts = ({k: v for k, v in one.about.items() if k not in HASHES}
              for one in (sparse, dense))  # fmt: skip
    assert next(abouts) == next(abouts)
    assert [r.conditions for r in sparse] == [r.conditions for r in dense]
    for rows in (csr_array(X), csc_array(X), csr_matrix(X)):
        np.testing.assert_array_equal(sparse.predict(rows), dense.predict(X))
    scores = sparse.evaluate(csr_array(X), y, model=model)
    assert str(scores) == str(dense.evaluate(X, y, model=model))


@pytest.mark.parametrize("method", METHODS)
def test_a_sparse_frame_has_the_rules_of_the_dense_one(method):
    rng = np.random.default_rng(0)
    hues = pd.DataFrame({"hue": rng.choice(list("abcde"), 200)})
    hues["size"] = rng.choice(["small", "large"], 200)
    dense = pd.get_dummies(hues)
    sparse = pd.get_dummies(hues, sparse=True)
    y = 1 * ((hues["hue"] == "b") | (hues["size"] == "small"))
    forest = RandomForestClassifier(5, random_state=0).fit(dense, y)
    settings = {**QUICK, "method": method}
    expected = cw.simplify(forest, dense, y, **settings)
    found = cw.simplify(forest, sparse, y, **settings)
    assert str(found) == str(expected)
    assert "hue_b is" in str(found)
    other_order = sparse.iloc[:, ::-1]
    np.testing.assert_array_equal(found.predict(other_order), expected.predict(dense))
    # Columns of both kinds: all are then dense.
    dense["age"] = sparse["age"] = rng.integers(0, 90, 200)
    forest.fit(dense, y)
    mixed = cw.simplify(forest, sparse, y, **settings)
    assert str(mixed) == str(cw.simplify(forest, dense, y, **settings))
    np.testing.assert_array_equal(mixed.predict(sparse), mixed.predict(dense))


def test_text_in_rules_out():
    rng = np.random.default_rng(0)
    words = np.array([f"word{i}" for i in range(80)])
    texts = [" ".join(rng.choice(words, 8)) for _ in range(200)]
    y = np.array(["word3 " in f"{text} " for text in texts])
    X = TfidfVectorizer().fit_transform(texts)
    forest = RandomForestClassifier(10, random_state=0)
    for make in (
        cw.RuleListClassifier,
        cw.DistilledTreeClassifier,
        cw.AdditiveRulesClassifier,
    ):
        found = make(forest, **QUICK).fit(X, y)
        np.testing.assert_array_equal(found.predict(X), found.predict(X.toarray()))
        shares = found.predict_proba(X)
        np.testing.assert_array_equal(shares, found.predict_proba(X.toarray()))
        assert found.ensemble_.n_features == X.shape[1] == found.n_features_in_
        np.testing.assert_array_equal(
            found.ensemble_.predict(X), found.estimator_.predict(X)
        )
        assert found.bins_.features == found.rules_.features
        assert all(
            c.low in found.bins_.cuts[c.feature] or not np.isfinite(c.low)
            for rule in make(forest, round_thresholds=False, **QUICK)
            .fit(X, y)
            .rules_.rules
            for c in rule.conditions
        )


def test_a_tree_and_an_explanation_of_sparse_rows(table, models):
    X, (model, y) = table[0], models["forest"]
    found = cw.DistilledTreeClassifier(model, **QUICK).fit(csr_array(X), y)
    np.testing.assert_array_equal(found.tree_.apply(csr_array(X)), found.tree_.apply(X))
    assert found.tree_ in found.trees_
    told = cw.explain(found, csr_array(X)[:3])
    assert list(map(str, told)) == list(map(str, cw.explain(found, X[:3])))
    assert str(cw.explain(found, csr_array(X)[[0]])) == str(told[0])
    rows = csr_array(X)
    assert str(cw.decisions(found, rows, y)) == str(cw.decisions(found, X, y))
    described = found.rules_.described_on(rows, y)
    assert described == found.rules_.described_on(X, y)


@pytest.mark.parametrize("name", ["forest", "black box"])
def test_of_many_columns_those_that_matter_are_searched(
    name, table, models, monkeypatch
):
    X, (model, y) = table[0], models[name]
    monkeypatch.setattr(sparse_tables, "MOST_CELLS", 1)
    monkeypatch.setattr(sparse_tables, "FEWEST_COLUMNS", 3)
    rules = cw.simplify(model, csr_array(X), y, n_rules=4, **QUICK)
    assert rules.used_features <= {3, 7, 20}
    assert rules.evaluate(csr_array(X), model=model).fidelity > 0.8
    if name == "black box":
        assert "columns" in rules.about["cuts"] and "of 30" in rules.about["cuts"]


def test_a_model_is_asked_about_whole_rows(table, monkeypatch):
    X = table[0]
    monkeypatch.setattr(sparse_tables, "MOST_CELLS", 1)
    monkeypatch.setattr(sparse_tables, "FEWEST_COLUMNS", 2)
    seen = []

    def says(rows):
        seen.append(rows)
        return 5.0 * (rows[:, [3]].toarray()[:, 0] > 0) + rows.sum(axis=1)

    cw.simplify(says, csr_array(X), **QUICK)
    assert {rows.shape[1] for rows in seen} == {30}
    made = max(seen, key=lambda rows: rows.shape[0])
    assert made.shape[0] > len(X)
    known = {tuple(row) for row in np.delete(X, [3], axis=1).tolist()}
    others = np.delete(made.toarray(), [3], axis=1).tolist()
    assert len({tuple(row) for row in others} & known) > len(known) / 2


def test_missing_cells_are_missing(table):
    X = table[0].copy()
    X[::5, 3] = np.nan
    X[::7, 9] = np.nan

    def says(rows):
        column = rows if isinstance(rows, np.ndarray) else rows.toarray()
        return np.where(np.isnan(column[:, 3]), 5.0, column[:, 3])

    expected = cw.simplify(says, X, **QUICK)
    found = cw.simplify(says, csr_array(X), **QUICK)
    assert str(found) == str(expected) and "missing" in str(found)


def test_names_and_positions_are_of_all_columns(table, models):
    X, (model, y) = table[0], models["forest"]
    rules = cw.simplify(model, csr_array(X), y, exclude_features=[3], **QUICK)
    assert 3 not in rules.used_features and rules.about["exclude_features"] == "x3"
    assert rules.features.names == tuple(f"x{d}" for d in range(30))
    never_asked = next(d for d in range(30) if not model.feature_importances_[d])
    cw.simplify(model, csr_array(X), y, exclude_features=[f"x{never_asked}"], **QUICK)
    for wrong in (rules.predict, lambda rows: cw.simplify(model, rows, y, **QUICK)):
        with refuses(InputError):
            wrong(csr_array(X[:, :5]))


def test_xgboosts_missing_zeros_are_told(table):
    xgboost = pytest.importorskip("xgboost")
    X, labels, _ = table
    rows, y = csr_array(X), 1 * (labels == "yes")
    model = xgboost.XGBClassifier(n_estimators=3).fit(rows, y)
    with warns(UserWarning):
        rules = cw.simplify(model, rows, y, **QUICK)
    assert rules.evaluate(rows, model=model).fidelity > 0.9


def test_the_whole_matrix_never_becomes_dense():
    rows = random_array((20_000, 5000), density=0.001, format="csr", rng=0)
    y = np.asarray(rows[:, :400].sum(axis=1)) > 0.2
    forest = RandomForestClassifier(10, max_depth=6, random_state=0).fit(rows, y)
    settings = {**QUICK, "n_rules": 4}
    # What is imported at the first fit is none of the table's.
    cw.simplify(forest, rows[:100], y[:100], **settings)
    tracemalloc.start()
    try:
        rules = cw.simplify(forest, rows, **settings)
        rules.predict(rows)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 150 * 2**20


def test_tags_say_what_takes_sparse_tables():
    found = cw.RuleListClassifier(LogisticRegression(), **QUICK)
    assert found.__sklearn_tags__().input_tags.sparse
    boosted = cw.RuleListClassifier(**QUICK)
    assert not boosted.__sklearn_tags__().input_tags.sparse
    assert (
        not cw.FABRulesClassifier(LogisticRegression())
        .__sklearn_tags__()
        .input_tags.sparse
    )
