"""Base class of all estimators."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator

from clearwood._words.spelling import suggests_parameters


class Estimator(BaseEstimator):
    """Base class of estimators: constructors suggest names of misspelt parameters."""

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        if "__init__" in vars(cls):
            cls.__init__ = suggests_parameters(cls.__init__)  # type: ignore[method-assign]
