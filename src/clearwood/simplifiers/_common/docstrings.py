"""What the docstrings of the estimators share."""

ESTIMATOR = """
    Parameters
    ----------
    estimator : estimator, TreeEnsemble or None, default=None
        The ensemble to explain. A fitted one is used as it is and never refitted
        (wrap it in ``sklearn.frozen.FrozenEstimator`` where it must survive
        ``clone``); an unfitted one is fitted on ``X, y``; None means histogram
        gradient boosting.
"""

PARAMETERS = f"""{ESTIMATOR.rstrip()}
    max_rules : int, default=10
        Most lines printed, ``otherwise`` included. Both methods start from one
        component fewer (at least two); FAB drops those that do not pay. A
        component without a region of its own prints no rule.
    method : {"fab", "em"}, default="fab"
        Factorized asymptotic Bayesian inference, which chooses the number of
        components, or EM at a fixed number.
    rules : {"refined", "regions"}, default="refined"
        What is printed: the regions in which the components are certain, as in the
        paper, which leave the rows between them to ``otherwise``; or these regions
        moved, one after the other, to where the printed list follows the ensemble
        best.
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
        With ``rules="regions"``, drop literals without which a rule holds the same
        training rows, or moreover those without which the list predicts the same on
        them.
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

FITTED = """
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
"""

COLUMNS = """
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Column names, where the table had some.
"""

ATTRIBUTES = f"""{FITTED.rstrip()}
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
        to fit (one line asked for, or an ensemble without splits).{COLUMNS}"""

SYNTHETIC = """
    n_synthetic : int or "auto", default="auto"
        Made rows, which the ensemble labels: training rows mixed with their
        neighbours. "auto" makes three per row, at least 4,000 and at most 20,000.
"""

FORBIDDEN = """
    forbidden : sequence of str or int, default=()
        Names, or positions among the columns, of features that no rule may ask. The
        ensemble may ask them.
"""

RUN = """
    verbose : bool, default=False
        Show a progress bar on stderr.
    n_jobs : int or None, default=None
        Threads for the folds. The result does not depend on it.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the search (and of the default ensemble).
"""

LAST = FORBIDDEN.rstrip() + RUN

LIST_PARAMETERS = f"""{ESTIMATOR.rstrip()}
    n_rules : int or "auto", default="auto"
        Lines printed, ``otherwise`` included; fewer where more do not pay: a rule
        catches five training rows at least, each counted with its weight but no less
        than once. "auto" takes the fewest that are within one standard error of the
        best fidelity on rows held out from the training rows (three folds).
    max_rules : int, default=10
        Longest list that is fitted; ``path_`` holds those of all sizes. With a
        larger ``n_rules``, that one.
    combine : {{"near-disjoint", "first", "disjoint"}}, default="near-disjoint"
        The first rule that a row satisfies decides. Whether rules may overlap: at a
        cost, freely, or not at all on the training rows.
    tune : "auto" or None, default="auto"
        With fewer than 2,000 rows, choose by fidelity on held-out rows (three folds)
        how much literals and overlap cost, and whether made rows are used; None
        takes the defaults.{SYNTHETIC.rstrip()}{FORBIDDEN.rstrip()}
    monotonic_cst : dict of str to int, array-like of int or None, default=None
        Numeric features in which what the rules say must rise (1) or fall (-1), by
        name or one sign per column; 0 for the others. It holds for every row,
        whatever its other features: for values; for two classes, for the printed
        probability of the second and so for the class; more than two have no order.
        A missing value is neither more nor less than any other.{RUN.rstrip()}
"""

LIST_ATTRIBUTES = f"""{FITTED.rstrip()}
    path_ : tuple of RuleSet
        The lists of all sizes, from ``otherwise`` alone to the longest that pays.
    n_rules_ : int
        Lines asked for, or chosen.
    cv_results_ : dict of str to list, or None
        Where something was chosen on held-out rows: per settings tried
        ``"literal_penalty"``, ``"overlap_penalty"`` and ``"augment"``, and, with one
        entry per size, ``"fidelity"`` and its ``"standard_error"``.
    settings_ : dict
        The settings of the lists in ``path_``.{COLUMNS}"""

ADDITIVE_PARAMETERS = f"""{ESTIMATOR.rstrip()}
    n_rules : int or "auto", default="auto"
        Lines printed, the constant included; fewer where more do not pay. "auto"
        takes the fewest that are within one standard error of the best fidelity on
        rows held out from the training rows (three folds).
    max_rules : int, default=10
        Longest sum that is fitted; ``path_`` holds those of all sizes. With a
        larger ``n_rules``, that one.
    tune : "auto" or None, default="auto"
        With fewer than 2,000 rows, choose by fidelity on held-out rows (three folds)
        how much literals cost, and whether made rows are used; None takes the
        defaults.{SYNTHETIC.rstrip()}{LAST.rstrip()}
"""

ADDITIVE_ATTRIBUTES = f"""{FITTED.rstrip()}
    path_ : tuple of RuleSet
        The sums of all sizes, from the constant alone to the longest that pays.
    n_rules_ : int
        Lines asked for, or chosen.
    cv_results_ : dict of str to list, or None
        Where something was chosen on held-out rows: per settings tried
        ``"literal_penalty"`` and ``"augment"``, and, with one entry per size,
        ``"fidelity"`` and its ``"standard_error"``.
    settings_ : dict
        The settings of the sums in ``path_``.{COLUMNS}"""
TREE_PARAMETERS = f"""{ESTIMATOR.rstrip()}
    n_rules : int or "auto", default="auto"
        Leaves, each of which is a line; fewer where more do not pay. "auto" takes the
        fewest that are within one standard error of the best fidelity on rows held out
        from the training rows (three folds).
    max_rules : int, default=10
        Leaves of the largest tree that is fitted; ``path_`` holds those of all sizes.
        With a larger ``n_rules``, that one.
    grow : {{"lookahead", "cart", "depth2"}}, default="lookahead"
        Look two splits ahead and improve the whole tree; or scikit-learn's CART, grown
        best first to as many leaves, or to depth two (four leaves): the trees that
        papers compare with.{SYNTHETIC.rstrip()}
        "cart" and "depth2" learn from the training rows alone.{LAST.rstrip()}
"""

TREE_ATTRIBUTES = f"""{FITTED.rstrip()}
    tree_ : Tree
        The rules as a tree, which predicts the same.
    trees_ : tuple of Tree
        Trees of all sizes.
    path_ : tuple of RuleSet
        The trees of all sizes as rules, from ``otherwise`` alone to the largest.
    n_rules_ : int
        Leaves asked for, or chosen.
    cv_results_ : dict of str to list, or None
        Where the size was chosen on held-out rows: ``"fidelity"`` and its
        ``"standard_error"``, one line with an entry per size, and ``"augment"``.
    settings_ : dict
        Whether made rows were used.{COLUMNS}"""

BORN_AGAIN_PARAMETERS = f"""{ESTIMATOR.rstrip()}
    n_rules : int or "auto", default="auto"
        Leaves, each of which is a line; fewer where more do not pay. "auto" takes the
        fewest that are within one standard error of the best fidelity on rows held out
        from the training rows (three folds).
    max_rules : int, default=10
        Leaves of the largest tree that is fitted; ``path_`` holds those of all sizes.
        With a larger ``n_rules``, that one. Some fifty are no trouble.
    p_alt : float, default=0.1
        Probability with which each feature of a made row takes the value of another
        training row. The more, the more is learnt of how the ensemble goes on where
        there are few rows, and the more rows are asked about that do not occur: where
        features depend on each other, large values do harm, and where they hardly do,
        0.2 and more are often better. The program of Hara and Hayashi has 0.5.
    n_node_rows : int, default=1000
        Rows that are made in each node.
    min_leaf : int, default=5
        Training rows that a leaf holds at least, each counted with its weight but no
        less than once.{LAST.rstrip()}
"""

BORN_AGAIN_ATTRIBUTES = f"""{FITTED.rstrip()}
    tree_ : Tree
        The rules as a tree, which predicts the same.
    trees_ : tuple of Tree
        Trees of growing size.
    path_ : tuple of RuleSet
        The same trees as rules, from ``otherwise`` alone to the largest. Where both
        sides of a question say the same class it is left out, so a size may be missing.
    n_rules_ : int
        Leaves asked for, or chosen.
    cv_results_ : dict of str to list, or None
        Where the size was chosen on held-out rows: ``"fidelity"`` and its
        ``"standard_error"``, one line with an entry per size, and the settings.
    settings_ : dict
        How rows were made.{COLUMNS}"""

BORN_AGAIN_REFERENCES = """
    References
    ----------
    Breiman and Shang, "Born again trees", technical report, University of California,
    Berkeley, 1996.
"""

HARVEST_PARAMETERS = f"""{ESTIMATOR.rstrip()}
    max_rules : int or None, default=10
        Most lines printed, the one that always takes part included. None keeps all
        nodes with weight: the solution of the programme as it is in the article,
        often dozens.
    max_interaction : int, default=2
        Most features that a node may ask.
    min_node_rows : int, default=10
        Fewest training rows in a node.
    target : {{"ensemble", "labels"}}, default="ensemble"
        What the nodes say and the average comes near to: what the ensemble predicts
        (probabilities, or values), or the labels, as in the article.
    round_cuts : bool, default=True
        Print, and predict with, the shortest bounds that separate the same training
        values, short values, and weights of three digits.{FORBIDDEN.rstrip()}
    random_state : int, Generator, RandomState or None, default=None
        Seed of the default ensemble; nothing else is random.
"""

HARVEST_ATTRIBUTES = f"""{FITTED.rstrip()}
    path_ : tuple of RuleSet
        The averages of all sizes found, from the mean of all rows alone to
        ``rules_``; with ``max_rules=None`` that one only. Weights that add up to one
        on every row are not to be had with every number of nodes (never with one and
        the mean of all rows), so sizes are missing.
    n_nodes_ : int
        Distinct nodes that the weights were sought for.{COLUMNS}"""

HARVEST_REFERENCES = """
    Notes
    -----
    Needs ``clarabel``: the extra ``harvest``. Where more than 1,000 nodes are found,
    those take part whose rows lie farthest from the mean, all in all.

    References
    ----------
    Meinshausen, "Node Harvest", Annals of Applied Statistics 4, 2010.
"""

REFERENCES = """
    References
    ----------
    Hara and Hayashi, "Making Tree Ensembles Interpretable: A Bayesian Model
    Selection Approach", AISTATS 2018.
"""
