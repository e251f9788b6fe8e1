"""The binnings as transformers of scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from clearwood._estimators import fit_context
from clearwood._tables import is_read_in_blocks
from clearwood._tables.learning import rewrites_table, sample_of
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


class _Binner(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Reads tables and applies cuts; where to cut is for the subclasses."""

    _parameter_constraints: dict[str, Any] = {}

    cuts_: list[np.ndarray | None]
    intervals_: list[tuple[str, ...] | None]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _numeric_columns(
        self, X: Any, weight: np.ndarray
    ) -> list[tuple[str, np.ndarray | None]]:
        """Name and values of every column; None for those that hold labels."""
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
        """Put the position of its bin in the place of every number.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Or a table that is read in blocks, as in ``fit``.

        Returns
        -------
        ndarray or frame of shape (n_samples, n_features)
            As float64, so that missing values stay NaN; what it was called with, a
            frame of pandas or polars or an array, unless ``set_output`` says
            otherwise. Of a file or a function a frame in memory, of Dask a collection,
            which is not computed yet. Columns of texts and of categories are as they
            were.
        """
        if is_read_in_blocks(X):
            return rewrites_table(self, self.transform, X, self._without_rows)
        check_is_fitted(self)
        X = check_table(self, X, reset=False)
        if not is_frame(X):
            binned = np.empty(X.shape)
            for d, (column, cuts) in enumerate(zip(X.T, self.cuts_)):
                if cuts is None:
                    raise InputError(
                        f"Column {d} held labels in the fit, which an array of numbers "
                        "cannot; hand in a frame as it was then."
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
        """What ``transform`` makes of a frame without rows."""
        pairs = zip(frame.columns, self.cuts_)
        return frame.astype({c: np.float64 for c, cuts in pairs if cuts is not None})


class MDLPDiscretizer(_Binner):
    """Numbers in bins whose classes differ (Fayyad and Irani, 1993).

    A column is cut in two where the classes of both sides are least mixed, and each
    side again, for as long as a cut shortens the description of the classes by more
    than it takes to describe the cut. A column that says nothing of the classes gets
    no cut, and a single bin. It has no parameters.

    Cuts lie half way between two neighbouring values; a value that equals a cut is left
    of it. Missing values say nothing of the cuts, and stay missing. Columns of texts,
    and in frames those declared to be of categories, pass as they are.

    Attributes
    ----------
    cuts_ : list of (ndarray or None)
        Per column the cuts, rising; None where it passes.
    intervals_ : list of (tuple of str or None)
        The bins in words.
    decisions_ : list of (list of Decision or None)
        Per column the best cut of every interval that was looked at: what it gains,
        and what it would have to gain at least.

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
        """Find the cuts of every column of numbers.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Or a table that is read in blocks: the path of Parquet files,
            a function that gives pandas frames, a collection of Dask. Of more than
            200,000 rows as many are drawn at random, and cuts are theirs.
        y : array-like of shape (n_samples,) or str
            Class labels; of a table that is read in blocks, a column.
        sample_weight : array-like of shape (n_samples,), optional
            How many rows each one stands for.

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
    """Numbers in two bins, each of which holds half of the rows.

    Each column is cut once, where its two sides are most nearly equal. That is the
    median where values are many; where a cut at the median would leave one side empty,
    as in a column mostly of zeros, it is the cut that comes nearest. So a column that
    varies at all stays one that varies. It has no parameters, and needs no classes.

    Values that equal a cut are left of it. Missing values say nothing of the cut, and
    stay missing. Columns of texts, and in frames those declared to be of categories,
    pass as they are.

    Attributes
    ----------
    cuts_ : list of (ndarray or None)
        Per column its cut, none where all values are equal; None where it passes.
    intervals_ : list of (tuple of str or None)
        The bins in words.

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
        """Find the cut of every column of numbers.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Or a table that is read in blocks: the path of Parquet files,
            a function that gives pandas frames, a collection of Dask. Of more than
            200,000 rows as many are drawn at random, and cuts are theirs.
        y : None or str
            Not used; of a table that is read in blocks, a column to leave out.
        sample_weight : array-like of shape (n_samples,), optional
            How many rows each one stands for.

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
