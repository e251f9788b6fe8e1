"""Plots of projections: divergence by size, leaves, neighbourhoods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from clearwood._words.numbers import probability_text, short_text
from clearwood.charts.chart import Chart
from clearwood.charts.display import Display, axes_of
from clearwood.charts.style import COLOURS, plain, wrapped
from clearwood.exceptions import InputError
from clearwood.projection.base import ProjectedRules
from clearwood.projection.local.explanation import LocalExplanation
from clearwood.projection.reading.section import have_one_variance
from clearwood.projection.reading.size_chart import (
    Measure,
    held_out_measure,
    panel_of,
)
from clearwood.projection.sizes import SizePath, Words

TREE = Words("tree", "leaf", "leaves")

COVERAGE = 0.9
"""Coverage of the error bars of a leaf."""

MOST_WHOLE = 12
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
    def from_estimator(cls, estimator: ProjectedRules) -> SizePathDisplay:
        """Plot a fitted ProjectedTreeRegressor or ProjectedTreeClassifier."""
        check_is_fitted(estimator, "size_path_")
        return cls(
            estimator.size_path_,
            chosen=estimator.rules_.n_rules,
            words=estimator._words,
        )

    def chart(self) -> Chart:
        """Chart of the training rows, and of held-out rows if there are any."""
        path = self.path
        of_training = "training rows: divergence from the reference"
        measures = [Measure(of_training, "first", path.divergence, None, ())]
        held_out = held_out_measure(path)
        if held_out is None:
            levels = ((0.0, "as good as the reference"),)
            measures = [measures[0]._replace(levels=levels)]
        else:
            what = {
                "labels": "held-out rows: loss in predicting what was observed",
                "reference": "held-out rows: divergence from the reference",
            }
            name = f"{what[path.judged_by]}\n(shaded: ± a standard error)"
            measures.append(held_out._replace(name=name))
        name = "worse than the reference (nats per row)"
        panel = panel_of(measures, path, self.chosen, self.words, name)
        return Chart("How good all sizes are", [panel])


@dataclass(eq=False, repr=False)
class LeavesDisplay(Display):
    """Plot of the leaves of a projected tree with the uncertainty of the reference.

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    labels : sequence of str
        Printed leaves.
    middle : ndarray of shape (n_leaves,)
        Predictions.
    inner, outer : ndarray of shape (2, n_leaves)
        Ends of the interval of the mean (or of the probability), over the draws, and of
        an observation; the latter NaN for classes.
    what : str
        Label of the axis.
    draws : str or None
        Description of the inner interval; None where there is one draw, and the
        uncertainty of the reference is unknown.
    cases : str, default="new cases"
        Description of the outer interval.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    """

    labels: list[str]
    middle: np.ndarray
    inner: np.ndarray
    outer: np.ndarray
    what: str
    draws: str | None = "draws of the reference"
    cases: str = "new cases"

    @classmethod
    def from_estimator(
        cls, estimator: ProjectedRules, label: Any = None
    ) -> LeavesDisplay:
        """Plot a fitted ProjectedTreeRegressor or ProjectedTreeClassifier.

        Parameters
        ----------
        estimator : ProjectedTreeRegressor or ProjectedTreeClassifier
        label : optional
            Class whose probability is shown; by default the last one.

        Examples
        --------
        >>> import matplotlib; matplotlib.use("agg")
        >>> from sklearn.datasets import load_iris
        >>> from clearwood import ProjectedTreeClassifier
        >>> from clearwood.projection import LeavesDisplay
        >>> X, y = load_iris(return_X_y=True)
        >>> tree = ProjectedTreeClassifier(n_leaf_nodes=3, random_state=0).fit(X, y)
        >>> LeavesDisplay.from_estimator(tree, label=1).plot().ax_.get_xlabel()
        'probability of 1'
        """
        check_is_fitted(estimator, "leaves_")
        rules, leaves = estimator.rules_, estimator.leaves_
        texts = [rule.text(rules.features) for rule in rules.rules] + ["otherwise"]
        labels = [
            f"{i}. {text} ({100 * share:.0f} % of the training rows)"
            for i, (text, share) in enumerate(zip(texts, leaves.share), start=1)
        ]
        outer_ends = [0.5 - COVERAGE / 2, 0.5 + COVERAGE / 2]
        means, outer = leaves.means, None
        what = rules.target
        if means.ndim == 3:
            classes = estimator.classes_.tolist()
            label = classes[-1] if label is None else label
            if label not in classes:
                raise InputError(f"label={label!r} is none of the classes {classes}.")
            means, what = means[:, :, classes.index(label)], f"probability of {label}"
        else:
            said = leaves.answers(np.arange(len(leaves.share)))
            outer = np.stack([said.quantile(share) for share in outer_ends])
        inner = np.quantile(means, outer_ends, axis=0)
        if outer is None:
            outer = np.full(inner.shape, np.nan)
        draws = "draws of the reference"
        if not estimator.reference_.is_posterior:
            draws += ", which are no posterior"
        told = draws if len(means) > 1 else None
        cases = "new cases"
        if have_one_variance(leaves):
            cases += f"\nof all {estimator._words.lines} together"
        return cls(labels, means.mean(axis=0), inner, outer, what, told, cases)

    def _draw(self, ax: Any) -> list[Any]:
        n = len(self.labels)
        lines = [_in_lines(label) for label in self.labels]
        n_lines = sum(line.count("\n") + 2.0 for line in lines)
        ax = axes_of(ax, 7.2, 1.2 + 0.15 * n_lines)
        places, share = np.arange(n)[::-1], f"{100 * COVERAGE:g} %"
        has_cases = bool(np.isfinite(self.outer).all())
        if has_cases:
            ax.hlines(
                places, *self.outer, color=COLOURS[0], linewidth=1.5,
                label=f"{share} of {self.cases}",
            )  # fmt: skip
        else:  # Probabilities have the whole range.
            ax.set_xlim(-0.05, 1.05)
        if self.draws is not None:
            ax.hlines(
                places, *self.inner, color=COLOURS[1], linewidth=6,
                label=f"{share} of the {self.draws}",
            )  # fmt: skip
        ax.plot(
            self.middle, places, "o", color="black", markersize=4,
            label="what the leaf says",
        )  # fmt: skip
        number = short_text if has_cases else probability_text
        for value, place in zip(self.middle.tolist(), places):
            ax.annotate(
                number(value), (value, place), xytext=(0, 6), ha="center",
                textcoords="offset points", fontsize=8,
            )  # fmt: skip
        ax.set_yticks(places, lines, fontsize=8)
        ax.set_ylim(-0.7, n - 0.3)
        ax.set_xlabel(plain(self.what))
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
            self.feature = next(iter(self.explanation.selected), names[0])
        if self.feature not in names:
            raise InputError(f"feature={self.feature!r} is none of {list(names)}.")

    def _draw(self, ax: Any) -> list[Any]:
        ax = axes_of(ax, 6.4, 4.0)
        found = self.explanation
        d = found.features.names.index(self.feature)
        at, labels = found.neighbours[:, d], found.features.categories[d]
        # With few possible values, points of one value are drawn side by side.
        whole = labels is not None or _few_whole(at)
        places = at + np.linspace(-0.2, 0.2, len(at)) if whole else at
        look: dict[str, Any] = {"markersize": 2.5, "alpha": 0.5, "linestyle": ""}
        ax.plot(
            places, found.answers, marker="o", color=COLOURS[0],
            label="reference, of neighbours", **look,
        )  # fmt: skip
        ax.plot(
            places, found.proxy_answers, marker="s", color=COLOURS[1],
            label="proxy, of the same", **look,
        )  # fmt: skip
        # A single draw has no uncertainty.
        many = found.n_draws > 1
        here: dict[str, Any] = {"markeredgecolor": "black", "capsize": 3, "zorder": 3}
        ax.errorbar(
            [found.row[d]], [found.said], yerr=[found.spread] if many else None,
            fmt="D", color="black",
            label=f"reference, of this row{' ± sd of its draws' * many}", **here,
        )  # fmt: skip
        ax.errorbar(
            [found.row[d]], [found.proxy], yerr=[found.monte_carlo_error], fmt="s",
            color=COLOURS[1], label="proxy, of this row", **here,
        )  # fmt: skip
        if labels is not None:
            ax.set_xticks(range(len(labels)), [plain(str(label)) for label in labels])
        elif whole:
            ax.set_xticks(np.unique(at[np.isfinite(at)]))
        ax.set(xlabel=plain(str(self.feature)), ylabel=plain(found.what))
        ax.legend(
            title=f"fidelity on other neighbours {found.fidelity:.2f} (1 is perfect)",
            title_fontsize=9, fontsize=8, frameon=False, ncols=2, loc="lower left",
            bbox_to_anchor=(0.0, 1.0), alignment="left", markerscale=1.2,
        )  # fmt: skip
        return [ax]


def _few_whole(values: np.ndarray) -> bool:
    found = np.unique(values[np.isfinite(values)])
    return len(found) <= MOST_WHOLE and bool((found == np.round(found)).all())
