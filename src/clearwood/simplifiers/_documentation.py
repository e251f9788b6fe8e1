"""What the docstrings of the classifier and the regressor share."""

PARAMETERS = """
    Parameters
    ----------
    estimator : estimator, TreeEnsemble or None, default=None
        The ensemble to explain. A fitted one is used as it is and never refitted
        (wrap it in ``sklearn.frozen.FrozenEstimator`` where it must survive
        ``clone``); an unfitted one is fitted on ``X, y``; None means histogram
        gradient boosting.
    max_rules : int, default=10
        Most lines printed, ``otherwise`` included. Both methods start from one
        component fewer (at least two); FAB drops those that do not pay. A
        component without a region of its own prints no rule.
    method : {"fab", "em"}, default="fab"
        Factorized asymptotic Bayesian inference, which chooses the number of
        components, or EM at a fixed number.
    target : {"ensemble", "labels"}, default="ensemble"
        What the rules are fitted to: what the ensemble predicts (probabilities,
        or values), so that they explain the model; or the labels, as in the paper.
    n_restarts : int, default=20
        Random starts, of which the best is kept.
    schedule : {"paper", "reference"}, default="paper"
        Update order of the paper's Algorithm 1, or of the authors' program.
    select : {"rules", "soft", "bound"}, default="rules"
        What the best start is best at: fidelity of the printed rules, fidelity of
        the soft posterior, or the lower bound; on the training rows.
    statement_weight : float, default=1.0
        Factor on the statements' log-likelihood and on their number in the
        penalty. Below one, the target counts for more.
    statement_counts : {"distinct", "all"}, default="distinct"
        Whether a question that many trees ask counts once or each time.
    kappa : float, default=1e-6
        A statement belongs to a rule if its probability is within this of 0 or 1.
    tol : float, default=1e-6
        A start ends when the bound moves by less than this per row.
    max_iter : int, default=1000
        Most iterations per start.
    prune : {"coverage", "prediction"}, default="coverage"
        Drop literals without which a rule holds the same training rows, or
        moreover those without which the list predicts the same on them.
    round_cuts : bool, default=True
        Print, and predict with, the shortest bounds that separate the same
        training values, and values short within half a percent of the target's
        standard deviation.
    verbose : bool, default=False
        Show a progress bar on stderr.
    n_jobs : int or None, default=None
        Threads for the restarts. The result does not depend on it.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the starts (and of the default ensemble).
"""

ATTRIBUTES = """
    Attributes
    ----------
    rules_ : RuleSet
        The printed rules; ``predict`` is what they say.
    ensemble_ : TreeEnsemble
        The ensemble as it was read.
    estimator_ : estimator
        The fitted ensemble as it was handed in, or fitted here.
    bins_ : FeatureBins
        The bins on which the rules were found.
    history_ : tuple of Iteration
        Bound, surviving components and passes per iteration of the best start.
    restarts_ : list of dict
        Per start: bound, components, iterations, convergence, and fidelity of the
        printed rules and of the soft posterior to what they were fitted to.
    n_iter_ : int
        Iterations of the best start.
    single_split_fidelity_ : float
        How far a tree of one split follows what the rules were fitted to, on the
        training rows: what rules have to beat.
    n_start_components_ : int
        Components that each start began with.
    selected_ : int or None
        Position of the best start in ``restarts_``; None where there was nothing
        to fit (one line asked for, or an ensemble without splits).
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Column names, where the table had some.
"""

REFERENCES = """
    References
    ----------
    Hara and Hayashi, "Making Tree Ensembles Interpretable: A Bayesian Model
    Selection Approach", AISTATS 2018.
"""
