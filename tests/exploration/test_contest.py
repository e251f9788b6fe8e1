"""HeldOutScores on held-out rows that the choice of a model does not flatter."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss, roc_auc_score

from clearwood._tables.target import Labelled
from clearwood.exploration.contenders import BOOSTING, Contender, contenders
from clearwood.exploration.contest import Task, auc_and_error, choose, fit_all


class Printed:
    """What prints in one term."""

    coef_ = np.ones((1, 1))


def rows(task, n=200, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=n) if task == "regression" else np.arange(n) % 2
    return Task.from_labelled(Labelled(pd.DataFrame({"x": y}), y, task, ""), "y", seed)


def test_a_model_that_fails_is_noted_and_the_others_are_fitted():
    def fails(*_):
        raise RuntimeError("no memory")

    boosting, line, *_ = contenders("regression")
    models = [boosting, line, Contender("own model", fails)]
    entries, notes = fit_all(rows("regression", 60), models, 0, np.inf, False)
    assert notes == ["Own model: RuntimeError: no memory"]
    assert [one.contender.name for one in entries][1:] == [BOOSTING, "linear model"]


@pytest.mark.parametrize("kind", ["float64", "datetime64[ns]", "datetime64[us, UTC]"])
def test_boosting_fits_a_column_that_a_fold_does_not_know(kind):
    X = pd.DataFrame(
        {"x": np.arange(40.0), "other": pd.Series([None] * 40, dtype=kind)}
    )
    fitted = contenders("regression")[0].fit(X, X["x"].to_numpy(), None, 0)
    X["other"] = pd.Series(np.arange(40)).astype(kind)
    assert np.ptp(fitted.predict(X)) > 19
    assert len(np.unique(fitted.predict(X.assign(x=1.0)))) == 1


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_linear_model_prints_at_most_thirty_coefficients(n_classes):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(400, 40)))
    y = pd.qcut(X.sum(axis=1), n_classes, labels=False).to_numpy()
    boosting, line, *_ = contenders("classification")
    fitted = line.fit(X, y, boosting.fit(X, y, None, 0), 0)
    # More than a half, which would be left if two classes had two sets of them.
    assert 15 < np.count_nonzero(fitted.coef_) <= 30


def test_auc_and_its_error_are_those_of_all_pairs():
    rng = np.random.default_rng(0)
    positive, score = rng.random(60) < 0.3, rng.integers(0, 8, 60) / 8
    pairs = np.subtract.outer(score[positive], score[~positive])
    right = (pairs > 0) + 0.5 * (pairs == 0)
    error = right.mean(1).var() / positive.sum() + right.mean(0).var() / sum(~positive)
    auc, found = auc_and_error(positive, score)
    assert auc == pytest.approx(roc_auc_score(positive, score))
    assert found == pytest.approx(np.sqrt(error))


def test_scores_are_those_of_scikit_learn():
    data = rows("classification")
    # Losses are bounded: probabilities below 0.001 count as such.
    p = np.random.default_rng(1).uniform(0.01, 0.99, 200)
    entry = data.entry(Contender("p", None), np.stack([1 - p, p], 1))
    assert entry.scores.loss == pytest.approx(log_loss(data.y, p))
    assert entry.scores.accuracy == pytest.approx(np.mean((p > 0.5) == data.y))
    values = rows("regression")
    entry = values.entry(Contender("p", None), values.y + 2.0)
    assert entry.scores.loss == pytest.approx(2.0)
    assert entry.scores.loss_error == pytest.approx(0.0, abs=1e-9)
    noise = np.random.default_rng(1).normal(size=200)
    entry = values.entry(Contender("p", None), values.y + noise)
    squares = noise**2
    assert entry.scores.loss == pytest.approx(np.sqrt(squares.mean()))
    error = squares.std() / np.sqrt(200) / (2 * entry.scores.loss)  # delta method
    assert entry.scores.loss_error == pytest.approx(error)


def test_the_constant_is_that_of_the_other_folds():
    data = rows("regression")
    held = data.folds[0][1]
    expected = np.delete(data.y, held).mean()
    assert data.constant().predicted[held] == pytest.approx(expected)


def test_the_best_of_many_guesses_is_not_reported_as_better_than_chance():
    """Of 30 models that only guess, the best has a low loss by luck."""
    gains, flattered = [], []
    for seed in range(40):
        data, rng = rows("regression", 100, seed), np.random.default_rng(seed + 100)
        guesses = [
            data.entry(Contender("guess", None, "terms"), rng.normal(size=100) / 3,
                       fitted=Printed())
            for _ in range(30)
        ]  # fmt: skip
        best, chosen, n_same = choose(data, guesses)
        assert 0 <= n_same <= len(data.folds)
        expected = 1 + 1 / 9
        flattered.append(expected - np.mean((best.predicted - data.y) ** 2))
        gains.append(np.mean((chosen.predicted - data.y) ** 2 - data.y**2) - 1 / 9)
    error = np.std(gains) / np.sqrt(len(gains))
    # True loss of a guess beyond that of its mean: 1/9; three standard errors around 0.
    assert abs(np.mean(gains)) < 3 * error
    assert np.mean(flattered) > 3 * np.std(flattered) / np.sqrt(len(flattered))


def test_what_does_not_print_in_full_or_is_empty_is_not_recommended():
    data = rows("regression")
    best, worse = data.y, data.y + 1.0
    in_full = data.entry(Contender("b", None, "terms"), worse, fitted=Printed())
    empty, long = Printed(), Printed()
    empty.coef_, long.coef_ = np.zeros((1, 1)), np.ones((1, 31))
    others = [
        data.entry(Contender("a", None), best, fitted=Printed()),
        data.entry(Contender("c", None, "terms"), best, fitted=empty),
        data.entry(Contender("d", None, "terms"), best, fitted=long),
    ]
    assert choose(data, [*others, in_full])[0] is in_full
    assert choose(data, others) is None
