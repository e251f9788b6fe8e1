"""Models and sequences that several files need."""

import numpy as np

from clearwood.distributions import (
    CategoricalEmission,
    JointEmission,
    NormalEmission,
)
from clearwood.distributions.normal_wishart import NormalInverseWishart
from clearwood.sequences.sequence_model import Observed


def rows_of(sequences):
    """Sequences of symbols or rows one after the other, missing as NaN; lengths."""
    steps = [step for part in sequences for step in part]
    width = next(np.size(step) for step in steps if step is not None)
    nothing = [None] * width
    values = np.array(
        [nothing if step is None else np.atleast_1d(step).tolist() for step in steps],
        dtype=np.float64,
    )
    return values, [len(part) for part in sequences]


def observed(sequences, discrete=True):
    return Observed.from_values(*rows_of(sequences), discrete)


def coins(n, a=1.0, b=1.0):
    """Columns of 0 and 1, with beta priors."""
    return JointEmission([([d], CategoricalEmission((b, a))) for d in range(n)])


def coin_parameters(ones):
    """Parameters of such columns from the probabilities of 1."""
    ones = np.array(ones, dtype=float)
    return np.stack([1 - ones, ones], axis=2).reshape(len(ones), -1)


def normal(d, kappa=1.0):
    """Normal columns with a prior that is not weak, so that draws stay near."""
    return NormalEmission(
        NormalInverseWishart(np.arange(float(d)), kappa, d + 6.0, 4.0 * np.eye(d) + 0.5)
    )


def normal_parameters(means, covariances):
    means, covariances = np.array(means), np.array(covariances)
    return np.hstack([means, covariances.reshape(len(means), -1)])
