"""What pictures of projections show is what was found."""

import matplotlib
import numpy as np
import pytest
from tests.projection.test_estimators import Drawn
from tests.wording import refuses

import clearwood as cw
from clearwood.projection.sizes import SizePath

matplotlib.use("agg")


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(0).normal(size=(200, 4))


@pytest.fixture(autouse=True)
def closed():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


def test_leaves_show_the_draws_means_and_observations(rows):
    tree = cw.ProjectedTreeRegressor(Drawn(), n_leaf_nodes=3).fit(rows)
    shown = cw.projection.LeavesDisplay.from_estimator(tree)
    means = tree.leaves_.means
    np.testing.assert_allclose(shown.predictions, means.mean(axis=0))
    np.testing.assert_allclose(
        shown.mean_interval, np.quantile(means, [0.05, 0.95], axis=0)
    )
    first = tree.rules_.apply_encoded(rows)
    outer = tree.predict_interval(rows, coverage=0.9)
    for leaf in range(3):
        np.testing.assert_allclose(
            shown.observation_interval[:, leaf], outer[first == leaf][0]
        )
    # The first leaf is on top, beside its own words.
    ax = shown.plot().ax_
    middles = next(line for line in ax.lines if len(line.get_xdata()) == 3)
    at = dict(zip(ax.get_yticks(), (t.get_text() for t in ax.get_yticklabels())))
    order = np.argsort(-np.asarray(middles.get_ydata()))
    said = np.asarray(middles.get_xdata())[order]
    np.testing.assert_allclose(said, tree.rules_.predictions, atol=0.02)
    assert "otherwise" in at[min(at)] and "otherwise" not in at[max(at)]


def test_leaves_of_classes_show_one_class(rows):
    tree = cw.ProjectedTreeClassifier(Drawn(task="classification"), n_leaf_nodes=3)
    tree.fit(rows)
    no, yes = (
        cw.projection.LeavesDisplay.from_estimator(tree, label=x) for x in ("no", "yes")
    )
    np.testing.assert_allclose(no.predictions + yes.predictions, 1)
    np.testing.assert_allclose(yes.predictions, tree.leaves_.means[..., 1].mean(axis=0))
    with refuses(cw.exceptions.InputError):
        cw.projection.LeavesDisplay.from_estimator(tree, label="perhaps")


def test_the_band_of_a_size_path_is_a_standard_error_on_both_sides():
    lost, error = np.array([0.5, 0.2, 0.1]), np.array([0.1, 0.05, 0.2])
    path = SizePath(
        np.arange(1, 4), -lost, lost / 2, lost, error, "labels", tolerance=0.15
    )
    ax = cw.projection.SizePathDisplay(path, chosen=2).plot().ax_
    ends = ax.collections[0].get_paths()[0].vertices
    for size, low, high in zip(path.size, lost - error, lost + error):
        there = ends[ends[:, 0] == size, 1]
        assert (there.min(), there.max()) == pytest.approx((low, high))


def test_a_neighbourhood_is_shown_along_the_feature_that_matters(rows):
    class Third(Drawn):
        def draws(self, X):
            return 2.0 * np.asarray(X)[:, 2] + self.shift[:, None]

    found = cw.explain_local(Third(), rows[0], rows, n_neighbours=256)
    shown = cw.projection.LocalDisplay(found).plot()
    assert shown.ax_.get_xlabel() == "x2"
    with refuses(cw.exceptions.InputError):
        cw.projection.LocalDisplay(found, feature="x9")
