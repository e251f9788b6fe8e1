"""Geweke's joint test: two ways to draw parameters and data that must agree.

One draws parameters from the prior and data given them. The other takes steps of the
sampler for the current data, and draws new data given the parameters, in turn. A fault
in the sampler moves the second away from the first.
"""

import numpy as np

from clearwood.sampling import bulk_ess


def z_scores(independent, chain):
    """Differences of means, in standard errors, per column.

    ``independent`` is (n, n_quantities); ``chain`` too, in the order of its steps.
    """
    error = independent.var(axis=0, ddof=1) / len(independent)
    for k, column in enumerate(chain.T):
        error[k] += column.var(ddof=1) / min(bulk_ess(column[None]), len(column))
    return (chain.mean(axis=0) - independent.mean(axis=0)) / np.sqrt(error)
