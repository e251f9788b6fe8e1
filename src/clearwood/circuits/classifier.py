"""Classification by a circuit with the class as an additional column."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import log_softmax, logsumexp
from sklearn.base import ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from clearwood._base import Estimator
from clearwood._estimators import fit_context
from clearwood._numeric import as_generator
from clearwood._tables import RowsOfTable
from clearwood._tables.learning import (
    accepts_tables,
    class_labels_of,
    sample_of,
    select_used_columns,
)
from clearwood._warned_once import users_level, warned_once
from clearwood._words.labels import prediction_text, printable
from clearwood._words.numbers import probability_text
from clearwood.circuits.base import BaseSPN, encoded_block, held_out
from clearwood.circuits.circuit import Circuit
from clearwood.circuits.estimators import MiniSPN
from clearwood.circuits.learning.all_rows import AllRows
from clearwood.circuits.learning.clusters import ALPHA
from clearwood.circuits.learning.fitting import LearningTable, is_clearly_greater
from clearwood.circuits.learning.leaf_blocks import Block
from clearwood.circuits.learning.recursion import product_of
from clearwood.circuits.learning.slices import LEAST_ROWS, Slice
from clearwood.circuits.nodes import Node, Sum
from clearwood.circuits.queries.conditioning import known
from clearwood.circuits.queries.table_cells import cell_surprisals, per_cell
from clearwood.circuits.reading.outline import class_model_of
from clearwood.columns.feature_space import FeatureSpace
from clearwood.columns.table_variables import TableVariables, encoded, with_labels
from clearwood.columns.validation import check_apart, check_table, check_target
from clearwood.columns.variables import read_variables
from clearwood.distributions.categorical import leaf_of_levels, shares
from clearwood.exceptions import IndependentClassWarning, InputError
from clearwood.results import Result
from clearwood.rules.conditions import name_text

if TYPE_CHECKING:
    import pandas as pd

NO_EVIDENCE = 1e-9
"""Differences of log probabilities that are rounding."""

CHOICE_FRACTION = 1 / 3
"""Share of the rows on which the model of the class is chosen."""

SHOWN = 5
"""Number of cells named in the text about a row."""


@dataclass(frozen=True, repr=False)
class ClassEvidence(Result):
    """Contributions of a row's cells to its predicted class.

    Attributes
    ----------
    prediction : label
    probability : float
    cells : dict of str to (str, float)
        By column, the value of the cell and its contribution to the log odds of the
        prediction (class against not the class) given all other cells: 0.7 doubles the
        odds. Redundant cells share their contribution, so these do not add up. Without
        columns that are missing.
    """

    prediction: Any
    probability: float
    cells: dict[str, tuple[str, float]]

    def __str__(self) -> str:
        order = sorted(self.cells.items(), key=lambda item: -abs(item[1][1]))
        lines = [
            f"  {round(added, 2) + 0.0:+.2f}  {name_text(name)} is {printable(cell)}"
            for name, (cell, added) in order[:SHOWN]
        ]
        if len(order) > SHOWN:
            lines.append(f"  ... and {len(order) - SHOWN} more")
        head = f"{prediction_text(self.prediction)} with probability "
        head += f"{probability_text(self.probability)}; log odds by column:"
        return "\n".join([head, *lines])

    def to_frame(self) -> pd.DataFrame:
        """Value and contribution to the log odds, one column per row."""
        import pandas as pd

        return pd.DataFrame.from_dict(
            self.cells, orient="index", columns=["value", "log_odds"]
        )


class SPNClassifier(ClassifierMixin, Estimator):
    """Classifier by a sum-product network with the class as an additional column.

    The network is a joint density of the features and the class; predicted
    probabilities are conditional on the cells that are present. Missing cells are
    marginalized exactly, without imputation, and a row with few known cells gets
    correspondingly uncertain probabilities.

    Parameters
    ----------
    network : MiniSPN, LearnSPN, LatentTreeSPN, ParetoSPN or HybridSPN, default=None
        Learner of the density; it is cloned. By default a `MiniSPN`; one with
        ``n_networks=5`` predicts classes better nearly everywhere.
    per_class : bool or None, default=None
        Whether to learn a separate network per class, below one sum over classes. None:
        independent columns in each class (naive Bayes), unless one of these two, fitted
        to two thirds of the rows, has a log loss on the others that is smaller by more
        than a standard error; with fewer than 20 rows, one network. Networks per class
        are candidates if each class has 20 of these rows.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the default network; a given ``network`` has its own.

    Attributes
    ----------
    circuit_ : Circuit
        The joint density. The class is its last column.
    chosen_ : {"naive Bayes", "one network", "one network per class"}
        Model of the class: the choice of ``per_class=None``. Networks per class are
        naive Bayes if all columns are independent in these.
    classes_ : ndarray
        Class labels.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Set if ``fit`` received a frame.

    Notes
    -----
    In one network over features and class, the class is one column of many, and
    clusters of rows need not differ in it. Networks per class learn from fewer rows and
    may be overconfident. A discriminative classifier is mostly more accurate; this one
    needs no complete rows, and supports other queries, too. Rows have no weights, see
    `MiniSPN`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> spn = SPNClassifier(random_state=0).fit(X, y)
    >>> little = X.iloc[[0, 60, 120]].assign(**{"petal width (cm)": None})
    >>> spn.predict(little)
    array([0, 1, 2])
    """

    _parameter_constraints: dict[str, Any] = {
        "network": [None, BaseSPN],
        "per_class": ["boolean", None],
        "random_state": "no_validation",
    }

    _allows_missing = True
    circuit_: Circuit
    classes_: np.ndarray

    def __init__(
        self,
        network: Any = None,
        *,
        per_class: bool | None = None,
        random_state: Any = None,
    ) -> None:
        self.network = network
        self.per_class = per_class
        self.random_state = random_state

    @fit_context
    @warned_once()
    def fit(self, X: Any, y: Any) -> SPNClassifier:
        """Learn the joint distribution of features and classes.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Strings, numbers and Booleans; cells may be missing. Or a table read in
            blocks, see `MiniSPN.fit`.
        y : array-like of shape (n_samples,) or str
            Class labels; for a table read in blocks, the name of a column.

        Returns
        -------
        self
        """
        if y is None:
            raise InputError(
                "SPNClassifier requires y to be passed, but the target y is None; give "
                "one label per row, or fit a density without classes by MiniSPN."
            )
        sample, table = sample_of(X, y)
        X, y = check_table(self, sample.X, reset=True), sample.y
        check_apart(X, y)
        y = check_target(y, X.shape[0], numeric=False)
        self.classes_ = np.unique(y) if table is None else class_labels_of(table)
        label = np.searchsorted(self.classes_, y)
        if len(self.classes_) < 2:
            raise InputError(
                f"y holds one class only, {self.classes_.tolist()}: there is nothing "
                "to discriminate. Pass rows of two or more classes."
            )
        default = MiniSPN(random_state=self.random_state)
        network = clone(default if self.network is None else self.network)
        network._validate_params()
        columns = read_variables(X, network.discrete)
        cells = columns.encode(X)
        variables = network.variables_of(columns, cells)
        values = np.column_stack([variables.to_variables(cells), label])
        joint = with_labels(variables.variables, "class", tuple(self.classes_.tolist()))
        rows = None
        if table is not None:
            read = partial(_with_label, variables, self)
            rows = AllRows(select_used_columns(self, table), [read])
        self.circuit_ = self._learned(network, joint, values, variables, rows)
        self._warn_if_independent(values)
        return self

    def _learned(
        self,
        network: BaseSPN,
        joint: FeatureSpace,
        values: np.ndarray,
        variables: TableVariables,
        rows: AllRows | None,
    ) -> Circuit:
        """One network, one per class, or naive Bayes, as new rows choose."""
        per_class = partial(by_class, network._learn)
        learn: Any = per_class if self.per_class else None
        chooses = network.validation_fraction and len(values) >= LEAST_ROWS
        if self.per_class is None and chooses:
            # Networks are selected by validation rows, on which they look too good.
            rng = as_generator(network.random_state)
            train, new = held_out(values, CHOICE_FRACTION, rng)
            n_rows = np.bincount(train[:, -1].astype(int), minlength=len(self.classes_))
            enough = n_rows.min() >= LEAST_ROWS
            learners = [NAIVE_BAYES, None] + [per_class] * bool(enough)
            best = np.full(len(new), -np.inf)
            for candidate in learners:
                circuit = network.learn_circuit(
                    joint, train, variables, learn=candidate
                )
                log_p = log_of_class(circuit, new)
                if candidate is NAIVE_BAYES or is_clearly_greater(log_p, best):
                    learn, best = candidate, log_p
        valid = values[:0] if learn is NAIVE_BAYES else None  # which needs none
        return network.learn_circuit(joint, values, variables, valid, learn, rows)

    @property
    def chosen_(self) -> str:
        """Model of the class."""
        check_is_fitted(self)
        return class_model_of(self.circuit_)

    def _warn_if_independent(self, values: np.ndarray) -> None:
        """Warn if all training rows have the same class probabilities."""
        log_p = log_softmax(log_joint(self.circuit_, values[:, :-1]), axis=1)
        if np.ptp(log_p, axis=0).max() < NO_EVIDENCE:
            warnings.warn(
                "y is independent of all columns in this network: every row has the "
                "class probabilities of the table. With more rows, or another "
                "classifier, y may turn out to depend on them.",
                IndependentClassWarning,
                stacklevel=users_level(),
            )

    @accepts_tables(shares=True)
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Class log probabilities, given the cells that are present.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Or a table that is read in blocks, as in ``fit``.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            For Dask input a lazy collection.
        """
        values = self._encoded(X)
        return log_softmax(log_joint(self.circuit_, values), axis=1)

    @accepts_tables(shares=True)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities, given the cells that are present.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Or a table that is read in blocks, as in ``fit``.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            For Dask input a lazy collection.
        """
        return np.exp(self.predict_log_proba(X))

    @accepts_tables()
    def predict(self, X: Any) -> np.ndarray:
        """Most probable class of each row.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Or a table that is read in blocks, as in ``fit``.

        Returns
        -------
        ndarray of shape (n_samples,)
            For Dask input a lazy collection.
        """
        most = self.predict_log_proba(X).argmax(axis=1)
        return self.classes_[most]

    def explain(self, X: Any) -> list[ClassEvidence]:
        """Contributions of cells to the predicted class of each row.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        list of ClassEvidence
            One per row; printed, it shows the most important cells.
        """
        from clearwood.circuits.reading.anomalies import entry_text

        values = known(self.circuit_, self._encoded(X))
        joint = log_joint(self.circuit_, values)
        classes = self.classes_.tolist()
        label = joint.argmax(axis=1)
        # log p(rest, class) = log p(x, class) - log p(cell | rest, class)
        table = self.circuit_.table
        columns, cells = table.columns, table.to_rows(values)
        without = np.stack(
            [
                joint[:, k, None] + self._surprisals(of_class(values, k))
                for k in range(len(self.classes_))
            ],
            axis=2,
        )
        odds = log_odds(joint, label)
        added = odds[:, None] - log_odds(without, label[:, None])
        share = np.exp(log_softmax(joint, axis=1)).max(axis=1)
        return [
            ClassEvidence(
                classes[label[i]],
                float(share[i]),
                {
                    name: (entry_text(columns, j, row[j]), float(added[i, j]))
                    for j, name in enumerate(columns.names)
                    if not np.isnan(added[i, j])
                },
            )
            for i, row in enumerate(cells)
        ]

    def _surprisals(self, values: np.ndarray) -> np.ndarray:
        return per_cell(self.circuit_, cell_surprisals(self.circuit_, values))

    @warned_once()
    def _encoded(self, X: Any) -> np.ndarray:
        """Encode rows for the circuit, without a class."""
        check_is_fitted(self)
        return encoded(self, X, self.circuit_.table)


def log_joint(circuit: Circuit, values: np.ndarray) -> np.ndarray:
    """Joint log density of rows and each class, up to a number for each row."""
    likelihood = circuit.compiled.log_likelihood
    classes = circuit.features.categories[-1] or ()
    each = [likelihood(of_class(values, k)) for k in range(len(classes))]
    joint = np.column_stack(each)
    nowhere = np.isneginf(joint).all(axis=1)
    if nowhere.any():  # too far out for any class: as without cells
        joint[nowhere] = log_joint(circuit, np.full_like(values[:1], np.nan))
    return joint


def log_of_class(circuit: Circuit, rows: np.ndarray) -> np.ndarray:
    """Log probability of the class, which is the last column of rows."""
    log_p = log_softmax(log_joint(circuit, rows[:, :-1]), axis=1)
    found: np.ndarray = log_p[np.arange(len(rows)), rows[:, -1].astype(int)]
    return found


def by_class(
    learn: Callable[[LearningTable, np.random.Generator], Node],
    table: LearningTable,
    rng: np.random.Generator,
) -> Node:
    """Learn a network per class, given by the last column."""
    features = table.features.taken(range(table.features.n_features - 1))
    classes = table.features.categories[-1] or ()
    n_classes = len(classes)
    children, sizes = [], []
    for k, own in enumerate(rng.spawn(n_classes)):
        parts = (part[part[:, -1] == k, :-1] for part in (table.train, table.valid))
        rows, valid = map(np.ascontiguousarray, parts)
        more = None if table.all_rows is None else table.all_rows.then(_of_class, k)
        if not len(rows) and more is not None:
            raise InputError(
                f"The sample has no row of class {classes[k]!r} "
                "to learn its network from; leave per_class at False, or put rare "
                "classes together."
            )
        network = learn(LearningTable(rows, valid, features, more), own)
        leaf = leaf_of_levels(features.n_features, np.eye(n_classes)[k])
        children.append(product_of((network, leaf)))
        sizes.append(len(rows) if more is None else more.count())
    return Sum(shares(np.array(sizes) + ALPHA), tuple(children))


def independent(table: LearningTable, rng: np.random.Generator) -> Node:
    """Independent columns, as in naive Bayes."""
    whole = Slice.from_table(table.train, table.valid, table.features)
    return product_of(Block.from_slice(whole, independent=True).leaves(ALPHA, False))


NAIVE_BAYES = partial(by_class, independent)


def _of_class(values: np.ndarray, k: int) -> np.ndarray:
    return values[values[:, -1] == k, :-1]


def _with_label(
    table: TableVariables, estimator: SPNClassifier, rows: RowsOfTable
) -> np.ndarray:
    """Variables of a block of a table, with the class in the last column."""
    y = check_target(rows.y, rows.n_rows, numeric=False)
    label = np.searchsorted(estimator.classes_, y)
    return np.column_stack([encoded_block(table, estimator, rows), label])


def log_odds(log_joint: np.ndarray, label: np.ndarray) -> np.ndarray:
    """Log odds of one class against all others; classes along the last axis."""
    of_label = np.arange(log_joint.shape[-1]) == label[..., None]
    own, others = (
        logsumexp(np.where(kept, log_joint, -np.inf), axis=-1)
        for kept in (of_label, ~of_label)
    )
    with np.errstate(invalid="ignore"):  # NaN for cells too far out
        return own - others


def of_class(values: np.ndarray, label: float) -> np.ndarray:
    """Encoded rows with their class in the last column."""
    return np.column_stack([values, np.full(len(values), label)])
