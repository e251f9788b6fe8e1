"""Slow, plain twins: BEST as Kruschke writes it, on even grids; eq. 12 by recursion;
pruning by weakest links, section 3.2.2."""

import numpy as np
from scipy import stats
from scipy.special import gammaln

from clearwood.rules import Rule
from clearwood.search.trees.nodes import inner_nodes, with_node

NU = np.geomspace(1.0, 900.0, 41)


def student(nu):
    """The constant of the logarithm of Student's density."""
    return gammaln((nu + 1) / 2) - gammaln(nu / 2) - np.log(nu * np.pi) / 2


def joint(y, others):
    """Means, and p(y, mu | nu) at all of them and all nu, but for one constant."""
    everything = np.concatenate([y, others])
    spread = everything.std(ddof=1)
    mu = y.mean() + y.std() * np.linspace(-6, 6, 241)
    sigma = y.std() * np.geomspace(1 / 30, 30, 81)
    logs = np.empty((len(mu), len(NU)))
    for k, nu in enumerate(NU):
        scores = np.zeros((len(mu), len(sigma)))
        for value in y:
            z = (value - mu[:, None]) / sigma
            scores += student(nu) - (nu + 1) / 2 * np.log(1 + z**2 / nu) - np.log(sigma)
        # A step of the logarithm is a step of sigma times sigma.
        logs[:, k] = np.log(np.exp(scores) @ sigma)
    return mu, np.exp(logs) * stats.norm.pdf(mu, everything.mean(), 1000 * spread)[
        :, None
    ]


def weights_of_nu():
    """The prior, times Simpson's rule for the logarithm of nu."""
    simpson = np.full(len(NU), 2.0)
    simpson[1::2], simpson[0], simpson[-1] = 4.0, 1.0, 1.0
    return simpson * NU * stats.expon.pdf(NU - 1, scale=29)


def paired(d):
    """Mean and standard deviation of the mean difference, and P(> 0)."""
    mu, p = joint(d, d[:0])
    return moments(mu, p @ weights_of_nu())


def two_groups(a, b):
    """The same of the difference of two means."""
    (mu_a, of_a), (mu_b, of_b) = joint(a, b), joint(b, a)
    both = of_a * weights_of_nu() @ of_b.T
    difference = (mu_a[:, None] - mu_b).ravel()
    order = np.argsort(difference, kind="stable")
    return moments(difference[order], both.ravel()[order])


def moments(x, mass):
    mass = mass / mass.sum()
    mean = x @ mass
    below = np.interp(0.0, x, np.cumsum(mass) - mass / 2)
    return mean, np.sqrt((x - mean) ** 2 @ mass), 1 - below


def dissimilarity(one, two, ranges):
    """Corrected, of trees of numbers."""
    places, alike = count_and_sum(one.root, two.root, ranges)
    return 1 - alike / places if places else 0.0


def count_and_sum(one, two, ranges):
    """Places where either tree asks, and the sum of S, of trees of numbers."""
    ends = isinstance(one, Rule), isinstance(two, Rule)
    if all(ends):
        return 0, 0.0
    if any(ends):
        asks = two if ends[0] else one
        left, right = (
            count_and_sum(s, ends_here(), ranges)[0] for s in (asks.if_yes, asks.if_no)
        )
        return 1 + left + right, 0.0
    places, alike = 1, 0.0
    (cut, *first), (other, *second) = sides(one), sides(two)
    if one.yes.feature == two.yes.feature:
        alike = 1 - abs(cut - other) / ranges[one.yes.feature]
    for a, b in zip(first, second):
        n, s = count_and_sum(a, b, ranges)
        places, alike = places + n, alike + s
    return places, alike


def ends_here():
    return Rule((), 0.0)


def sides(node):
    """The cut, then what is below ``x <= cut``, then what is below ``x > cut``."""
    if node.yes.high < np.inf:
        return node.yes.high, node.if_yes, node.if_no
    return node.no.high, node.if_no, node.if_yes


def weakest_links(tree, cost):
    """The trees of all steps, and the alpha of equation (9) of each step."""
    steps, alphas = [tree], []
    while steps[-1].children:
        now = steps[-1]
        tries = [with_node(now, at, node.leaf()) for at, node in inner_nodes(now)]
        rises = [(cost(t) - cost(now)) / (now.n_leaves - t.n_leaves) for t in tries]
        weakest = rises.index(min(rises))
        steps.append(tries[weakest])
        alphas.append(rises[weakest])
    return steps, alphas
