from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from tests.wording import refuses, same_lines

import clearwood as cw
from clearwood.exceptions import InputError

SPACE = cw.FeatureSpace.numeric(1)


def a_list():
    return cw.RuleList(
        (
            cw.Rule(
                (cw.Interval(0, low=0.5),),
                3.0,
                statistics=cw.rules.RuleStatistics(10.0, 10.0, std=0.5),
            ),
        ),
        cw.Rule((), 1.0, statistics=cw.rules.RuleStatistics(10.0, 10.0, std=1.0)),
        SPACE,
    )


def a_sum():
    rules = tuple(cw.Rule((cw.Interval(0, low=k / 9),), 0.5) for k in range(1, 9))
    return cw.rules.RuleSum(rules, cw.Rule((), 1.0), SPACE)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(200, 1))
    y = 1.0 + 2.0 * (X[:, 0] > 0.5) + rng.normal(0.2, 0.5, 200)
    return X, y, rng.integers(0, 3, 200).astype(float)


def test_errors_are_those_of_a_plain_count(rows):
    X, y, _ = rows
    rules, model = a_list(), np.full(200, 2.0)
    found = cw.decisions(rules, X, y, model=model)
    wrong = y - rules.predict(X)
    assert found.rules.rmse.value == pytest.approx(np.sqrt(np.mean(wrong**2)))
    assert found.rules.bias.value == pytest.approx(wrong.mean())
    assert found.rules.quantiles[2] == np.quantile(
        wrong, 0.5, method="averaged_inverted_cdf"
    )
    assert found.model.rmse.value == pytest.approx(np.sqrt(np.mean((y - 2.0) ** 2)))
    assert [line.line for line in found.lines] == [1, 2]
    for line, upper, spread in zip(found.lines, (True, False), (0.5, 1.0)):
        kept = (X[:, 0] > 0.5) == upper
        assert line.mean.rows == kept.sum()
        assert line.mean.value == pytest.approx(y[kept].mean())
        assert line.mean.low < line.mean.value < line.mean.high
        inside = np.mean(abs(wrong[kept]) <= 2 * spread)
        assert line.inside.value == pytest.approx(inside)
        assert line.errors.bias.value == pytest.approx(wrong[kept].mean())
    spread = np.where(X[:, 0] > 0.5, 0.5, 1.0)
    assert found.inside.value == pytest.approx(np.mean(abs(wrong) <= 2 * spread))


def test_a_row_without_weight_is_none(rows):
    X, y, weight = rows
    found = cw.decisions(a_list(), X, y, sample_weight=weight)
    kept = np.repeat(np.arange(200), weight.astype(int))
    repeated = cw.decisions(a_list(), X[kept], y[kept])
    assert found.n_rows == (weight > 0).sum()
    assert found.rules.quantiles == repeated.rules.quantiles
    assert found.rules.rmse.value == pytest.approx(repeated.rules.rmse.value)
    assert found.inside.value == pytest.approx(repeated.inside.value)
    assert found.rules.rmse.rows == found.rules.bias.rows == found.n_rows
    for line, upper in zip(found.lines, (True, False)):
        assert line.mean.rows == ((weight > 0) & ((X[:, 0] > 0.5) == upper)).sum()
    for one, other in zip(found.lines, repeated.lines):
        assert one.errors.quantiles == other.errors.quantiles
        assert one.mean.value == pytest.approx(other.mean.value)


def test_a_sum_goes_by_what_it_says(rows):
    X, y, _ = rows
    found = cw.decisions(a_sum(), X, y)
    assert 2 <= len(found.lines) <= 5
    said = [line.predicted for line in found.lines]
    assert said == sorted(said)
    assert sum(line.mean.rows for line in found.lines) == 200
    assert np.isnan(found.inside.value) and "spreads" not in str(found)


def test_frame_and_text(rows):
    X, y, _ = rows
    found = cw.decisions(a_list(), X, y, model=y)
    frame = found.to_frame().set_index("of")
    assert list(frame.index) == ["rule 1", "rule 2", "rules", "model"]
    assert frame.loc["model", "rmse"] == 0.0
    assert frame.loc["rule 1", "predicted"] == 3.0
    same_lines(str(found))


def test_printed_means_are_compared_with_those_of_the_rows(rows):
    X, y, _ = rows
    first, last = a_list()
    mean = y[X[:, 0] > 0.5].mean()
    for low, high, held in ((mean - 1, mean + 1, 1), (mean + 1, mean + 2, 0)):
        known = replace(first.statistics, low=low, high=high)
        first = replace(first, statistics=known)
        rules = cw.RuleList((first,), last, SPACE)
        found = cw.decisions(rules, X, y)
        assert found.means_held == (held, 1)
        same_lines(str(found))
    assert cw.decisions(a_list(), X, y).means_held == (0, 0)


def test_one_row_has_no_interval_and_is_told_all_the_same():
    found = cw.decisions(a_list(), [[0.9]], [2.5])
    assert found.rules.rmse.value == 0.5 and np.isnan(found.rules.rmse.high)
    assert "0.5" in str(found)


def test_classes_are_not_asked_for(rows):
    X, y, _ = rows
    for settings in ({"pos_label": 1.0}, {"threshold": 0.5}):
        with refuses(InputError):
            cw.decisions(a_list(), X, y, **settings)


@pytest.mark.parametrize("unit", [2.0**-10, 2.0**10])
def test_weights_have_no_unit(rows, unit):
    X, y, weight = rows
    for rules in (a_list(), a_sum()):
        one, other = (
            cw.decisions(rules, X, y, sample_weight=w) for w in (weight, unit * weight)
        )
        assert [*map(str, other.lines)] == [*map(str, one.lines)]
        assert str(other.rules) == str(one.rules)


def test_any_regressor_is_evaluated():
    X = np.arange(40.0)[:, None]
    y = X.ravel() + np.resize([1.0, -1.0, 3.0], 40)
    model = LinearRegression().fit(X, y)
    found = cw.decisions(model, X, y)
    assert found.rules is None and found.n_rows == 40
    error = y - model.predict(X)
    assert found.model.rmse.value == pytest.approx(np.sqrt(np.mean(error**2)))
    assert found.model.bias.value == pytest.approx(0.0, abs=1e-9)
    assert sum(line.mean.rows for line in found.lines) == 40
    assert "rules" not in str(found) and found.to_frame()["of"].iloc[-1] == "model"
    with pytest.raises(InputError, match="threshold"):
        cw.decisions(model, X, y, threshold=0.5)
