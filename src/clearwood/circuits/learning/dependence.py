"""Pairwise dependence of the columns of a slice."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from clearwood._kernels.circuits_learning import components, pair_tests
from clearwood.circuits.learning.slices import LEAST_ROWS, Parts, Slice, cut_codes

CRITICAL_P = 0.0005
"""Significance level of MiniSPN, between the two of the LearnSPN grid (4.2.2)."""


class Dependence(NamedTuple):
    """Independence tests of all pairs of columns of a slice, discrete ones first.

    Attributes
    ----------
    edges : ndarray of bool of shape (n_columns, n_columns)
        Whether two columns are dependent.
    statistic : ndarray of shape (n_columns, n_columns)
        Test statistic, on the rows where both are present.
    n_both : ndarray of int of shape (n_columns, n_columns)
        Number of these rows.
    """

    edges: np.ndarray
    statistic: np.ndarray
    n_both: np.ndarray

    @property
    def groups(self) -> np.ndarray:
        """Label of the connected component of each column."""
        return components(self.edges)


def find_dependence(
    slice_: Slice,
    *,
    ratio: bool = False,
    significance_level: float = CRITICAL_P,
    balanced: bool = True,
) -> Dependence:
    """Test all pairs of columns for independence.

    Levels that do not occur in a pair's table are not counted.

    Parameters
    ----------
    slice_ : Slice
    ratio : bool, default=False
        Use the G-test of LearnSPN in place of Pearson's chi-square test.
    significance_level : float, default=0.0005
        Significance level below which columns are dependent.
    balanced : bool, default=True
        See `cut_codes`.
    """
    codes, offsets = cut_codes(slice_, balanced)
    statistic, freedom, both = pair_tests(codes, offsets, ratio)
    critical = critical_values(int(freedom.max(initial=0)), significance_level)
    edges = (both >= LEAST_ROWS) & (statistic > critical[freedom])
    return Dependence(edges, statistic, both)


def split_columns(slice_: Slice, **test: Any) -> Parts | None:
    """Groups of dependent columns by `find_dependence`; None if they form one group."""
    group = find_dependence(slice_, **test).groups
    sizes = np.bincount(group)
    if len(sizes) == 1:
        return None
    together = [slice_.of_columns(group == g) for g in np.flatnonzero(sizes > 1)]
    alone = sizes[group] == 1
    return Parts(together, alone=slice_.of_columns(alone) if alone.any() else None)


@cache
def critical_values(most: int, significance_level: float) -> np.ndarray:
    """Critical values of the statistic, for 0 to ``most`` degrees of freedom."""
    from scipy.stats import chi2

    exact = chi2.isf(significance_level, np.arange(1, most + 1))
    return np.append(np.inf, exact)
