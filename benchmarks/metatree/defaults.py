"""Choice of the defaults: on half of the sets, confirmed on the others.

Usage: python -m benchmarks.metatree.defaults [--quick] [--fresh]

For one tree and for forests: the prior, g, and the leaf's hyperparameters. Scored by
the log loss (values: minus log density), in one cross-validation. Counts for the
search-corrected prior are compared in ``counts.py``.
"""

import itertools
from functools import partial

import numpy as np

from benchmarks._study import Study, arguments, markdown_table
from benchmarks.metatree.cases import (
    CHOSEN,
    CLASSES,
    VALUES,
    folds,
    learned,
    make_model,
    parts_of,
    questions_of,
    score_of,
)
from clearwood import read_ensemble
from clearwood.metatree import (
    CategoricalDirichlet,
    NormalNormalGamma,
    compute_posterior,
    constant_prior,
    from_ensemble_tree,
    predict_at,
    search_corrected_prior,
)
from clearwood.metatree.posterior.prior import n_searchable
from clearwood.rules import FeatureBins

PRIORS = (
    ("searched", 0.5), ("searched", 0.8), ("searched", 0.95),
    ("constant", 0.1), ("constant", 0.5), ("constant", 0.8), ("constant", 0.95),
)  # fmt: skip
CLASS_LEAVES = {
    "one row": lambda k, share: np.full(k, 1 / k),
    "half a row per class": lambda k, share: np.full(k, 0.5),
    "one row per class": lambda k, share: np.full(k, 1.0),
    "one row, shares": lambda k, share: share,
    "two rows, shares": lambda k, share: 2 * share,
}
SHARES = (0.25, 0.1, 0.03, 0.01)
ALPHAS = (0.5, 1.0, 1.5)
VALUE_LEAVES = [
    (f"kappa {kappa:g}, alpha {alpha:g}, share {share:g}", kappa, alpha, share)
    for kappa, alpha, share in itertools.product((0.1, 1.0), ALPHAS, SHARES)
]
BY_EVIDENCE = "kappa 0.1, alpha {}, share by evidence"
BASE = {
    "classes": ("one row", "searched", 0.5),
    "values": ("kappa 0.1, alpha 1.5, share 0.25", "searched", 0.5),
}
"""Reference for all settings: where the choice began."""

IN_WORDS = """\
- **One tree, classes.** Two rows with the shares of the classes are a little better
  than one row with equal shares, on the sets where they were chosen and on the others.
  g of 0.5 is good, and hardly matters under this prior. One row per class is worse with
  many classes.
- **One tree, values.** The prior for the variance of a leaf should be vaguer (alpha of
  0.5 in place of 1.5) and smaller: a tenth of the target's is better on both halves.
  Still smaller ones, and the one of highest evidence, are far better where there is
  little noise (energy), and far worse elsewhere (autorisk): the leaves were searched on
  these rows.
- **Forests.** The constant prior is better than the corrected one for classes and for
  values, on nearly every set: trees of a forest should remain large, since the average
  over trees smooths. For the same reason values need a small share, a hundredth or the
  one of highest evidence, on both halves, in density and in RMSE. Classes keep one row.
- **The library's defaults** are one row, and g of 0.5, for classes; for values kappa
  0.2, alpha 1.5 and a share of a tenth, in forests a hundredth. Alpha remains 1.5, with
  which every leaf has a variance, although 0.5 would gain a little. The prior is
  search-corrected for one tree and constant for forests. In a tree that is grown here
  cross-validation then selects one of both priors, and how many rows children borrow
  from their parents (`metatree_accuracy.md`)."""

NOTES = f"""\
Settings by their mean rank on the sets where they are chosen ({", ".join(CHOSEN)}), and
their scores on the others: the ten best, and all with the leaf or the prior of the one
in bold. Losses and errors are differences from its own on the same set: below 0 is
better. *Share* is that of the target's variance, at the prior mode of a leaf's; *by
evidence* uses the share with the highest marginal likelihood of the training rows.
Forests have 15 trees here. The search-corrected prior counts features, cuts and sets of
categories in one tree (see `metatree_counts.md`), in forests features alone.

## Summary

{IN_WORDS}"""


def main():
    options = arguments(__doc__)
    study = Study("metatree_defaults", ["data", "kind"], options)
    sets = ("heart", "crx", "bodyfat", "autompg") if options.quick else CLASSES + VALUES
    study.run(
        {
            (name, kind): partial(rows_of, name, kind)
            for kind in ("tree", "forest")
            for name in sets
        },
        warm=lambda: [rows_of(name, "tree") for name in ("hepatitis", "autompg")],
    )
    write_tables(study)


def rows_of(name, kind):
    """Means over the folds, one row per setting."""
    found = {}
    for fold in folds(name, 0):
        for setting, scores in settings_of(fold, kind == "forest").items():
            found.setdefault(setting, []).append(scores)
    return [
        dict(zip(("leaf", "prior", "g"), setting))
        | {s: float(np.mean([f[s] for f in all_])) for s in ("loss", "error")}
        for setting, all_ in found.items()
    ]


def leaves_of(fold):
    """Leaf models by name."""
    if fold.n_classes:
        share = np.bincount(fold.y, minlength=fold.n_classes) + 1e-3
        share = share / share.sum()
        return {
            name: CategoricalDirichlet(tuple(make(fold.n_classes, share).tolist()))
            for name, make in CLASS_LEAVES.items()
        }
    mean, variance = float(fold.y.mean()), float(fold.y.var())
    return {
        name: NormalNormalGamma(
            m=mean, kappa=kappa, alpha=alpha, beta=(alpha + 1) * share * variance
        )
        for name, kappa, alpha, share in VALUE_LEAVES
    }


def settings_of(fold, is_forest):
    """Scores of all settings on one fold."""
    model = make_model(fold, forest=is_forest)
    if is_forest:
        model.set_params(n_estimators=15)
    model.fit(fold.X, fold.y)
    ensemble = read_ensemble(model)
    bins = FeatureBins.from_ensemble(ensemble)
    sums, evidence = {}, {}
    for t in range(ensemble.n_trees):
        structure = from_ensemble_tree(ensemble, t, bins=bins)
        ends = structure.route(structure.encode(fold.X_test))
        n = (
            n_searchable(fold.X, model.estimators_[0].max_features_)
            if is_forest
            else questions_of(structure, fold.X)
        )
        priors = {
            (prior, g): (
                search_corrected_prior(structure, g, n)
                if prior == "searched"
                else constant_prior(structure, g)
            )
            for prior, g in PRIORS
        }
        own = None
        for name, leaf in leaves_of(fold).items():
            if own is None:  # the same for all leaves of a task
                own = learned(structure, leaf, fold.X, fold.y)
            for key, g in priors.items():
                posterior = compute_posterior(structure, leaf, g, own)
                parts = parts_of(fold, predict_at(posterior, ends))
                at = (name, *key)
                old = sums.get(at)
                sums[at] = parts if old is None else [a + b for a, b in zip(old, parts)]
                evidence[at] = evidence.get(at, 0.0) + posterior.log_evidence
    n_trees = ensemble.n_trees
    scores = {
        at: score_of(fold, *(part / n_trees for part in parts))
        for at, parts in sums.items()
    }
    if not fold.n_classes:
        for alpha, key in itertools.product(ALPHAS, PRIORS):
            among = [
                (f"kappa 0.1, alpha {alpha:g}, share {share:g}", *key)
                for share in SHARES
            ]
            best = max(among, key=evidence.get)
            scores[BY_EVIDENCE.format(f"{alpha:g}"), *key] = scores[best]
    return scores


def write_tables(study):
    frame = study.frame()
    parts = [NOTES]
    for kind, (task, sets) in itertools.product(
        ("tree", "forest"), (("classes", CLASSES), ("values", VALUES))
    ):
        here = frame[(frame.kind == kind) & frame.data.isin(sets)]
        if len(here):
            parts += [f"## {kind.capitalize()}, {task}", table_of_settings(here, task)]
    study.write_markdown("Defaults of meta-trees", *parts)


def table_of_settings(frame, task):
    """The best on the sets for the choice, and all of the base leaf or prior."""
    keys, base = ["leaf", "prior", "g"], BASE[task]
    loss = frame.pivot_table(index=keys, columns="data", values="loss")
    error = frame.pivot_table(index=keys, columns="data", values="error")
    chosen = [name for name in loss.columns if name in CHOSEN]
    others = [name for name in loss.columns if name not in CHOSEN]
    # By ranks, so that no single set dominates.
    rank = loss[chosen].rank().mean(axis=1).sort_values()
    loss, error = loss - loss.loc[base], error - error.loc[base]
    rows = []
    for i, at in enumerate(rank.index):
        if i < 10 or at[0] == base[0] or at[1:] == base[1:]:
            differences = (loss.loc[at, chosen].mean(), loss.loc[at, others].mean())
            errors = (error.loc[at, chosen].mean(), error.loc[at, others].mean())
            rows.append(
                [
                    f"**{at[0]}**" if at == base else at[0],
                    *at[1:],
                    f"{rank[at]:.1f}",
                    *(f"{value:+.4f}" for value in differences),
                    f"{(loss.loc[at, others] < 0).sum()} of {len(others)}",
                    *(f"{value:+.4f}" for value in errors),
                ]
            )
    head = ["leaf", "prior", "g", "rank, chosen", "loss, chosen", "loss, others",
            "better on", "error, chosen", "error, others"]  # fmt: skip
    return markdown_table(head, rows)


if __name__ == "__main__":
    main()
