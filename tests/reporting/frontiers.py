"""Comparisons made by hand, for tests that need no fit."""

import numpy as np
from tests.reporting.results import classes_rules

from clearwood.columns.feature_space import FeatureSpace
from clearwood.comparison import Frontier, FrontierPoint
from clearwood.rules import CategorySet, Interval, Rule, RuleList, RuleStatistics

NAN = float("nan")


def values_rules(n_rules, names=("height", "width")):
    rules = tuple(
        Rule(
            (Interval(0, low=k / 7), Interval(1, high=k / 3)),
            k / 9,
            statistics=RuleStatistics(5.0, 5.0),
        )
        for k in range(1, n_rules)
    )
    return RuleList(
        rules,
        Rule((), 0.0, statistics=RuleStatistics(5.0, 5.0)),
        FeatureSpace.numeric(2, names),
    )


def point(method, n_rules, error, *, rules=None, **measures):
    known = {
        "requested": n_rules, "n_literals": 2 * n_rules, "error_se": 0.01,
        "fidelity": 0.9, "coverage": 0.8, "overlap": 1.5, "stability": 0.95,
        "seconds": 2.0, "on_frontier": False, "text": str(rules),
    }  # fmt: skip
    return FrontierPoint(
        method=method,
        n_rules=n_rules,
        error=error,
        rules=rules,
        **{**known, **measures},
    )


def with_frontier(points):
    """The points, those marked that no other one beats."""
    from dataclasses import replace

    def is_beaten(p):
        return any(
            q.n_rules <= p.n_rules
            and q.error <= p.error
            and (q.n_rules < p.n_rules or q.error < p.error)
            for q in points
        )

    return tuple(replace(p, on_frontier=not is_beaten(p)) for p in points)


def frontier(points, **settings):
    known = {
        "task": "regression", "model": "a forest", "n_rows": 300, "n_folds": 5,
        "n_refits": 3, "model_error": 0.05, "model_error_se": 0.01,
        "model_refitted": True, "failures": (), "seconds": 12.0,
        "feature_names": ("height", "width"), "classes": (),
    }  # fmt: skip
    return Frontier(points=with_frontier(points), **{**known, **settings})


def small_frontier(**settings):
    """Two of our methods, a peer, and one that failed."""
    points = [
        point("list", 1, 0.40, rules=values_rules(1)),
        point("list", 3, 0.21, rules=values_rules(3)),
        point("list", 4, 0.20, rules=values_rules(4), stability=NAN),
        point("tree", 2, 0.30, rules=values_rules(2)),
        point("tree", 4, 0.25, rules=values_rules(4)),
        point("other:FIGS", 6, 0.35, coverage=NAN, overlap=NAN, text="a <= 1\n\tb"),
    ]
    failed = (("em", "stopped after 60 s"),)
    return frontier(points, **{"failures": failed, **settings})


def large_frontier(n_methods=8, n_sizes=60):
    """More rules than a page can hold as tables."""
    rng = np.random.default_rng(0)
    points = [
        point(f"method {m}", k, 1 / k + rng.uniform(), rules=values_rules(k))
        for m in range(n_methods)
        for k in range(1, n_sizes + 1)
    ]
    return frontier(points)


def named_frontier(names):
    """Every name as method, feature, class, category, target, model and failure."""
    points = [
        point(
            name,
            1 + k % 11,
            0.1 + 0.002 * (k * 37 % len(names)),
            rules=classes_rules(
                names=(name, "colour"),
                labels=("well", name),
                target=name,
                hues=("r", "g", name),
            ),
        )
        for k, name in enumerate(names)
    ]
    points += [point(f"peer {k}", 3, 0.5, text=name) for k, name in enumerate(names)]
    rules = RuleList(
        (Rule((CategorySet(0, (0,)),), names[0], (1.0, *[0.0] * (len(names) - 1))),),
        Rule((), names[1], (0.0, 1.0, *[0.0] * (len(names) - 2))),
        FeatureSpace((names[0],), (tuple(names),)),
        tuple(names),
    )
    points.append(point("all classes", 2, 0.05, rules=rules))
    return frontier(
        points,
        task="classification",
        model=" ".join(names),
        failures=tuple((name, name) for name in names),
        feature_names=tuple(names),
        classes=tuple(names),
    )
