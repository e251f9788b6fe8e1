"""Rules as a table with bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clearwood.charts.style import QUIET
from clearwood.charts.table import FONT, closed, draw_rules, draw_texts, opened
from clearwood.columns.warned_once import warned_once
from clearwood.exceptions import InputError
from clearwood.rules import RuleAverage, RuleList, RuleSet, RuleSum
from clearwood.rules.displays.rule_columns import columns_of
from clearwood.rules.displays.rule_lines import RuleLine, lines_of
from clearwood.rules.displays.table_layout import lay_out
from clearwood.rules.rule_set import rules_of

SAYS: dict[type[RuleSet], tuple[str, str]] = {
    RuleList: ("then {}", "then {}"),
    RuleSum: ("adds", "raises most"),
    RuleAverage: ("say of {}", "say of {}"),
}
"""Over what the rules say: in general, and where there are more than two classes."""


class RulesDisplay:
    """Rules as a table: what is asked and said, and bars for how far it holds.

    Make one with :meth:`from_estimator`. The lines stand in printed order.

    - Rows: the filled bar is the share of rows that the rule decides, the outline
      the share that satisfies it, where earlier rules take some of them.
    - Agreement with the model: a dot for the rows that the rule decides, a ring for
      all that satisfy it; a diamond for precision, where the true classes are known.
    - In regression, what is said on one axis for all rules, and one standard deviation
      of the target on the rows that it decides to both sides.
    - In a sum, what each rule adds, left or right of zero; with more than two classes
      a field per class. The constant comes first.
    - In an average, the weight of each rule.

    Parameters
    ----------
    lines : sequence of RuleLine
        What is shown of every rule: texts, shares and scores.
    target : str
        Name of what is predicted.
    classes : tuple, default=()
        Class labels; empty for regression.
    kind : type, default=RuleList
        RuleList, RuleSum or RuleAverage.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Holds the texts; its units are points.
    panels_ : dict of str to matplotlib Axes
        The columns of bars, by name: ``"rows"``, ``"value"``, ``"agreement"``,
        ``"adds"``, ``"weight"``.
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import matplotlib; matplotlib.use("agg")
    >>> from clearwood import FeatureSpace
    >>> from clearwood.rules import Interval, Rule
    >>> rules = RuleList(
    ...     (Rule((Interval(0, low=0.5),), 1.0),),
    ...     Rule((), 0.0),
    ...     FeatureSpace.numeric(2))
    >>> display = RulesDisplay.from_estimator(rules, [[0.1, 0], [0.9, 0], [0.8, 0]])
    >>> display.lines[0].conditions, round(display.lines[0].caught, 3)
    (('x0 > 0.5',), 0.667)
    >>> list(display.plot().panels_)
    ['rows', 'value']
    """

    def __init__(
        self,
        lines: Sequence[RuleLine],
        *,
        target: str = "y",
        classes: tuple[Any, ...] = (),
        kind: type[RuleSet] = RuleList,
    ) -> None:
        self.lines = lines
        self.target = target
        self.classes = classes
        self.kind = kind

    @classmethod
    @warned_once()
    def from_estimator(
        cls, estimator: Any, X: Any = None, y: Any = None, *, teacher: Any = None
    ) -> RulesDisplay:
        """The rules of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator with ``rules_``, or RuleSet
        X : array-like or frame of shape (n_samples, n_features), optional
            Rows on which shares and scores are measured; by default they are those
            of the training rows.
        y : array-like of shape (n_samples,), optional
            True labels or values of these rows, for precision and spread.
        teacher : model, path or array-like of shape (n_samples,), optional
            The model that the rules speak for, or what it says of these rows, for
            the agreement; by default the estimator's ensemble.

        Returns
        -------
        RulesDisplay
        """
        rules = rules_of(estimator)
        if X is None:
            if y is not None or teacher is not None:
                raise InputError(
                    "y or teacher was given without X; give the rows they belong to."
                )
        else:
            if teacher is None:
                teacher = getattr(estimator, "ensemble_", None)
            rules = rules.described_on(X, y, teacher=teacher)
        return cls(
            lines_of(rules),
            target=rules.target,
            classes=rules.classes,
            kind=type(rules),
        )

    def plot(self, ax: Any = None) -> RulesDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; the letters shrink until all lines fit. By default a new
            figure, as high as the table is.

        Returns
        -------
        RulesDisplay
            Itself, with ``ax_``, ``panels_`` and ``figure_``.
        """
        columns = columns_of(self.lines, self.classes, self.kind)
        says = SAYS[self.kind][len(self.classes) > 2].format(self.target)
        ax, table = opened(
            ax, lambda width, size: lay_out(self.lines, columns, says, width, size)
        )
        draw_texts(ax, table.texts, table.size)
        draw_rules(ax, table.rules, table.width)
        self.panels_ = {}
        for column, place in zip(columns, table.places):
            panel = ax.inset_axes(
                (
                    place.left / table.width,
                    1 - table.bottom / table.height,
                    (place.right - place.left) / table.width,
                    (table.bottom - table.top) / table.height,
                )
            )
            panel.set_ylim(table.bottom, table.top)
            _make_quiet(panel, table.size)
            column.draw(panel, self.lines, table.middles, table.size)
            self.panels_[column.name] = panel
        for x, y, look in table.legend.marks:
            scale = table.size / FONT
            look = {**look, "markersize": look["markersize"] * scale}
            ax.plot([x + 0.6 * table.size], [y], linestyle="", **look)
        closed(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _make_quiet(panel: Any, size: float) -> None:
    panel.patch.set_alpha(0)
    panel.spines[["top", "right", "left", "bottom"]].set_visible(False)
    panel.set_yticks([])
    panel.tick_params(axis="x", length=0, labelsize=0.85 * size, labelcolor=QUIET)
