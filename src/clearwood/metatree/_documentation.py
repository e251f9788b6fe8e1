"""What the docstrings of the estimators share."""


def _model(count: str, auto: str, share: str) -> str:
    """Parameters of the posterior, which trees and forests share but for defaults."""
    return f"""
    prior : {{"auto", "constant", "search-corrected"}}, default="auto"
        Prior of the prunings. ``"constant"``: a tree asks on with probability ``g`` at
        every node. ``"search-corrected"``: as this, but the weight of asking on is
        divided by how much a search on the same rows chose among: {count}
        {auto}
    g : float or array-like, default=0.5
        Prior probability of asking on; one per node for structures of your own.
    leaf : "auto" or LeafModel, default="auto"
        What a leaf says of the target, with its prior. ``"auto"`` means, for classes,
        a Dirichlet distribution with pseudo-counts of one over the number of classes;
        for numbers, a normal distribution whose mean is expected at the mean of the
        target, worth a fifth of a row, and whose variance at a {share} of the
        target's with three degrees of freedom. It reads these off the rows of the
        first fit; see ``leaf_``.
""".strip()


OF_TREE = _model(
    """the number of
        features that vary at the node (at most ``max_features``), times the square
        root of how many questions there are about the one that is asked, counted in
        the rows of the first fit: one less than its distinct values there, or
        ``2 ** (k - 1) - 1`` sets of its ``k`` categories there.""",
    """``"auto"`` corrects where the structure is grown here or comes with a fitted
        model, which is taken to have seen the same rows.""",
    "tenth",
)

OF_FOREST = _model(
    """the number of
        columns that vary (at most ``max_features``).""",
    """``"auto"`` is constant: the average over trees smooths already, and on real
        data trees that the other prior cuts back predict worse together.""",
    "hundredth",
)

PARAMETERS = f"""Parameters
    ----------
    structure : "cart", "exact", Structure, fitted tree or TreeEnsemble, default="cart"
        What is asked where. ``"cart"`` is grown by scikit-learn on the same rows.
        ``"exact"`` is, for features of few values (labels, or whole numbers from 0
        on), the most probable of all trees up to ``max_depth`` (4 if None); to average
        over all of them, see ``metatree.exact_sum``. A fitted tree, or an ensemble
        of one tree, is taken as it is.
    {OF_TREE}
    missing : {{"evidence", "branch"}}, default="evidence"
        Where missing values go in a tree that is grown here. ``"evidence"``: at every
        question to the side with which the rows are more probable; where no row was
        missing, to the side with more weight. ``"branch"``: to a leaf of their own
        wherever rows were missing; elsewhere they stop, and the node speaks for them.
        Categories never seen always stop.
    max_depth : int or None, default=None
        Most questions in a row of the tree that is grown.
    min_samples_leaf : float, default=1
        Least weight of the rows in a leaf.
    max_leaf_nodes : int or None, default=None
        Most leaves.
    max_features : int, float, {{"sqrt", "log2"}} or None, default=None
        Features tried per question, all by default.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the search, which it uses between equally good questions.
"""

FOREST_PARAMETERS = f"""Parameters
    ----------
    estimator : estimator, TreeEnsemble, path or None, default=None
        Whose trees are averaged over their prunings; what its own leaves say plays no
        part. A fitted one is used as it is and never refitted (wrap it in
        ``sklearn.frozen.FrozenEstimator`` where it must survive ``clone``); an
        unfitted one is fitted on ``X, y``; None means a random forest of
        scikit-learn. All rows of ``fit`` are learned by every tree.
    weights : {{"uniform", "evidence"}}, default="uniform"
        How much a tree counts: the same, or by its posterior probability. On the rows
        that grew the trees the latter usually leaves one to three trees and predicts
        worse; it warns where it does.
    {OF_FOREST}
    n_jobs : int or None, default=None
        Threads. The result does not depend on it.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the default forest.
"""

FOREST_ATTRIBUTES = """
    Attributes
    ----------
    meta_trees_ : list of MetaTree
        One per tree.
    ensemble_ : TreeEnsemble
        The forest.
    estimator_ : estimator
        The model that was fitted or handed in. Where there are columns of labels, one
        fitted here has seen ranks in place of categories.
    leaf_ : LeafModel
        The leaf model with its hyperparameters.
    log_evidence_ : ndarray of shape (n_trees,)
        Of every tree, the log probability of all targets learned.
    tree_weights_ : ndarray of shape (n_trees,)
        How much every tree counts.
    feature_used_ : ndarray of shape (n_features,)
        Posterior probability that a tree asks about each feature, the weighted mean.
"""

ATTRIBUTES = """
    Attributes
    ----------
    meta_tree_ : MetaTree
        Statistics of the rows, and the posterior.
    structure_ : Structure
        The tree whose prunings are averaged.
    leaf_ : LeafModel
        The leaf model with its hyperparameters.
    log_evidence_ : float
        Log probability of all targets learned, given their rows.
    feature_used_ : ndarray of shape (n_features,)
        Posterior probability that the tree asks about each feature.
    map_tree_ : AnnotatedTree
        The most probable pruning, with the posterior probabilities of its nodes.
    rules_ : RuleSet
        Its rules; they predict by that one tree, not by the average.
"""

REFERENCES = """
    References
    ----------
    Nakahara and Matsushima: Batch updating of a posterior tree distribution over a
    meta-tree (2023).
"""
