"""The scikit-learn face: from a table to graphs, and from graphs to predictions."""

from __future__ import annotations

from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from clearwood._estimators import Interval, StrOptions, fit_context, take_rows
from clearwood._numeric import spawn_generators
from clearwood._tables.learning import (
    labels_of,
    only_read,
    sample_of,
    says_of_tables,
)
from clearwood.columns.validation import (
    check_apart,
    check_table,
    check_target,
    check_weight,
)
from clearwood.columns.warned_once import warned_once
from clearwood.discretize import LevelCoder
from clearwood.exceptions import InputError
from clearwood.sampling import Chains, Diagnosis, Sampler, run_chains
from clearwood.sampling.diagnostics import diagnose
from clearwood.sbfc.graphs import FeatureForest
from clearwood.sbfc.prediction import Averaged, average_graphs
from clearwood.sbfc.samplers import (
    GraphPosterior,
    GraphProblem,
    find_posterior,
    posterior_of_nothing,
)
from clearwood.sbfc.scores import CodedTable, Penalty, score

N_CHAINS, WARMUP = 4, 100
"""Markov chains, and draws at the beginning of each that are not kept."""

NEARLY = np.finfo(float).tiny, 1 - np.finfo(float).epsneg
"""The floating-point numbers beside 0 and 1."""

MOST_WEIGHT = 1e12
"""Of all rows: log gammas of larger numbers are not known to within some hundredths."""

MOST_PAIRS = 2**27
"""Counts at a time of a feature's levels, with those of all features and the class."""


class SelectiveBayesianForestClassifier(ClassifierMixin, BaseEstimator):
    """Which features tell the class, and how they depend on each other.

    Features are split into signal, which depends on the class, and noise, which does
    not; in each of the two groups they form a forest of trees. The posterior
    probability of such graphs chooses features, finds interactions and classifies, all
    at once (Krakovna, 2016). For up to 16 features all graphs are summed over; beyond,
    Markov chains draw the groups, with all forests summed out.

    Numbers are binned inside (`MDLPDiscretizer`), but those of at most five values have
    a level for each; texts and declared categories are levels as they are. A missing
    value is a level of its own where any was missing in the fit. Features that come out
    with a single level are set aside, and never signal.

    Parameters
    ----------
    sampler : {"auto", "exact", "collapsed", "original"}, default="auto"
        ``"exact"`` sums over all graphs (at most 16 features that vary, 5 with
        ``target="undirected"``), ``"collapsed"`` draws groups of features, and
        ``"original"`` draws graphs by the moves of the thesis. ``"auto"`` is exact
        where that can be; else collapsed; else, for undirected trees, and where strong
        edges tie too many features together to sum over their forests, original.
    prior : {"balanced", "thesis"}, default="balanced"
        In the thesis an edge between signal features costs less than one between noise
        features, by the number of classes. That lifts clusters of correlated noise
        into the signal, nearly surely where there are many features. ``"balanced"``
        takes the higher price in both groups, and keeps them out.
    alpha : float, default=5.0
        Pseudo-counts that every feature has in all, before any row is seen.
    lambda_x, lambda_y : float, default=4.0, 1.0
        What an edge, and a signal feature, costs a priori: in units of the log of the
        number of columns, the last one over the number of classes.
    target : {"rooted", "undirected"}, default="rooted"
        Whether a tree of s features counts s times, once for every root, as in the
        thesis; or once.
    smoothing : {"thesis", "dirichlet"}, default="thesis"
        Probabilities in predictions. ``"thesis"``: counts, and one row more that is
        spread as the feature is in all rows; ``"dirichlet"``: posterior means under
        the prior of the scores.
    n_graphs : int, default=500
        Graphs that are drawn for predictions.
    n_draws : int, default=500
        Draws of each of four chains, after a warm-up of 100; none in exact mode.
    checkpoint : str or Path, default=None
        File from which chains go on, if it is there; see `clearwood.sampling`.
    n_jobs : int, default=None
        Chains at a time. The result does not depend on it.
    verbose : bool, default=False
        Show on stderr how far the chains have come.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the chains and of the graphs.

    Attributes
    ----------
    signal_probability_ : ndarray of shape (n_features,)
        Posterior probability that a feature is signal. 0 where it has a single level;
        else, but for shares of graphs drawn (``"original"``), between 0 and 1.
    edge_probability_ : csr_array of shape (n_features, n_features)
        Posterior probability of an edge between two features; symmetric.
    log_evidence_ : float or None
        Log of the sum over all graphs of prior times likelihood, without the constants
        of the prior and of the classes. None where that sum is not known: there are
        chains.
    graphs_ : list of FeatureForest
        Graphs drawn from the posterior.
    best_graph_ : FeatureForest
        The most probable graph; of those in sight, where there are chains.
    best_log_posterior_ : float
        Its log probability, up to the constants that ``log_evidence_`` lacks.
    sampler_ : {"exact", "collapsed", "original"}
        Where the posterior is from.
    dropped_ : float
        Edges too weak to matter are left out where there are chains: this is the
        largest total weight of those of one feature. They could change its log odds by
        at most twice this. 0 in exact mode.
    chains_ : Chains or None
        The draws; ``sampling.to_arviz`` takes them. None in exact mode, and for a
        classifier that was read from a file.
    levels_ : LevelCoder
        Which cell is of which level, and what levels are called.
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

    _parameter_constraints: dict[str, Any] = {
        "sampler": [StrOptions({"auto", "exact", "collapsed", "original"})],
        "prior": [StrOptions({"thesis", "balanced"})],
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "lambda_x": [Interval(Real, 0, None, closed="left")],
        "lambda_y": [Interval(Real, 0, None, closed="left")],
        "target": [StrOptions({"rooted", "undirected"})],
        "smoothing": [StrOptions({"thesis", "dirichlet"})],
        "n_graphs": [Interval(Integral, 1, None, closed="left")],
        "n_draws": [Interval(Integral, 1, None, closed="left")],
        "checkpoint": [None, str, Path],
        "n_jobs": [None, Integral],
        "verbose": ["verbose"],
        "random_state": "no_validation",
    }

    def __init__(
        self,
        sampler: str = "auto",
        *,
        prior: str = "balanced",
        alpha: float = 5.0,
        lambda_x: float = 4.0,
        lambda_y: float = 1.0,
        target: str = "rooted",
        smoothing: str = "thesis",
        n_graphs: int = 500,
        n_draws: int = 500,
        checkpoint: str | Path | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        random_state: Any = None,
    ) -> None:
        self.sampler = sampler
        self.prior = prior
        self.alpha = alpha
        self.lambda_x = lambda_x
        self.lambda_y = lambda_y
        self.target = target
        self.smoothing = smoothing
        self.n_graphs = n_graphs
        self.n_draws = n_draws
        self.checkpoint = checkpoint
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    # Fitting

    @fit_context
    @warned_once()
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None
    ) -> SelectiveBayesianForestClassifier:
        """Find the posterior of the graphs, and draw some.

        Ctrl-C ends the chains early: what they have drawn by then is used.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Columns of texts, and those declared to be of categories (of numbers, too),
            are categories; cells may be empty. Or a table that is read in blocks: the
            path of Parquet files, a function that gives pandas frames,
            a collection of Dask. Of more than 200,000 rows as many are drawn at random
            to cut numbers; all are counted.
        y : array-like of shape (n_samples,) or str
            Class labels; of a table that is read in blocks, a column.
        sample_weight : array-like of shape (n_samples,), optional
            How many rows each one stands for.

        Returns
        -------
        self
        """
        table = self._read(X, y, sample_weight)
        # Columns that do not vary say nothing, but count in the prior.
        varies = np.flatnonzero(table.levels > 1)
        varied = table._replace(
            codes=table.codes[:, varies], levels=table.levels[varies]
        )
        penalty = Penalty.of(
            self.prior, self.lambda_x, self.lambda_y, table.n_columns, table.n_classes
        )
        chains_seed, graphs_seed = spawn_generators(self.random_state, 2)

        def run(sampler: Sampler) -> Chains:
            return run_chains(
                sampler,
                self.n_draws,
                n_warmup=WARMUP,
                n_chains=N_CHAINS,
                random_state=chains_seed,
                n_jobs=self.n_jobs,
                checkpoint=self.checkpoint,
                progress=bool(self.verbose),
            )

        if len(varies):
            problem = GraphProblem.of(score(varied, self.alpha), penalty, self.target)
            found = find_posterior(
                self.sampler, problem, self.n_graphs, run, graphs_seed
            )
        else:
            found = posterior_of_nothing(self.n_graphs)
        self._keep(found, varies)
        self._average = average_graphs(self.graphs_, table, self.smoothing, self.alpha)
        return self

    def _read(self, X: Any, y: Any, sample_weight: Any) -> CodedTable:
        """Levels of all columns, and classes."""
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
        # A row that does not count is as good as none.
        counted = np.flatnonzero(weight > 0)
        if len(counted) < len(weight):
            X, y, weight = take_rows(X, counted), y[counted], weight[counted]
        self.classes_ = np.unique(y) if rows is None else labels_of(rows)
        label = np.searchsorted(self.classes_, y)
        n_classes = len(self.classes_)
        self.levels_ = LevelCoder.fit(X, label, weight, n_classes)
        if rows is not None:
            rows = only_read(self, rows)
            self.levels_ = self.levels_.of_all(rows)
        n_levels = self.levels_.n_levels
        widest = int(n_levels.argmax())
        if n_levels[widest] * n_levels.sum() * n_classes > MOST_PAIRS:
            raise InputError(
                f"Column {self.levels_.features.names[widest]!r} has "
                f"{n_levels[widest]:,} levels, too many to count with those of all "
                "columns; leave it out if it names rows, or put rare levels together."
            )
        if rows is not None:
            return _not_too_heavy(
                CodedTable.of_table(rows, self.levels_, self.classes_)
            )
        kind = np.min_scalar_type(int(n_levels.max()))
        table = CodedTable(
            codes=self.levels_.codes(X).astype(kind),
            levels=n_levels,
            y=label,
            n_classes=n_classes,
            weight=None if (weight == 1).all() else weight,
            n_columns=len(n_levels),
        )
        return _not_too_heavy(table)

    def _keep(self, found: GraphPosterior, varies: np.ndarray) -> None:
        """What was found of the features that vary, for all columns."""
        from scipy.sparse import coo_array

        d = len(self.levels_.n_levels)
        self.signal_probability_ = np.zeros(d)
        edges = found.edge_probability.tocoo()
        signal, edge = found.signal_probability, edges.data
        if found.sampler != "original":
            # No graph is impossible; only sums of their probabilities round to 0 or 1.
            signal, edge = signal.clip(*NEARLY), edge.clip(*NEARLY)
        self.signal_probability_[varies] = signal
        ends = varies[edges.row], varies[edges.col]
        self.edge_probability_ = coo_array((edge, ends), shape=(d, d)).tocsr()
        self.log_evidence_ = found.log_evidence
        self.graphs_ = [_widened(graph, varies, d) for graph in found.graphs]
        self.best_graph_ = _widened(found.best, varies, d)
        self.best_log_posterior_ = found.best_log_posterior
        self.chains_ = found.chains
        self.sampler_, self.dropped_ = found.sampler, found.dropped

    # Reading

    def feature_ranking(self) -> list[tuple[str, float]]:
        """All features with their signal probability, the most probable first.

        Returns
        -------
        list of (str, float)
            Features that are equally probable stay in the order of the columns.
        """
        check_is_fitted(self)
        order = np.argsort(-self.signal_probability_, kind="stable")
        names, p = self.levels_.features.names, self.signal_probability_
        return [(names[j], float(p[j])) for j in order]

    def diagnose(self) -> dict[str, Diagnosis]:
        """Whether the chains agree, and what they are worth.

        Returns
        -------
        dict of str to Diagnosis
            R-hat, effective sample size and standard error of the log posterior, of
            the number of signal features, and, by their names, of the features that
            are signal in some draws only. Where there are no chains, in exact mode and
            after `clearwood.load`, there is nothing to say.
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
            found[names[varies[j]]] = diagnose(signal[..., j].astype(np.float64))
        return found

    # Predicting

    @warned_once()
    @says_of_tables(shares=True)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of every class: the average over the graphs drawn.

        Cells of no level of the fit, missing ones among them, say nothing: their
        feature is summed out, exactly.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Or a table that is read in blocks, as in ``fit``.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Of Dask a collection, which is not computed yet.
        """
        return self._averaged(X).probability

    @warned_once()
    @says_of_tables(shares=True)
    def predict_proba_error(self, X: Any) -> np.ndarray:
        """Standard errors of `predict_proba`, as it averages over finitely many graphs.

        More graphs, ``n_graphs``, make them smaller. Means of batches of graphs, which
        may come from a chain, tell them; so with one graph they are NaN.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Or a table that is read in blocks, as in ``fit``.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Of Dask a collection, which is not computed yet.
        """
        return self._averaged(X).error

    @says_of_tables()
    def predict(self, X: Any) -> np.ndarray:
        """The most probable class.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Or a table that is read in blocks, as in ``fit``.

        Returns
        -------
        ndarray of shape (n_samples,)
            Of Dask a collection, which is not computed yet.
        """
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]

    def _averaged(self, X: Any) -> Averaged:
        check_is_fitted(self)
        X = check_table(self, X, reset=False)
        asked = set(self._average.feature.tolist())
        return self._average.predict(self.levels_.codes(X, asked))


def _not_too_heavy(table: CodedTable) -> CodedTable:
    """A table whose scores are exact."""
    total = 0.0 if table.weight is None else table.weight.sum()
    if total > MOST_WEIGHT:
        raise InputError(
            f"sample_weight sums to {total:.3g}; scores of so many rows are not exact. "
            f"Divide the weights, so that they sum to {MOST_WEIGHT:.0e} or less."
        )
    return table


def _widened(graph: FeatureForest, varies: np.ndarray, d: int) -> FeatureForest:
    """A graph of some columns as one of all."""
    signal, parent = np.zeros(d, dtype=bool), np.full(d, -1)
    signal[varies] = graph.signal
    child = graph.parent >= 0
    parent[varies[child]] = varies[graph.parent[child]]
    return FeatureForest(signal, parent)
