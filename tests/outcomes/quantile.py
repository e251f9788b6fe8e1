"""A type of outcome that the library does not have: a quantile of a value.

It is one file, as the type of a user or of a later version would be.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from clearwood.outcomes import Outcome


@dataclass(frozen=True)
class Quantile(Outcome):
    """The value that so much of all values lies below: the loss is the pinball loss."""

    level: float = 0.5
    task: ClassVar[str] = "quantile"
    shows_share: ClassVar[bool] = True
    shown_name: ClassVar[str] = "share below"
    constant: ClassVar[str] = "quantile of all rows"
    error: ClassVar[str] = "mean pinball loss"
    error_unit: ClassVar[str] = "mean pinball"
    agreement_unit: ClassVar[str] = "1 - pinball / that of a constant"
    agreement_words: ClassVar[str] = "Pinball skill against the model"
    lost: ClassVar[str] = "pinball skill lost"

    def losses(self, truth, said):
        below = truth < said
        return np.abs(truth - said) * np.where(below, 1 - self.level, self.level)

    def aggregate(self, answers, weight):
        order = np.argsort(answers, kind="stable")
        reached = np.cumsum(weight[order]) >= self.level * weight.sum()
        return answers[order][reached.argmax()]

    def shown(self, truth, said):
        return truth < said

    def constant_of(self, points):
        return self.aggregate(points, np.ones(len(points)))

    def constant_error(self, truth, weight):
        weight = np.ones(len(truth)) if weight is None else weight
        best = self.aggregate(truth, weight)
        return float(np.average(self.losses(truth, best), weights=weight))
