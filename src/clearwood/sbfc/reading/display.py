"""Pictures: the feature graph, and features by their probability of being signal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from clearwood._words.labels import printable
from clearwood._words.numbers import probability_text
from clearwood.charts.display import Display, axes_of
from clearwood.charts.style import COLOURS, QUIET, plain, text_width, wrapped
from clearwood.charts.table import Text, closed, draw_texts, measures, opened
from clearwood.columns.info import shown_names
from clearwood.exceptions import InputError
from clearwood.sampling.diagnostics import Diagnosis, diagnose
from clearwood.sbfc.graphs import FeatureForest
from clearwood.sbfc.reading.feature_graph import (
    CUTOFF,
    FeatureGraph,
    average_graph,
    check_classifier,
    single_graph,
)
from clearwood.sbfc.reading.graph_layout import GraphLayout, lay_out_graph

DARKEST = 0.55
"""Of the colour in the box of a sure feature: black letters stay readable on it."""

LONGEST_NAME = 40
"""Letters of a name beside a bar."""


@dataclass(eq=False, repr=False)
class FeatureGraphDisplay(Display):
    """Features as boxes, and lines between those that depend on each other.

    Of a posterior: boxes are shaded by the probability that a feature is signal, lines
    are as wide as their edge is probable, and edges of little probability are left out.
    With more than 30 features only those are named that are signal with a probability
    of 0.1 or more; the others are small, or not shown where they have no edge. Every
    tree stands from left to right, the most probable features come first.

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    graph : FeatureGraph

    Attributes
    ----------
    ax_ : matplotlib Axes
        Its units are points.
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import matplotlib; matplotlib.use("agg")
    >>> from clearwood import FeatureGraphDisplay, SelectiveBayesianForestClassifier
    >>> from clearwood.datasets import make_corral
    >>> X, y = make_corral(n_noise=2, random_state=0)
    >>> forest = SelectiveBayesianForestClassifier(random_state=0).fit(X, y)
    >>> display = FeatureGraphDisplay.from_estimator(forest).plot()
    >>> sorted(sorted(edge[:2]) for edge in display.graph.edges[:2])
    [[0, 1], [2, 3]]
    """

    graph: FeatureGraph

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        cutoff: float = CUTOFF,
        graph: FeatureForest | None = None,
    ) -> FeatureGraphDisplay:
        """The average over the posterior, or one graph.

        Parameters
        ----------
        estimator : SelectiveBayesianForestClassifier
            Fitted.
        cutoff : float, default=0.1
            Least probability of an edge that is shown.
        graph : FeatureForest, optional
            One graph in place of the average: ``estimator.best_graph_``, or one of
            ``estimator.graphs_``.

        Returns
        -------
        FeatureGraphDisplay
        """
        names = shown_names(check_classifier(estimator).levels_.features)
        if not 0 < cutoff <= 1:
            raise InputError(f"cutoff is {cutoff!r}; expected above 0, and at most 1.")
        if graph is None:
            return cls(average_graph(estimator, cutoff))
        if not isinstance(graph, FeatureForest):
            raise InputError(
                f"graph is a {type(graph).__name__}; hand in a FeatureForest, such as "
                "estimator.best_graph_."
            )
        if len(graph.signal) != len(names):
            raise InputError(
                f"graph has {len(graph.signal)} features, the estimator {len(names)}; "
                "hand in one of its own graphs."
            )
        return cls(single_graph(names, graph))

    def _draw(self, ax: Any) -> list[Any]:
        ax, place = opened(ax, self._lay_out)
        _draw_links(ax, place)
        for box in place.boxes:
            _draw_box(ax, box, float(self.graph.signal[box.feature]), place.size)
        lines = _note_lines(self.graph.notes, place.width, place.size)
        first = place.height - NOTE * place.size * (len(lines) - 0.5)
        notes = [
            Text(0.0, first + NOTE * place.size * i, line, quiet=True, small=True)
            for i, line in enumerate(lines)
        ]
        draw_texts(ax, notes, place.size)
        closed(ax)
        return [ax]

    def _lay_out(self, width: float, size: float) -> GraphLayout:
        found = lay_out_graph(self.graph, width, size, text_width)
        lines = _note_lines(self.graph.notes, found.width, found.size)
        below = NOTE * found.size * (len(lines) + 1)
        return found._replace(height=found.height + below)


NOTE = 1.3
"""Height of a line of the notes, over the size of letters."""


def _note_lines(notes: Sequence[str], width: float, size: float) -> list[str]:
    *_, measure = measures(size)
    return [line for note in notes for line in wrapped(note.split(" "), width, measure)]


def _draw_links(ax: Any, place: GraphLayout) -> None:
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    codes = [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4]
    for link in place.links:
        curve = PathPatch(
            Path(link.points, codes), fill=False, edgecolor="#465264", zorder=1,
            clip_on=False,
            linewidth=(0.4 + 3.0 * link.probability) * place.size / 9.5,
        )  # fmt: skip
        ax.add_patch(curve)


def _draw_box(ax: Any, box: Any, p: float, size: float) -> None:
    from matplotlib.colors import to_rgb
    from matplotlib.patches import FancyBboxPatch

    share = DARKEST * p
    fill = share * np.array(to_rgb(COLOURS[0])) + (1 - share)
    corner = 0.3 * size
    left, top = box.x - box.width / 2, box.y - box.height / 2
    ax.add_patch(
        FancyBboxPatch(
            (left, top), box.width, box.height, facecolor=fill, edgecolor=QUIET,
            boxstyle=f"round,pad=0,rounding_size={corner}", linewidth=0.8, zorder=2,
            clip_on=False,
        )
    )  # fmt: skip
    first = box.y - 0.5 * LINE * size * (len(box.lines) - 1)
    for i, line in enumerate(box.lines):
        ax.text(
            box.x, first + LINE * size * i, plain(line), ha="center", zorder=3,
            va="center_baseline", fontsize=size,
        )  # fmt: skip


LINE = 1.25
"""Height of a line in a box, over the size of letters."""


class SignalDisplay(Display):
    """How probably each feature is signal, the most probable first.

    Where chains have drawn which features are signal, a thin line is two standard
    errors of the share of these draws to both sides; the probability itself, which
    averages over more than the draws, is known at least as well. In exact mode it has
    no error. A classifier from a file keeps no draws, so that its lines are missing.

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    names : sequence of str
    probability : array-like
    error : array-like
        Monte Carlo standard errors; 0 where there are none.
    n_left_out : int, default=0
        Less probable features that are not shown.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import matplotlib; matplotlib.use("agg")
    >>> display = SignalDisplay(["age", "hue"], [0.98, 0.1], [0.01, 0.02]).plot()
    >>> display.ax_.get_xlabel()
    'probability of being signal'
    """

    def __init__(
        self,
        names: Sequence[str],
        probability: ArrayLike,
        error: ArrayLike,
        n_left_out: int = 0,
    ) -> None:
        self.names = tuple(names)
        self.probability = np.asarray(probability, dtype=float)
        self.error = np.asarray(error, dtype=float)
        self.n_left_out = n_left_out

    @classmethod
    def from_estimator(cls, estimator: Any, *, most: int = 30) -> SignalDisplay:
        """The features of a fitted classifier.

        Parameters
        ----------
        estimator : SelectiveBayesianForestClassifier
            Fitted.
        most : int, default=30
            Features that are shown.

        Returns
        -------
        SignalDisplay
        """
        p = check_classifier(estimator).signal_probability_
        order = np.argsort(-p, kind="stable")[: max(most, 1)]
        names = shown_names(estimator.levels_.features)
        said = signal_diagnoses(estimator, order.tolist())
        error = [0.0 if one is None else one.mcse for one in said]
        return cls([names[j] for j in order], p[order], error, len(p) - len(order))

    def _draw(self, ax: Any) -> list[Any]:
        n = len(self.names)
        ax = axes_of(ax, 6.4, 1.2 + 0.24 * n)
        places = np.arange(n)[::-1]
        ax.barh(places, self.probability, height=0.62, color=COLOURS[0], alpha=0.6)
        moves = self.error > 0
        ends = np.array([self.probability, 1 - self.probability])
        reach = np.minimum(2 * self.error, np.maximum(ends, 0.0))[:, moves]
        ax.errorbar(
            self.probability[moves], places[moves], xerr=reach, fmt="none",
            ecolor="black", elinewidth=1.2, capsize=2.5,
        )  # fmt: skip
        for place, p, e in zip(places, self.probability, self.error):
            x = min(p + 2 * e, 1.0) + 0.015
            ax.text(x, place, probability_text(float(p)), va="center", fontsize=8)
        names = [_short(printable(name)) for name in self.names]
        ax.set_yticks(places, [plain(name) for name in names], fontsize=9)
        ax.set(xlim=(0, 1.12), ylim=(-0.7, n - 0.3))
        ax.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "0.25", "0.5", "0.75", "1"])
        ax.set_xlabel("probability of being signal")
        if self.n_left_out:
            said = f"the first {n} of {n + self.n_left_out:,} features"
            ax.set_title(said, fontsize=9, color=QUIET, loc="left")
        return [ax]


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"


def signal_diagnoses(estimator: Any, features: Sequence[int]) -> list[Diagnosis | None]:
    """What chains say of the share of draws in which features are signal.

    Returns
    -------
    list of Diagnosis or None
        None where all draws say the same, or there are no chains.
    """
    if estimator.chains_ is None:
        return [None] * len(features)
    draws = estimator.chains_.draws["signal"]
    varies = np.flatnonzero(estimator.levels_.n_levels > 1)
    place = {int(j): i for i, j in enumerate(varies)}
    found: list[Diagnosis | None] = []
    for j in features:
        own = draws[..., place[j]] if j in place else np.zeros(1)
        moves = own.any() and not own.all()
        found.append(diagnose(own.astype(float)) if moves else None)
    return found
