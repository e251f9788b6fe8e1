"""Statistic of the target that a regression model predicts, by its objective.

Objectives of squared error, and the likelihoods of counts and amounts (Poisson, gamma,
Tweedie), estimate the mean. All others are named wherever a mean would be assumed.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

MEDIAN = "the median"
BETWEEN = "a centre between median and mean"
NEAR_MEDIAN = "a value near the median"
MEMBERS_MEDIAN = "a weighted median of member predictions"
LEVEL_STATISTICS = (MEDIAN, NEAR_MEDIAN, MEMBERS_MEDIAN)
"""Statistics that an increasing transformation of the target preserves."""

ORDER = "a ranking score"
RISK = "a risk score or a quantile"
QUANTILES = ("quantile", "quantileerror", "loglinquantile", "groupquantile")
STATISTICS = {
    **dict.fromkeys(("absolute_error", "absoluteerror", "mae", "l1"), MEDIAN),
    **dict.fromkeys(("regression_l1", "mean_absolute_error"), MEDIAN),
    "mape": "the median, weighted by 1 / |target|",
    **dict.fromkeys(("huber", "pseudohubererror", "fair", "logcosh", "lq"), BETWEEN),
    "rmspe": "the mean, weighted by 1 / target²",
    "squaredlogerror": "the mean of log(1 + target), transformed back",
    "sqrt": "the mean of the square root, squared",
    "transformed": "the back-transformed mean",
    **dict.fromkeys(("svr", "nusvr", "epsilon_insensitive"), NEAR_MEDIAN),
    "adaboost": MEMBERS_MEDIAN,
    **dict.fromkeys(("ransac", "theilsen"), "a robust centre"),
    **dict.fromkeys(("rank", "ranker", "lambdarank", "rank_xendcg"), ORDER),
    **dict.fromkeys(("yetirank", "yetirankpairwise", "pairlogit", "queryrmse"), ORDER),
    **dict.fromkeys(("pairlogitpairwise", "querysoftmax", "stochasticrank"), ORDER),
    "lambdamart": ORDER,
    **dict.fromkeys(("survival", "cox", "aft", "survivalaft"), RISK),
    **dict.fromkeys(("custom", "none"), "what a custom objective leads to"),
}
SETTINGS = ("loss", "objective", "criterion", "loss_function")
LEVELS = ("quantile", "alpha", "quantile_alpha", "default_quantiles")
KINDS = re.compile(
    "Quantile|Ranker|Survival|(?<!Box)Cox|Huber|RANSAC|TheilSen|AdaBoost|^(Nu)?SVR$"
)
INSIDE = (
    *("best_estimator_", "regressor_", "final_estimator_", "estimator_", "estimator"),
    "estimators_",
)


def statistic_of(objective: str) -> str:
    """Statistic that an objective estimates, in words; empty for the mean.

    Parameters
    ----------
    objective : str
        With its settings, in the form of a library or of :func:`objective_of`.

    Examples
    --------
    >>> statistic_of("Quantile:alpha=0.9"), statistic_of("reg:absoluteerror")
    ('the 90 % quantile', 'the median')
    >>> statistic_of("poisson")
    ''
    """
    words = re.findall(r"[a-z_0-9]+", objective.lower())
    level = re.search(r"alpha=(\d+(?:\.\d+)?(?:e-?\d+)?)", objective)
    share = f"{100 * float(level[1]):.6g} % " if level else ""
    if any(word in QUANTILES for word in words):
        return MEDIAN if share == "50 % " else f"the {share}quantile"
    if "expectile" in words:
        return "" if share == "50 % " else f"the {share}expectile"
    return next((STATISTICS[word] for word in words if word in STATISTICS), "")


def quantile_level(statistic: str) -> float | None:
    """Level of a quantile in words; None for other statistics, and for a median.

    Examples
    --------
    >>> quantile_level("the 90 % quantile"), quantile_level("the median")
    (0.9, None)
    """
    found = re.fullmatch(r"the ([\d.e-]+) % quantile", statistic)
    return float(found[1]) / 100 if found else None


def objective_of(model: Any) -> str:
    """Objective of a model in memory, with its quantile level; empty if unknown.

    Parameters
    ----------
    model : fitted estimator
        Also in a pipeline, search, voting, stacking or a transformed target.

    Examples
    --------
    >>> from sklearn.ensemble import GradientBoostingRegressor
    >>> objective_of(GradientBoostingRegressor(loss="quantile", alpha=0.25))
    'quantile, alpha=0.25'
    """
    kind = KINDS.search(type(model).__name__)
    settings: dict[str, Any] = {}
    if hasattr(model, "transformer_") and hasattr(model, "regressor_"):
        own = objective_of(model.regressor_)
        is_linear, rises = _way_back(model.transformer_)
        is_level = "quantile" in own or statistic_of(own) in LEVEL_STATISTICS
        return own if (rises if is_level else is_linear) else "transformed target"
    if hasattr(model, "get_params") and not isinstance(model, type):
        settings = model.get_params(deep=False)
    named = [settings.get(name) for name in SETTINGS]
    named += [getattr(model, "objective_", None), kind and kind[0]]
    known = [x for x in (named[-1], *named) if x is not None]
    found = known[0] if known else None
    if found is not None and not isinstance(found, str):
        return "custom"
    if found is not None:
        levels = [settings.get(name) for name in LEVELS]
        numbers = [x for x in levels if isinstance(x, int | float)]
        level = numbers[0] if numbers else None
        asks = re.search("quantile|expectile", found.lower()) and "=" not in found
        return f"{found}, alpha={level:g}" if asks and level is not None else found
    if hasattr(model, "steps"):
        return objective_of(model.steps[-1][1])
    inner = next((getattr(model, n) for n in INSIDE if hasattr(model, n)), None)
    if isinstance(inner, list):
        inner = inner[0] if inner else None
    return "" if inner is None or inner is model else objective_of(inner)


def statistic_of_model(model: Any) -> str:
    """Statistic that a model predicts, in words; empty for the mean, or if unknown."""
    known = getattr(model, "statistic", None)
    return known if isinstance(known, str) else statistic_of(objective_of(model))


def _way_back(transformer: Any) -> tuple[bool, bool]:
    """Whether a target's inverse transform is linear (keeps means), and increasing."""
    at = np.linspace(-1.0, 1.0, 5)[:, None]
    try:
        back = np.asarray(transformer.inverse_transform(at), dtype=float)
    except Exception:  # of any library; some are undefined below 0
        return False, False
    is_linear = bool(np.abs(np.diff(back, 2, axis=0)).max() <= 1e-9 * np.ptp(back))
    return is_linear, bool((np.diff(back, axis=0) > 0).all())
