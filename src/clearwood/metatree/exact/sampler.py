"""Sampling of trees where an exact sum over all of them is infeasible.

A step takes a node of the current tree and grows everything below it anew. Each new
node looks a few splits ahead: it is drawn from the exact posterior of the trees that
end there (``states``). A Metropolis-Hastings test then corrects for deeper splits.
Where the lookahead reaches the maximum depth there is nothing to correct, and the step
is an exact draw of that part of the tree.

The parameters of the leaves are integrated out throughout.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from clearwood.distributions import LeafModel
from clearwood.exceptions import InputError
from clearwood.metatree.exact.states import (
    Levels,
    add_up,
    binomial_table,
    check_n_values,
    check_prior,
    first_states,
    make_priors,
    merge_rows,
    tabulate,
)
from clearwood.metatree.exact.trees import LEAF, Questions
from clearwood.sampling import fingerprint_of

BOLD = 1 / 3
"""Share of the steps that propose trees between posterior and prior."""

MOST_KNOWN = 10_000_000
"""Maximum size of the cache of visited nodes, in numbers."""

MOST_NODES = 100_000
"""Maximum number of nodes of a tree of full depth."""

Conditions = frozenset[tuple[int, int]]


class State(NamedTuple):
    """State of the chain: a tree.

    Attributes
    ----------
    questions : ndarray of int32
        Feature of the split at each node, -1 at leaves, in depth-first order: a node
        precedes its children, and the subtree of one child precedes the next child.
    log_joint : float
        Log prior of the tree plus log evidence of its leaves.
    """

    questions: np.ndarray
    log_joint: float


class Info(NamedTuple):
    """Outcome of a step: whether a node was found, and the proposal accepted."""

    proposed: bool
    accepted: bool


class Node(NamedTuple):
    """Posterior of a node given the conditions of its path.

    ``log_share`` and ``total`` (running sums) are the probabilities with which the node
    is grown: a split on each feature, and last a leaf. The first row is the posterior
    up to the lookahead, the second is half way to the prior.
    """

    log_share: np.ndarray
    total: np.ndarray
    log_leaf: float
    mean: float


class TreeSampler:
    """A Markov chain on trees, for ``clearwood.sampling.run_chains``.

    The posterior is that of ``exact_sum`` without repeats: the prior of the split at a
    node is uniform over the features that the path has not split on yet.

    Parameters
    ----------
    codes : ndarray of int of shape (n_rows, n_features)
        Values 0, 1, ... of each feature.
    y : array-like of shape (n_rows,)
        Target.
    leaf_model : LeafModel
        Prior of every leaf.
    max_depth : int
        Maximum depth.
    g : float, callable or sequence of float, default=0.5
        Prior probability of a split; one for every node, or one per depth, also as a
        function of it.
    n_values : sequence of int, optional
        Number of values of each feature, at least 2. By default all are binary.
    sample_weight : ndarray of shape (n_rows,), optional
        Weights of the rows, as (fractional) counts.
    lookahead : int, default=2
        Number of splits that a new node looks ahead. One is cheaper with hundreds of
        features, but rarely finds features that matter only jointly.

    Examples
    --------
    >>> from clearwood.metatree import BernoulliBeta
    >>> from clearwood.sampling import run_chains
    >>> codes = np.random.default_rng(0).integers(2, size=(100, 12))
    >>> sampler = TreeSampler(codes, codes[:, 3], BernoulliBeta(), max_depth=5)
    >>> chains = run_chains(sampler, n_draws=500, n_warmup=50, thin=3, random_state=0)
    >>> int(chains.draws["feature_used"].mean(axis=(0, 1)).argmax())
    3
    """

    def __init__(
        self,
        codes: np.ndarray,
        y: Any,
        leaf_model: LeafModel,
        *,
        max_depth: int,
        g: Any = 0.5,
        n_values: Any = None,
        sample_weight: Any = None,
        lookahead: int = 2,
    ) -> None:
        codes = np.asarray(codes)
        self.n_values = check_n_values(codes, n_values)
        self.g = check_prior(g, max_depth)
        if lookahead < 1:
            raise InputError(f"lookahead is {lookahead}; expected 1 or more.")
        if leaf_model.reads_features:
            raise InputError(
                f"{type(leaf_model).__name__} uses features of the rows; the sampler "
                "supports the other leaf models only."
            )
        self.leaf_model, self.lookahead = leaf_model, lookahead
        self.columns, self.rows = merge_rows(
            leaf_model, codes, y, sample_weight, None, self.n_values
        )
        widest = np.sort(self.n_values)[::-1][:max_depth].astype(float)
        most_nodes = 1.0 + np.cumprod(widest).sum()
        if most_nodes > MOST_NODES:
            raise InputError(
                f"Trees of depth {max_depth} may have {most_nodes:,.0f} nodes, more "
                f"than {MOST_NODES:,}; lower max_depth."
            )
        self.most_nodes = int(most_nodes)
        self.fingerprint = fingerprint_of(
            self.columns, self.rows, self.n_values, leaf_model, self.g, lookahead
        )
        self._known: dict[Conditions, Node] = {}

    # Interface of ``run_chains``

    def init(self, rng: np.random.Generator) -> State:
        """A tree grown from the root."""
        return self.state_of(self._grow(rng, frozenset())[0])

    def state_of(self, questions: Questions) -> State:
        """State of a tree that is given as nested tuples."""
        _, log_joint = self._retrace(questions, frozenset())
        return State(np.array(flat(questions), dtype=np.int32), log_joint)

    def step(self, rng: np.random.Generator, state: State) -> tuple[State, Info]:
        """Regrow the tree below a node on the path of a random row.

        The choice of the node does not depend on anything below it, so that the reverse
        move starts at the same node with the same probability.
        """
        if self.columns.shape[1] == 0:
            return self.init(rng), Info(True, True)
        depth = int(rng.integers(max(len(self.g), 1)))
        row = self.columns[:, rng.integers(self.columns.shape[1])]
        # Some steps are bolder: they reach trees that the lookahead underestimates.
        kind = int(rng.random() < BOLD)
        whole = nested(state.questions, self.n_values)
        way, here = [], whole
        for _ in range(depth):
            if not here:
                return state, Info(False, False)
            feature = here[0]
            way.append((here, feature, int(row[feature])))
            here = here[1 + way[-1][2]]
        conditions = frozenset((feature, value) for _, feature, value in way)
        there, log_there, joint_there = self._grow(rng, conditions, kind)
        log_here, joint_here = self._retrace(here, conditions, kind)
        log_ratio = (joint_there - joint_here) - (log_there - log_here)
        if math.log1p(-rng.random()) >= log_ratio:
            return state, Info(True, False)
        for parent, _, value in reversed(way):
            there = (*parent[: 1 + value], there, *parent[2 + value :])
        # Not by adding the difference: equal trees must have exactly equal values.
        return self.state_of(there), Info(True, True)

    def record(self, state: State) -> dict[str, Any]:
        """Size, depth, joint density and features of a tree, and the tree itself."""
        # A checkpoint may hold an invalid tree; this raises before a step.
        nested(state.questions, self.n_values)
        used = np.zeros(len(self.n_values))
        used[state.questions[state.questions >= 0]] = 1.0
        padded = np.full(self.most_nodes, -2, dtype=np.int32)
        padded[: len(state.questions)] = state.questions
        return {
            "log_joint": state.log_joint,
            "n_leaves": float((state.questions < 0).sum()),
            "feature_used": used,
            "questions": padded,
        }

    # Growing

    def _grow(
        self, rng: np.random.Generator, conditions: Conditions, kind: int = 0
    ) -> tuple[Questions, float, float]:
        """Grow a tree below a node; its log proposal probability and log joint."""
        node = self._node(conditions)
        choice = int(np.searchsorted(node.total[kind], rng.random(), side="right"))
        log_proposal = float(node.log_share[kind, choice])
        log_joint = self._log_prior(len(conditions), choice)
        if choice == len(self.n_values):
            return LEAF, log_proposal, log_joint + node.log_leaf
        children = []
        for value in range(self.n_values[choice]):
            below = self._grow(rng, conditions | {(choice, value)}, kind)
            children.append(below[0])
            log_proposal += below[1]
            log_joint += below[2]
        return (choice, *children), log_proposal, log_joint

    def _retrace(
        self, questions: Questions, conditions: Conditions, kind: int = 0
    ) -> tuple[float, float]:
        """Log probability with which ``_grow`` would propose a tree; its log joint."""
        node = self._node(conditions)
        choice = questions[0] if questions else len(self.n_values)
        log_proposal = float(node.log_share[kind, choice])
        log_joint = self._log_prior(len(conditions), choice)
        if not questions:
            return log_proposal, log_joint + node.log_leaf
        for value, child in enumerate(questions[1:]):
            below = self._retrace(child, conditions | {(choice, value)}, kind)
            log_proposal += below[0]
            log_joint += below[1]
        return log_proposal, log_joint

    def _log_prior(self, depth: int, choice: int) -> float:
        """Log prior of a node's split, or of a leaf."""
        n_open = len(self.n_values) - depth
        if depth == len(self.g) or n_open == 0:
            return 0.0
        if choice == len(self.n_values):
            return math.log1p(-self.g[depth])
        return math.log(self.g[depth] / n_open)

    def _node(self, conditions: Conditions) -> Node:
        node = self._known.get(conditions)
        if node is None:
            node = self._look_ahead(conditions)
            if 4 * len(self._known) * len(self.n_values) > MOST_KNOWN:
                self._known.clear()
            self._known[conditions] = node
        return node

    def _look_ahead(self, conditions: Conditions) -> Node:
        """Exact sum over a few splits, for the rows of a node."""
        used = [feature for feature, _ in conditions]
        here = np.ones(self.columns.shape[1], dtype=bool)
        for feature, value in conditions:
            here &= self.columns[feature] == value
        features = np.setdiff1d(np.arange(len(self.n_values)), used)
        depth = len(conditions)
        g = self.g[depth : depth + self.lookahead]
        n_values = self.n_values[features]
        binomial = binomial_table(len(features), len(g))
        priors = make_priors(len(features), g, repeats=False)
        start = first_states(n_values, binomial, len(priors))
        columns = np.ascontiguousarray(self.columns[features][:, here])
        stats = tabulate(
            self.leaf_model, columns, self.rows[here], n_values, binomial, start
        )
        log_leaf = [self.leaf_model.log_marginal(table) for table in stats]
        levels = Levels(n_values, binomial, priors, start, log_leaf)
        log_sum = add_up(levels)

        log_share = np.full((2, len(self.n_values) + 1), -np.inf)
        log_prior = log_share[1]
        log_share[0, -1] = priors[0].stop[0] + log_leaf[0][0]
        log_prior[-1] = priors[0].stop[0]
        if len(log_sum) > 1:
            below = np.add.reduceat(log_sum[1][:, 0], start[1][:-1])
            log_share[0, features] = priors[0].ask[0] + below
            log_prior[features] = priors[0].ask[0]
        log_share[0] -= log_sum[0][0, 0]
        log_share[1] = 0.5 * (log_share[0] + log_prior)
        total = np.cumsum(np.exp(log_share), axis=1)
        log_share[1] -= np.log(total[1, -1])
        total /= total[:, -1:]
        mean = float(self.leaf_model.mean(stats[0])[0])
        return Node(log_share, total, float(log_leaf[0][0]), mean)

    # Prediction from draws

    def predict(self, questions: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """Mean prediction of drawn trees.

        Parameters
        ----------
        questions : ndarray of int of shape (..., n_nodes)
            ``draws["questions"]`` of some chains.
        codes : ndarray of int of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        check_n_values(codes, self.n_values)
        trees, count = np.unique(
            questions.reshape(-1, questions.shape[-1]), axis=0, return_counts=True
        )
        total = np.zeros(len(codes))
        for tree, share in zip(trees, count / count.sum()):
            stack: list[tuple[Questions, Conditions, np.ndarray]]
            stack = [(nested(tree, self.n_values), frozenset(), np.arange(len(codes)))]
            while stack:
                here, conditions, rows = stack.pop()
                if not here:
                    total[rows] += share * self._node(conditions).mean
                    continue
                for value, child in enumerate(here[1:]):
                    there = rows[codes[rows, here[0]] == value]
                    if len(there):
                        stack.append((child, conditions | {(here[0], value)}, there))
        return total


def flat(questions: Questions) -> list[int]:
    """Tree as one list of features in depth-first order, -1 for leaves.

    Examples
    --------
    >>> flat((2, (), (0, (), ())))
    [2, -1, 0, -1, -1]
    """
    if not questions:
        return [-1]
    features = [questions[0]]
    for child in questions[1:]:
        features += flat(child)
    return features


def nested(features: np.ndarray, n_values: np.ndarray) -> Questions:
    """Inverse of :func:`flat`; entries after the end of the tree are ignored.

    Examples
    --------
    >>> nested(np.array([2, -1, 0, -1, -1, -2]), np.array([2, 2, 2]))
    (2, (), (0, (), ()))
    """
    nodes = iter(features.tolist())
    sizes = n_values.tolist()

    def read() -> Questions:
        feature = next(nodes, None)
        if feature is None:
            raise ValueError("the list ends before the tree")
        if feature < 0:
            return LEAF
        return (feature, *[read() for _ in range(sizes[feature])])

    return read()
