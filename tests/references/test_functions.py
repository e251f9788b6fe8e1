"""Functions, networks with dropout, and draws that were made elsewhere."""

import pickle
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.references.kinds import dropout, first_output, values, with_labels
from tests.wording import refuses

import clearwood as cw
from clearwood.exceptions import InputError
from clearwood.references import FunctionReference


def test_a_network_with_fixed_masks_says_what_it_says():
    X, _ = values()
    reference = cw.reference(first_output, X, n_draws=50, noise_variance=0.25)
    for draw in (0, 49):
        assert (reference.draws(X)[draw] == dropout(X, draw)[:, 0]).all()
    assert reference.draws(X).std(axis=0).min() > 0
    assert (reference.noise_variance(X) == 0.25).all()
    assert reference.is_posterior
    ensemble = cw.reference(first_output, X, n_draws=5, is_posterior=False)
    assert not ensemble.is_posterior


def test_the_function_gets_the_rows_that_it_was_made_for():
    X, _ = values()

    def function(rows, draw):
        assert list(rows.columns) == ["bmi", "bp", "s5"]
        return rows["bp"].to_numpy()

    reference = cw.reference(function, X, n_draws=1)
    for table in (X[["s5", "bp", "bmi"]], X.to_numpy()):
        assert (reference.draws(table) == X["bp"].to_numpy()).all()


@pytest.mark.parametrize(
    ("noise", "expected"),
    [(2.0, [[2, 2], [2, 2]]), ([1.0, 3.0], [[1, 1], [3, 3]]),
     (lambda X, draw: X[:, 0] + draw, [[5, 6], [6, 7]])],
)  # fmt: skip
def test_noise_is_said_in_three_ways(noise, expected):
    X = np.array([[5.0], [6.0]])
    reference = FunctionReference(
        lambda X, draw: X[:, 0], n_draws=2, noise_variance=noise
    )
    assert reference.noise_variance(X).tolist() == expected


@pytest.mark.parametrize(
    "noise",
    [-1.0, np.nan, [1.0] * 3,
     lambda X, draw: [1.0] * 3],
)  # fmt: skip
def test_noise_that_is_no_variance_is_refused(noise):
    with refuses(InputError):
        cw.reference(
            lambda X, draw: X[:, 0], np.eye(4), n_draws=2, noise_variance=noise
        )


class Impure:
    """Three ways of not being one function per draw."""

    generator = np.random.default_rng(0)

    @staticmethod
    def by_chance(X, draw):
        return X[:, 0] + Impure.generator.normal(size=len(X))

    @staticmethod
    def by_batch(X, draw):
        return X[:, 0] - X[:, 0].mean()

    @staticmethod
    def by_place(X, draw):
        return X[:, 0] + np.arange(len(X))

    @staticmethod
    def by_a_little(X, draw):
        return X[:, 0] + 1e-5 * len(X)


@pytest.mark.parametrize("way", ["by_chance", "by_batch", "by_place", "by_a_little"])
def test_a_draw_has_to_be_one_function(way, monkeypatch):
    if torch := sys.modules.get("torch"):  # the tolerance is larger on a GPU
        monkeypatch.setattr(torch.cuda, "is_initialized", lambda: False)
    with refuses(InputError):
        cw.reference(getattr(Impure, way), values()[0].to_numpy(), n_draws=3)


@pytest.mark.parametrize(
    ("returns", "settings"),
    [
        (lambda n: np.ones((n, 1)), {}),
        (lambda n: np.ones(n + 1), {}),
        (lambda n: ["a"] * n, {}),
        (lambda n: [np.nan] * n, {}),
        (lambda n: -np.ones(n), {"task": "counts"}),
        (lambda n: np.ones((n, 2)), {"classes": [0, 1]}),
        (lambda n: np.tile([1.5, -0.5], (n, 1)), {"classes": [0, 1]}),
        (lambda n: np.ones((n, 3)) / 3, {"classes": [0, 1]}),
        (lambda n: np.ones(n), {"classes": [0, 1], "task": "counts"}),
        (lambda n: np.ones((n, 2)) / 2, {"classes": [1, 2, 1]}),
    ],
)
def test_what_comes_back_is_checked(returns, settings):
    with refuses(InputError):
        cw.reference(
            lambda X, draw: returns(len(X)), values()[0], n_draws=2, **settings
        )


def test_probabilities_of_single_precision_are_made_to_sum_to_one():
    third = np.float32(1) / np.float32(3)
    reference = FunctionReference(
        lambda X, draw: np.full((len(X), 3), third), n_draws=1, classes=[0, 1, 2]
    )
    assert (reference.draws(np.eye(5)) == 1 / 3).all()


# Draws at given rows


@given(st.lists(st.integers(0, 3), min_size=1, max_size=12), st.data())
def test_given_rows_are_found_by_what_they_hold(cells, data):
    """In any order and number, and equal ones too, as long as their draws agree."""
    numbers = [np.nan if c == 3 else float(c) for c in cells]
    X = pd.DataFrame({"a": numbers, "b": [str(c % 2) if c else None for c in cells]})
    draws = np.array([[c, 10.0 * c] for c in cells]).T
    reference = cw.reference(draws, X, noise_variance=draws)
    asked = data.draw(st.lists(st.sampled_from(range(len(cells))), max_size=9))
    assert (reference.draws(X.iloc[asked]) == draws[:, asked]).all()
    assert (reference.noise_variance(X.iloc[asked]) == draws[:, asked]).all()


def test_other_rows_have_no_draws():
    X, _ = with_labels()
    reference = cw.reference(X[["bmi"]].to_numpy().T, X)
    other = X.iloc[[0, 4, 5]].assign(bmi=[X["bmi"][0], 0.5, 0.5])
    with refuses(InputError):
        reference.draws(other)
    with refuses(InputError):
        reference.noise_variance(other)


def test_equal_rows_with_other_draws_are_refused():
    """Draws of the target itself, say, hold other noise in each row."""
    with refuses(InputError):
        cw.reference([[1.0, 2.0, 1.5]], [[0.0], [1.0], [0.0]])


def test_draws_are_thinned_evenly_with_their_noise():
    X, draws = [[0.0], [1.0]], np.arange(22.0).reshape(11, 2)
    reference = cw.reference(draws, X, n_draws=3, noise_variance=np.arange(11))
    assert reference.draws(X)[:, 0].tolist() == [0, 10, 20]
    assert reference.noise_variance(X)[:, 1].tolist() == [0, 5, 10]
    with refuses(InputError, match="11"):
        cw.reference(draws, X, noise_variance=np.arange(10))
    with refuses(InputError, match="11"):
        cw.reference(draws, X, n_draws=12)


@pytest.mark.parametrize(
    ("draws", "X"),
    [([[1.0, 2.0]], None), ([1.0, 2.0], [[0.0], [1.0]]),
     ([[1.0]], [[0.0], [1.0]]),
     ([[1.0] * 3] * 2, [[0.0], [1.0]]),
     (np.full((3, 2, 4), 0.5), [[0.0], [1.0]])],
)  # fmt: skip
def test_draws_of_another_form_are_refused(draws, X):
    with refuses(InputError):
        cw.reference(draws, X)


def test_chains_may_be_a_dimension_of_their_own():
    X, draws = [[0.0], [1.0], [2.0]], np.arange(24.0).reshape(2, 4, 3)
    assert (cw.reference(draws, X).draws(X) == draws.reshape(8, 3)).all()
    share = draws[..., None] / 30 * [1, -1] + [0, 1]
    found = cw.reference(share, X, classes=["a", "b"]).draws(X)
    np.testing.assert_allclose(found, share.reshape(8, 3, 2))


def test_integers_are_labels_or_counts():
    """Their mean is the only draw, and that of all rows with equal cells."""
    X, drawn = [[0.0], [1.0], [0.0]], np.array([[0, 1, 1], [0, 1, 1], [0, 0, 0]])
    labels = cw.reference(drawn, X)
    assert labels.classes.tolist() == [0, 1] and not labels.is_posterior
    np.testing.assert_allclose(labels.draws(X)[0, :, 1], [1 / 3, 2 / 3, 1 / 3])
    counts = cw.reference(3 * drawn, X, task="counts")
    np.testing.assert_allclose(counts.draws(X), [[1, 2, 1]])
    assert counts.noise_variance(X).shape == (1, 3)
    named = cw.reference(drawn, X, classes=["no", "yes"])
    assert (named.draws(X) == labels.draws(X)).all()
    one_hot = cw.reference(np.eye(2, dtype=int)[drawn], X, classes=["no", "yes"])
    assert (one_hot.draws(X) == labels.draws(X)).all()
    values = cw.reference(drawn[:, :2], X[:2], task="regression")
    assert (values.draws(X[:2]) == drawn[:, :2]).all()
    with refuses(InputError):
        cw.reference(3 * drawn, X)


def test_probabilities_of_the_second_class_suffice():
    reference = cw.reference(
        lambda X, draw: X[:, 0], np.eye(2), n_draws=2, classes=["no", "yes"]
    )
    assert reference.draws(np.eye(2))[0].tolist() == [[0, 1], [1, 0]]
    with refuses(InputError):
        cw.reference([[0.5, 0.5]], [[0.0], [1.0]], task="classification")


# torch


class TestWithTorch:
    @pytest.fixture
    def network(self):
        torch = pytest.importorskip("torch", reason="needs torch, which is large")
        torch.manual_seed(0)
        nn = torch.nn
        return lambda n_out: nn.Sequential(
            nn.Linear(3, 8), nn.BatchNorm1d(8), nn.Dropout(0.5), nn.Linear(8, n_out)
        )

    def test_masks_are_the_same_for_all_rows_and_calls(self, network):
        X, _ = values()
        module = network(1)
        reference = cw.reference(module, X, n_draws=20, random_state=0)
        draws = reference.draws(X)
        assert draws.std(axis=0).min() > 0
        np.testing.assert_allclose(reference.draws(X[::-1]), draws[:, ::-1], rtol=1e-5)
        sent = pickle.loads(pickle.dumps(reference))
        assert (sent.draws(X) == draws).all()
        assert module.training, "the network that was handed in is left as it was"

    def test_the_mean_over_masks_is_the_plain_network(self, network):
        import torch

        X, _ = values()
        module = network(1).eval()
        draws = cw.reference(module, X, n_draws=500, random_state=0).draws(X)
        with torch.no_grad():
            plain = module(torch.tensor(X.to_numpy(), dtype=torch.float32)).numpy()
        error = draws.std(axis=0) / np.sqrt(500)
        assert (np.abs(draws.mean(axis=0) - plain[:, 0]) < 5 * error).all()

    @pytest.mark.parametrize("n_out", [1, 2, 3])
    def test_logits_become_probabilities(self, network, n_out):
        X, _ = values()
        classes = ["a", "b", "c"][: max(n_out, 2)]
        reference = cw.reference(network(n_out), X, n_draws=3, classes=classes)
        assert reference.draws(X).shape == (3, 80, len(classes))

    def test_counts_are_rates_of_a_network(self):
        torch = pytest.importorskip("torch", reason="needs torch, which is large")
        nn = torch.nn
        layers = nn.Linear(3, 8), nn.Dropout(0.5), nn.Linear(8, 1), nn.Softplus()
        X, _ = values()
        reference = cw.reference(nn.Sequential(*layers), X, n_draws=3, task="counts")
        assert reference.task == "counts" and (reference.draws(X) > 0).all()

    def test_channels_are_dropped_whole(self):
        torch = pytest.importorskip("torch", reason="needs torch, which is large")
        nn = torch.nn
        module = nn.Sequential(nn.Unflatten(1, (3, 1)), nn.Dropout1d(), nn.Flatten())
        module = nn.Sequential(module, nn.Linear(3, 1))
        X, _ = values()
        assert cw.reference(module, X, n_draws=8).draws(X).shape == (8, 80)

    def test_without_dropout_there_are_no_draws(self, network):
        import torch

        with refuses(InputError):
            cw.reference(torch.nn.Linear(3, 1), n_draws=3)
