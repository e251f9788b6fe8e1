"""Base class of all estimators."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import BaseEstimator

from clearwood._words.spelling import suggestion, suggests_parameters


class Estimator(BaseEstimator):
    """Base class of estimators: suggests names of misspelt parameters."""

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

    def set_params(self, **params: Any) -> Self:
        """Set parameters, as in scikit-learn."""
        known = self.get_params(deep=False)
        try:
            return super().set_params(**params)
        except ValueError as error:
            unknown = [name for name in params if name.partition("__")[0] not in known]
            if not unknown:
                raise
            raise ValueError(f"{error}{suggestion(unknown[0], known)}") from None
