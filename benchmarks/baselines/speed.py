"""The fast code of the classical methods compared with the plain formulas."""

import time

import numpy as np

from benchmarks._data import gaussian_rows
from benchmarks._study import markdown_table

ENOUGH = 1000
"""Rows generated per leaf."""

MOST_DRAWN = 2_000_000
"""Rejection stops after so many; its leaf is then excluded on both sides."""


def speed():
    """A table of seconds; raises where the two do not agree."""
    from sklearn.ensemble import RandomForestClassifier

    X, y = gaussian_rows(5000, 20, 0)
    forest = RandomForestClassifier(100, random_state=0).fit(X, y)
    body = [*in_trees(X, y, forest), born_again(), *map(node_harvest, (1000, 3000))]
    return markdown_table(["", "fast", "plain", "ratio"], body)


def timed(function, *args):
    """Result of a call, and its CPU seconds."""
    begin = time.process_time()
    result = function(*args)
    return result, time.process_time() - begin


def in_trees(X, y, forest):
    """Pruning and ordering."""
    from tests.simplifiers.in_trees import naive

    import clearwood as cw
    from clearwood.rules import Training
    from clearwood.simplifiers.in_trees.ordering import order_rules
    from clearwood.simplifiers.in_trees.pruning import (
        distinct,
        score_and_prune,
        unpacked,
    )

    ensemble = cw.read_ensemble(forest)
    fit = cw.InTreesClassifier(ensemble, learn_from="labels", random_state=0).fit(X, y)
    _, whole = timed(fit.fit, X, y)
    rows = Training(X, np.eye(2)[y], None, np.ones(len(y)), y, fit.bins_, (0, 1))
    codes, paths = rows.codes, fit.extracted_._paths
    (_, scored), fast = timed(score_and_prune, paths, rows)
    some = range(0, paths.n_rules, 50)
    facts = y, rows.weight, 2, "absolute", 0.05
    pruned, slow = timed(
        lambda: [
            naive.prune(naive.masks(paths, fit.bins_, codes, k), *facts) for k in some
        ]
    )
    for k, (kept, _) in zip(some, pruned):
        if scored.paths.ids(k) != [paths.ids(k)[i] for i in kept]:
            raise RuntimeError("The kernel and the plain formula prune differently.")
    slow *= paths.n_rules / len(some)
    part = distinct(scored).take(np.arange(1000))
    order, fast_order = timed(order_rules, part, rows, 0.01)
    inside = unpacked(part.bits, len(y))
    facts = part.predicted, part.paths.lengths, y, rows.weight, 2, 0.01
    same, slow_order = timed(naive.order, inside, *facts)
    if same != order.rules:
        raise RuntimeError("The kernel and the plain formula order rules differently.")
    return [
        [f"inTrees: whole fit, 5,000 rows, {paths.n_rules:,} rules", whole, "", ""],
        [f"inTrees: pruning {paths.n_rules:,} rules", fast, slow, slow / fast],
        [f"inTrees: ordering 1,000 rules ({len(same)} lines)", fast_order, slow_order,
         slow_order / fast_order],
    ]  # fmt: skip


def born_again():
    """Smeared rows in the leaves of a tree: drawn directly, or by rejection."""
    import clearwood as cw
    from clearwood.simplifiers.born_again.smearing import reach, smear

    X, y, forest = energy()
    tree = cw.BornAgainTreeRegressor(
        forest, n_rules=20, max_rules=20, random_state=0
    ).fit(X, y)
    share, p_alt = np.full(len(X), 1 / len(X)), tree.p_alt
    generator = np.random.default_rng(0)
    fast = slow = 0.0
    n_leaves = 0
    for rule in tree.rules_:
        inside = {c.feature: c.matches(X[:, c.feature]) for c in rule.conditions}
        inside = {d: rows for d, rows in inside.items() if not rows.all()}
        settings = p_alt, X.shape[1], ENOUGH, generator
        direct, some = timed(smear, share, inside, *settings)
        (drawn, accepted), more = timed(rejected, share, inside, *settings)
        if accepted is None:
            continue
        n_leaves, fast, slow = n_leaves + 1, fast + some, slow + more
        expected = reach(share, inside, p_alt).sum()
        found, gap = accepted.mean(), 5 / np.sqrt(len(accepted))
        means = [np.take_along_axis(X, picks, 0) for picks in (direct, drawn)]
        spread = X.std(axis=0) * 6 * np.sqrt(2 / ENOUGH)
        far = np.abs(means[0].mean(axis=0) - means[1].mean(axis=0)) > spread
        if abs(found - expected) > gap * np.sqrt(expected) or far.any():
            raise RuntimeError("Direct draws differ from those by rejection.")
    what = f"born-again: {ENOUGH:,} rows in each of {n_leaves} leaves"
    return [what, fast, slow, slow / fast]


def rejected(share, inside, p_alt, n_features, n_made, generator):
    """Smear rows until so many are inside: these, and which of all were."""
    n_rows, kept, accepted, n_kept = len(share), [], [], 0
    while n_kept < n_made:
        if len(accepted) * 10_000 > MOST_DRAWN:
            return None, None
        own = generator.choice(n_rows, size=10_000, p=share)
        other = generator.choice(n_rows, size=(10_000, n_features), p=share)
        keeps = generator.random(other.shape) >= p_alt
        picks = np.where(keeps, own[:, None], other)
        held = np.ones(len(picks), dtype=bool)
        for d, rows in inside.items():
            held &= rows[picks[:, d]]
        kept.append(picks[held])
        accepted.append(held)
        n_kept += held.sum()
    return np.concatenate(kept)[:n_made], np.concatenate(accepted)


def node_harvest(n_rows):
    """The programme with few equations, and with one for every row."""
    from sklearn.ensemble import RandomForestClassifier

    import clearwood as cw
    from clearwood.rules import FeatureBins, Training
    from clearwood.simplifiers.node_harvest.nodes import shallow_nodes
    from clearwood.simplifiers.node_harvest.programme import make_programme, solve

    X, y = gaussian_rows(n_rows, 20, 0)
    forest = RandomForestClassifier(100, random_state=0).fit(X, y)
    ensemble = cw.read_ensemble(forest)
    bins = FeatureBins.from_ensemble(ensemble, missing_seen=np.zeros(20, dtype=bool))
    predicted, ones = ensemble.predict_proba(X)[:, 1], np.ones(len(X))
    training = Training(X, predicted, None, ones, predicted, bins)
    nodes = shallow_nodes(ensemble, training, max_features=2, min_samples_leaf=10)
    programme = make_programme(nodes.held, predicted, ones)
    every = np.arange(programme.held.shape[1])
    weights, fast = timed(solve, programme, every)
    plain, slow = timed(solve_plainly, programme)
    losses = programme.loss(every, weights), programme.loss(every, plain)
    if abs(losses[0] - losses[1]) > 1e-6:
        raise RuntimeError(f"The two programmes end at {losses}.")
    what = f"Node Harvest: one programme, {n_rows:,} rows, {len(every)} nodes"
    return [what, fast, slow, slow / fast]


def solve_plainly(programme):
    """All weights, every row an equation, every matrix dense."""
    import clarabel
    from scipy.sparse import csc_matrix

    held = programme.held.astype(float)
    n_rows, n = held.shape
    quadratic, linear = np.zeros((n, n)), np.zeros(n)
    for k, target in enumerate(programme.target.T):
        predictions = held * programme.predicted[:, k]
        quadratic += 2 * predictions.T @ (programme.share[:, None] * predictions)
        linear -= 2 * predictions.T @ (programme.share * target)
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    found = clarabel.DefaultSolver(
        csc_matrix(np.triu(quadratic)),
        linear,
        csc_matrix(np.vstack([held, -np.eye(n)])),
        np.concatenate([np.ones(n_rows), np.zeros(n)]),
        [clarabel.ZeroConeT(n_rows), clarabel.NonnegativeConeT(n)],
        settings,
    ).solve()
    return np.maximum(np.array(found.x), 0.0)


def energy():
    """The set, and a forest on half of it."""
    from benchmarks._data import load, make_model

    X, y, _, _ = load("energy", 0)
    return X, y, make_model("forest", False, 0).fit(X, y)
