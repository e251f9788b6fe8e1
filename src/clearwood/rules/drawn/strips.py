"""Histograms of a feature in the rows of a node, with the thresholds."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from clearwood._words.labels import label_text
from clearwood._words.numbers import short_text
from clearwood.columns.dates import DATES, date_text
from clearwood.columns.feature_space import FeatureSpace
from clearwood.rules.conditions import Condition, Interval

N_BARS = 16
"""Approximate number of bars of equal width from smallest to largest value."""

OUTLYING = 0.01
"""Share of rows beyond both ends of the axis, counted in the outermost bars."""


class Bar(NamedTuple):
    """Bar of a histogram.

    Attributes
    ----------
    left, right : float
        Ends of the bar on the axis, from 0 to 1.
    rows : tuple of float
        Number of rows of each class; a single one in regression.
    mean : float
        Mean value of the rows; NaN where there is none.
    """

    left: float
    right: float
    rows: tuple[float, ...]
    mean: float


class Strip(NamedTuple):
    """Histogram of one feature.

    Attributes
    ----------
    bars : tuple of Bar
    cuts : tuple of float
        Positions on the axis where a condition begins or ends. Categories that satisfy
        it come before the cut.
    ends : tuple of str
        Labels of both ends of the axis.
    """

    bars: tuple[Bar, ...]
    cuts: tuple[float, ...]
    ends: tuple[str, str]


def make_strip(
    condition: Condition,
    column: np.ndarray,
    known: np.ndarray,
    n_classes: int,
    features: FeatureSpace,
) -> Strip | None:
    """Histogram of a condition's feature in given rows.

    Parameters
    ----------
    condition : Interval or CategorySet
    column : ndarray of shape (n_samples,)
        The encoded feature.
    known : ndarray of shape (n_samples,)
        Class of each row as a position, negative if it is none; or its value.
    n_classes : int
        0 in regression.
    features : FeatureSpace

    Returns
    -------
    Strip or None
        None if no row has a number, or a known category.

    Examples
    --------
    >>> column, known = np.array([1.0, 2.0, 3.0, 4.0]), np.array([0, 0, 1, 1])
    >>> cut = Interval(0, high=2.5)
    >>> strip = make_strip(cut, column, known, 2, FeatureSpace.numeric(1))
    >>> np.sum([bar.rows for bar in strip.bars if bar.right <= strip.cuts[0]], axis=0)
    array([2., 0.])
    """
    if isinstance(condition, Interval):
        shown = np.isfinite(column)
        values = column[shown]
        if len(values) == 0:
            return None
        edges, cuts = _axis(condition, values)
        # A value equal to a cut belongs to the side below it.
        bins = np.clip(np.searchsorted(edges, values) - 1, 0, len(edges) - 2)
        places = (edges - edges[0]) / (edges[-1] - edges[0])
        kind = features.info[condition.feature].kind
        ends = (_end_text(float(edges[0]), kind), _end_text(float(edges[-1]), kind))
        shares = (np.array(cuts) - edges[0]) / (edges[-1] - edges[0])
        cuts = [float(share) for share in shares]
    else:
        labels = features.categories[condition.feature] or ()
        counts = np.array([(column == code).sum() for code in range(len(labels))])
        often = np.argsort(-counts, kind="stable")[:N_BARS]
        often = often[counts[often] > 0]
        if len(often) == 0:
            return None
        inside = np.isin(often, condition.codes)
        codes = [*often[inside], *often[~inside]]
        shown = np.isin(column, codes)
        order = {code: i for i, code in enumerate(codes)}
        bins = np.array([order[code] for code in column[shown].astype(int)])
        places = np.linspace(0, 1, len(codes) + 1)
        cuts = [float(places[inside.sum()])]
        lookup = features.lookup[condition.feature]
        ends = (label_text(labels[codes[0]], lookup), "")
        if len(codes) > 1:
            ends = (ends[0], label_text(labels[codes[-1]], lookup))
    bars = _bars(bins, places, known[shown], n_classes)
    return Strip(bars, tuple(cuts), ends)


def _end_text(value: float, kind: str) -> str:
    """Label of an axis end; for dates the day."""
    is_date = kind in DATES
    return date_text(math.floor(value)) if is_date else short_text(value)


def _axis(condition: Interval, values: np.ndarray) -> tuple[np.ndarray, list[float]]:
    """Edges of bars of equal width, aligned with the first cut; and the cuts."""
    cuts = [c for c in (condition.low, condition.high) if math.isfinite(c)]
    low, high = np.quantile(values, (OUTLYING, 1 - OUTLYING))
    low, high = min(low, *cuts, high), max(high, *cuts, low)
    width = (high - low) / N_BARS
    # Equal numbers, or so large that no number lies between them.
    if not (math.isfinite(width) and width > abs(high) * 1e-12):
        width = max(abs(high), 1.0) / N_BARS
    start = cuts[0] if cuts else low
    before = max(math.ceil((start - low) / width - 1e-9), 1)
    after = max(math.ceil((high - start) / width - 1e-9), 1)
    return start + width * np.arange(-before, after + 1), cuts


def _bars(
    bins: np.ndarray, places: np.ndarray, known: np.ndarray, n_classes: int
) -> tuple[Bar, ...]:
    bars = []
    for k in range(len(places) - 1):
        here = known[bins == k]
        rows: tuple[float, ...] = (float(len(here)),)
        mean = float(here.mean()) if len(here) and not n_classes else math.nan
        if n_classes:
            rows = tuple(float((here == c).sum()) for c in range(n_classes))
        bars.append(Bar(float(places[k]), float(places[k + 1]), rows, mean))
    return tuple(bars)
