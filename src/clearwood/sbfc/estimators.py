"""The scikit-learn estimator: from tables to graphs, and from these to predictions."""

from __future__ import annotations

from functools import partial
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from clearwood._base import Estimator
from clearwood._estimators import Interval, StrOptions, fit_context, take_rows
from clearwood._numeric import spawn_generators
from clearwood._tables.learning import (
    accepts_tables,
    class_labels_of,
    sample_of,
    select_used_columns,
)
from clearwood._warned_once import warned_once
from clearwood.columns.info import shown_names
from clearwood.columns.validation import (
    check_apart,
    check_table,
    check_target,
    check_weight,
)
from clearwood.discretize import LevelCoder
from clearwood.exceptions import InputError
from clearwood.sampling import Chains, Diagnosis, Sampler, run_chains
from clearwood.sampling.diagnostics import diagnose
from clearwood.sbfc.calibration import fit_calibration
from clearwood.sbfc.graphs import FeatureForest
from clearwood.sbfc.prediction import (
    Averaged,
    average_graphs,
    leave_one_out,
    level_counts,
)
from clearwood.sbfc.samplers import (
    GraphPosterior,
    GraphProblem,
    find_posterior,
    posterior_without_features,
)
from clearwood.sbfc.scores import CodedTable, Penalty, score

N_CHAINS, WARMUP = 4, 100
"""Number of Markov chains, and of warm-up draws that each discards."""

PRESETS: dict[str | None, dict[str, Any]] = {
    None: {"sampler": "auto", "prior": "balanced", "smoothing": "paper",
           "binning": "mdlp_or_halves", "calibration": "additive", "min_ess": 400},
    "paper": {"sampler": "original", "prior": "paper", "smoothing": "paper",
              "binning": "mdlp", "calibration": None, "min_ess": None},
}  # fmt: skip
"""What "auto" means for a setting, by preset."""

NEARLY = np.finfo(float).tiny, 1 - np.finfo(float).epsneg
"""The floating-point numbers next to 0 and 1."""

MOST_WEIGHT = 1e12
"""Bound on the total weight: beyond it log gammas have errors of some hundredths."""

MOST_PAIRS = 2**27
"""Counts at a time: levels of one feature by those of all features and the class."""


POSITIVE = Interval(Integral, 1, None, closed="left")


class SelectiveBayesianForestClassifier(ClassifierMixin, Estimator):
    """Bayesian classifier that selects features and finds their dependences.

    Features are divided into signal, which depends on the class, and noise, which does
    not; within each group they form a forest of trees. The posterior probability of
    such graphs selects features, finds interactions and classifies at the same time
    (Krakovna, 2016). For up to 16 features all graphs are summed over; beyond, Markov
    chains draw the groups, with all forests summed out, or graphs.

    Numeric features are discretized (`MDLPDiscretizer`; into halves where it finds no
    cut), except that those with at most five distinct values have a level for each;
    texts and categories are levels as they are. Missing values are a level of their own
    if any occurred in the fit. Features with a single level are excluded, and never
    signal.

    Parameters
    ----------
    sampler : {"auto", "exact", "collapsed", "exchange", "original"}, default="auto"
        ``"exact"`` sums over all graphs (at most 16 features that vary),
        ``"collapsed"`` samples groups of features, ``"exchange"`` samples graphs by
        exchanges of edges, and ``"original"`` by the moves of the thesis. ``"auto"`` is
        exact where possible; else collapsed; else by exchanges: where strong edges
        connect too many features to sum over their forests.
    preset : {"paper"} or None, default=None
        Settings for each of ``sampler``, ``prior``, ``smoothing``, ``binning``,
        ``calibration`` and ``min_ess`` that is "auto": ``"paper"`` gives those of the
        thesis, ``"original"``, ``"paper"``, ``"paper"``, ``"mdlp"``, None and None.
    prior : {"auto", "balanced", "paper"}, default="auto"
        ``"auto"`` is ``"balanced"`` without a preset. In the thesis an edge between
        signal features costs less than one between noise features, by the number of
        classes. That moves clusters of correlated noise into the signal, almost surely
        where there are many features. ``"balanced"`` uses the higher cost in both
        groups, which keeps them out.
    alpha : float, default=5.0
        Total pseudo-count of each feature in the Dirichlet prior.
    lambda_x, lambda_y : float, default=4.0, 1.0
        Prior cost of an edge and of a signal feature, in units of the log of the number
        of columns; the latter divided by the number of classes.
    smoothing : {"auto", "paper", "dirichlet"}, default="auto"
        Estimates of conditional probabilities. ``"paper"``, which ``"auto"`` is:
        counts plus one row distributed as the feature is overall; ``"dirichlet"``:
        posterior means under the prior of the scores.
    binning : {"auto", "mdlp", "mdlp_or_halves"}, default="auto"
        Levels of a numeric feature in which MDLP finds no cut: one, so that it is
        excluded, or, which ``"auto"`` is without a preset, two of equal size. MDLP
        looks at one feature at a time, so that it misses those that matter only
        together.
    calibration : {"auto", "additive", "temperature"} or None, default="auto"
        Correction of the class probabilities, which are too certain where features say
        the same. ``"temperature"`` multiplies the log odds by a number, relative to the
        class frequencies; ``"additive"``, which ``"auto"`` is without a preset, also
        adds a step function of every feature, signal or not. Both are fitted to
        training rows, each predicted from the counts of all others. Graphs and signal
        probabilities are not affected. None for the average over graphs as it is.
    n_graphs : int, default=500
        Number of graphs drawn for predictions.
    n_draws : int, default=500
        Draws of each of four chains, after a warm-up of 100; unused in exact mode.
    min_ess : int, "auto" or None, default="auto"
        Effective sample size of the log posterior and of the number of signal features.
        Until it is reached, with R-hats of at most 1.01, and 1.05 for each feature, the
        chains are continued, with more steps per draw and a longer warm-up: up to 24
        times as long, where ``n_draws`` is at least a quarter of this. ``"auto"`` is
        400 without a preset. None for chains of a given length.
    checkpoint : str or Path, default=None
        File from which chains resume, if it exists; see `sampling.run_chains`.
    n_jobs : int, default=None
        Number of chains run in parallel. The result does not depend on it.
    verbose : bool, default=False
        Show the progress of the chains on stderr.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the chains and of the graphs drawn.

    Attributes
    ----------
    inclusion_probability_ : ndarray of shape (n_features,)
        Posterior probability that a feature is signal. 0 for a single level; else
        strictly between 0 and 1, except with ``"exchange"`` and ``"original"``, where
        it is a share of graphs drawn.
    edge_probability_ : csr_array of shape (n_features, n_features)
        Posterior probability of an edge between two features; symmetric.
    log_evidence_ : float or None
        Log of the sum over all graphs of prior times likelihood, without the constants
        of the prior and of the classes. None where it is unknown because chains were
        used.
    graphs_ : list of FeatureForest
        Graphs drawn from the posterior.
    best_graph_ : FeatureForest
        The most probable graph; with chains, of those examined.
    best_log_posterior_ : float
        Its log posterior, up to the constants that ``log_evidence_`` lacks.
    sampler_ : {"exact", "collapsed", "exchange", "original"}
        The sampler used.
    dropped_ : float
        With chains, edges of negligible weight are left out: the largest total weight
        of those of one feature. They could change its log odds by at most twice this. 0
        in exact mode.
    chains_ : Chains or None
        The draws, input of ``sampling.to_arviz``. None in exact mode, and for a
        classifier loaded from a file.
    calibration_ : Calibration or None
        The ``temperature``, and the ``effect`` of parts of features on the log odds.
    levels_ : LevelCoder
        Encoder of cells as levels, with the labels of levels.
    classes_ : ndarray
        Class labels.

    References
    ----------
    Krakovna, "Building Interpretable Models: From Bayesian Networks to Neural
    Networks", Harvard 2016, chapters 2 and 3.

    Examples
    --------
    >>> from clearwood.datasets import make_corral
    >>> X, y = make_corral(n_noise=4, random_state=0)
    >>> forest = SelectiveBayesianForestClassifier(random_state=0).fit(X, y)
    >>> sorted(name for name, p in forest.feature_ranking() if p > 0.5)
    ['x0', 'x1', 'x2', 'x3', 'x5']
    """

    _allows_missing = True
    _parameter_constraints: dict[str, Any] = {
        "sampler": [StrOptions({"auto", "exact", "collapsed", "exchange", "original"})],
        "preset": [None, StrOptions({"paper"})],
        "prior": [StrOptions({"auto", "balanced", "paper"})],
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "lambda_x": [Interval(Real, 0, None, closed="left")],
        "lambda_y": [Interval(Real, 0, None, closed="left")],
        "smoothing": [StrOptions({"auto", "paper", "dirichlet"})],
        "binning": [StrOptions({"auto", "mdlp", "mdlp_or_halves"})],
        "calibration": [None, StrOptions({"auto", "additive", "temperature"})],
        "n_graphs": [POSITIVE],
        "n_draws": [POSITIVE],
        "min_ess": [None, StrOptions({"auto"}), POSITIVE],
        "checkpoint": [None, str, Path],
        "n_jobs": [None, Integral],
        "verbose": ["verbose"],
        "random_state": "no_validation",
    }

    def __init__(
        self,
        sampler: str = "auto",
        *,
        preset: str | None = None,
        prior: str = "auto",
        alpha: float = 5.0,
        lambda_x: float = 4.0,
        lambda_y: float = 1.0,
        smoothing: str = "auto",
        binning: str = "auto",
        calibration: str | None = "auto",
        n_graphs: int = 500,
        n_draws: int = 500,
        min_ess: int | str | None = "auto",
        checkpoint: str | Path | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        random_state: Any = None,
    ) -> None:
        self.sampler = sampler
        self.preset = preset
        self.prior = prior
        self.alpha = alpha
        self.lambda_x = lambda_x
        self.lambda_y = lambda_y
        self.smoothing = smoothing
        self.binning = binning
        self.calibration = calibration
        self.n_graphs = n_graphs
        self.n_draws = n_draws
        self.min_ess = min_ess
        self.checkpoint = checkpoint
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _setting(self, name: str) -> Any:
        """A parameter, or what "auto" means for it."""
        own = getattr(self, name)
        return own if own != "auto" else PRESETS[self.preset][name]

    # Fitting

    @fit_context
    @warned_once()
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None
    ) -> SelectiveBayesianForestClassifier:
        """Compute the posterior over graphs, and draw graphs from it.

        Ctrl-C ends the chains early; the draws made so far are used.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Text columns, and those declared categorical (also of numbers), are
            categories; cells may be missing. Or a table read in blocks: the path of
            Parquet files, a function that returns pandas frames, or a Dask collection.
            Of more than 200,000 rows, a random sample of that size determines the bins;
            all are counted.
        y : array-like of shape (n_samples,) or str
            Class labels; for a table read in blocks, the name of a column.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows, as numbers of repetitions.

        Returns
        -------
        self
        """
        table, sample = self._read(X, y, sample_weight)
        # Constant columns carry no information, but count in the prior.
        varies = np.flatnonzero(table.levels > 1)
        varied = table._replace(
            codes=table.codes[:, varies], levels=table.levels[varies]
        )
        penalty = Penalty.of(
            self._setting("prior"),
            self.lambda_x,
            self.lambda_y,
            table.n_columns,
            table.n_classes,
        )
        chains_seed, graphs_seed, rows_seed = spawn_generators(self.random_state, 3)

        def run(sampler: Sampler) -> Chains:
            return run_chains(
                sampler,
                self.n_draws,
                n_warmup=WARMUP,
                n_chains=N_CHAINS,
                random_state=chains_seed,
                min_ess=self._setting("min_ess"),
                n_jobs=self.n_jobs,
                checkpoint=self.checkpoint,
                progress=bool(self.verbose),
            )

        if len(varies):
            problem = GraphProblem.from_scores(score(varied, self.alpha), penalty)
            found = find_posterior(
                self._setting("sampler"), problem, self.n_graphs, run, graphs_seed
            )
        else:
            found = posterior_without_features(self.n_graphs)
        self._keep(found, varies)
        smoothing = self._setting("smoothing")
        self._average = average_graphs(self.graphs_, table, smoothing, self.alpha)
        self._counts = level_counts(table)
        kind = self._setting("calibration")
        self.calibration_ = kind and fit_calibration(
            partial(leave_one_out, self._average, table, smoothing, self.alpha),
            self._average.log_class,
            self.levels_,
            sample,
            with_steps=kind == "additive",
            rng=rows_seed,
        )
        return self

    def _read(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[CodedTable, tuple[Any, np.ndarray, np.ndarray]]:
        """All rows, coded; and those in memory, their classes and weights."""
        if y is None:
            raise InputError(
                f"{type(self).__name__} requires y to be passed, but the target y is "
                "None; give one label per row."
            )
        sample, rows = sample_of(X, y, sample_weight)
        X, y = check_table(self, sample.X, reset=True), sample.y
        check_apart(X, y)
        y = check_target(y, X.shape[0], numeric=False)
        weight = check_weight(sample.weight, X.shape[0])
        # Rows of weight 0 are excluded.
        counted = np.flatnonzero(weight > 0)
        if len(counted) < len(weight):
            X, y, weight = take_rows(X, counted), y[counted], weight[counted]
        self.classes_ = np.unique(y) if rows is None else class_labels_of(rows)
        if len(self.classes_) < 2:
            raise InputError(
                f"y holds one class only, {self.classes_.tolist()}: no feature can be "
                "relevant for it. Pass rows of two or more classes."
            )
        label = np.searchsorted(self.classes_, y)
        n_classes = len(self.classes_)
        halves = self._setting("binning") == "mdlp_or_halves"
        self.levels_ = LevelCoder.fit(X, label, weight, n_classes, halves)
        if rows is not None:
            rows = select_used_columns(self, rows)
            self.levels_ = self.levels_.of_all(rows)
        n_levels = self.levels_.n_levels
        widest = int(n_levels.argmax())
        if n_levels[widest] * n_levels.sum() * n_classes > MOST_PAIRS:
            raise InputError(
                f"Column {self.levels_.features.names[widest]!r} has "
                f"{n_levels[widest]:,} levels, too many to count with those of all "
                "columns; leave it out if it identifies rows, or group rare levels."
            )
        if rows is not None:
            table = CodedTable.of_table(rows, self.levels_, self.classes_)
            return _check_weights(table), (X, label, weight)
        kind = np.min_scalar_type(int(n_levels.max()))
        table = CodedTable(
            codes=self.levels_.codes(X).astype(kind),
            levels=n_levels,
            y=label,
            n_classes=n_classes,
            weight=None if (weight == 1).all() else weight,
            n_columns=len(n_levels),
        )
        return _check_weights(table), (X, label, weight)

    def _keep(self, found: GraphPosterior, varies: np.ndarray) -> None:
        """Set the fitted attributes, with results for constant columns, too."""
        from scipy.sparse import coo_array

        d = len(self.levels_.n_levels)
        self.inclusion_probability_ = np.zeros(d)
        edges = found.edge_probability.tocoo()
        signal, edge = found.signal_probability, edges.data
        if found.sampler not in ("exchange", "original"):
            # No graph is impossible; only sums of probabilities round to 0 or 1.
            signal, edge = signal.clip(*NEARLY), edge.clip(*NEARLY)
        self.inclusion_probability_[varies] = signal
        ends = varies[edges.row], varies[edges.col]
        self.edge_probability_ = coo_array((edge, ends), shape=(d, d)).tocsr()
        self.log_evidence_ = found.log_evidence
        names = shown_names(self.levels_.features)
        self.graphs_ = [_widened(graph, varies, names) for graph in found.graphs]
        self.best_graph_ = _widened(found.best, varies, names)
        self.best_log_posterior_ = found.best_log_posterior
        self.chains_, self._edge_draws = found.chains, found.edge_draws
        self.sampler_, self.dropped_ = found.sampler, found.dropped

    # Reading

    def feature_ranking(self) -> list[tuple[str, float]]:
        """Rank all features by signal probability, the most probable first.

        Returns
        -------
        list of (str, float)
            Ties stay in the order of the columns.
        """
        check_is_fitted(self)
        order = np.argsort(-self.inclusion_probability_, kind="stable")
        names, p = self.levels_.features.names, self.inclusion_probability_
        return [(names[j], float(p[j])) for j in order]

    def diagnose(self) -> dict[str, Diagnosis]:
        """Convergence diagnostics of the chains.

        Returns
        -------
        dict of str to Diagnosis
            R-hat, effective sample size and standard error of the log posterior, of the
            number of signal features, and, by name, of the features that are signal in
            some draws but not all; and of the 100 least certain edges, as
            ``"x0 -- x1"``, to three decimals where ``"collapsed"`` sums over edges.
            Empty where there are no chains: in exact mode and after `clearwood.load`.
        """
        check_is_fitted(self)
        if self.chains_ is None:
            return {}
        found = self.chains_.diagnose()
        names = self.levels_.features.names
        signal = self.chains_.draws["signal"]
        changes = np.flatnonzero(signal.any(axis=(0, 1)) & ~signal.all(axis=(0, 1)))
        varies = np.flatnonzero(self.levels_.n_levels > 1)
        for j in changes:
            found[names[varies[j]]] = diagnose(signal[..., j])
        for edge, draws in self._edge_draws.items():
            found[" -- ".join(names[varies[j]] for j in edge)] = diagnose(draws)
        return found

    # Predicting

    @warned_once()
    @accepts_tables(shares=True)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities, averaged over the graphs drawn, and calibrated.

        Levels that did not occur in the fit, missing values among them, are summed out
        exactly.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Or a table read in blocks, as in ``fit``.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            For Dask a lazy collection.
        """
        return self._averaged(X).probability

    @warned_once()
    @accepts_tables(shares=True)
    def predict_proba_error(self, X: Any) -> np.ndarray:
        """Monte Carlo standard errors of `predict_proba`.

        They are due to the finite number of graphs, and decrease with ``n_graphs``.
        They are estimated from the means of batches of graphs, so that draws of a chain
        are allowed; with one graph they are NaN.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Or a table read in blocks, as in ``fit``.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            For Dask a lazy collection.
        """
        return self._averaged(X).error

    @accepts_tables()
    def predict(self, X: Any) -> np.ndarray:
        """Predict the most probable class.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Or a table read in blocks, as in ``fit``.

        Returns
        -------
        ndarray of shape (n_samples,)
            For Dask a lazy collection.
        """
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]

    def _averaged(self, X: Any) -> Averaged:
        check_is_fitted(self)
        X = check_table(self, X, reset=False)
        used = set(self._average.feature.tolist())
        if self.calibration_ is not None:
            used |= self.calibration_.features
        encoded = self.levels_.features.encode(X, used)
        found = self._average.predict(self.levels_.codes_encoded(encoded))
        if self.calibration_ is None:
            return found
        codes = self.calibration_.parts.codes_encoded(encoded)
        return self.calibration_.apply(found, self._average.log_class, codes)


def _check_weights(table: CodedTable) -> CodedTable:
    """Check that total weights are small enough for exact scores."""
    total = 0.0 if table.weight is None else table.weight.sum()
    if total > MOST_WEIGHT:
        raise InputError(
            f"sample_weight sums to {total:.3g}; scores of so many rows are not exact. "
            f"Divide the weights, so that they sum to {MOST_WEIGHT:.0e} or less."
        )
    return table


def _widened(
    graph: FeatureForest, varies: np.ndarray, names: tuple[str, ...]
) -> FeatureForest:
    """Extend a graph of the varying columns to all columns."""
    signal, parent = np.zeros(len(names), dtype=bool), np.full(len(names), -1)
    signal[varies] = graph.signal
    child = graph.parent >= 0
    parent[varies[child]] = varies[graph.parent[child]]
    return FeatureForest(signal, parent, names)
