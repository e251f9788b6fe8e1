"""Pictures of projections: size against likeness, leaves, neighbourhoods."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from clearwood.exceptions import InputError
from clearwood.plotting.style import COLOURS, QUIET, plain
from clearwood.projection.base import ProjectedRules
from clearwood.projection.local.explanation import LocalExplanation
from clearwood.projection.sizes import SizePath

COVERAGE = (0.9, 0.5)
"""Of the wide and the thick bar of a leaf."""


class SizePathDisplay:
    """How far trees of all sizes are from their reference, and from held-out rows.

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    path : SizePath
    chosen : int
        Leaves of the tree that is printed.

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

    def __init__(self, path: SizePath, *, chosen: int) -> None:
        self.path = path
        self.chosen = chosen

    @classmethod
    def from_estimator(cls, estimator: ProjectedRules) -> SizePathDisplay:
        """Of a fitted ProjectedTreeRegressor or ProjectedTreeClassifier."""
        check_is_fitted(estimator, "size_path_")
        return cls(estimator.size_path_, chosen=estimator.rules_.n_rules)

    def plot(self, ax: Any = None) -> SizePathDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            A new figure by default.

        Returns
        -------
        SizePathDisplay
            Itself, with ``ax_`` and ``figure_``.
        """
        import matplotlib.pyplot as plt
        from matplotlib.ticker import MaxNLocator

        if ax is None:
            _, ax = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
        path = self.path
        ax.axhline(0.0, color=QUIET, linestyle="--", label="the reference")
        ax.plot(
            path.size, path.divergence, "o-", color=COLOURS[0], markersize=4,
            label="divergence on training rows",
        )  # fmt: skip
        if path.held_out is not None and path.standard_error is not None:
            words = {
                "labels": "lost on held-out labels",
                "reference": "divergence on held-out rows",
            }
            ax.fill_between(
                path.size, path.held_out - path.standard_error,
                path.held_out + path.standard_error,
                color=COLOURS[1], alpha=0.2, linewidth=0,
            )  # fmt: skip
            ax.plot(
                path.size, path.held_out, "s-", color=COLOURS[1], markersize=4,
                label=f"{words[path.judged_by]} ± standard error",
            )  # fmt: skip
            ax.axhline(path.tolerance, color=QUIET, linestyle=":", label="tolerance")
        ax.axvline(self.chosen, color=QUIET, linewidth=0.8, label="the tree printed")
        ax.set(xlabel="leaves", ylabel="nats per row")
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.legend(fontsize=9, frameon=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self


class LeavesDisplay:
    """What every leaf of a projected tree says, and how sure the reference is.

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    labels : sequence of str
        The leaves, in words.
    middle : ndarray of shape (n_leaves,)
        What is said.
    inner, outer : ndarray of shape (2, n_leaves)
        Ends of the interval of the mean (or of the probability), over the draws, and
        of an observation; the latter NaN for classes.
    what : str
        Name of the axis.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    """

    def __init__(
        self,
        labels: list[str],
        middle: np.ndarray,
        inner: np.ndarray,
        outer: np.ndarray,
        what: str,
    ) -> None:
        self.labels, self.middle = labels, middle
        self.inner, self.outer, self.what = inner, outer, what

    @classmethod
    def from_estimator(
        cls, estimator: ProjectedRules, label: Any = None
    ) -> LeavesDisplay:
        """Of a fitted ProjectedTreeRegressor or ProjectedTreeClassifier.

        Parameters
        ----------
        estimator : ProjectedTreeRegressor or ProjectedTreeClassifier
        label : optional
            The class whose probability is shown; by default the last one.

        Examples
        --------
        >>> import matplotlib; matplotlib.use("agg")
        >>> from sklearn.datasets import load_iris
        >>> from clearwood import LeavesDisplay, ProjectedTreeClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> tree = ProjectedTreeClassifier(max_leaf_nodes=3, random_state=0).fit(X, y)
        >>> LeavesDisplay.from_estimator(tree, label=1).plot().ax_.get_xlabel()
        'probability of 1'
        """
        check_is_fitted(estimator, "leaves_")
        rules, leaves = estimator.rules_, estimator.leaves_
        texts = [rule.text(rules.features) for rule in rules.rules] + ["otherwise"]
        outer_ends = [0.5 - COVERAGE[0] / 2, 0.5 + COVERAGE[0] / 2]
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
        return cls(texts, means.mean(axis=0), inner, outer, what)

    def plot(self, ax: Any = None) -> LeavesDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            A new figure by default.

        Returns
        -------
        LeavesDisplay
            Itself, with ``ax_`` and ``figure_``.
        """
        import textwrap

        import matplotlib.pyplot as plt

        n = len(self.labels)
        if ax is None:
            _, ax = plt.subplots(figsize=(7.2, 1.8 + 0.5 * n), layout="constrained")
        places = np.arange(n)[::-1]
        if np.isfinite(self.outer).all():
            ax.hlines(
                places, *self.outer, color=COLOURS[0], linewidth=1.5,
                label=f"an observation, {COVERAGE[0]:.0%}",
            )  # fmt: skip
        ax.hlines(
            places, *self.inner, color=COLOURS[1], linewidth=6,
            label=f"its mean, {COVERAGE[0]:.0%} of the draws",
        )  # fmt: skip
        ax.plot(self.middle, places, "o", color="black", markersize=3, label="mean")
        lines = [plain(textwrap.fill(label, 42)) for label in self.labels]
        ax.set_yticks(places, lines, fontsize=9)
        ax.set_ylim(-0.7, n - 0.3)
        ax.set_xlabel(plain(self.what))
        ax.legend(
            fontsize=8, frameon=False, loc="lower right",
            bbox_to_anchor=(1.0, 1.0),
        )  # fmt: skip
        self.ax_, self.figure_ = ax, ax.figure
        return self


class LocalDisplay:
    """A local explanation beside its neighbourhood.

    What the reference says of neighbours is drawn against the feature that matters
    most, beside what the proxy says there.

    Parameters
    ----------
    explanation : LocalExplanation
    feature : str, optional
        The feature on the axis; by default the one that most draws ask.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import matplotlib; matplotlib.use("agg")
    >>> import numpy as np
    >>> from sklearn.linear_model import BayesianRidge
    >>> from clearwood import LocalDisplay, explain_local, reference
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> ref = reference(BayesianRidge().fit(X, 2 * X[:, 1]), random_state=0)
    >>> found = explain_local(ref, X[0], X, n_neighbours=64)
    >>> LocalDisplay(found).plot().ax_.get_xlabel()
    'x1'
    """

    def __init__(
        self, explanation: LocalExplanation, feature: str | None = None
    ) -> None:
        self.explanation = explanation
        names = explanation.features.names
        if feature is None:
            feature = next(iter(explanation.selected), names[0])
        if feature not in names:
            raise InputError(f"feature={feature!r} is none of {list(names)}.")
        self.feature = feature

    def plot(self, ax: Any = None) -> LocalDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            A new figure by default.

        Returns
        -------
        LocalDisplay
            Itself, with ``ax_`` and ``figure_``.
        """
        import matplotlib.pyplot as plt

        if ax is None:
            _, ax = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
        found = self.explanation
        d = found.features.names.index(self.feature)
        at = found.neighbours[:, d]
        labels = found.features.categories[d]
        places = at if labels is None else at + np.linspace(-0.2, 0.2, len(at))
        look: dict[str, Any] = {"markersize": 2.5, "alpha": 0.5, "linestyle": ""}
        ax.plot(
            places, found.answers, marker="o", color=COLOURS[0],
            label="reference, of neighbours", **look,
        )  # fmt: skip
        ax.plot(
            places, found.proxy_answers, marker="s", color=COLOURS[1],
            label="proxy, of the same", **look,
        )  # fmt: skip
        ax.errorbar(
            [found.row[d]], [found.said], yerr=[found.spread], fmt="D", color="black",
            capsize=3, label="reference here ± sd of its draws",
        )  # fmt: skip
        if labels is not None:
            ax.set_xticks(range(len(labels)), [plain(str(label)) for label in labels])
        ax.set(xlabel=plain(self.feature), ylabel=plain(found.what))
        ax.set_title(f"fidelity on other neighbours {found.fidelity:.2f}", fontsize=10)
        ax.legend(fontsize=8, frameon=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self
