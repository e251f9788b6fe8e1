"""What fitted estimators let people read, on data of all kinds."""

import copy

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.metatree.reading.cases import end_in

from clearwood.metatree.estimators import MetaTreeClassifier, MetaTreeRegressor


def mixed(n=220, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "dose": rng.uniform(size=n).round(2),
            "hue": rng.choice(["red", "blue", "tan", "$<b>"], n),
            "grade": rng.integers(0, 4, n),
            "old": rng.uniform(size=n) > 0.4,
        }
    )
    value = X["dose"] * 4 + X["hue"].isin(["red", "tan"]) * 2 + X["old"]
    X.loc[::7, "dose"] = np.nan
    X.loc[3::11, "hue"] = None
    y = (value + rng.normal(size=n) / 4).to_numpy()
    return X, y


def strange(X):
    """Rows with values missing or never seen, wherever that can be."""
    rows = X.copy()
    rows.loc[::3, "hue"] = "green"
    rows.loc[1::4, "hue"] = None
    rows.loc[::5, "dose"] = np.nan
    rows["grade"] = rows["grade"].astype(float)
    rows.loc[2::5, "grade"] = np.nan
    return rows


KINDS = [
    *(
        f"{missing}{of}"
        for missing in ("evidence", "branch")
        for of in ("", " values", " weights")
    ),
    "exact",
]


@pytest.fixture(params=KINDS, scope="module")
def fitted(request):
    X, y = mixed()
    missing, _, of = request.param.partition(" ")
    label = np.array(["low", "middle", "high"])[np.digitize(y, [2, 4])]
    if missing == "exact":
        yes = {"a": X["old"], "b": X["grade"] > 1, "c": X["dose"] > 0.5}
        X = pd.DataFrame(yes).astype(int)
        return MetaTreeClassifier("exact", max_depth=3, random_state=0).fit(X, label), X
    settings = {"missing": missing, "max_depth": 4, "random_state": 0}
    if of == "values":
        return MetaTreeRegressor(**settings).fit(X, y), X
    if of == "weights":
        weight = np.random.default_rng(1).uniform(0.2, 3, len(y))
        return MetaTreeClassifier(**settings, split_prior=0.9).fit(X, label, weight), X
    return MetaTreeClassifier(**settings).fit(X, label), X


def test_rules_say_what_the_most_probable_tree_says(fitted):
    model, X = fitted
    rows = X if "hue" not in X else pd.concat([X, strange(X)])
    tree, best = model.meta_tree_, model.map_tree_
    asks = {node.number for node in best.nodes if node.feature is not None}
    # What no row can come to is not read.
    unread = set(tree.posterior().map_tree().inner.tolist()) - asks
    assert asks <= set(tree.posterior().map_tree().inner.tolist())
    assert not tree.model.weight_of(tree.posterior().total[[*unread]]).any()
    assert asks
    nodes = end_in(tree, asks, rows)
    total = tree.posterior().known[nodes]
    if hasattr(model, "classes_"):
        p = tree.model.probabilities(total)
        said = model.classes_[p.argmax(axis=1)]
        assert model.rules_.predict(rows).tolist() == said.tolist()
        assert np.array_equal(best.predict_proba(rows), p)
        told = [end in best.lines for end in best.ends]
        told = np.array(told)[best.apply(rows)]
        assert told[: len(X)].all()
        assert np.array_equal(model.rules_.predict_proba(rows)[told], p[told])
    else:
        step = 0.005 * tree.model.variance(tree.posterior().total[0]) ** 0.5
        gap = np.abs(model.rules_.predict(rows) - tree.model.mean(total))
        assert gap.max() <= step


def test_support_is_the_weight_of_the_rows(fitted):
    model, X = fitted
    total = sum(rule.assigned for rule in model.rules_)
    assert total == pytest.approx(model.meta_tree_.weight)


def test_frames_of_other_libraries_are_read(fitted):
    model, X = fitted
    if "hue" in X:
        cells = X.astype(object).where(X.notna(), None)
        rows = pl.DataFrame(cells.to_dict("list"))
        assert (model.rules_.predict(rows) == model.rules_.predict(X)).all()


def test_what_is_read_follows_what_is_learned():
    X, y = mixed()
    model = MetaTreeRegressor(max_depth=3, random_state=0).fit(X[:150], y[:150])
    before = str(model.map_tree_)
    later = copy.deepcopy(model).partial_fit(X[150:], y[150:])
    assert str(later.map_tree_) != before
    rows = sum(rule.assigned for rule in later.rules_)
    assert rows == 220
    later.unlearn(X[150:], y[150:])
    assert later.map_tree_.nodes[0].rule.support == 150
    assert str(model.map_tree_) == before
