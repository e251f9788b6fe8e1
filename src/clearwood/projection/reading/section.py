"""What a report says of a projected tree, or list of rules, as plain data."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from clearwood._words.labels import prediction_text
from clearwood._words.numbers import percent_text, short_text
from clearwood.exceptions import InputError
from clearwood.projection.answers import Answers, ask
from clearwood.projection.leaves import Leaves
from clearwood.projection.reading.scores import (
    as_table,
    compare_with_reference,
    remarks_on,
)
from clearwood.projection.reading.size_chart import measure_of_rows, size_chart
from clearwood.projection.sizes import SizePath, Words
from clearwood.references import Reference
from clearwood.rules import RuleSet

ENDS = (0.05, 0.95)
"""Of the intervals that are shown."""
MOST_CLASSES, HARDLY = 3, 0.005
"""Of a leaf, whose probabilities are shown, and what is too small to show."""
OBSERVED, SAID = "what was observed", "what the reference says"

NAMES = {
    "error": ("Wrong class (error)", "percent"),
    "rmse": ("Root mean squared error, in units of the target", "number"),
    "log_loss": ("Log loss, nats per row", "number"),
    "coverage": ("Rows inside their 90 % interval", "percent"),
    "width": ("Mean width of the intervals", "number"),
    "r2": ("Follows the reference’s predictions (R²)", "number"),
    "rms_difference": (
        "Root mean squared difference from the reference", "number",
    ),
    "same_class": ("Same class as the reference", "percent"),
    "divergence": (
        "Divergence from the reference’s probabilities, nats per row", "number",
    ),
}  # fmt: skip


def teacher_of(result: Any, X: Any = None) -> Reference | None:
    """The reference, if it can be asked about these rows."""
    return None if why_not_asked(result, X) else result.reference_


def why_not_asked(result: Any, X: Any) -> str:
    """Why the reference cannot be asked about rows; empty where it can."""
    if X is None:
        return ""
    try:
        ask(result.reference_, as_table(X))
    except InputError as error:
        return str(error)
    return ""


def section(result: Any, X: Any = None, y: Any = None) -> dict[str, Any]:
    """The reference, how near the proxy is to it, its size, and what its lines say.

    Parameters
    ----------
    result : fitted ProjectedTree... or ProjectedRuleList...
    X : array-like or frame of shape (n_samples, n_features), optional
    y : array-like of shape (n_samples,), optional
        Rows on which to judge it; with them, no number of the page is of training rows.

    Returns
    -------
    dict
    """
    rules, path = result.rules_, getattr(result, "size_path_", None)
    chart = on_rows = None
    if y is not None:
        y = rules.check_truth(y, len(rules.encode(X)), "y")
    refused = why_not_asked(result, X)
    if path is not None:
        if X is not None:
            taught = None if refused else result.reference_.predict(as_table(X))
            on_rows = measure_of_rows(result, X, y, taught)
        n_rows = None if X is None else len(rules.encode(X))
        chart = size_chart(path, rules.n_rules, result._words, on_rows, n_rows)
    return {
        "proxy": result._words.proxy.capitalize(),
        "words": result._words,
        "facts": reference_facts(result.reference_),
        "refused": refused,
        "judged": "" if path is None else how_judged(result),
        "scores": None if X is None or refused else score_lines(result, X, y),
        "chart": chart,
        "many_draws": len(result.leaves_.means) > 1,
        "leaves": summarize_leaves(result.leaves_, rules, X, y)
        | {"words": _leaf_words(result, X, y)},
    }


def reference_facts(reference: Reference) -> list[tuple[str, str]]:
    """What is read, for people who have never heard of posterior draws."""
    n_draws = reference.n_draws
    if n_draws == 1:
        words = "one: what it predicts. It does not say how sure it is of that."
    elif reference.is_posterior:
        words = (
            f"{n_draws:,} draws from its posterior distribution: models that the data "
            "allow. What they all say is known; where they differ, the data leave it "
            "open."
        )
    else:
        words = (
            f"{n_draws:,}, which are not draws from a posterior distribution: how far "
            "they lie apart comes from the way they were made, and does not tell how "
            "sure one can be."
        )
    return [("Reference model", reference.description), ("Its predictions", words)]


def how_judged(result: Any) -> str:
    """How the size of a tree, or list, came about."""
    path, words, alpha = result.size_path_, result._words, result.alpha_
    chosen = result.rules_.n_rules
    if path.held_out is None:
        if chosen == path.size[-1] < result._most_lines:
            return (
                f"It has {words.so_many(chosen)}, as no further split helps: no larger "
                f"{words.proxy} was found that comes nearer to the reference, with "
                f"{result.min_rows} rows at least in each {words.line}."
            )
        return (
            f"Its size, {words.so_many(chosen)}, follows from the settings; nothing "
            "was held out to choose it."
        )
    rows = (
        "Each fifth of the training rows was held out in turn; reference and "
        f"{words.proxy}s were fitted anew without it, and judged by how probable each "
        "of them found what was observed there."
        if path.judged_by == "labels"
        else f"Each fifth of the training rows was held out in turn; {words.proxy}s "
        "were fitted without it, and judged by how near they come to what the "
        "reference says there. The reference itself was fitted once, and may have seen "
        "these rows."
    )
    at = path.size.tolist().index(chosen)
    lost, error = float(path.held_out[at]), float(path.standard_error[at])
    if alpha is not None:
        why = (
            f"The cost of a {words.line}, {short_text(alpha)} nats per row, is "
            f"the one whose {words.proxy}s lose least there; this one loses"
        )
    elif lost - error <= path.tolerance:
        why = (
            f"This is the smallest {words.proxy} whose loss against the reference, "
            f"less one standard error, is at most {path.tolerance:g} nats per row; "
            "measured"
        )
    else:
        why = (
            f"No {words.proxy} came as near to the reference as asked for "
            f"({path.tolerance:g} nats per row); this is the smallest that is worse "
            "than the best by no more than a standard error of their difference"
        )
    told = f"{short_text(lost, 2)} ± {short_text(error, 2)}"
    return f"{rows} {why}: {told}.{_worse_than_constant(path)}"


def _worse_than_constant(path: SizePath) -> str:
    """What is said where one line alone is better than the reference; else nothing."""
    assert path.held_out is not None and path.standard_error is not None
    gain = -float(path.held_out[0])
    if path.size[0] > 1 or gain <= float(path.standard_error[0]):
        return ""
    return (
        " The reference does worse there than a constant, by "
        f"{short_text(gain, 2)} nats per row: to lose little against it is no "
        "praise."
    )


def score_lines(result: Any, X: Any, y: Any) -> dict[str, Any]:
    """The proxy beside its reference, on rows that are handed in."""
    scores = compare_with_reference(result, X, y)
    of_both, of_one = (scores["reference"], scores["proxy"]), scores["fidelity"]
    lines = [(key, [one.get(key) for one in of_both]) for key in NAMES]
    lines = [(key, both) for key, both in lines if both != [None, None]]
    lines += [(key, [None, value]) for key, value in of_one.items()]
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
    """What the columns mean, one after the other."""
    leaves, reference, line = result.leaves_, result.reference_, result._words.line
    many, is_class = len(leaves.means) > 1, leaves.means.ndim == 3
    words = [("", f"The {result._words.lines} are the rules above.")]
    if is_class:
        interval = "The reference does not say how sure it is of these probabilities."
        if many:
            interval = (
                "Nine in ten draws of the reference find the probability between these "
                "ends. How a single case comes out is chance all the same."
            )
        words.append(("90 % interval" if many else "", interval))
    elif many:
        less = "; more data would make it smaller" * reference.is_posterior
        words.append(
            (
                "Not known",
                "by how much the draws of the reference differ about the mean of the "
                f"{line} (standard deviation){less}.",
            )
        )
    if leaves.variances is not None:
        words.append(
            (
                "Chance",
                "by how much single cases differ from that mean, were it known "
                f"(standard deviation): noise, and what the {line} does not tell "
                "apart. More data would not make it smaller.",
            )
        )
    if not is_class:
        words.append(
            (
                "90 % interval of a case",
                "if the reference is right, nine in ten new cases "
                f"{_of_which_line(leaves, result._words)} are inside"
                f"{'; it holds both' * (many and leaves.variances is not None)}.",
            )
        )
    if not is_class:
        seen, rows = OBSERVED if y is not None else SAID, "the rows handed in"
        if X is None:
            # Rules do not tell whether they were fitted with labels.
            seen, rows = f"{OBSERVED} (or, where nothing was, {SAID})", "training rows"
        words.append(("Mean in", f"beside a rule above, {mean_in(seen, rows)}"))
    if X is None:
        words.append(("Training rows", f"the {line}’s share of their weight."))
    else:
        seen = ", and what was observed there," * (y is not None)
        words.append(
            ("Rows", f"those handed in for this report{seen} not training rows.")
        )
    return words


def mean_in(seen: str, rows: str) -> str:
    """What the interval of the mean is of, that stands with a rule."""
    return (
        f"the 95 % interval of the mean of {seen} in {rows}; it knows nothing of the "
        "reference’s draws."
    )


def have_one_variance(leaves: Leaves) -> bool:
    """Whether 90 % are of all lines together, and of one may be more or fewer."""
    if leaves.variances is None or len(leaves.share) == 1:
        return False
    return bool((leaves.variances == leaves.variances[:, :1]).all())


def _of_which_line(leaves: Leaves, words: Words) -> str:
    if not have_one_variance(leaves):
        return f"of the {words.line}"
    return (
        f"of all {words.lines} together (of one it may be more or fewer: all have one "
        "“chance”)"
    )


def summarize_leaves(
    leaves: Leaves, rules: RuleSet, X: Any = None, y: np.ndarray | None = None
) -> dict[str, Any]:
    """What each leaf says, how sure, and what was observed in it.

    Rows, and what was observed, are those handed in; without any, the share is that of
    the weight of the training rows.
    """
    said = leaves.answers(np.arange(len(leaves.share)))
    leaf = None if X is None else rules.apply(X)
    lines = [
        {
            "number": i + 1,
            "conditions": [c.text(rules.features) for c in rule.conditions],
            "rows": _rows_text(leaves, leaf, i),
            "says": _says(said, rules, i),
            "observed": ""
            if leaf is None or y is None
            else _observed(y[leaf == i], rules),
        }
        for i, rule in enumerate(rules)
    ]
    return {
        "what": _what(said, rules),
        "is_value": not rules.classes,
        "has_noise": said.noise is not None,
        "counted": "Training rows" if leaf is None else "Rows",
        "has_observed": leaf is not None and y is not None,
        "lines": lines,
        **_axis(said, rules),
    }


def _what(said: Answers, rules: RuleSet) -> str:
    if rules.classes:
        two = len(rules.classes) == 2
        of = f" of {prediction_text(rules.classes[1])}" if two else ""
        return f"Probability{of}"
    return f"Rate of {rules.target}" if said.noise is None else f"Mean {rules.target}"


def _rows_text(leaves: Leaves, leaf: np.ndarray | None, i: int) -> str:
    if leaf is None:
        return percent_text(float(leaves.share[i]))
    n_rows = int((leaf == i).sum())
    return f"{n_rows:,} ({percent_text(n_rows / len(leaf))})"


def _says(said: Answers, rules: RuleSet, i: int) -> list[dict[str, Any]]:
    """Of a value one line; of classes one each, the most probable first."""
    draws = said.draws[:, i]
    if rules.classes:
        mean = draws.mean(axis=0)
        order = np.argsort(-mean, kind="stable")[:MOST_CLASSES]
        shown = [k for k in order.tolist() if mean[k] >= min(HARDLY, mean.max())]
        if draws.shape[1] == 2:
            return [{"label": "", **_spread(draws[:, 1], percent_text)}]
        return [
            {
                "label": prediction_text(rules.classes[k]),
                **_spread(draws[:, k], percent_text),
            }
            for k in shown
        ]
    one = Answers(draws[:, None], None if said.noise is None else said.noise[:, [i]])
    low, high = (float(one.quantile(end)[0]) for end in ENDS)
    chance = None
    if said.noise is not None:
        chance = short_text(math.sqrt(said.noise[:, i].mean()), 2)
    return [
        {
            "label": "",
            **_spread(draws, short_text),
            "chance": chance,
            "observation": f"{short_text(low)} to {short_text(high)}",
        }
    ]


def _spread(draws: np.ndarray, shown: Any) -> dict[str, Any]:
    """The mean over draws, where nine in ten of them are, and their deviation."""
    low, high = np.quantile(draws, ENDS)
    deviation = float(draws.std())
    digits = percent_text if shown is percent_text else lambda v: short_text(v, 2)
    return {
        "mean": shown(float(draws.mean())),
        "low_to_high": f"{shown(float(low))} to {shown(float(high))}",
        "not_known": digits(deviation),
        "chance": None,
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


def _axis(said: Answers, rules: RuleSet) -> dict[str, Any]:
    """Bars on one axis for all leaves: of the mean, and of an observation."""
    shown: Any
    if rules.classes:
        if len(rules.classes) > 2:
            return {"axis": None, "bars": None}
        draws, outer = said.draws[:, :, 1], None
        low, high, shown = 0.0, 1.0, percent_text
    else:
        draws = said.draws
        outer = np.stack([said.quantile(end) for end in ENDS])
        low, high, shown = float(outer.min()), float(outer.max()), short_text
    inner = np.quantile(draws, ENDS, axis=0)
    scale = (high - low) or 1.0

    def place(values: np.ndarray) -> list[float]:
        return [10 + 180 * (float(v) - low) / scale for v in values]

    bars = [
        {
            "inner": place(inner[:, i]),
            "outer": None if outer is None else place(outer[:, i]),
            "mean": place(draws[:, [i]].mean(axis=0))[0],
        }
        for i in range(draws.shape[1])
    ]
    return {"axis": (shown(low), shown(high)), "bars": bars}
