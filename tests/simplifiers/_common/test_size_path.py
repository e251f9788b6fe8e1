"""Sizes and settings are chosen where the ensemble has memorised nothing."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor

import clearwood as cw
from clearwood.simplifiers._common import size_path
from clearwood.simplifiers._common.synthetic_rows import evaluation_rows


def noise(seed):
    """A forest that has learnt much noise by heart, and rows it has not seen."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(1200, 4))
    y = X[:, 0] + (X[:, 1] > 0) + rng.normal(size=1200)
    X_train, y_train = X[:200], y[:200]
    forest = RandomForestRegressor(20, random_state=0).fit(X_train, y_train)
    return X_train, y_train, X[200:], forest


@pytest.fixture(scope="module")
def noisy():
    return noise(0)


def fitted(noisy, **settings):
    X, y, _, forest = noisy
    quick = {"max_rules": 4, "n_synthetic": 300, "random_state": 0}
    return cw.RuleListRegressor(forest, **{**quick, **settings}).fit(X, y)


class Captured(cw.RuleListRegressor):
    """A list that keeps the rows it was fitted to."""

    def _find_rules(self, training, generator):
        self.training = training
        return super()._find_rules(training, generator)


@pytest.fixture(scope="module")
def captured(noisy):
    X, y, _, forest = noisy
    settings = {"n_rules": 2, "max_rules": 2, "n_synthetic": 300}
    return Captured(forest, **settings, random_state=0).fit(X, y)


def test_the_estimate_is_near_what_new_rows_say(monkeypatch):
    draws = [noise(seed) for seed in range(6)]  # of one alone it is .1 off, by luck

    def too_high():
        """What the fit says of the fidelity less what new rows say, on average."""
        gaps = []
        for X, _, fresh, forest in draws:
            settings = {"max_rules": 4, "n_synthetic": 300}
            found = cw.RuleListRegressor(forest, **settings, random_state=0).fit(X)
            true = found.path_[3].evaluate(fresh, model=forest).fidelity
            gaps.append(found.cv_results_["fidelity"][3] - true)
        return np.mean(gaps)

    # Rules of folds see two thirds of the rows.
    assert -0.08 < too_high() < 0.02
    monkeypatch.setattr(
        size_path.BaseSizePath,
        "_evaluation_rows",
        lambda self, training, held, seed: training.take(held),
    )
    assert too_high() < -0.12


def test_rows_to_judge_are_mixtures_of_those_held_out(captured):
    part = captured.training.take(np.arange(50))
    made = evaluation_rows(part, captured.ensemble_, 3, np.random.default_rng(0))
    assert len(made) == 150
    np.testing.assert_allclose(made.target, captured.ensemble_.predict(made.encoded))
    parent = part.encoded.repeat(3, axis=0)
    from_parent = (made.encoded == parent).mean()
    assert 0.4 < from_parent < 0.6
    for mixed, given in zip(made.encoded.T, part.encoded.T):
        assert np.isin(mixed, given).all()
    # In the units of the whole.
    assert made.unit == captured.training.unit
    np.testing.assert_array_equal(made.weight, part.weight.repeat(3))
    one = evaluation_rows(
        part.take([0]), captured.ensemble_, 2, np.random.default_rng(0)
    )
    np.testing.assert_array_equal(one.encoded, part.encoded[[0, 0]])


def test_all_settings_are_judged_on_the_same_rows(captured):
    held = np.arange(40)
    test = captured._evaluation_rows(captured.training, held, 7)
    same = captured._evaluation_rows(captured.training, held, 7)
    np.testing.assert_array_equal(test.encoded, same.encoded)
    # 4,000 for 200.
    assert len(test) == 20 * len(held)


def test_of_very_many_rows_a_part_tells_what_to_choose(captured, noisy, monkeypatch):
    training, judged = captured.training, []
    assert captured._some(training, 7) is training
    monkeypatch.setattr(size_path, "MOST_EVALUATED", 90)
    some, again = captured._some(training, 7), captured._some(training, 7)
    np.testing.assert_array_equal(some.encoded, again.encoded)
    # Each row once, from first to last.
    at = [
        np.flatnonzero((training.encoded == row).all(axis=1))[0] for row in some.encoded
    ]
    assert len(set(at)) == 90 and at == sorted(at) and at[-1] > 150
    cross_validate = size_path.BaseSizePath._cross_validate

    def spy(self, rows, seeds):
        judged.append(len(rows))
        return cross_validate(self, rows, seeds)

    monkeypatch.setattr(size_path.BaseSizePath, "_cross_validate", spy)
    X, y, _, forest = noisy
    found = cw.DistilledTreeRegressor(forest, max_rules=3, random_state=0).fit(X, y)
    assert judged == [90]
    # The rules themselves are of all rows.
    assert found.rules_.to_frame()["rows_assigned"].sum() == len(y)


def test_only_the_rows_themselves_have_labels(noisy):
    X, y, _, forest = noisy
    settings = {"learn_from": "labels", "n_rules": 2, "max_rules": 2}
    found = Captured(forest, **settings, random_state=0).fit(X, y)
    test = found._evaluation_rows(found.training, np.arange(40), 7)
    np.testing.assert_array_equal(test.target, found.training.target[:40])
    assert set(test.target) <= set(y)
