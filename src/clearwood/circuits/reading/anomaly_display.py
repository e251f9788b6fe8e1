"""Plot of the improbable entries of a row, given the others."""

from __future__ import annotations

from typing import Any

import numpy as np

from clearwood._words.labels import printable
from clearwood.charts.display import Display, axes_of
from clearwood.charts.style import QUIET, plain
from clearwood.circuits.circuit import Circuit
from clearwood.circuits.reading.anomalies import (
    anomaly_scores,
    rows_of,
    top_entries,
)
from clearwood.circuits.reading.display import ABOVE, BELOW, circuit_from, shortened
from clearwood.exceptions import InputError

LONGEST = 40
"""Maximum number of characters of a name, and of the text next to a bar."""


class AnomalyDisplay(Display):
    """Plot of how improbable the entries of a row are, given all others of it.

    The length of a bar is the shortfall of the entry's log density from the usual one
    of its column; entries to the left are more probable than that. Next to it are the
    value found and the one expected given the other entries.

    Create it with :meth:`from_estimator`.

    Parameters
    ----------
    circuit : Circuit
    values : ndarray of shape (n_columns,)
        The encoded row.
    most : int, default=20
        Maximum number of entries shown, the least probable first.

    Attributes
    ----------
    entries : list of dict
        ``column``, ``found`` and ``expected`` as text, and ``surprise`` in nats.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import matplotlib; matplotlib.use("agg")
    >>> from clearwood.rules import FeatureSpace
    >>> from clearwood.circuits.nodes import Product, Sum
    >>> from clearwood.distributions import Bernoulli, Gaussian
    >>> features = FeatureSpace(("smoker", "age"), (("no", "yes"), None))
    >>> young = Product((Bernoulli(0, 0.1), Gaussian(1, 35.0, 64.0)))
    >>> old = Product((Bernoulli(0, 0.4), Gaussian(1, 60.0, 100.0)))
    >>> circuit = Circuit(Sum(np.array([0.7, 0.3]), (young, old)), features)
    >>> display = AnomalyDisplay(circuit, np.array([1.0, 99.0])).plot()
    >>> [(one["column"], one["found"]) for one in display.entries]
    [('age', '99'), ('smoker', 'yes')]
    """

    def __init__(self, circuit: Circuit, values: np.ndarray, most: int = 20) -> None:
        found = anomaly_scores(circuit, values[None])
        self.log_density = float(found.log_density[0])
        self.entries = top_entries(circuit, values[None], found.of_entries, most)[0]
        self.n_present = int((~np.isnan(found.alone)).sum())

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, *, most: int = 20, ax: Any = None
    ) -> AnomalyDisplay:
        """Create the display from a fitted estimator and a row.

        Parameters
        ----------
        estimator : fitted estimator
            With ``circuit_``, such as a MiniSPN.
        X : array-like or frame of shape (1, n_features)
            The row.
        most : int, default=20
            Maximum number of entries shown, the least probable first.
        ax : matplotlib Axes, optional
            A new figure by default.

        Returns
        -------
        AnomalyDisplay
        """
        circuit = circuit_from(estimator)
        values = rows_of(estimator, X)
        if len(values) != 1:
            raise InputError(
                f"X has {len(values)} rows; pass a table of one, such as "
                "X.iloc[[0]] or X[:1]."
            )
        return cls(circuit, values[0], most).plot(ax)

    def _draw(self, ax: Any) -> list[Any]:
        n = len(self.entries)
        ax = axes_of(ax, 8.0, 1.1 + 0.27 * max(n, 2))
        lengths = np.array([one["surprise"] for one in self.entries])
        # An impossible entry has the longest bar.
        known = np.abs(lengths[np.isfinite(lengths)])
        longest = 1.2 * known.max(initial=1.0)
        is_impossible, lengths = np.isinf(lengths), np.clip(lengths, -longest, longest)
        colours = [ABOVE if length > 0 else BELOW for length in lengths]
        ax.barh(np.arange(n), lengths, height=0.62, color=colours, alpha=0.75)
        ax.axvline(0, color="black", linewidth=0.8)
        names = [
            plain(shortened(printable(one["column"]), LONGEST)) for one in self.entries
        ]
        ax.set_yticks(np.arange(n), names, fontsize=9)
        # In a separate column, without bars.
        beside = ax.get_yaxis_transform()
        for i, one in enumerate(self.entries):
            text = f"{one['found']} (expected {one['expected']})"
            text += ", density 0" * bool(is_impossible[i])
            text = plain(shortened(text, LONGEST))
            ax.text(1.02, i, text, transform=beside, va="center", fontsize=8.5)
        ax.set(ylim=(n - 0.4, -0.6), xlabel="improbability in nats (0: as usual)")
        if self.n_present > n:
            text = f"the {n} least probable of {self.n_present:,} entries"
            ax.set_title(text, fontsize=9, color=QUIET, loc="left")
        return [ax]
