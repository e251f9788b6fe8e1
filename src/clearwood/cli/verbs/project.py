"""``clearwood project``: a Bayesian reference model, read through a small proxy."""

from __future__ import annotations

import sys
from typing import Any

import click

from clearwood.cli import options as shared
from clearwood.cli.errors import (
    check_outputs,
    common_options,
    plain_warnings,
    show,
    speaker,
)
from clearwood.cli.inputs import json_text, read_training_table
from clearwood.cli.options import names
from clearwood.cli.outputs import write_rules

REFERENCES = ("forest", "bart", "gp", "ridge")
READS_LARGE = ("bart", "hist-gradient-boosting")
"""References that know numbers beyond those of single precision."""

KINDS = {
    ("tree", "classification"): "ProjectedTreeClassifier",
    ("tree", "regression"): "ProjectedTreeRegressor",
    ("list", "classification"): "ProjectedRuleListClassifier",
    ("list", "regression"): "ProjectedRuleListRegressor",
    ("linear", "classification"): "ProjectedLogisticRegression",
    ("linear", "regression"): "ProjectedLinearRegression",
}
"""Estimators by proxy and task; their names, as the command starts without them."""


@click.command(short_help="Fit the best model, and read it through a small one.")
@shared.data
@shared.target
@click.option(
    "--reference",
    type=click.Choice([*REFERENCES, *shared.MODELS]),
    default="forest",
    show_default=True,
    help="Model that is read. forest: trees with Bayesian-bootstrap weights. bart: "
    "Bayesian additive regression trees (extra bart). gp, ridge: a Gaussian process, a "
    "Bayesian linear regression (numbers only). The others have no posterior: what is "
    "read is what they predict, or their trees.",
)
@click.option(
    "--n-draws", type=click.IntRange(min=2), help="Draws of forest, bart, gp or ridge."
)
@click.option(
    "--proxy",
    type=click.Choice(["tree", "list", "linear"]),
    default="tree",
    show_default=True,
    help="What it is read through: leaves, the first rule that fits, or coefficients.",
)
@click.option(
    "--size",
    "--n-rules",
    "size",
    default="auto",
    show_default=True,
    metavar="auto|NUMBER",
    help="auto: the fewest leaves, or lines, that predict as well; or so many at most.",
)
@click.option(
    "--alpha",
    metavar="cv|NUMBER",
    help="In place of --size: what a leaf, or line, costs in nats per row; cv: what is "
    "best on rows held out in turn.",
)
@click.option(
    "--min-rows",
    type=click.IntRange(min=1),
    default=5,
    show_default=True,
    help="Fewest rows of a leaf, or line.",
)
@click.option("--forbid", help="Columns that no rule may ask: --forbid sex,age")
@shared.drop
@shared.categories
@shared.columns
@shared.na
@shared.sep
@shared.encoding
@shared.test_size
@shared.task
@shared.out
@shared.report
@shared.seed
@shared.as_json
@shared.force
@shared.quiet
@common_options
def project(data: str, **options: Any) -> None:
    """Fit a reference model, and read it through a small proxy.

    DATA is a table (CSV or Parquet). The reference is fitted for accuracy alone; the
    proxy is the small model that says most nearly what it says, and how sure it is of
    that. The proxy, and the scores of both on held-out rows, go to the standard output.
    """
    _check_usage(options)
    say = speaker(options["quiet"])
    # Before anything that takes long.
    check_outputs([options["out"], options["report"]], [data], options["force"])
    split, task = _read(data, options, say)
    with plain_warnings(say):
        fitted = _fit(split, task, options)
        summary = _summarize(fitted, split, task, options)
    with plain_warnings(say):
        write_rules(fitted, split, options, say)
    show(json_text(summary) if options["as_json"] else _text(fitted, summary))


def _check_usage(options: dict[str, Any]) -> None:
    from click.core import ParameterSource

    given = click.get_current_context().get_parameter_source
    is_linear = options["proxy"] == "linear"
    for name in ("size", "alpha", "min_rows", "forbid", "out"):
        if is_linear and given(name) is not ParameterSource.DEFAULT:
            why = "; a linear model has no rules to write" * (name == "out")
            option = name.replace("_", "-")
            raise click.UsageError(f"--{option} is for --proxy tree or list{why}.")
    size = options["size"]
    if size != "auto" and not (size.isdecimal() and int(size) > 0):
        raise click.UsageError("--size must be auto or a number from 1.")
    if options["alpha"] not in (None, "cv") and not _is_price(options["alpha"]):
        raise click.UsageError("--alpha must be cv or a number from 0.")
    if size != "auto" and options["alpha"] is not None:
        raise click.UsageError("--alpha chooses the size that --size gives; use one.")
    if options["n_draws"] and options["reference"] not in REFERENCES:
        raise click.UsageError(
            f"--n-draws is for --reference {', '.join(REFERENCES)}; "
            f"{options['reference']} has as many as it has trees, or one."
        )


def _is_price(text: str) -> bool:
    try:
        return 0 <= float(text) < float("inf")
    except ValueError:
        return False


def _read(data: str, options: dict[str, Any], say: Any) -> tuple[Any, str]:
    from clearwood.cli.train import READS_TEXT, hold_out, prepare
    from clearwood.exceptions import InputError

    name = options["reference"]
    table = read_training_table(data, READS_TEXT, options, say)
    if name not in REFERENCES:
        prepare(table.X, name, "--reference")
        _check_plain(table.X, name)
    if name in ("gp", "ridge"):
        if table.task == "classification":
            raise InputError(
                f"--reference {name} is for values, but {options['target']} holds "
                "classes; use forest or bart."
            )
        _check_numbers(table.X, name)
    if name == "bart":
        _check_bart(table.X)
    if name not in READS_LARGE:
        _check_sizes(table.X, name)
    split = hold_out(
        table.X, table.y, table.task, options["test_size"], options["seed"]
    )
    return split, table.task


def _check_numbers(X: Any, name: str) -> None:
    """Refuse what a linear model or a Gaussian process cannot read."""
    from clearwood.exceptions import InputError

    text = list(X.select_dtypes(exclude="number"))
    if text:
        raise InputError(
            f"Column(s) {text} hold text, which {name} cannot read; use --reference "
            f"forest or bart, or leave them out (--drop {','.join(text)})."
        )
    _check_gaps(X, name)


def _check_plain(X: Any, name: str) -> None:
    """Refuse what models of scikit-learn cannot read as it is."""
    from clearwood.cli.train import READS_TEXT
    from clearwood.exceptions import InputError

    is_number = set(X.select_dtypes(["number", "bool"]))
    is_label = set(X.select_dtypes("category")) if name == READS_TEXT else set()
    odd = [c for c in X.columns if c not in is_number | is_label]
    if odd:
        raise InputError(
            f"Column(s) {odd} hold text or dates, which {name} cannot read; use "
            f"--reference forest, or leave them out (--drop {','.join(odd)})."
        )


def _check_gaps(X: Any, name: str) -> None:
    from clearwood.exceptions import InputError

    gaps = [c for c in X.select_dtypes("number") if X[c].isna().any()]
    if gaps:
        raise InputError(
            f"Column(s) {gaps} have missing values, which {name} cannot read; use "
            "--reference forest, or fill them in."
        )


def _check_sizes(X: Any, name: str) -> None:
    """Before the table is split, after which rows have other numbers."""
    from clearwood.exceptions import InputError
    from clearwood.references.tabular import FLOAT32

    large = [c for c in X.select_dtypes("number") if (X[c].abs() > FLOAT32).any()]
    if large:
        raise InputError(
            f"Column(s) {large} hold numbers beyond {FLOAT32:.2g}, which {name} cannot "
            f"read; correct them, or leave the columns out (--drop {','.join(large)})."
        )


def _check_bart(X: Any) -> None:
    """Before the table is split and fitted: the package, and empty cells."""
    from importlib.util import find_spec

    from clearwood.exceptions import InputError

    if find_spec("stochtree") is None:
        raise InputError(
            "--reference bart needs stochtree, which is not installed; install it with "
            'pip install "clearwood[bart]", or use --reference forest.'
        )
    _check_gaps(X, "bart")


def _fit(split: Any, task: str, options: dict[str, Any]) -> Any:
    import clearwood as cw

    kind = getattr(cw, KINDS[options["proxy"], task])
    settings = {
        "verbose": sys.stderr.isatty() and not options["quiet"],
        "random_state": options["seed"],
    }
    if options["proxy"] != "linear":
        settings |= _settings_of_lines(kind, options)
    fitted = kind(_reference(split, task, options), **settings).fit(split.X, split.y)
    if options["proxy"] != "linear":
        # The estimator sees values without a name; the file knows what they are called.
        fitted.rules_ = fitted.rules_.with_target(options["target"])
    return fitted


def _settings_of_lines(kind: Any, options: dict[str, Any]) -> dict[str, Any]:
    size, alpha = options["size"], options["alpha"]
    # A number asked for is the largest to try, too.
    return ({} if size == "auto" else dict.fromkeys(kind._sizes, int(size))) | {
        "alpha": alpha if alpha in (None, "cv") else float(alpha),
        "min_rows": options["min_rows"],
        "forbidden": names(options["forbid"]),
    }


def _reference(split: Any, task: str, options: dict[str, Any]) -> Any:
    from clearwood.cli.train import make_model
    from clearwood.references import reference

    name, seed = options["reference"], options["seed"]
    known: dict[str, Any] = {"random_state": seed}
    if options["n_draws"]:
        known["n_draws"] = options["n_draws"]
    if name in ("forest", "bart"):
        model: Any = None if name == "forest" else "bart"
        known["task"] = task
    elif name in ("gp", "ridge"):
        model = _scaled(name, split.X.shape[1])
    else:
        model = make_model(name, task, seed, None)
    return reference(model, split.X, split.y, **known)


def _scaled(name: str, n_columns: int) -> Any:
    """A Gaussian process or a linear model, of columns in like units."""
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


def _summarize(
    fitted: Any, split: Any, task: str, options: dict[str, Any]
) -> dict[str, Any]:
    import json

    from clearwood.projection.reading.scores import compare_with_reference

    source = fitted.reference_
    found = {
        "target": options["target"],
        "task": task,
        "reference": {
            "description": source.description,
            "n_draws": source.n_draws,
            "is_posterior": source.is_posterior,
        },
        "proxy": options["proxy"],
        "rows": {"training": len(split.y), "held_out": len(split.y_test)},
        "scores": compare_with_reference(fitted, split.X_test, split.y_test),
    }
    if options["proxy"] == "linear":
        return found | {
            "terms": fitted.terms_.names,
            "standard_deviations": fitted.terms_.unit.tolist(),
            "intercept": fitted.intercept_.tolist(),
            "coef": fitted.coef_.tolist(),
        }
    path = fitted.size_path_
    held_out = path.held_out is not None
    return found | {
        "size_path": {
            "size": path.size.tolist(),
            "divergence": path.divergence.tolist(),
            "held_out": path.held_out.tolist() if held_out else None,
            "standard_error": path.standard_error.tolist() if held_out else None,
            "judged_by": path.judged_by,
        },
        "leaves": _leaves(fitted.leaves_),
        "rules": json.loads(fitted.rules_.to_json()),
    }


def _leaves(leaves: Any) -> dict[str, Any]:
    """What the leaves say, and how sure, in the order of the rules."""
    aleatoric = leaves.aleatoric
    return {
        "share": leaves.share.tolist(),
        "mean": leaves.means.mean(axis=0).tolist(),
        "epistemic": leaves.epistemic.tolist(),
        "aleatoric": None if aleatoric is None else aleatoric.tolist(),
    }


def _text(fitted: Any, summary: dict[str, Any]) -> str:
    from textwrap import wrap

    from clearwood.projection.reading.scores import remarks_on

    scores, source = summary["scores"], summary["reference"]
    is_linear = summary["proxy"] == "linear"
    said = [fitted.summary()] if is_linear else _rule_lines(fitted)
    name = "linear model" if is_linear else summary["proxy"]
    lines = [
        f"Reference: {source['description']}",
        "",
        *said,
        "",
        f"On {summary['rows']['held_out']:,} rows held out from training:",
        f"  reference     {_score_text(scores['reference'])}",
        f"  {name:12s}  {_score_text(scores['proxy'])}",
        f"  {_nearness(scores['fidelity'], name)}",
        *(line for text in remarks_on(scores) for line in wrap(text, 88)),
    ]
    return "\n".join(lines)


def _rule_lines(fitted: Any) -> list[str]:
    """The rules, how sure the reference is of each, and why they are so many."""
    from textwrap import wrap

    from clearwood.projection.reading.section import (
        OBSERVED,
        have_one_variance,
        how_judged,
        mean_in,
        summarize_leaves,
    )

    found = summarize_leaves(fitted.leaves_, fitted.rules_)
    many = len(fitted.leaves_.means) > 1
    lines = [str(fitted.rules_), "", f"{found['what']} in each {fitted._words.line}:"]
    for leaf in found["lines"]:
        lines += [
            f"  {leaf['number']}. {_sure_text(said, many)}" for said in leaf["says"]
        ]
    if found["is_value"]:
        told = f"(“Mean in”, with the rules: {mean_in(OBSERVED, 'training rows')})"
        lines += wrap(told, 88, initial_indent="  ", subsequent_indent="  ")
    if have_one_variance(fitted.leaves_):
        plural = fitted._words.lines
        lines.append(f"  (The 90 % are of all {plural} together: all have one chance.)")
    words = how_judged(fitted)
    return [*lines, "", *wrap(words, 88)]


def _sure_text(said: dict[str, Any], many: bool) -> str:
    text = f"{said['label']} {said['mean']}".strip()
    if said["observation"] is None:
        return f"{text}, 90 % of the draws {said['low_to_high']}" if many else text
    if many:
        text += f", not known ± {said['not_known']}"
    if said["chance"] is not None:
        text += f", chance ± {said['chance']}"
    return f"{text}, 90 % of cases {said['observation']}"


def _score_text(scores: dict[str, float]) -> str:
    from clearwood._words.numbers import percent_text, short_text

    if "error" in scores:
        return f"log loss {scores['log_loss']:.4g}, error {scores['error']:.4g}"
    text = f"root mean squared error {short_text(scores['rmse'], 4)}"
    if "coverage" in scores:
        text += f", 90 % intervals hold {percent_text(scores['coverage'])}"
    return text


def _nearness(fidelity: dict[str, Any], name: str) -> str:
    from clearwood._words.numbers import short_text

    if "same_class" in fidelity:
        share = 100 * fidelity["same_class"]
        return f"the {name} says the reference's class in {share:.3g} % of them"
    if fidelity["r2"] is None:
        gap = fidelity["rms_difference"]
        return f"the {name} is {short_text(gap, 4)} off what the reference says"
    return (
        f"the {name} follows {100 * fidelity['r2']:.3g} % of the variance of what the "
        "reference says"
    )
