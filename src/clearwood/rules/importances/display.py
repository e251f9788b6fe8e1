"""Chart of permutation importances of rules and model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from clearwood.charts.display import Display, axes_of
from clearwood.charts.style import COLOURS, QUIET, plain
from clearwood.outcomes import OUTCOMES
from clearwood.rules.importances.permuted import Importances, permutation_importance

MOST = 20
"""Maximum number of features in the chart."""


@dataclass(eq=False, repr=False)
class ImportancesDisplay(Display):
    """Permutation importance of each feature for the rules and for the model.

    Construct with :meth:`from_estimator`.

    Parameters
    ----------
    importances : Importances

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import matplotlib; matplotlib.use("agg")
    >>> from sklearn.datasets import load_iris
    >>> from clearwood import RuleListClassifier
    >>> from clearwood.rules import ImportancesDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> rules = RuleListClassifier(n_rules=3, random_state=0).fit(X, y)
    >>> shown = ImportancesDisplay.from_estimator(rules, X, n_repeats=2)
    >>> shown.ax_.get_xlabel()
    'share of predictions that change'
    """

    importances: Importances

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        model: Any = None,
        n_repeats: int = 5,
        ax: Any = None,
    ) -> ImportancesDisplay:
        """Measure the importances on given rows.

        Parameters
        ----------
        estimator : fitted estimator with ``rules_``, or RuleSet
        X : array-like or frame of shape (n_samples, n_features)
            Rows to permute; of more than 2,000, as many are sampled.
        model : fitted model or path, optional
            The model that the rules approximate; by default the estimator's ensemble.
        n_repeats : int, default=5
            Permutations of each feature.
        ax : matplotlib Axes, optional
            A new figure by default.

        Returns
        -------
        ImportancesDisplay
        """
        return cls(
            permutation_importance(estimator, X, model=model, n_repeats=n_repeats)
        ).plot(ax)

    def _draw(self, ax: Any) -> list[Any]:
        found = self.importances
        names = found.names[:MOST]
        n = len(names)
        ax = axes_of(ax, 6.4, 1.2 + 0.36 * n)
        y = np.arange(n)[::-1]
        sides = (
            ("rules", 0.19, found.rules, found.rules_error, COLOURS[0]),
            ("model", -0.19, found.model, found.model_error, QUIET),
        )
        for label, shift, middle, error, ink in sides:
            ax.barh(
                y + shift, middle[:n], 0.36, xerr=error[:n], color=ink, label=label,
                error_kw={"linewidth": 1},
            )  # fmt: skip
        unused_features = set(found.unused_features)
        labels = [plain(k) + "\n(not used)" * (k in unused_features) for k in names]
        ax.set_yticks(y, labels, fontsize=8)
        ax.set_xlabel(OUTCOMES[found.task].lost)
        ax.legend(frameon=False, fontsize=8)
        return [ax]
