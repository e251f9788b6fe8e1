"""Log gammas of large numbers, without losing the digits in which they cancel."""

from __future__ import annotations

import math

from clearwood._numeric import kernel


@kernel
def stirling_rest(x):
    """What Stirling's ``(x - 1/2) log x - x`` lacks to the log gamma of ``x``."""
    if x < 16.0:
        return math.lgamma(x) - (x - 0.5) * math.log(x) + x
    r = 1.0 / (x * x)
    series = 1 / 12 - r * (1 / 360 - r * (1 / 1260 - r * (1 / 1680 - r * (1 / 1188))))
    return series / x + 0.5 * math.log(2.0 * math.pi)


@kernel
def log_gamma_part(alpha, beta):
    """``log gamma(alpha) - alpha log beta``, the large parts taken together."""
    large = alpha * (math.log(alpha / beta) - 1.0) - 0.5 * math.log(alpha)
    return large + stirling_rest(alpha)


@kernel
def log_gamma_rise(x, h):
    """``log gamma(x + h) - log gamma(x)``, where x may be large and h small."""
    large = (x - 0.5) * math.log1p(h / x) + h * (math.log(x + h) - 1.0)
    return large + stirling_rest(x + h) - stirling_rest(x)
