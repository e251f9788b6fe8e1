"""What the numbers of a local explanation mean."""

import numpy as np
import pandas as pd
import pytest

import clearwood as cw
from clearwood.references import Reference


class Says(Reference):
    """What functions say, one per draw."""

    task, description = "regression", "functions"

    def __init__(self, *functions):
        self.functions, self.n_draws = functions, len(functions)

    def draws(self, X):
        return np.array([function(X) for function in self.functions])


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(0).normal(size=(500, 3))


def test_fidelity_is_of_neighbours_that_the_proxy_did_not_see(rows):
    """Nobody can know such a wave from some of its values."""
    wild = Says(lambda X: np.sin(1e4 * X[:, 0]))
    found = cw.explain_local(wild, rows[0], rows, max_size=12, n_neighbours=64)
    seen = (
        1
        - np.mean((found.reference_predictions - found.proxy_predictions) ** 2)
        / found.reference_predictions.var()
    )
    assert seen > 0.3 > 0.1 > found.fidelity


def test_fidelity_is_one_minus_the_share_of_variance_that_is_left(rows):
    """Of a sum of two independent terms of which one is explained: their share."""
    two = Says(lambda X: 2.0 * X[:, 0] + X[:, 1])
    middle = np.zeros(3)
    found = cw.explain_local(two, middle, rows, proxy="linear", max_size=1)
    first, second = (4 * rows[:, 0].var(), rows[:, 1].var())
    assert found.fidelity == pytest.approx(first / (first + second), abs=0.01)


def test_the_monte_carlo_error_is_how_far_proxies_of_other_neighbours_spread(rows):
    bent = Says(lambda X: X[:, 0] + X[:, 1] ** 2)
    found = [
        cw.explain_local(
            bent, rows[0], rows, proxy="linear", max_size=2, width=1.0,
            n_neighbours=64, random_state=seed,
        )
        for seed in range(24)
    ]  # fmt: skip
    spread = np.std([f.proxy_predicted for f in found], ddof=1)
    error = np.sqrt(np.mean([f.monte_carlo_error**2 for f in found]))
    assert 0.5 < error / spread < 2.0


def test_draws_are_asked_one_by_one_and_the_most_frequent_feature_is_first(rows):
    def step(d):
        return lambda X: 1.0 * (X[:, d] > 0)

    several = Says(*[step(2)] * 6, *[step(0)] * 3, step(1))
    for proxy, size in (("tree", 2), ("linear", 1)):
        found = cw.explain_local(several, np.zeros(3), rows, proxy=proxy, max_size=size)
        assert list(found.inclusion_frequency.items()) == [
            ("x2", 0.6),
            ("x0", 0.3),
            ("x1", 0.1),
        ]
    assert found.std == pytest.approx(several.draws(np.zeros((1, 3))).std())


def test_either_but_not_both_is_found(rows):
    either = Says(lambda X: 1.0 * ((X[:, 0] > 0.03) ^ (X[:, 1] > -0.04)))
    found = cw.explain_local(either, np.zeros(3), rows, max_size=4, n_neighbours=1024)
    assert found.fidelity > 0.95


def test_a_term_is_chosen_for_what_it_adds_to_those_before():
    """Categories exclude each other: beside the first one, another explains more."""
    rng = np.random.default_rng(0)
    hues = rng.permutation(np.repeat(["a", "b", "c"], 500))
    rows = pd.DataFrame({"hue": pd.Categorical(hues), "x": rng.normal(size=1500)})

    def says(X):
        hue = X["hue"].to_numpy()
        return 2.0 * (hue == "b") + (hue == "c") + 0.38 * X["x"].to_numpy()

    found = cw.explain_local(
        Says(says), rows.iloc[0], rows, proxy="linear", max_size=2, width=1.0
    )
    assert {name for name, _, _ in found.effects} == {"hue=b", "hue=c"}


def test_neighbours_are_in_the_range_of_rows_and_of_the_row_itself(rows):
    whole = rows.round()
    far = whole.max(axis=0) + 3
    found = cw.explain_local(
        Says(lambda X: X[:, 0]), far, whole, width=3.0, n_neighbours=256
    )
    near = found.neighbours
    assert (near == near.round()).all()
    assert (near >= whole.min(axis=0)).all() and (near <= far).all()
    # The row itself may be beyond the others; so may rows like it.
    assert (near.max(axis=0) > whole.max(axis=0)).all()


def test_what_is_missing_of_the_row_is_missing_of_its_neighbours():
    hues = ["a", "b", None, "a", "b"] * 20
    rows = pd.DataFrame({"hue": pd.Categorical(hues), "x": np.linspace(0, 1, 100)})
    says = Says(lambda X: X["x"].to_numpy() + 3.0 * X["hue"].isna().to_numpy())
    found = cw.explain_local(says, rows.iloc[2], rows, n_neighbours=256)
    assert np.isnan(found.neighbours[:, 0]).all()
    assert found.predicted == pytest.approx(3 + 2 / 99)
