"""Base class of all estimators."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator

from clearwood._words.spelling import suggests_parameters


class Estimator(BaseEstimator):
    """Base class of estimators: constructors suggest names of misspelt parameters."""

    _allows_missing = False
    """Whether tables may have missing cells, for scikit-learn's tags."""

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        if "__init__" in vars(cls):
            cls.__init__ = suggests_parameters(cls.__init__)  # type: ignore[method-assign]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._allows_missing
        return tags
