"""Report section of a projected tree or rule list, as plain data."""

from __future__ import annotations

import math
from functools import partial
from typing import Any, cast

import numpy as np

from clearwood._estimators import take_rows
from clearwood._html.disclosure import FEW, OfRows
from clearwood._words import numbers
from clearwood._words.labels import prediction_text
from clearwood._words.numbers import percent_text, short_text
from clearwood._words.sentences import sentences
from clearwood.exceptions import InputError
from clearwood.outcomes.survival import Survival, survival_of
from clearwood.projection.estimators import ProjectedTree
from clearwood.projection.evaluation.split_posterior import split_posterior
from clearwood.projection.leaves import ROWS_OF_ALL, Leaves
from clearwood.projection.predictive_draws import PredictiveDraws, predictive_draws
from clearwood.projection.reading.scores import (
    as_table,
    compare_with_reference,
    remarks_on,
)
from clearwood.projection.reading.size_chart import measure_on_rows, size_chart
from clearwood.references import BayesianBootstrapForest, Reference
from clearwood.rules import RuleSet

ENDS = (0.05, 0.95)
"""Ends of the displayed intervals."""
MAX_CLASSES, LEAST_SHOWN = 3, 0.005
"""Maximum number of class probabilities shown per leaf, and the least one shown."""
UNITS = {"literals": "literal", "depth": "level"}
"""What a penalty is for, where it is not for each leaf."""
MOST_ROWS = 2000
"""Maximum number of rows for the posterior of splits."""
OBSERVED, PREDICTED = "the observed targets", "the reference’s predictions"

NAMES = {
    "error": ("Error rate", "percent"),
    "rmse": ("Root mean squared error, in units of the target", "number"),
    "log_loss": ("Log loss, nats per row", "number"),
    "coverage": ("Coverage of the 90 % intervals", "percent"),
    "width": ("Mean width of the 90 % intervals", "number"),
    "r2": ("R² for the reference’s predictions", "number"),
    "rms_difference": (
        "Root mean squared difference from the reference", "number",
    ),
    "same_class": ("Agreement with the reference’s class", "percent"),
    "divergence": (
        "Kullback-Leibler divergence from the reference, nats per row", "number",
    ),
}  # fmt: skip


def model_of(result: Any, X: Any = None) -> Reference | None:
    """The reference, if it can predict these rows."""
    return None if prediction_error(result, X) else result.reference_


def prediction_error(result: Any, X: Any) -> str:
    """Reason why the reference cannot predict rows; empty where it can."""
    if X is None:
        return ""
    try:
        predictive_draws(result.reference_, as_table(X))
    except InputError as error:
        return str(error)
    return ""


def section(result: Any, X: Any = None, y: Any = None) -> dict[str, Any]:
    """Reference, fidelity of the proxy, its size, and its leaves.

    Parameters
    ----------
    result : fitted ProjectedTree... or ProjectedRuleList...
    X : array-like or frame of shape (n_samples, n_features), optional
    y : array-like of shape (n_samples,), optional
        Rows on which to evaluate it; with them, no number of the page is from training
        rows.

    Returns
    -------
    dict
    """
    rules, path = result.rules_, getattr(result, "size_path_", None)
    chart = on_rows = None
    if rules.outcome.horizons:
        y = None  # Survival times are in a section of their own.
    if y is not None:
        y = rules.check_target(y, len(rules.encode(X)), "y")
    refused = prediction_error(result, X)
    if path is not None:
        if X is not None:
            target = None if refused else result.reference_.predict(as_table(X))
            on_rows = measure_on_rows(result, X, y, target)
        n_rows = None if X is None else len(rules.encode(X))
        chart = size_chart(path, rules.n_rules, result._words, on_rows, n_rows)
    return {
        "proxy": result._words.proxy.capitalize(),
        "words": result._words,
        "facts": reference_facts(result.reference_),
        "refused": refused,
        "size_choice": "" if path is None else size_choice(result),
        "scores": None if X is None or refused else score_lines(result, X, y),
        "chart": chart,
        "many_draws": len(result.leaves_.means) > 1,
        "splits": None if X is None or refused else split_lines(result, X),
        "leaves": summarize_leaves(result.leaves_, rules, X, y)
        | {"words": _leaf_words(result, X, y)},
    }


def reference_facts(reference: Reference) -> list[tuple[str, str]]:
    """Description of the reference."""
    n_draws, is_posterior = reference.n_draws, reference.is_posterior
    facts = {"n_draws": n_draws, "is_posterior": is_posterior}
    facts["is_default"] = isinstance(reference, BayesianBootstrapForest)
    (text,) = sentences("projection/reading/reference.txt", **facts)
    return [("Reference model", reference.description), ("Predictions", text)]


def size_choice(result: Any) -> str:
    """Explanation of the choice of the size."""
    path, words, chosen = result.size_path_, result._words, result.rules_.n_rules
    facts: dict[str, Any] = {
        "count_text": words.count_text(chosen),
        "proxy": words.proxy,
        "line": words.line,
        "unit": ({"size": words.line} | UNITS).get(path.measure, "unit of complexity"),
        "measure": path.measure,
        "min_samples_leaf": str(result.min_samples_leaf_),
        "alpha": result.alpha_,
        "tolerance": path.tolerance,
        "by_labels": path.evaluated_on == "labels",
        "is_all": False,
        "loss": None,
    }
    if path.held_out is None:
        facts["is_all"] = chosen == path.size[-1] < result._max_size
    else:
        at = path.size.tolist().index(chosen)
        loss, error = float(path.held_out[at]), float(path.standard_error[at])
        gain = -float(path.held_out[0])
        facts |= {"loss": loss, "error": error}
        # A single rule may be better than the reference.
        is_worse = path.size[0] == 1 and gain > float(path.standard_error[0])
        facts |= {"gain": gain, "is_worse": is_worse}
    return sentences("projection/reading/size.txt", **facts)[0]


def split_lines(result: Any, X: Any) -> dict[str, Any] | None:
    """Posterior probability of each split; None for a list, or without splits."""
    if not isinstance(result, ProjectedTree):
        return None
    table = as_table(X)
    rows = np.arange(0, table.shape[0], -(-table.shape[0] // MOST_ROWS))
    some = table if len(rows) == table.shape[0] else take_rows(table, rows)
    found = split_posterior(result, some)
    if not found.nodes:
        return None
    words = sentences(
        "projection/reading/splits.txt",
        is_posterior=result.reference_.is_posterior,
        depth=found.depth,
    )
    return {"words": words, "lines": found.lines(), "n_rows": len(rows)}


def score_lines(result: Any, X: Any, y: Any) -> dict[str, Any]:
    """Scores of the proxy and its reference on given rows."""
    scores = compare_with_reference(result, X, y)
    models = scores["reference"], scores["proxy"]
    lines = [(key, [model.get(key) for model in models]) for key in NAMES]
    lines = [(key, both) for key, both in lines if both != [None, None]]
    lines += [(key, [None, value]) for key, value in scores["fidelity"].items()]
    return {
        "n_rows": as_table(X).shape[0],
        "lines": [
            {"name": NAMES[key][0], "unit": NAMES[key][1], "values": values}
            for key, values in lines
        ],
        "remarks": remarks_on(scores),
    }


# Leaves


def _leaf_words(result: Any, X: Any, y: Any) -> list[tuple[str, str]]:
    """Meaning of the columns, in order."""
    leaves, words = result.leaves_, result._words
    target, rows = OBSERVED if y is not None else PREDICTED, "the rows passed"
    if X is None:
        # Rules do not record whether they were fitted with labels.
        target, rows = f"{OBSERVED} (without targets, {PREDICTED})", "training rows"
    definitions = sentences(
        "projection/reading/leaves.txt",
        line=words.line,
        lines=words.lines,
        many=len(leaves.means) > 1,
        is_class=leaves.means.ndim == 3,
        is_survival=bool(result.rules_.outcome.horizons),
        is_posterior=result.reference_.is_posterior,
        has_noise=leaves.variances is not None,
        from_observed=leaves.errors is not None,
        rows_of_all=ROWS_OF_ALL,
        has_common_variance=has_common_variance(leaves),
        mean_in=mean_in(target, rows),
        has_rows=X is not None,
        has_labels=y is not None,
    )
    parts = (text.partition("= ") for text in definitions)
    return [(name.strip(), meaning) for name, _, meaning in parts]


def mean_in(target: str, rows: str) -> str:
    """Description of the interval of the mean that is printed with a rule."""
    return (
        f"the 95 % confidence interval of the mean of {target} in {rows}, which does "
        "not use the reference’s draws."
    )


def has_common_variance(leaves: Leaves) -> bool:
    """Whether the 90 % hold for all rules together, and not for each."""
    if leaves.variances is None or len(leaves.share) == 1:
        return False
    return bool((leaves.variances == leaves.variances[:, :1]).all())


def summarize_leaves(
    leaves: Leaves, rules: RuleSet, X: Any = None, y: np.ndarray | None = None
) -> dict[str, Any]:
    """Prediction of each leaf, its uncertainty, and the observations in it.

    Rows and observations are the given ones; without any, the share is that of the
    weight of the training rows.
    """
    predictive = leaves.predictive(np.arange(len(leaves.share)))
    leaf = None if X is None else rules.apply(X)
    lines = []
    for i, rule in enumerate(rules):
        line = {
            "number": i + 1,
            "conditions": [c.text(rules.features) for c in rule.conditions],
            "rows": _rows_text(leaves, leaf, i),
            "predictions": _predictions(predictive, rules, i),
            "observed": ""
            if leaf is None or y is None
            else _observed(y[leaf == i], rules),
        }
        n_rows = 0 if leaf is None else int((leaf == i).sum())
        lines.append(
            OfRows(line, n_rows, instead=line | {"rows": FEW, "observed": "–"})
        )
    return {
        "quantity": _quantity(predictive, rules),
        "is_value": leaves.means.ndim == 2,
        "has_noise": predictive.noise is not None,
        "counted": "Training rows" if leaf is None else "Rows",
        "has_observed": leaf is not None and y is not None,
        "lines": lines,
        **_axis(predictive, rules),
    }


def _quantity(predictive: PredictiveDraws, rules: RuleSet) -> str:
    if len(rules.classes) == 2:
        return f"Probability of {prediction_text(rules.classes[1])}"
    if rules.classes:
        return "Probability"
    if rules.outcome.horizons:
        unit = cast(Survival, rules.outcome).time_unit
        return f"Survival at time{f', {unit}' * bool(unit)}"
    is_rate = predictive.noise is None
    return f"Rate of {rules.target}" if is_rate else f"Mean {rules.target}"


def _rows_text(leaves: Leaves, leaf: np.ndarray | None, i: int) -> str:
    if leaf is None:
        return percent_text(float(leaves.share[i]))
    n_rows = int((leaf == i).sum())
    return f"{n_rows:,} ({percent_text(n_rows / len(leaf))})"


def _predictions(
    predictive: PredictiveDraws, rules: RuleSet, i: int
) -> list[dict[str, Any]]:
    """One entry for a value; one for each horizon, or class, most probable first."""
    draws = predictive.draws[:, i]
    if rules.outcome.horizons:
        return [
            {"label": f"{short_text(horizon)}:", **_summary(survival, percent_text)}
            for horizon, survival in zip(rules.outcome.horizons, survival_of(draws).T)
        ]
    if rules.classes:
        mean = draws.mean(axis=0)
        order = np.argsort(-mean, kind="stable")[:MAX_CLASSES]
        shown = [k for k in order.tolist() if mean[k] >= min(LEAST_SHOWN, mean.max())]
        if draws.shape[1] == 2:
            return [{"label": "", **_summary(draws[:, 1], percent_text)}]
        named = [(k, prediction_text(rules.classes[k])) for k in shown]
        return [
            {"label": label, **_summary(draws[:, k], percent_text)}
            for k, label in named
        ]
    one = predictive.take(np.array([i]))
    low, high = (float(one.quantile(end)[0]) for end in ENDS)
    aleatoric = None
    if predictive.noise is not None:
        aleatoric = short_text(math.sqrt(predictive.noise[:, i].mean()), 2)
    return [
        {
            "label": "",
            **_summary(draws, short_text),
            "aleatoric": aleatoric,
            "observation": f"{short_text(low)} to {short_text(high)}",
        }
    ]


def _summary(draws: np.ndarray, shown: Any) -> dict[str, Any]:
    """Mean over draws, their central 90 % interval, and standard deviation."""
    low, high = np.quantile(draws, ENDS)
    if shown is percent_text and low < high:
        shown = partial(numbers.share_text, decimals=numbers.share_decimals(low, high))
    return {
        "mean": shown(float(draws.mean())),
        "interval": f"{shown(float(low))} to {shown(float(high))}",
        "epistemic": short_text(float(draws.std()), 2),
        "aleatoric": None,
        "observation": None,
    }


def _observed(y: np.ndarray, rules: RuleSet) -> str:
    if len(y) == 0:
        return "–"
    if not rules.classes:
        return short_text(float(np.mean(y)))
    shares = [(float((y == label).mean()), label) for label in rules.classes]
    if len(shares) == 2:
        return percent_text(shares[1][0])
    best, label = max(shares, key=lambda pair: pair[0])
    return f"{prediction_text(label)} {percent_text(best)}"


def _axis(predictive: PredictiveDraws, rules: RuleSet) -> dict[str, Any]:
    """Bars on one axis for all leaves: of the mean, and of an observation."""
    shown: Any
    if predictive.draws.ndim == 3:
        if len(rules.classes) != 2:
            return {"axis": None, "bars": None}
        draws, outer = predictive.draws[:, :, 1], None
        low, high, shown = 0.0, 1.0, percent_text
    else:
        draws = predictive.draws
        outer = np.stack([predictive.quantile(end) for end in ENDS])
        low, high, shown = float(outer.min()), float(outer.max()), short_text
    inner = np.quantile(draws, ENDS, axis=0)
    scale = (high - low) or 1.0

    def position(values: np.ndarray) -> list[float]:
        return [10 + 180 * (float(v) - low) / scale for v in values]

    bars = [
        {
            "inner": position(inner[:, i]),
            "outer": None if outer is None else position(outer[:, i]),
            "mean": position(draws[:, [i]].mean(axis=0))[0],
        }
        for i in range(draws.shape[1])
    ]
    return {"axis": (shown(low), shown(high)), "bars": bars}
