"""Stability of rules under refits on bootstrap samples."""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import asdict, dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from clearwood._numeric import spawn_generators
from clearwood._numeric.fold_roles import check_groups
from clearwood._numeric.progress import progress
from clearwood._warned_once import users_level, warned_once
from clearwood._words.labels import type_text
from clearwood._words.spelling import suggests_parameters
from clearwood.columns.validation import check_weight
from clearwood.comparison.folds import bootstrap_weight
from clearwood.comparison.scores import pairwise_agreement
from clearwood.ensembles.read import needs_fit
from clearwood.exceptions import (
    ClassOrderWarning,
    InputError,
    InterruptedFitWarning,
    PoorFidelityWarning,
    UnknownCategoriesWarning,
)
from clearwood.outcomes import OUTCOMES
from clearwood.results import Result
from clearwood.rules import RuleSet
from clearwood.rules.conditions import name_text
from clearwood.rules.evaluation.overlap import best_overlap
from clearwood.rules.rule import wrapped
from clearwood.rules.rule_set import rules_of

if TYPE_CHECKING:
    import pandas as pd

BACK = 0.5
"""Least overlap (Jaccard index) with a rule of the refit to count as found again."""

MOST_FEATURES = 10
"""Maximum number of features in the printed text; ``as_dict`` has all."""


@dataclass(frozen=True)
class RuleStability:
    """Stability of one rule.

    Attributes
    ----------
    number : int
        Position of the rule, from 1.
    asks, says : str
        Printed conditions and prediction.
    overlap : float
        Rows that satisfy both this rule and a rule of the refit, over rows that satisfy
        either (the Jaccard index); for the best rule of each refit with the same class
        (in regression, any rule), averaged. The default rule is satisfied by the rows
        that no other rule covers.
    returned : int
        Number of refits in which that was at least one half.
    """

    number: int
    asks: str
    says: str
    overlap: float
    returned: int


@dataclass(frozen=True, repr=False)
class Stability(Result):
    """Stability of rules on bootstrap samples; see :func:`~clearwood.stability`.

    Attributes
    ----------
    task : str
        ``"classification"`` or ``"regression"``.
    n_refits : int
        Number of completed refits.
    refit_ensemble : bool
        Whether the ensemble was refitted too.
    agreement : float
        Agreement of the predictions of two refits on the given rows, mean over all
        pairs. Classification: share of equal classes. Regression: Lin's concordance,
        one minus the ratio of the mean squared difference to that of unrelated values.
    agreement_std : float
        Standard deviation over the pairs.
    agreement_with_rules : float
        Mean agreement between each refit and the rules themselves.
    rules : tuple of RuleStability
        One per rule, without the default rule.
    features : dict of str to int
        Number of refits that use each feature, in descending order.
    n_rules : tuple of int
        Number of rules of each refit.
    n_rules_here : int
        Number of rules of the original fit.
    """

    task: str
    n_refits: int
    refit_ensemble: bool
    agreement: float
    agreement_std: float
    agreement_with_rules: float
    rules: tuple[RuleStability, ...]
    features: dict[str, int]
    n_rules: tuple[int, ...]
    n_rules_here: int

    def __str__(self) -> str:
        lines = [self._heading(), self._predictions(), self._lengths()]
        for rule in self.rules:
            lines.append(f"{rule.number}. if {rule.asks}")
            lines.append(f"   then {rule.says}  ({self.returned_text(rule)})")
        lines.append(self._features())
        return "\n".join(wrapped(line) for line in lines)

    def _heading(self) -> str:
        how = "fitted again too" if self.refit_ensemble else "held fixed"
        return f"{self.n_refits} refits on bootstrap samples, the ensemble {how}"

    def _predictions(self) -> str:
        name = OUTCOMES[self.task].concordance_name
        return (
            f"{name} of predictions: {self.agreement:.3g} between refits (standard "
            f"deviation {self.agreement_std:.2g}), {self.agreement_with_rules:.3g} "
            "with these rules"
        )

    def _lengths(self) -> str:
        low, high = min(self.n_rules), max(self.n_rules)
        found = f"{low}" if low == high else f"{low} to {high}"
        return f"rules: {found}, here {self.n_rules_here}"

    def _features(self) -> str:
        used = [f"{name_text(name)} in {n}" for name, n in self.features.items()]
        if len(used) > MOST_FEATURES:
            used[MOST_FEATURES:] = [
                f"{len(used) - MOST_FEATURES} others at most as often"
            ]
        return f"features used: {', '.join(used) or 'none'}"

    def returned_text(self, rule: RuleStability) -> str:
        """Printed share of the refits in which a rule was found again."""
        return (
            f"reproduced in {rule.returned} of {self.n_refits}, "
            f"overlap {rule.overlap:.3g}"
        )

    def _page(self) -> tuple[str, dict[str, Any]]:
        facts = [
            self._heading(),
            self._predictions(),
            self._lengths(),
            self._features(),
        ]
        return "comparison/stability.html", {"found": self, "facts": facts}

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return asdict(self)

    def to_frame(self) -> pd.DataFrame:
        """The rules with their stability, one per row."""
        import pandas as pd

        return pd.DataFrame(list(map(asdict, self.rules)))


class Refit(NamedTuple):
    """Predictions of one refit on the original rows, and its likeness to the rules."""

    predicted: np.ndarray
    overlap: np.ndarray
    features: tuple[str, ...]
    n_rules: int


@warned_once()
@suggests_parameters
def stability(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    sample_weight: Any = None,
    groups: Any = None,
    n_refits: int = 20,
    refit_ensemble: bool = False,
    n_jobs: int | None = None,
    random_state: Any = None,
    verbose: bool = False,
) -> Stability:
    """Measure the stability of rules by refits on bootstrap samples.

    Rules that change with every sample are little evidence about the model, whatever
    their fidelity. The ensemble is held fixed: only the rows on which it is evaluated,
    and the search, vary. Rows that are drawn repeatedly are weighted instead, so that
    they are never in two folds of a cross-validation.

    Parameters
    ----------
    estimator : fitted estimator that finds rules
        Not changed.
    X : array-like or frame of shape (n_samples, n_features)
        Its training rows.
    y : array-like of shape (n_samples,), optional
        Its labels or values.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights used to fit ``estimator``; samples are drawn from rows of positive
        weight.
    groups : array-like of shape (n_samples,), optional
        Group of each row, such as a patient: samples are of whole groups.
    n_refits : int, default=20
        Number of bootstrap samples, at least two.
    refit_ensemble : bool, default=False
        Fit the ensemble on each sample too, to evaluate the whole procedure from data
        to rules. Needs ``y``, and an inner estimator that scikit-learn can clone.
    n_jobs : int, optional
        Number of parallel refits (threads); results do not depend on it.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the samples and of the refits.
    verbose : bool, default=False
        Show progress on stderr.

    Returns
    -------
    Stability

    Raises
    ------
    InputError
        The estimator is not fitted, or cannot be fitted again.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from clearwood import RuleListClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> forest = RandomForestClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> rules = RuleListClassifier(forest, n_rules=3, random_state=0)
    >>> found = stability(rules.fit(X, y), X, y, n_refits=2, random_state=0)
    >>> found.agreement > 0.9, len(found.rules)
    (True, 2)
    """
    rules = _rules_of(estimator)
    if not isinstance(n_refits, Integral) or n_refits < 2:
        raise InputError(f"n_refits is {n_refits!r}; expected a number from 2.")
    encoded = rules.encode(X)
    if len(encoded) == 0:
        raise InputError("Cannot refit on an empty table; pass the training rows.")
    given = check_weight(sample_weight, len(encoded))
    codes = check_groups(groups, len(encoded))
    settings = {
        **estimator.get_params(deep=False),
        "estimator": _inner(estimator, y) if refit_ensemble else estimator.ensemble_,
    }
    # The refits run in parallel, with one progress bar for all.
    quiet = {"n_jobs": 1, "verbose": False}
    settings |= {name: quiet[name] for name in quiet.keys() & settings.keys()}

    def refit(generator: np.random.Generator) -> Refit:
        weight = bootstrap_weight(given, generator, codes)
        again = type(estimator)(**settings)
        again.set_params(random_state=int(generator.integers(2**31)))
        found = again.fit(X, y, sample_weight=weight, groups=groups).rules_
        return _compared(rules, encoded, found, X)

    generators = spawn_generators(random_state, int(n_refits))
    refits = _run(refit, generators, n_jobs, verbose)
    return _summary(rules, encoded, refits, refit_ensemble)


def _rules_of(estimator: Any) -> RuleSet:
    rules = rules_of(estimator)
    if rules is estimator and rules.outcome.estimates_truth:
        raise InputError(
            f"Rules for the task {rules.task} have no estimator that can be refitted; "
            "call simplify on bootstrap samples of the rows."
        )
    if rules is estimator or not hasattr(estimator, "ensemble_"):
        raise InputError(
            f"estimator is {type_text(estimator)}; expected a fitted simplifier, "
            "such as RuleListClassifier."
        )
    return rules


def _inner(estimator: Any, y: Any) -> Any:
    from sklearn.base import clone

    if y is None:
        raise InputError(
            "refit_ensemble=True needs y, which the ensemble is fitted to."
        )
    if needs_fit(estimator.estimator):
        return estimator.estimator
    inner = estimator.estimator_
    try:
        inner = clone(inner)
    except (TypeError, RuntimeError):
        pass
    if not needs_fit(inner):
        raise InputError(
            f"refit_ensemble=True cannot refit {type_text(inner)}; fit the rules "
            "with a scikit-learn estimator that is not frozen, or set "
            "refit_ensemble=False."
        )
    return inner


def _run(
    refit: Any,
    generators: list[np.random.Generator],
    n_jobs: int | None,
    verbose: bool,
) -> list[Refit]:
    """Run all refits in threads; an interrupt keeps those that are completed."""
    from joblib import Parallel, delayed

    parallel = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")
    done: list[Refit] = []
    with warnings.catch_warnings():
        # A refit interrupted by Ctrl-C is discarded.
        warnings.simplefilter("error", InterruptedFitWarning)
        # Warnings valid for every sample were issued when the rules were first found.
        warnings.simplefilter("ignore", PoorFidelityWarning)
        warnings.simplefilter("ignore", UnknownCategoriesWarning)
        warnings.simplefilter("ignore", ClassOrderWarning)
        try:
            finished = parallel(delayed(refit)(g) for g in generators)
            for found in progress(finished, len(generators), "refits", verbose):
                done.append(found)
        except (KeyboardInterrupt, InterruptedFitWarning):
            if len(done) < 2:
                raise KeyboardInterrupt from None
    if len(done) < len(generators):
        warnings.warn(
            f"Interrupted after {len(done)} of {len(generators)} refits; the result "
            "covers these.",
            InterruptedFitWarning,
            stacklevel=users_level(),
        )
    return done


def _compared(rules: RuleSet, encoded: np.ndarray, again: RuleSet, X: Any) -> Refit:
    # Its own encoding: a refitted ensemble may have other categories.
    table = again.encode(X)
    matches = again.matches_encoded(table)
    return Refit(
        again.predictions_by(matches),
        best_overlap(rules, rules.matches_encoded(encoded), again, matches),
        tuple(again.features.names[d] for d in sorted(again.used_features)),
        again.n_rules,
    )


def _summary(
    rules: RuleSet, encoded: np.ndarray, refits: list[Refit], refit_ensemble: bool
) -> Stability:
    predicted = rules.predict_encoded(encoded)
    pairs = pairwise_agreement([found.predicted for found in refits], rules.outcome)
    own = [rules.outcome.concordance(found.predicted, predicted) for found in refits]
    overlap = np.array([found.overlap for found in refits])
    lines = tuple(
        RuleStability(
            i + 1,
            rule.text(rules.features),
            rules.full_text_of(rule),
            float(overlap[:, i].mean()),
            int((overlap[:, i] >= BACK).sum()),
        )
        for i, rule in enumerate(rules.rules)
    )
    counts = Counter(name for found in refits for name in found.features)
    return Stability(
        rules.task,
        len(refits),
        refit_ensemble,
        float(np.mean(pairs)),
        float(np.std(pairs)),
        float(np.mean(own)),
        lines,
        dict(sorted(counts.items(), key=lambda item: (-item[1], item[0]))),
        tuple(found.n_rules for found in refits),
        rules.n_rules,
    )
