"""Plots of projections: divergence by size, leaves, neighbourhoods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from clearwood._words.numbers import probability_text, short_text
from clearwood.charts.chart import Chart
from clearwood.charts.display import Display, axes_of
from clearwood.charts.style import COLOURS, plain, wrapped
from clearwood.exceptions import InputError
from clearwood.outcomes.survival import survival_of
from clearwood.projection.base import ProjectedRules
from clearwood.projection.local.explanation import LocalExplanation
from clearwood.projection.reading.section import has_common_variance
from clearwood.projection.reading.size_chart import (
    Measure,
    held_out_measure,
    panel_of,
)
from clearwood.projection.sizes import SizePath, Words

TREE = Words("tree", "leaf", "leaves")

COVERAGE = 0.9
"""Coverage of the error bars of a leaf."""

MAX_DISCRETE = 12
"""Maximum number of integer values of a feature that are drawn side by side."""


@dataclass(eq=False, repr=False)
class SizePathDisplay(Display):
    """Plot of the divergence from the reference, and of held-out loss, by size.

    Make one with :meth:`from_estimator`. A loss of 0.05 nats per row means that
    outcomes get about 5 % less probability.

    Parameters
    ----------
    path : SizePath
    chosen : int
        Number of leaves of the printed tree, or of rules of the list.
    words : Words
        Names of these.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import matplotlib; matplotlib.use("agg")
    >>> import numpy as np
    >>> from clearwood.projection.sizes import SizePath
    >>> path = SizePath(np.array([1, 2]), np.array([-2.0, -1.5]), np.array([0.6, 0.1]))
    >>> SizePathDisplay(path, chosen=2).plot().ax_.get_xlabel()
    'leaves'
    """

    path: SizePath
    chosen: int
    words: Words = TREE

    @classmethod
    def from_estimator(
        cls, estimator: ProjectedRules, *, ax: Any = None
    ) -> SizePathDisplay:
        """Plot a fitted ProjectedTreeRegressor or ProjectedTreeClassifier.

        Parameters
        ----------
        estimator : ProjectedTreeRegressor or ProjectedTreeClassifier
        ax : matplotlib Axes, optional
            A new figure by default.

        Returns
        -------
        SizePathDisplay
        """
        check_is_fitted(estimator, "size_path_")
        return cls(
            estimator.size_path_,
            chosen=estimator.rules_.n_rules,
            words=estimator._words,
        ).plot(ax)

    @classmethod
    def of_result(cls, result: Any, /) -> Self:
        """Display of a result."""
        return cls(result, result.chosen(None))

    def chart(self) -> Chart:
        """Chart of the training rows, and of held-out rows if there are any."""
        path = self.path
        name = "training rows: divergence from the reference"
        measures = [Measure(name, "first", path.divergence, None, ())]
        held_out = held_out_measure(path)
        if held_out is None:
            levels = ((0.0, "equal to the reference"),)
            measures = [measures[0]._replace(levels=levels)]
        else:
            names = {
                "labels": "held-out rows: excess log loss over the reference",
                "reference": "held-out rows: divergence from the reference",
            }
            name = f"{names[path.evaluated_on]}\n(shaded: ± one standard error)"
            measures.append(held_out._replace(name=name))
        name = "loss relative to the reference (nats per row)"
        panel = panel_of(measures, path, self.chosen, self.words, name)
        return Chart("Loss by size", [panel])


@dataclass(eq=False, repr=False)
class LeavesDisplay(Display):
    """Plot of the leaves of a projected tree, or the rules of a projected list.

    With the uncertainty of the reference.

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    labels : sequence of str
        Printed leaves.
    predictions : ndarray of shape (n_leaves,)
    mean_interval, observation_interval : ndarray of shape (2, n_leaves)
        Ends of the interval of the mean (or of the probability, or the survival at a
        horizon), over the draws, and of an observation; the latter NaN for classes and
        survival.
    quantity : str
        Label of the axis.
    draws_label : str or None
        Description of the interval of the mean; None where there is one draw, and the
        uncertainty of the reference is unknown.
    observations_label : str, default="new observations"
        Description of the interval of an observation.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    """

    labels: list[str]
    predictions: np.ndarray
    mean_interval: np.ndarray
    observation_interval: np.ndarray
    quantity: str
    draws_label: str | None = "draws of the reference"
    observations_label: str = "new observations"

    @classmethod
    def from_estimator(
        cls, estimator: ProjectedRules, label: Any = None, *, ax: Any = None
    ) -> LeavesDisplay:
        """Plot a fitted projected tree or rule list.

        Parameters
        ----------
        estimator : ProjectedTreeRegressor, ProjectedTreeClassifier, \
ProjectedTreeSurvival, ProjectedRuleListRegressor or ProjectedRuleListClassifier
        label : optional
            Class whose probability is shown, or horizon; by default the last one.
        ax : matplotlib Axes, optional
            A new figure by default.

        Examples
        --------
        >>> import matplotlib; matplotlib.use("agg")
        >>> from sklearn.datasets import load_iris
        >>> from clearwood import ProjectedTreeClassifier
        >>> from clearwood.projection import LeavesDisplay
        >>> X, y = load_iris(return_X_y=True)
        >>> tree = ProjectedTreeClassifier(n_leaf_nodes=3, random_state=0).fit(X, y)
        >>> LeavesDisplay.from_estimator(tree, label=1).ax_.get_xlabel()
        'probability of 1'
        """
        check_is_fitted(estimator, "leaves_")
        rules, leaves = estimator.rules_, estimator.leaves_
        texts = [rule.text(rules.features) for rule in rules.rules] + ["otherwise"]
        labels = [
            f"{i}. {text} ({100 * share:.0f} % of the training rows)"
            for i, (text, share) in enumerate(zip(texts, leaves.share), start=1)
        ]
        ends = [0.5 - COVERAGE / 2, 0.5 + COVERAGE / 2]
        means, quantity = leaves.means, rules.target
        observations = None
        if means.ndim == 3:
            kind, words, shown = "horizons", "survival at", [*rules.outcome.horizons]
            if shown:
                means = survival_of(means)
            else:
                kind, words, shown = "classes", "probability of", [*rules.classes]
            label = shown[-1] if label is None else label
            if label not in shown:
                raise InputError(f"label={label!r} is none of the {kind} {shown}.")
            means, quantity = means[:, :, shown.index(label)], f"{words} {label}"
        else:
            predictive = leaves.predictive(np.arange(len(leaves.share)))
            observations = np.stack([predictive.quantile(end) for end in ends])
        interval = np.quantile(means, ends, axis=0)
        if observations is None:
            observations = np.full(interval.shape, np.nan)
        draws_label = "draws of the reference"
        if not estimator.reference_.is_posterior:
            draws_label += " (not a posterior)"
        observations_label = "new observations"
        if has_common_variance(leaves):
            observations_label += f"\nin all {estimator._words.lines} together"
        return cls(
            labels, means.mean(axis=0), interval, observations, quantity,
            draws_label if len(means) > 1 else None, observations_label,
        ).plot(ax)  # fmt: skip

    def _draw(self, ax: Any) -> list[Any]:
        n = len(self.labels)
        lines = [_in_lines(label) for label in self.labels]
        n_lines = sum(line.count("\n") + 2.0 for line in lines)
        ax = axes_of(ax, 7.2, 1.2 + 0.15 * n_lines)
        heights, share = np.arange(n)[::-1], f"{100 * COVERAGE:g} %"
        is_value = bool(np.isfinite(self.observation_interval).all())
        if is_value:
            ax.hlines(
                heights, *self.observation_interval, color=COLOURS[0], linewidth=1.5,
                label=f"{share} of {self.observations_label}",
            )  # fmt: skip
        else:  # Probabilities have the whole range.
            ax.set_xlim(-0.05, 1.05)
        if self.draws_label is not None:
            ax.hlines(
                heights, *self.mean_interval, color=COLOURS[1], linewidth=6,
                label=f"{share} of the {self.draws_label}",
            )  # fmt: skip
        ax.plot(
            self.predictions, heights, "o", color="black", markersize=4,
            label="prediction of the leaf",
        )  # fmt: skip
        number = short_text if is_value else probability_text
        for value, height in zip(self.predictions.tolist(), heights):
            ax.annotate(
                number(value), (value, height), xytext=(0, 6), ha="center",
                textcoords="offset points", fontsize=8,
            )  # fmt: skip
        ax.set_yticks(heights, lines, fontsize=8)
        ax.set_ylim(-0.7, n - 0.3)
        ax.set_xlabel(plain(self.quantity))
        ax.legend(
            fontsize=8, frameon=False, loc="lower right", ncols=3,
            bbox_to_anchor=(1.0, 1.0),
        )  # fmt: skip
        return [ax]


def _in_lines(label: str) -> str:
    """Wrap the text of a leaf, between conditions where possible."""
    *first, last = label.split(" and ")
    pieces = [*(f"{piece} and" for piece in first), *last.rsplit(" (", 1)[:1]]
    share = last.rsplit(" (", 1)[1:]
    lines = wrapped([*pieces, *(f"({text}" for text in share)], 40, len)
    return plain(*lines)


@dataclass(eq=False, repr=False)
class LocalDisplay(Display):
    """Plot of a local explanation over its neighbourhood.

    Predictions of the reference for the neighbours are drawn against the most important
    feature, together with those of the proxy.

    Parameters
    ----------
    explanation : LocalExplanation
    feature : str, optional
        The feature on the axis; by default the one used in most draws.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import matplotlib; matplotlib.use("agg")
    >>> import numpy as np
    >>> from sklearn.linear_model import BayesianRidge
    >>> from clearwood import explain_local, reference
    >>> from clearwood.projection import LocalDisplay
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> ref = reference(BayesianRidge().fit(X, 2 * X[:, 1]), random_state=0)
    >>> found = explain_local(ref, X[0], X, n_neighbours=64)
    >>> LocalDisplay(found).plot().ax_.get_xlabel()
    'x1'
    """

    explanation: LocalExplanation
    feature: str | None = None

    def __post_init__(self) -> None:
        names = self.explanation.features.names
        if self.feature is None:
            self.feature = next(iter(self.explanation.inclusion_frequency), names[0])
        if self.feature not in names:
            raise InputError(f"feature={self.feature!r} is none of {list(names)}.")

    def _draw(self, ax: Any) -> list[Any]:
        ax = axes_of(ax, 6.4, 4.0)
        found = self.explanation
        d = found.features.names.index(self.feature)
        values, labels = found.neighbours[:, d], found.features.categories[d]
        # With few possible values, points of one value are drawn side by side.
        is_discrete = labels is not None or _is_discrete(values)
        x = values + np.linspace(-0.2, 0.2, len(values)) if is_discrete else values
        look: dict[str, Any] = {"markersize": 2.5, "alpha": 0.5, "linestyle": ""}
        ax.plot(
            x, found.reference_predictions, marker="o", color=COLOURS[0],
            label="reference, for the neighbours", **look,
        )  # fmt: skip
        ax.plot(
            x, found.proxy_predictions, marker="s", color=COLOURS[1],
            label="proxy, for the neighbours", **look,
        )  # fmt: skip
        # A single draw has no uncertainty.
        std, label = None, "reference, for this row"
        if found.n_draws > 1:
            std, label = [found.std], f"{label} ± sd of its draws"
        bar: dict[str, Any] = {"markeredgecolor": "black", "capsize": 3, "zorder": 3}
        ax.errorbar(
            [found.row[d]], [found.predicted], yerr=std, fmt="D", color="black",
            label=label, **bar,
        )  # fmt: skip
        ax.errorbar(
            [found.row[d]], [found.proxy_predicted], yerr=[found.monte_carlo_error],
            fmt="s", color=COLOURS[1], label="proxy, for this row", **bar,
        )  # fmt: skip
        if labels is not None:
            ax.set_xticks(range(len(labels)), [plain(str(label)) for label in labels])
        elif is_discrete:
            ax.set_xticks(np.unique(values[np.isfinite(values)]))
        ax.set(xlabel=plain(str(self.feature)), ylabel=plain(found.quantity))
        ax.legend(
            title=f"fidelity (R²) on held-out neighbours: {found.fidelity:.2f}",
            title_fontsize=9, fontsize=8, frameon=False, ncols=2, loc="lower left",
            bbox_to_anchor=(0.0, 1.0), alignment="left", markerscale=1.2,
        )  # fmt: skip
        return [ax]


def _is_discrete(values: np.ndarray) -> bool:
    distinct = np.unique(values[np.isfinite(values)])
    is_whole = bool((distinct == np.round(distinct)).all())
    return len(distinct) <= MAX_DISCRETE and is_whole
