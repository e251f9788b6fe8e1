"""Small results made by hand, for tests that need no fit."""

from typing import NamedTuple

import numpy as np

from clearwood.columns.feature_space import FeatureSpace
from clearwood.rules import CategorySet, Interval, Rule, RuleList, RuleStatistics


class Step(NamedTuple):
    bound: float
    n_components: int


class Result:
    """What a report reads of a fitted estimator."""

    def __init__(self, rules, history=(), **parameters):
        self.rules_ = rules
        self.history_, self.n_start_components_ = history, 9
        self._parameters = parameters

    def get_params(self, deep=True):
        return self._parameters


class Teacher:
    """Says fixed values and probabilities."""

    def __init__(self, values, probabilities=None):
        self.values = np.asarray(values)
        if probabilities is not None:
            self.predict_proba = lambda X: np.asarray(probabilities)

    def predict(self, X):
        return self.values


def classes_rules(
    names=("temperature", "colour"), labels=("well", "ill"), target="state", hues="rgb"
):
    return RuleList(
        rules=(
            Rule(
                (Interval(0, 37.5, 40.0), CategorySet(1, (0, 2), missing=True)),
                labels[1],
                (0.1, 0.9),
                statistics=RuleStatistics(
                    support=40.0, assigned=40.0, agreement=0.95, precision=0.9
                ),
            ),
            Rule(
                (Interval(0, high=36.0),),
                labels[1],
                (0.4, 0.6),
                statistics=RuleStatistics(0.0, 0.0),
            ),
        ),
        otherwise=Rule(
            (), labels[0], (0.8, 0.2), statistics=RuleStatistics(60.0, 60.0, 0.9, 0.85)
        ),
        features=FeatureSpace(tuple(names), (None, tuple(hues))),
        classes=tuple(labels),
        target=target,
        about={"model": "by hand"},
    )


def numbers_rules():
    return RuleList(
        rules=(
            Rule(
                (Interval(0, low=0.5),),
                3.0,
                statistics=RuleStatistics(5.0, 5.0, 0.8, std=0.25),
            ),
        ),
        otherwise=Rule((), 1.0, statistics=RuleStatistics(5.0, 5.0, -0.1, std=0.5)),
        features=FeatureSpace.numeric(2),
    )


ROWS = [[38.0, "r"], [38.5, "b"], [36.5, "g"], [35.0, None]]
