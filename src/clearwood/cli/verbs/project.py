"""``clearwood project``: projection of a Bayesian reference model onto a proxy."""

from __future__ import annotations

import json
from typing import Any

import click

from clearwood.cli import options as shared
from clearwood.cli.command import Answer, command
from clearwood.cli.inputs import given, read_labelled, split_rows
from clearwood.cli.templates import fill
from clearwood.exceptions import InputError

REFERENCES = ("forest", "bart", "gp", "ridge")

READS = {
    "forest": "text dates missing",
    "bart": "text dates large",
    "gp": "",
    "ridge": "",
    "hist-gradient-boosting": "text missing large",
    "random-forest": "missing",
    "extra-trees": "missing",
    "gradient-boosting": "",
    "decision-tree": "missing",
}
"""Column types besides plain numbers that each reference accepts."""

KINDS = {
    ("tree", "classification"): "ProjectedTreeClassifier",
    ("tree", "regression"): "ProjectedTreeRegressor",
    ("list", "classification"): "ProjectedRuleListClassifier",
    ("list", "regression"): "ProjectedRuleListRegressor",
    ("linear", "classification"): "ProjectedLogisticRegression",
    ("linear", "regression"): "ProjectedLinearRegression",
}
"""Estimators by proxy and task; by name, as the command starts without importing."""


def _alpha(_: click.Context, __: click.Parameter, text: str | None) -> Any:
    """Read ``cv|NUMBER``."""
    if text in (None, "cv"):
        return text
    try:
        price = float(text)
    except ValueError:
        price = -1.0
    if not 0 <= price < float("inf"):
        raise click.UsageError("--alpha must be cv or a number from 0.")
    return price


@command(
    "Approximate a Bayesian reference model by a small model.",
    shared.data,
    shared.target,
    shared.choice(
        "--reference",
        [*REFERENCES, *shared.MODELS],
        "Reference model. forest: trees with Bayesian-bootstrap weights. bart: "
        "Bayesian additive regression trees (extra bart). gp, ridge: a Gaussian "
        "process, a Bayesian linear regression (numbers only). The others have no "
        "posterior: their predictions, or their trees, are projected.",
    ),
    shared.n_draws,
    shared.choice(
        "--proxy",
        "tree list linear",
        "Small model: a tree, a rule list, or linear coefficients.",
    ),
    shared.option(
        "--size --n-rules size",
        shared.TEXT,
        "auto: the fewest leaves, or rules, that predict as well; or a maximum.",
        "auto",
        metavar="auto|NUMBER",
        callback=shared.auto_or_number,
    ),
    shared.option(
        "--alpha",
        shared.TEXT,
        "Instead of --size: penalty per leaf, or rule, in nats per row; cv: chosen by "
        "cross-validation.",
        metavar="cv|NUMBER",
        callback=_alpha,
    ),
    shared.min_samples_leaf(),
    shared.exclude_features,
    *shared.TABLE,
    shared.test_size,
    shared.task,
    shared.random_state,
    shared.out(shared.RULES),
    *shared.FITTED,
)
def project(args: Any) -> Answer:
    """Fit a reference model and project it onto a small model.

    DATA is a table (CSV or Parquet). The reference is fitted for accuracy alone; the
    proxy is the small model closest to its predictions, with their uncertainty. Prints
    the proxy and the scores of both on held-out rows.
    """
    import clearwood as cw
    from clearwood.rules.evaluation.tables import survey
    from clearwood.rules.serialise import file_text

    has_lines = args.proxy != "linear"
    _check_usage(args, has_lines)
    table = read_labelled(args)
    if args.reference in ("gp", "ridge") and table.task == "classification":
        raise InputError(
            f"--reference {args.reference} is for regression, but {args.target} holds "
            "classes; use forest or bart."
        )
    _check_columns(table.X, args.reference)
    split = split_rows(table, args)
    kind = getattr(cw, KINDS[args.proxy, split.task])
    settings = {"verbose": args.progress, "random_state": args.random_state}
    if has_lines:
        settings |= {"alpha": args.alpha} | given(args, "min_samples_leaf")
        settings["exclude_features"] = args.exclude_features
        if args.size != "auto":
            # A requested size is the largest to try, too.
            settings |= dict.fromkeys(kind._sizes, args.size)
    fitted = kind(_reference(split, args), **settings).fit(split.X, split.y)
    if has_lines:
        # The estimator receives values without a name; the file has the target's name.
        fitted.rules_ = fitted.rules_.with_target(args.target)
    summary = _summarize(fitted, split, args)
    evaluated = None
    if has_lines:
        predicted = fitted.reference_.predict(split.X_test)
        evaluated = survey(fitted.rules_, split.X_test, split.y_test, predicted).rules
        summary["rules_held_out"] = json.loads(evaluated.to_json())
    return Answer(
        summary,
        lambda: _text(fitted, evaluated, summary),
        fitted,
        out=(lambda: file_text(fitted.rules_)) if has_lines else None,
        page=split.held_out | {"held_out_from": "model"},
    )


def _check_usage(args: Any, has_lines: bool) -> None:
    lines = "--proxy tree or list"
    shared.only_for(lines, has_lines, "size alpha min_samples_leaf exclude_features")
    why = "; a linear model has no rules"
    shared.only_for(lines, has_lines, "out", why)
    if args.size != "auto" and args.alpha is not None:
        raise click.UsageError("--alpha and --size both determine the size; use one.")
    draws = f"--reference {', '.join(REFERENCES)}"
    why = f"; {args.reference} has one per tree, or a single one"
    shared.only_for(draws, args.reference in REFERENCES, "n_draws", why)


def _check_columns(X: Any, name: str) -> None:
    """Raise, naming the columns, if a reference cannot read some."""
    from clearwood.references.tabular import FLOAT32

    numbers, labels = X.select_dtypes("number"), list(X.select_dtypes("category"))
    plain = {*labels, *numbers, *X.select_dtypes("bool")}
    large = f"hold numbers beyond {FLOAT32:.2g}"
    for kind, what, columns in (
        ("text", "hold text", labels),
        (
            "dates",
            "hold dates, or booleans with missing values",
            [c for c in X if c not in plain],
        ),
        ("missing", "have missing values", [c for c in numbers if X[c].isna().any()]),
        ("large", large, [c for c in numbers if (X[c].abs() > FLOAT32).any()]),
    ):
        if columns and kind not in READS[name]:
            others = [other for other, reads in READS.items() if kind in reads]
            raise InputError(
                f"Column(s) {columns} {what}, which {name} does not accept; use "
                f"--reference {' or '.join(others[:2])}, correct them, or leave them "
                f"out (--drop {','.join(columns)})."
            )


def _reference(split: Any, args: Any) -> Any:
    from clearwood.cli.train import make_model
    from clearwood.references import reference

    name, known = args.reference, given(args, "random_state", "n_draws")
    if name in ("forest", "bart"):
        model: Any = None if name == "forest" else "bart"
        known["task"] = split.task
    elif name in ("gp", "ridge"):
        model = _scaled(name, split.X.shape[1])
    else:
        model = make_model(name, split.task, args.random_state, None)
    return reference(model, split.X, split.y, **known)


def _scaled(name: str, n_columns: int) -> Any:
    """Gaussian process or linear model on standardized columns."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
    from sklearn.linear_model import BayesianRidge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    if name == "ridge":
        return make_pipeline(StandardScaler(), BayesianRidge())
    kernel = ConstantKernel() * RBF(n_columns**0.5) + WhiteKernel()
    process = GaussianProcessRegressor(kernel, normalize_y=True, random_state=0)
    return make_pipeline(StandardScaler(), process)


def _summarize(fitted: Any, split: Any, args: Any) -> dict[str, Any]:
    from clearwood.projection.reading.scores import compare_with_reference

    source = fitted.reference_
    return {
        "target": args.target,
        "task": split.task,
        "reference": {
            "description": source.description,
            "n_draws": source.n_draws,
            "is_posterior": source.is_posterior,
        },
        "proxy": args.proxy,
        "rows": split.counts,
        "scores": compare_with_reference(fitted, split.X_test, split.y_test),
        **(_line_facts if args.proxy != "linear" else _linear_facts)(fitted),
    }


def _linear_facts(fitted: Any) -> dict[str, Any]:
    return {
        "terms": fitted.terms_.names,
        "standard_deviations": fitted.terms_.unit.tolist(),
        "intercept": fitted.intercept_.tolist(),
        "coef": fitted.coef_.tolist(),
    }


def _line_facts(fitted: Any) -> dict[str, Any]:
    """Sizes, and predictions of the leaves with uncertainty, in order of the rules."""
    path, leaves = fitted.size_path_, fitted.leaves_

    def plain(values: Any) -> list[Any] | None:
        return None if values is None else values.tolist()

    return {
        "size_path": {
            "size": plain(path.size),
            "divergence": plain(path.divergence),
            "held_out": plain(path.held_out),
            "standard_error": plain(path.standard_error),
            "judged_by": path.evaluated_on,
        },
        "leaves": {
            "share": plain(leaves.share),
            "mean": plain(leaves.means.mean(axis=0)),
            "epistemic": plain(leaves.epistemic),
            "aleatoric": plain(leaves.aleatoric),
        },
        "rules": json.loads(fitted.rules_.to_json()),
    }


def _text(fitted: Any, evaluated: Any, summary: dict[str, Any]) -> str:
    from clearwood.projection.reading.scores import remarks_on

    scores, is_linear = summary["scores"], summary["proxy"] == "linear"
    name = "linear model" if is_linear else summary["proxy"]
    return fill(
        "project.txt",
        **summary,
        proxy_text=fitted.summary() if is_linear else evaluated,
        **({} if is_linear else _uncertainty(fitted)),
        name=name,
        fidelity=_fidelity_text(scores["fidelity"], name),
        remarks=remarks_on(scores),
    )


def _uncertainty(fitted: Any) -> dict[str, Any]:
    """Uncertainty of each rule, and the choice of their number, as text."""
    from clearwood._html.disclosure import disclosed
    from clearwood.projection.reading.section import (
        OBSERVED,
        has_common_variance,
        mean_in,
        size_choice,
        summarize_leaves,
    )

    return {
        "found": disclosed(
            summarize_leaves(fitted.leaves_, fitted.rules_), show_rows=True
        ),
        "words": fitted._words,
        "many": len(fitted.leaves_.means) > 1,
        "mean_in": mean_in(OBSERVED, "the held-out rows"),
        "common_variance": has_common_variance(fitted.leaves_),
        "choice": size_choice(fitted),
    }


def _fidelity_text(fidelity: dict[str, Any], name: str) -> str:
    from clearwood._words.numbers import short_text

    if "same_class" in fidelity:
        share = 100 * fidelity["same_class"]
        return f"the {name} predicts the reference's class in {share:.3g} % of them"
    if fidelity["r2"] is None:
        gap = fidelity["rms_difference"]
        return f"the {name} differs from the reference by {short_text(gap, 4)} (RMSE)"
    return (
        f"the {name} explains {100 * fidelity['r2']:.3g} % of the variance of the "
        "reference's predictions"
    )
