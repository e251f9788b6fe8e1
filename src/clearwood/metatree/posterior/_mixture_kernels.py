"""Quantiles of mixtures of Student's t, by Halley's method between known bounds."""

from __future__ import annotations

import math

import numpy as np

from clearwood._numeric import kernel
from clearwood.conjugate.leaf_model import stirling_rest

MOST_TERMS = 500
"""Of the continued fraction; some 20 are needed."""

MOST_STEPS = 300
"""Of the search; Halley's method needs about 4, halving alone more."""

ROUGH = 1e-4
"""Smaller shares of the largest weight wait until the quantile is nearly found."""


@kernel
def log_norm(a):
    """Log density at 0 of Student's t with 2a degrees of freedom.

    The difference of two log gammas, without the digits in which these cancel.
    """
    gap = a * math.log1p(0.5 / a) - 0.5 + stirling_rest(a + 0.5) - stirling_rest(a)
    return gap - 0.5 * math.log(2.0 * math.pi)


@kernel
def beta_fraction(x, y, a, b):
    """Of the incomplete beta function ``I_x(a, b)``, by a continued fraction.

    What is left to multiply with is ``x**a * y**b / B(a, b)``. The fraction is that of
    DiDonato and Morris (1992), its convergents from the recursion of Wallis, which
    has no divisions that wait for each other.

    Parameters
    ----------
    x, y : float
        With the sum 1; x below ``(a + 1) / (a + b + 2)``.
    a, b : float
    """
    before = 1.0 / (a + 1.0)
    top_1, top = 1.0, a * (a * y - b * x + 1.0) * before
    bottom_1, bottom = 0.0, 1.0
    for m in range(1, MOST_TERMS):
        after = 1.0 / (a + 2 * m + 1.0)
        common = m * (b - m) * x * before
        part = (a + m - 1.0) * (a + b + m - 1.0) * x * before * common
        whole = m + common + (a + m) * (a * y - b * x + 1.0 + m * (2.0 - x)) * after
        top_1, top = top, whole * top + part * top_1
        bottom_1, bottom = bottom, whole * bottom + part * bottom_1
        if abs(top * bottom_1 - top_1 * bottom) <= 2e-16 * abs(top * bottom_1):
            break
        if abs(top) > 1e100:
            top_1, top = top_1 * 1e-100, top * 1e-100
            bottom_1, bottom = bottom_1 * 1e-100, bottom * 1e-100
        before = after
    return bottom / top


@kernel
def student(t, a, norm):
    """Distribution function and density of Student's t with 2a degrees of freedom.

    ``norm`` is ``log_norm(a)``.
    """
    ratio = t * t / (2.0 * a)
    if ratio > 1e300:
        return (0.0 if t < 0.0 else 1.0), 0.0
    density = math.exp(norm - (a + 0.5) * math.log1p(ratio))
    x = 1.0 / (1.0 + ratio)
    front = 0.5 * density * abs(t)
    if x < (a + 1.0) / (a + 2.5):
        # What lies beyond: half the incomplete beta function I_x(a, 1/2).
        tail = front * beta_fraction(x, ratio * x, a, 0.5)
    else:
        # What lies between 0 and t, half of I_{1 - x}(1/2, a), for the other half.
        tail = 0.5 - front * beta_fraction(ratio * x, x, 0.5, a)
    return (tail if t < 0.0 else 1.0 - tail), density


@kernel
def student_cdf(t, a):
    """Distribution function of Student's t with 2a degrees of freedom, one by one."""
    found = np.empty(t.size)
    for i in range(t.size):
        found[i], _ = student(t[i], a[i], log_norm(a[i]))
    return found


@kernel
def mixture_at(y, least, weight, m, a, scale, norm):
    """Distribution function, density and its slope of a mixture at one number.

    Parts of a weight below ``least`` are left out, the others taken for the whole.
    """
    total = 0.0
    below = 0.0
    density = 0.0
    slope = 0.0
    for k in range(weight.size):
        if weight[k] > least:
            t = (y - m[k]) / scale[k]
            part, high = student(t, a[k], norm[k])
            high *= weight[k] / scale[k]
            total += weight[k]
            below += weight[k] * part
            density += high
            slope -= high * (2.0 * a[k] + 1.0) * t / ((2.0 * a[k] + t * t) * scale[k])
    if least > 0.0:
        return below / total, density / total, slope / total
    return below, density, slope


@kernel
def mixture_quantile(p, y, reach, least, weight, m, a, scale, norm):
    """Where a mixture's distribution function is ``p``, searched from ``y`` on.

    Halley's method; and halving, or steps of ``reach``, which doubles, wherever it
    would leave what is known to hold the quantile or go further than that. Without
    parts of little weight a rough answer will do.
    """
    near = (1e-2 if least > 0.0 else 1e-5) * min(p, 1.0 - p)
    low, high = -np.inf, np.inf
    for _ in range(MOST_STEPS):
        below, density, slope = mixture_at(y, least, weight, m, a, scale, norm)
        gap = below - p
        if gap >= 0.0:
            high = y
        else:
            low = y
        newton = gap / density if density > 0.0 else np.nan
        bend = 0.5 * newton * slope / density
        further = y - newton / (1.0 - bend) if bend < 0.5 else y - newton
        if further == y or (abs(gap) <= near and abs(bend) <= 1e-2):
            # Each step leaves the third power of the gap before, so this was the last.
            return further
        # Where density is next to nothing, a step may lead anywhere.
        least_y, most_y = max(low, y - reach), min(high, y + reach)
        if not least_y < further < most_y:
            if low == -np.inf or high == np.inf:
                further = most_y if gap < 0.0 else least_y
            else:
                further = low + 0.5 * (high - low)
            reach *= 2.0
            if not low < further < high:
                return high
        y = further
    return y


@kernel
def mixture_quantiles(weight, m, a, b, p, z):
    """Quantiles of mixtures of ``m + t sqrt(b / a)``, t with 2a degrees of freedom.

    Parameters
    ----------
    weight, m, a, b : ndarray of shape (n_mixtures, n_parts)
    p : ndarray of shape (n_levels,)
    z : ndarray of shape (n_levels,)
        Quantiles of the normal distribution, to start from.

    Returns
    -------
    ndarray of shape (n_mixtures, n_levels)
    """
    n, n_parts = weight.shape
    found = np.empty((n, p.size))
    norm = np.empty(n_parts)
    scale = np.empty(n_parts)
    for i in range(n):
        mean = 0.0
        total = 0.0
        for k in range(n_parts):
            norm[k] = log_norm(a[i, k])
            scale[k] = math.sqrt(b[i, k] / a[i, k])
            mean += weight[i, k] * m[i, k]
            total += weight[i, k]
        mean /= total
        reach = 0.0
        for k in range(n_parts):
            reach += weight[i, k] / total * math.hypot(scale[k], m[i, k] - mean)
        for j in range(p.size):
            y = mean + z[j] * reach
            for least in (ROUGH * weight[i].max(), 0.0):
                y = mixture_quantile(
                    p[j], y, reach, least, weight[i], m[i], a[i], scale, norm
                )
            found[i, j] = y
    return found
