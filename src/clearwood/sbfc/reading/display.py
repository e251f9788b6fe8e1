"""Pictures: the feature graph, and features by their probability of being signal."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from clearwood._words.labels import printable, type_text
from clearwood._words.numbers import probability_text
from clearwood.charts.chart import Chart
from clearwood.charts.display import Display, axes_of
from clearwood.charts.marks import Linked, Mark
from clearwood.charts.shapes import Shape, TextLine, box, drawing
from clearwood.charts.style import COLOURS, QUIET, plain
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
from clearwood.sbfc.reading.graph_layout import FeatureBox, Measure, lay_out_graph

WIDTH, LETTERS, AROUND, LINE = 860.0, 13.0, 4.0, 1.25
"""Of the graph and its letters, free space around it, in pixels of a wide screen, and
height of a line over the size of letters."""
DARKEST, EDGE = 0.5, "#465264"
"""Of the colour in the box of a sure feature: black letters stay readable on it; and
the colour of edges in matplotlib."""

LONGEST_NAME = 40
"""Letters of a name next to a bar."""


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
    >>> from clearwood import SelectiveBayesianForestClassifier
    >>> from clearwood.sbfc import FeatureGraphDisplay
    >>> from clearwood.datasets import make_corral
    >>> X, y = make_corral(n_noise=2, random_state=0)
    >>> forest = SelectiveBayesianForestClassifier(random_state=0).fit(X, y)
    >>> display = FeatureGraphDisplay.from_estimator(forest)
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
        ax: Any = None,
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
        ax : matplotlib Axes, optional
            A new figure by default.

        Returns
        -------
        FeatureGraphDisplay
        """
        names = shown_names(check_classifier(estimator).levels_.features)
        if not 0 < cutoff <= 1:
            raise InputError(f"cutoff is {cutoff!r}; expected above 0, and at most 1.")
        if graph is None:
            return cls(average_graph(estimator, cutoff)).plot(ax)
        if not isinstance(graph, FeatureForest):
            raise InputError(
                f"graph is {type_text(graph)}; pass a FeatureForest, such as "
                "estimator.best_graph_."
            )
        if len(graph.signal) != len(names):
            raise InputError(
                f"graph has {len(graph.signal)} features, the estimator {len(names)}; "
                "pass one of its own graphs."
            )
        return cls(single_graph(names, graph)).plot(ax)

    @classmethod
    def of_result(cls, result: Any, /) -> Self:
        """Display of a result."""
        return cls(single_graph(result.shown_names, result))

    def chart(self) -> Chart:
        """Edges, and features above them; each links to its description on the page."""
        graph = self.graph
        place = lay_out_graph(graph, WIDTH, LETTERS, letters_of)
        number = {j: i for i, j in enumerate(graph.shown)}
        neighbours: dict[int, list[int]] = {j: [] for j in graph.shown}
        marks = list[Mark]()
        for first, second, p, points in place.links:
            neighbours[first].append(number[second])
            neighbours[second].append(number[first])
            names = (
                f"{printable(graph.names[first])} and {printable(graph.names[second])}"
            )
            look = f"cw-edge e{number[first]} e{number[second]}"
            says, width = f"{names}: {probability_text(p)}", 0.6 + 4.4 * p
            way = [(x + AROUND, y + AROUND) for x, y in points]
            marks.append(Shape([way], look, EDGE, width, is_bent=True, says=says))
        for feature in place.boxes:
            j = feature.feature
            p = float(graph.signal[j])
            says = f"{printable(graph.names[j])}: signal {probability_text(p)}"
            near = "".join(f" b{n}" for n in neighbours[j])
            look, to = f"cw-box n{number[j]}{near}", f"#f{number[j]}"
            marks.append(Linked(_box(feature, p, place.size), says, to, look))
        title = (
            "Features, and lines between dependent ones; each feature links to its "
            "description"
        )
        size = place.width + 2 * AROUND, place.height + 2 * AROUND
        notes = " ".join(graph.notes)
        return drawing(title, marks, *size, below=notes, least=size[0])


def _box(feature: FeatureBox, p: float, size: float) -> list[Mark]:
    """Its ground, as dark as it is probably signal, and its name."""
    x, y = feature.x + AROUND, feature.y + AROUND
    wide, high = feature.width, feature.height
    corners = [box(x - wide / 2, y - high / 2, wide, high)]
    first = y - 0.5 * LINE * size * (len(feature.lines) - 1)
    return [
        Shape(corners, "cw-ground", "white"),
        Shape(corners, "cw-shade", COLOURS[0], edge=QUIET, alpha=DARKEST * p),
        *(
            TextLine(x, first + LINE * size * i, line, "says", size=size)
            for i, line in enumerate(feature.lines)
        ),
    ]


def letters_of(size: float) -> Measure:
    """About how wide a text is in a browser, whose letters nobody knows."""

    def measure(text: str) -> float:
        return size * sum(map(_letter_width, text))

    return measure


def _letter_width(letter: str) -> float:
    if unicodedata.combining(letter):
        return 0.0
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.05
    if letter in "mwMW@%…—":
        return 0.95
    if letter in "ijl.,:;'|!()[] ":
        return 0.38
    return 0.74 if letter.isupper() else 0.61


@dataclass(eq=False, repr=False)
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

    names: Sequence[str]
    probability: ArrayLike
    error: ArrayLike
    n_left_out: int = 0

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, most: int = 30, ax: Any = None
    ) -> SignalDisplay:
        """The features of a fitted classifier.

        Parameters
        ----------
        estimator : SelectiveBayesianForestClassifier
            Fitted.
        most : int, default=30
            Features that are shown.
        ax : matplotlib Axes, optional
            A new figure by default.

        Returns
        -------
        SignalDisplay
        """
        p = check_classifier(estimator).inclusion_probability_
        order = np.argsort(-p, kind="stable")
        order = order[estimator.levels_.n_levels[order] > 1][: max(most, 1)]
        names = shown_names(estimator.levels_.features)
        diagnoses = signal_diagnoses(estimator, order.tolist())
        error = [0.0 if one is None else one.mcse for one in diagnoses]
        return cls(
            [names[j] for j in order], p[order], error, len(p) - len(order)
        ).plot(ax)

    def _draw(self, ax: Any) -> list[Any]:
        n = len(self.names)
        probability, error = np.asarray(self.probability), np.asarray(self.error)
        ax = axes_of(ax, 6.4, 1.2 + 0.24 * n)
        places = np.arange(n)[::-1]
        ax.barh(places, probability, height=0.62, color=COLOURS[0], alpha=0.6)
        moves = error > 0
        ends = np.array([probability, 1 - probability])
        reach = np.minimum(2 * error, np.maximum(ends, 0.0))[:, moves]
        ax.errorbar(
            probability[moves], places[moves], xerr=reach, fmt="none",
            ecolor="black", elinewidth=1.2, capsize=2.5,
        )  # fmt: skip
        for place, p, e in zip(places, probability, error):
            x = min(p + 2 * e, 1.0) + 0.015
            ax.text(x, place, probability_text(float(p)), va="center", fontsize=8)
        names = [_short(printable(name)) for name in self.names]
        ax.set_yticks(places, [plain(name) for name in names], fontsize=9)
        ax.set(xlim=(0, 1.12), ylim=(-0.7, n - 0.3))
        ax.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "0.25", "0.5", "0.75", "1"])
        ax.set_xlabel("probability of being signal")
        if self.n_left_out:
            text = f"the first {n} of {n + self.n_left_out:,} features"
            ax.set_title(text, fontsize=9, color=QUIET, loc="left")
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
        found.append(diagnose(own) if moves else None)
    return found
