"""Discretizers as scikit-learn transformers."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from clearwood._base import Estimator
from clearwood._estimators import fit_context
from clearwood._tables import is_read_in_blocks
from clearwood._tables.learning import sample_of, transform_table
from clearwood.columns.cells import numbers
from clearwood.columns.feature_space import is_frame
from clearwood.columns.frames import frame_of
from clearwood.columns.schema import features_of
from clearwood.columns.validation import check_table, check_target, check_weight
from clearwood.discretize.cuts import (
    Decision,
    accepted,
    bin_positions,
    bin_texts,
    halving_cut,
    mdlp_decisions,
)
from clearwood.exceptions import InputError


class _Binner(OneToOneFeatureMixin, TransformerMixin, Estimator):
    """Base class that reads tables and applies cuts; subclasses choose the cuts."""

    _parameter_constraints: dict[str, Any] = {}

    _allows_missing = True
    cuts_: list[np.ndarray | None]
    intervals_: list[tuple[str, ...] | None]

    def _numeric_columns(
        self, X: Any, weight: np.ndarray
    ) -> list[tuple[str, np.ndarray | None]]:
        """Name and values of each column; None for the values of a categorical one."""
        features = features_of(X, weight > 0)
        cells = features.columns(X) if is_frame(X) else X.T
        return [
            (name, None if labels is not None else numbers(column, name))
            for name, labels, column in zip(features.names, features.categories, cells)
        ]

    def _keep(self, names: list[str], cuts: list[np.ndarray | None]) -> None:
        self.cuts_ = cuts
        self.intervals_ = [
            None if own is None else bin_texts(own, name)
            for name, own in zip(names, cuts)
        ]

    def transform(self, X: Any) -> Any:
        """Replace each number by the position of its bin.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Or a table read in blocks, as in ``fit``.

        Returns
        -------
        ndarray or frame of shape (n_samples, n_features)
            Float64, so that missing values stay NaN, in the input's type (pandas or
            polars frame, or array) unless ``set_output`` chooses another. For a file or
            a function a frame in memory, for Dask a lazy collection. Text and
            categorical columns are unchanged.
        """
        if is_read_in_blocks(X):
            return transform_table(self, self.transform, X, self._without_rows)
        check_is_fitted(self)
        X = check_table(self, X, reset=False)
        if not is_frame(X):
            binned = np.empty(X.shape)
            for d, (column, cuts) in enumerate(zip(X.T, self.cuts_)):
                if cuts is None:
                    raise InputError(
                        f"Column {d} held labels in the fit, which an array of numbers "
                        "cannot; pass a frame with the same columns."
                    )
                binned[:, d] = bin_positions(numbers(column, f"x{d}"), cuts)
            return binned
        import narwhals as nw

        frame = nw.from_native(X, eager_only=True)
        series = []
        for name, column, cuts in zip(X.columns, frame_of(X), self.cuts_):
            if cuts is not None:
                found = bin_positions(numbers(column.cells, str(name)), cuts)
                series.append(nw.new_series(name, found, backend=frame.implementation))
        return frame.with_columns(*series).to_native()

    def _without_rows(self, frame: Any) -> Any:
        """Result of ``transform`` for a frame without rows."""
        pairs = zip(frame.columns, self.cuts_)
        return frame.astype({c: np.float64 for c, cuts in pairs if cuts is not None})


class MDLPDiscretizer(_Binner):
    """Supervised discretization by description length (Fayyad and Irani, 1993).

    A column is split at the cut that minimizes the class entropy, and each side again,
    for as long as a cut shortens the description of the classes by more than it takes
    to describe the cut. A column that carries no information on the classes gets no cut
    and a single bin. There are no parameters.

    Cuts lie half way between two neighbouring values; a value equal to a cut belongs to
    the left bin. Missing values are ignored in fitting, and stay missing. Text columns,
    and categorical columns of frames, pass through unchanged.

    Attributes
    ----------
    cuts_ : list of (ndarray or None)
        Cuts per column, ascending; None for columns that pass through.
    intervals_ : list of (tuple of str or None)
        Labels of the bins.
    decisions_ : list of (list of Decision or None)
        Per column the best cut of every interval examined, with its gain and the gain
        required to accept it.

    References
    ----------
    Fayyad and Irani, "Multi-interval discretization of continuous-valued attributes
    for classification learning", IJCAI 1993.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> bins = MDLPDiscretizer().fit(X, y)
    >>> print(*bins.intervals_[3], sep=" | ")
    petal width (cm) <= 0.8 | 0.8 < petal width (cm) <= 1.75 | petal width (cm) > 1.75
    >>> bins.transform(X)["petal width (cm)"].value_counts().to_dict()
    {1.0: 54, 0.0: 50, 2.0: 46}
    """

    decisions_: list[list[Decision] | None]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    @fit_context
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> MDLPDiscretizer:
        """Find the cuts of the numeric columns.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Or a table read in blocks: the path of Parquet files, a function that
            returns pandas frames, or a Dask collection. Of more than 200,000 rows, cuts
            are based on a random sample of that size.
        y : array-like of shape (n_samples,) or str
            Class labels; for a table read in blocks, the name of a column.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows, as numbers of repetitions.

        Returns
        -------
        self
        """
        if y is None:
            raise InputError(
                "MDLPDiscretizer requires y to be passed, but the target y is None; "
                "give one class label per row, or use BinaryBinner, which needs none."
            )
        (X, y, weight), _ = sample_of(X, y, sample_weight)
        X = check_table(self, X, reset=True)
        y = check_target(y, X.shape[0], numeric=False)
        weight = check_weight(weight, X.shape[0])
        classes, label = np.unique(y, return_inverse=True)
        columns = self._numeric_columns(X, weight)
        self.decisions_ = [
            None if x is None else mdlp_decisions(x, label, weight, len(classes))
            for _, x in columns
        ]
        self._keep(
            [name for name, _ in columns],
            [None if one is None else accepted(one) for one in self.decisions_],
        )
        return self


class BinaryBinner(_Binner):
    """Unsupervised discretization in two bins of (nearly) equal size.

    Each column gets the cut whose two sides are most nearly equal in weight. That is
    the median where there are many values; where a cut at the median would leave one
    side empty, as in a column mostly of zeros, it is the nearest cut that does not. So
    every column that varies still varies when binned. There are no parameters, and no
    classes are needed.

    A value equal to a cut belongs to the left bin. Missing values are ignored in
    fitting, and stay missing. Text columns, and categorical columns of frames, pass
    through unchanged.

    Attributes
    ----------
    cuts_ : list of (ndarray or None)
        The cut per column, empty for a constant one; None where it passes through.
    intervals_ : list of (tuple of str or None)
        Labels of the bins.

    References
    ----------
    Dougherty, Kohavi and Sahami, "Supervised and unsupervised discretization of
    continuous features", ICML 1995.

    Examples
    --------
    >>> bins = BinaryBinner()
    >>> bins.fit_transform([[1.0, 0.0], [2.0, 0.0], [3.0, 0.0], [4.0, 7.0]])
    array([[0., 0.],
           [0., 0.],
           [1., 0.],
           [1., 1.]])
    >>> bins.intervals_
    [('x0 <= 2.5', 'x0 > 2.5'), ('x1 <= 3.5', 'x1 > 3.5')]
    """

    @fit_context
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> BinaryBinner:
        """Find the cut of each numeric column.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Or a table read in blocks: the path of Parquet files, a function that
            returns pandas frames, or a Dask collection. Of more than 200,000 rows, cuts
            are based on a random sample of that size.
        y : None or str
            Ignored; for a table read in blocks, a column to leave out.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows, as numbers of repetitions.

        Returns
        -------
        self
        """
        (X, _, weight), _ = sample_of(X, y, sample_weight)
        X = check_table(self, X, reset=True)
        weight = check_weight(weight, X.shape[0])
        columns = self._numeric_columns(X, weight)
        cuts = [None if x is None else halving_cut(x, weight) for _, x in columns]
        self._keep([name for name, _ in columns], cuts)
        return self
