import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.metrics import log_loss
from tests._html.hostile import HOSTILE, tags_of
from tests.metatree.reading.cases import Reader, cart
from tests.wording import refuses, same_lines, same_text

import clearwood as cw
from clearwood import MetaForestClassifier, MetaForestRegressor, report
from clearwood.exceptions import InputError
from clearwood.metatree import LinearRegressionNormalGamma
from clearwood.metatree.estimators import MetaTreeClassifier, MetaTreeRegressor
from clearwood.metatree.reading.compare_scores import compare_scores
from clearwood.metatree.reading.forest_section import section as forest_section
from clearwood.metatree.reading.section import section
from clearwood.reporting import summarize


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(size=(300, 3)), columns=["a", "b", "c"])
    y = np.where((X["a"] > 0.5) ^ (rng.uniform(size=300) < 0.15), "yes", "no")
    return X, y


@pytest.fixture(scope="module")
def fitted(rows):
    X, y = rows
    return MetaTreeClassifier(max_depth=4, random_state=0).fit(X[:200], y[:200])


def test_scores_are_those_of_each_tree_by_hand(fitted, rows):
    X, y = rows[0][200:], rows[1][200:]
    scores = compare_scores(fitted, X, y)
    best = fitted.map_tree_
    tree = fitted.meta_tree_
    ends = tree.structure.route(tree.structure.encode(X))
    full = tree.model.probabilities(tree.posterior().known[ends])
    told = {
        "average": fitted.predict_proba(X),
        "map_tree": best.predict_proba(X),
        "full_tree": full,
    }
    for name, p in told.items():
        assert scores[name]["log_loss"] == pytest.approx(log_loss(y, p))
        wrong = (fitted.classes_[p.argmax(axis=1)] != y).mean()
        assert scores[name]["error"] == pytest.approx(wrong)
    assert scores["map_tree"]["n_leaves"] == best.n_leaves


def test_scores_of_values(rows):
    X, _ = rows
    y = 3 * X["b"].to_numpy() + np.random.default_rng(1).normal(size=300) / 5
    fitted = MetaTreeRegressor(random_state=0).fit(X[:200], y[:200])
    scores = compare_scores(fitted, X[200:], y[200:])
    low, high = fitted.predict_interval(X[200:], 0.9).T
    average = scores["average"]
    assert average["coverage"] == np.mean((low <= y[200:]) & (y[200:] <= high))
    assert average["width"] == pytest.approx((high - low).mean())
    assert average["log_loss"] == pytest.approx(
        -fitted.log_density(X[200:], y[200:]).mean()
    )
    gap = fitted.map_tree_.predict(X[200:]) - y[200:]
    rmse = np.sqrt((gap**2).mean())
    assert scores["map_tree"]["rmse"] == pytest.approx(rmse, rel=0.01)


def test_a_label_never_seen_costs_much_but_not_everything(fitted, rows):
    X, y = rows[0][200:202], np.array(["maybe", "yes"])
    assert 1 < compare_scores(fitted, X, y)["average"]["log_loss"] < 40


def test_the_section_shows_what_the_posterior_says(fitted, rows):
    X, y = rows
    found = section(fitted, X[200:], y[200:])
    assert found["tree"]["n_leaves"] == fitted.map_tree_.n_leaves
    assert found["used"][0]["name"] == "a"
    assert found["used"][0]["share"] == pytest.approx(fitted.inclusion_probability_[0])
    assert len(found["used"]) + found["n_hidden"] == 3
    assert (
        found["scores"][1]["values"][0]
        == compare_scores(fitted, X[200:], y[200:])["average"]["error"]
    )
    assert section(fitted)["scores"] is None
    assert summarize(fitted.rules_)["section"] is None


def test_the_average_is_the_model_that_the_rules_speak_for(fitted, rows):
    X, y = rows
    page = summarize(fitted, X=X[200:], y=y[200:])
    same = (fitted.map_tree_.predict(X[200:]) == fitted.predict(X[200:])).mean()
    lines = {line["name"]: line["rules"] for line in page["scores"]["lines"]}
    same_text(lines)
    assert same in [pytest.approx(share) for share in lines.values()]
    assert page["trees"] is not None


def test_pages_are_written_with_and_without_rows(fitted, rows, tmp_path):
    X, y = rows
    pages = []
    for given in ({"X": X, "y": y}, {}):
        report(fitted, tmp_path / "page.html", **given, overwrite=True)
        pages.append((tmp_path / "page.html").read_text(encoding="utf-8"))
    same_lines(pages[1])
    same_lines(pages[0], without=pages[1])


def test_hostile_names_stay_text_on_the_page(rows, tmp_path):
    X, y = rows

    def page(names, target):
        fitted = MetaTreeClassifier(max_depth=2, random_state=0)
        fitted.fit(X.set_axis(names, axis=1), np.where(y == "yes", target, names[0]))
        fitted.target_name = target
        report(fitted, tmp_path / "page.html", overwrite=True)
        return (tmp_path / "page.html").read_text(encoding="utf-8")

    plain = tags_of(page(["a", "b", "c"], "yes"))
    for i in range(0, len(HOSTILE) - 3, 32):
        assert tags_of(page(HOSTILE[i : i + 3], HOSTILE[i + 3])) == plain


def test_a_tree_without_questions_has_a_page(tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 2))
    fitted = MetaTreeRegressor(random_state=0, split_prior=1e-12).fit(X, X[::-1, 0])
    assert fitted.map_tree_.n_leaves == 1
    report(fitted, tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    same_lines(text)


def test_no_rows_and_leaves_with_lines_are_refused(fitted, rows):
    with refuses(InputError):
        compare_scores(fitted, rows[0][:0], rows[1][:0])
    line = LinearRegressionNormalGamma((0.0, 0.0, 0.0))
    tree = MetaTreeRegressor(leaf_model=line, max_depth=2, random_state=0)
    tree.fit(rows[0], rows[0]["a"].to_numpy())
    with pytest.raises(InputError, match="NormalNormalGamma"):
        tree.map_tree_  # noqa: B018


def test_reading_leaves_the_estimator_as_it_was(fitted, rows):
    before = fitted.predict_proba(rows[0])
    tree, _, classes = cart()
    Reader(tree, classes).sample_trees(3, 0)
    str(fitted.map_tree_), fitted.top_trees(4), fitted.sample_trees(4, 1)
    assert np.array_equal(fitted.predict_proba(rows[0]), before)


def test_a_forest_has_a_page_of_sizes_features_and_scores(rows, tmp_path):
    X, y = rows
    trees = RandomForestClassifier(3, max_depth=3, random_state=0)
    forest = MetaForestClassifier(trees).fit(X[:200], y[:200])
    found = forest_section(forest, X[200:], y[200:])
    n_trees, in_effect, full, kept, _ = dict(found["facts"]).values()
    leaves = sum(tree.structure.is_leaf.sum() for tree in forest.meta_trees_)
    assert (n_trees, in_effect, full) == ("3", "3", str(leaves))
    expected = sum(tree.posterior().leaf.sum() for tree in forest.meta_trees_)
    assert kept == f"{expected:.0f}" != full
    assert found["used"][0]["share"] == forest.inclusion_probability_.max()
    scores = {line["name"]: line["values"] for line in found["scores"]}
    p = forest.predict_proba(X[200:])
    assert scores["Log loss"] == [pytest.approx(log_loss(y[200:], p))]
    assert scores["Error rate"] == [pytest.approx(1 - forest.score(X[200:], y[200:]))]
    report(forest, tmp_path / "page.html", X=X, y=y)
    cw.save(forest, tmp_path / "forest.zip")
    loaded = cw.load(tmp_path / "forest.zip")
    assert forest_section(loaded, X[200:], y[200:]) == found


def test_scores_of_a_forest_of_values_are_those_of_its_methods(rows):
    X, y = rows[0], rows[0]["a"].to_numpy()
    forest = RandomForestRegressor(3, max_depth=3, random_state=0)
    forest = MetaForestRegressor(forest).fit(X, y)
    found = forest_section(forest, X, y)["scores"]
    scores = {line["name"]: line["values"][0] for line in found}
    low, high = forest.predict_interval(X, coverage=0.9).T
    expected = {
        "Root mean squared error": np.sqrt(((forest.predict(X) - y) ** 2).mean()),
        "Log loss": -forest.log_density(X, y).mean(),
        "Coverage of the 90 % intervals": ((low <= y) & (y <= high)).mean(),
        "Mean width of the 90 % intervals": (high - low).mean(),
    }
    assert scores == pytest.approx(expected)


def test_unfitted_there_is_nothing_to_read():
    for name in ("map_tree_", "rules_"):
        assert not hasattr(MetaTreeClassifier(), name)
    with refuses(InputError):
        summarize(MetaTreeClassifier())


@pytest.mark.parametrize("kind", [MetaTreeClassifier, MetaTreeRegressor])
def test_a_column_without_a_number_is_left_out(kind, rows, tmp_path):
    """Without rows nobody compared the rules with the average over all prunings."""
    X, y = rows
    target = y if kind is MetaTreeClassifier else X["a"].to_numpy()
    tree = kind(max_depth=2, random_state=0).fit(X, target)
    pages = []
    for name, settings in (("alone", {}), ("rows", {"X": X, "y": target})):
        report(tree, tmp_path / name, **settings)
        pages.append((tmp_path / name).read_text(encoding="utf-8"))
    assert ">Agreement<" not in pages[0] and ">Agreement<" in pages[1]
    for page in pages:
        assert ("Precision" if kind is MetaTreeClassifier else ">SD<") in page
