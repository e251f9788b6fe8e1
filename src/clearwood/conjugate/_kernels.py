"""The hot loops of this room: sufficient statistics, evidence and Theorem 1.

Nodes stand parents first, so one loop from the last node to the first is bottom-up,
and one from the first to the last is top-down.
"""

from __future__ import annotations

import math

import numpy as np

from clearwood._numeric import kernel

# The kinds of leaf models, as `log_predictive` tells them apart.
COUNTS, POISSON, EXPONENTIAL, NORMAL, LINEAR = range(5)


# Sufficient statistics: sums, or moments (weight, mean, sums of squares about it)


@kernel
def add_counts(own, ends, labels, weight):
    """Add the weight of every row to the count of its label at its end.

    Here and below, ``weight`` may be of length 1, for all rows.
    """
    step = int(weight.size == ends.size)
    for i in range(ends.size):
        own[ends[i], int(labels[i])] += weight[i * step]


@kernel
def add_sums(own, ends, rows):
    """Add one row of statistics per data row to its end."""
    for i in range(ends.size):
        for j in range(own.shape[1]):
            own[ends[i], j] += rows[i, j]


@kernel
def add_moments(own, ends, z, weight):
    """Take every row into the moments at its end, one after the other."""
    step = int(weight.size == ends.size)
    for i in range(ends.size):
        add_one_moment(own[ends[i]], z[i], weight[i * step])


@kernel
def add_one_moment(stats, z, weight):
    """Take one row into moments: Chan's rule, or Welford's with weights."""
    if weight == 0.0:
        return
    d = z.size
    before = stats[0]
    stats[0] = before + weight
    share = weight / stats[0]
    place = 1 + d
    # The products need the means as they were before: those change afterwards.
    for j in range(d):
        for k in range(j + 1):
            product = (z[j] - stats[1 + j]) * (z[k] - stats[1 + k])
            stats[place] += before * share * product
            place += 1
    for j in range(d):
        stats[1 + j] += share * (z[j] - stats[1 + j])


@kernel
def merge_moments(stats, other, d):
    """Take other moments in: the pairwise rule of Chan, Golub and LeVeque."""
    if other[0] == 0.0:
        return
    before = stats[0]
    stats[0] = before + other[0]
    share = other[0] / stats[0]
    place = 1 + d
    for j in range(d):
        for k in range(j + 1):
            product = (other[1 + j] - stats[1 + j]) * (other[1 + k] - stats[1 + k])
            stats[place] += other[place] + before * share * product
            place += 1
    for j in range(d):
        stats[1 + j] += share * (other[1 + j] - stats[1 + j])


@kernel
def merge_all_moments(own, other, d):
    """Take the moments of other rows in, node by node."""
    for node in range(own.shape[0]):
        merge_moments(own[node], other[node], d)


@kernel
def remove_all_moments(own, other, d):
    """Take the moments of some rows out again: the same rule read backwards."""
    for node in range(own.shape[0]):
        if other[node, 0] == 0.0:
            continue
        before = own[node, 0]
        left = before - other[node, 0]
        own[node, 0] = left
        if left <= 0.0:
            continue
        place = 1 + d
        for j in range(d):
            for k in range(j + 1):
                product = (other[node, 1 + j] - own[node, 1 + j]) * (
                    other[node, 1 + k] - own[node, 1 + k]
                )
                gap = other[node, 0] * before / left * product
                own[node, place] -= other[node, place] + gap
                place += 1
        for j in range(d):
            gap = own[node, 1 + j] - other[node, 1 + j]
            own[node, 1 + j] += gap * other[node, 0] / left


@kernel
def sum_up(own, parent):
    """Sums of every node with all that is below."""
    total = own.copy()
    for node in range(parent.size - 1, 0, -1):
        for j in range(own.shape[1]):
            total[parent[node], j] += total[node, j]
    return total


@kernel
def moments_up(own, parent, d):
    """Moments of every node with all that is below."""
    total = own.copy()
    for node in range(parent.size - 1, 0, -1):
        merge_moments(total[parent[node]], total[node], d)
    return total


# Evidence of the rows at each node


@kernel
def stirling_rest(x):
    """What Stirling's ``(x - 1/2) log x - x`` lacks to the log gamma of ``x``."""
    if x < 16.0:
        return math.lgamma(x) - (x - 0.5) * math.log(x) + x
    r = 1.0 / (x * x)
    series = 1 / 12 - r * (1 / 360 - r * (1 / 1260 - r * (1 / 1680 - r * (1 / 1188))))
    return series / x + 0.5 * math.log(2.0 * math.pi)


@kernel
def log_beta(prior, stats, node):
    """Log of the multivariate beta function of ``prior + stats[node]``.

    As a sum of log gammas it would lose the digits in which these cancel. Stirling's
    formula takes their large parts together; what is left is small.
    """
    total = 0.0
    for j in range(prior.size):
        total += prior[j] + stats[node, j]
    found = 0.5 * math.log(total) - stirling_rest(total)
    for j in range(prior.size):
        x = prior[j] + stats[node, j]
        # Near 1 the logarithm of a share needs what is missing to 1.
        if x > 0.5 * total:
            log_share = math.log1p((x - total) / total)
        else:
            log_share = math.log(x / total)
        found += x * log_share - 0.5 * math.log(x) + stirling_rest(x)
    return found


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


@kernel
def log_marginals(kind, stats, prior):
    """Evidence of the rows at every node, the leaf's parameters integrated out.

    Parameters
    ----------
    kind : int
        Of the leaf model.
    stats : ndarray of shape (n_nodes, n_stats)
    prior : ndarray
        Hyperparameters in the order of the leaf model's ``prior``.

    Returns
    -------
    ndarray of shape (n_nodes,)
        Exactly 0 where there are no rows (Corollary 1).
    """
    n = stats.shape[0]
    found = np.zeros(n)
    if kind == COUNTS:
        without = log_beta(prior, np.zeros((1, prior.size)), 0)
        for node in range(n):
            if stats[node].any():
                found[node] = log_beta(prior, stats, node) - without
    elif kind == POISSON:
        without = log_gamma_part(prior[0], prior[1])
        for node in range(n):
            if stats[node, 0] > 0.0:
                with_rows = log_gamma_part(
                    prior[0] + stats[node, 1], prior[1] + stats[node, 0]
                )
                found[node] = with_rows - without - stats[node, 2]
    elif kind == EXPONENTIAL:
        without = log_gamma_part(prior[0], prior[1])
        for node in range(n):
            if stats[node, 0] > 0.0:
                with_rows = log_gamma_part(
                    prior[0] + stats[node, 0], prior[1] + stats[node, 1]
                )
                found[node] = with_rows - without
    elif kind == NORMAL:
        without = log_gamma_part(prior[2], prior[3])
        for node in range(n):
            if stats[node, 0] > 0.0:
                _, kappa, alpha, beta = normal_update(stats[node], prior)
                found[node] = (
                    log_gamma_part(alpha, beta) - without
                    + 0.5 * math.log(prior[1] / kappa)
                    - 0.5 * stats[node, 0] * math.log(2.0 * math.pi)
                )  # fmt: skip
    else:
        p = columns_of_prior(prior)
        mean = np.empty(p)
        factor = np.empty((p, p))
        nothing = np.zeros(stats.shape[1])
        alpha, beta = linear_update(nothing, prior, mean, factor)
        without = log_gamma_part(alpha, beta) - log_diagonal(factor)
        for node in range(n):
            if stats[node, 0] > 0.0:
                alpha, beta = linear_update(stats[node], prior, mean, factor)
                found[node] = (
                    log_gamma_part(alpha, beta) - log_diagonal(factor) - without
                    - 0.5 * stats[node, 0] * math.log(2.0 * math.pi)
                )  # fmt: skip
    return found


@kernel
def normal_update(stats, prior):
    """Posterior m, kappa, alpha and beta of a normal leaf."""
    kappa = prior[1] + stats[0]
    gap = stats[1] - prior[0]
    share = stats[0] / kappa
    beta = prior[3] + 0.5 * (stats[2] + prior[1] * share * gap * gap)
    return prior[0] + share * gap, kappa, prior[2] + 0.5 * stats[0], beta


@kernel
def columns_of_prior(prior):
    """Number of features where ``prior`` is (alpha, beta, mu, Lambda)."""
    return int((math.sqrt(4.0 * (prior.size - 2) + 1.0) - 1.0) / 2.0 + 0.5)


@kernel
def log_diagonal(factor):
    """Half the log determinant of a matrix, from its Cholesky factor."""
    found = 0.0
    for j in range(factor.shape[0]):
        found += math.log(factor[j, j])
    return found


# The recursions over the tree


@kernel
def softplus(x):
    """log(1 + exp(x)), which is -log(1 - g) where x is the log odds of g."""
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


@kernel
def logaddexp(a, b):
    """log(exp(a) + exp(b))."""
    if a == b:
        return a + math.log(2.0)
    return max(a, b) + math.log1p(math.exp(-abs(a - b)))


@kernel
def evidence_up(parent, first_child, log_stop, log_split, log_own):
    """Evidence of every node from those of its children: (10) and (11).

    Parameters
    ----------
    parent, first_child : ndarray of shape (n_nodes,)
    log_stop : ndarray of shape (n_nodes,)
        Log weight of the tree that stops at the node, its leaf's evidence included.
    log_split : ndarray of shape (n_nodes,)
        Log weight of asking on.
    log_own : ndarray of shape (n_nodes,)
        Evidence of the rows that stop at an inner node: one more child.

    Returns
    -------
    log_q, log_odds : ndarray of shape (n_nodes,)
        Evidence, and log odds of asking on given the data (9).
    """
    n = parent.size
    children = log_own.copy()
    log_q = np.empty(n)
    log_odds = np.empty(n)
    for node in range(n - 1, -1, -1):
        if first_child[node] < 0:
            log_q[node] = log_stop[node]
            log_odds[node] = -np.inf
        else:
            split = log_split[node] + children[node]
            log_q[node] = logaddexp(log_stop[node], split)
            log_odds[node] = split - log_stop[node]
        if node > 0:
            children[parent[node]] += log_q[node]
    return log_q, log_odds


@kernel
def posterior_up(parent, first_child, g, kind, prior, n_columns, own):
    """Theorem 1 from statistics: totals, evidence of the leaves, (9) to (11).

    Parameters
    ----------
    parent, first_child : ndarray of shape (n_nodes,)
    g : ndarray of shape (n_nodes,)
        Prior of (2), 0 at leaves of T_max.
    kind, prior, n_columns
        Of the leaf model; ``n_columns`` is 0 where statistics are sums.
    own : ndarray of shape (n_nodes, n_stats)

    Returns
    -------
    total, log_marginal, log_q, log_odds
        As in ``Posterior``.
    """
    if n_columns > 0:
        total = moments_up(own, parent, n_columns)
    else:
        total = sum_up(own, parent)
    log_marginal = log_marginals(kind, total, prior)
    # Rows that stop at an inner node are one more child of it, without questions.
    log_own = np.zeros(parent.size)
    for node in range(parent.size):
        if first_child[node] >= 0 and own[node].any():
            log_own[node] = log_marginals(kind, own[node : node + 1], prior)[0]
    log_stop = np.log1p(-g) + log_marginal
    log_q, log_odds = evidence_up(parent, first_child, log_stop, np.log(g), log_own)
    return total, log_marginal, log_q, log_odds


# Proposition 1: one row after the other


@kernel
def log_predictive(kind, stats, prior, z):
    """Log density of one row at one node, given the rows there.

    ``prior`` holds the hyperparameters in the order of the leaf model's ``prior``.
    """
    if kind == COUNTS:
        total = 0.0
        for j in range(stats.size):
            total += prior[j] + stats[j]
        label = int(z[0])
        return math.log((prior[label] + stats[label]) / total)
    y = z[z.size - 1]
    if kind == POISSON:
        r = prior[0] + stats[1]
        b = prior[1] + stats[0]
        return (
            log_gamma_rise(r, y) - math.lgamma(y + 1.0)
            - r * math.log1p(1.0 / b) - y * math.log1p(b)
        )  # fmt: skip
    if kind == EXPONENTIAL:
        a = prior[0] + stats[0]
        b = prior[1] + stats[1]
        return math.log(a / b) - (a + 1.0) * math.log1p(y / b)
    if kind == NORMAL:
        m, kappa, a, b = normal_update(stats, prior)
        return log_student(y - m, a, b * (kappa + 1.0) / kappa)
    p = z.size - 1
    mean = np.empty(p)
    factor = np.empty((p, p))
    a, b = linear_update(stats, prior, mean, factor)
    residual = y
    for j in range(p):
        residual -= z[j] * mean[j]
    return log_student(residual, a, b * (1.0 + inverse_square(factor, z[:p])))


@kernel
def log_student(residual, a, b):
    """Log density of Student's t with 2a degrees of freedom and squared scale b/a."""
    return (
        log_gamma_rise(a, 0.5) - 0.5 * math.log(2.0 * math.pi * b)
        - (a + 0.5) * math.log1p(residual * residual / (2.0 * b))
    )  # fmt: skip


@kernel
def linear_update(stats, prior, mean, factor):
    """Posterior of a linear regression from its moments.

    ``prior`` is (alpha, beta, mu, Lambda); ``mean`` gets mu_n, and ``factor`` the
    lower Cholesky factor of Lambda_n. Returns alpha_n and beta_n.
    """
    p = mean.size
    weight = stats[0]
    y_mean = stats[1 + p]
    first = 2 + p  # where the scatter begins, row by row of its lower triangle
    last_row = first + p * (p + 1) // 2
    # Lambda_n and Lambda mu + X'y - Lambda_n mu, so that mu_n = mu + a correction.
    gap_y = y_mean
    for j in range(p):
        gap_y -= stats[1 + j] * prior[2 + j]
    for j in range(p):
        mean[j] = stats[last_row + j] + weight * stats[1 + j] * gap_y
        for k in range(j + 1):
            scatter = stats[first + j * (j + 1) // 2 + k]
            factor[j, k] = (
                prior[2 + p + j * p + k] + scatter
                + weight * stats[1 + j] * stats[1 + k]
            )  # fmt: skip
            mean[j] -= scatter * prior[2 + k]
            if k < j:
                mean[k] -= scatter * prior[2 + j]
    cholesky(factor)
    solve_lower(factor, mean)
    solve_upper(factor, mean)
    # beta_n: what the rows and the prior lose at mu_n, about the means of the rows.
    loss = stats[last_row + p]
    y_gap = y_mean
    for j in range(p):
        at_j = prior[2 + j] + mean[j]
        y_gap -= stats[1 + j] * at_j
        loss -= 2.0 * stats[last_row + j] * at_j
        for k in range(p):
            low, high = min(j, k), max(j, k)
            scatter = stats[first + high * (high + 1) // 2 + low]
            loss += scatter * at_j * (prior[2 + k] + mean[k])
            loss += prior[2 + p + j * p + k] * mean[j] * mean[k]
    loss = max(loss, 0.0) + weight * y_gap * y_gap
    for j in range(p):
        mean[j] += prior[2 + j]
    return prior[0] + 0.5 * weight, prior[1] + 0.5 * loss


@kernel
def cholesky(a):
    """Turn the lower triangle of a positive matrix into its Cholesky factor."""
    for j in range(a.shape[0]):
        for k in range(j + 1):
            rest = a[j, k]
            for i in range(k):
                rest -= a[j, i] * a[k, i]
            a[j, k] = math.sqrt(rest) if j == k else rest / a[k, k]
        a[j, j + 1 :] = 0.0


@kernel
def solve_lower(factor, b):
    """Solve ``factor x = b`` in place."""
    for j in range(b.size):
        for k in range(j):
            b[j] -= factor[j, k] * b[k]
        b[j] /= factor[j, j]


@kernel
def solve_upper(factor, b):
    """Solve ``factor.T x = b`` in place."""
    for j in range(b.size - 1, -1, -1):
        for k in range(j + 1, b.size):
            b[j] -= factor[k, j] * b[k]
        b[j] /= factor[j, j]


@kernel
def inverse_square(factor, x):
    """``x' A^-1 x`` where A = factor factor'."""
    b = x.copy()
    solve_lower(factor, b)
    total = 0.0
    for j in range(b.size):
        total += b[j] * b[j]
    return total


@kernel
def linear_update_all(stats, prior, p):
    """``linear_update`` for every row of statistics."""
    n = stats.shape[0]
    mean = np.empty((n, p))
    factor = np.empty((n, p, p))
    alpha = np.empty(n)
    beta = np.empty(n)
    for i in range(n):
        alpha[i], beta[i] = linear_update(stats[i], prior, mean[i], factor[i])
    return mean, factor, alpha, beta


@kernel
def inverse_square_all(factor, x):
    """``inverse_square`` row by row."""
    found = np.empty(x.shape[0])
    for i in range(x.shape[0]):
        found[i] = inverse_square(factor[i], x[i])
    return found


@kernel
def add_one(kind, stats, z):
    """Take one row of weight 1 into the statistics of one node."""
    if kind == COUNTS:
        stats[int(z[0])] += 1.0
    elif kind == POISSON:
        stats[0] += 1.0
        stats[1] += z[0]
        stats[2] += math.lgamma(z[0] + 1.0)
    elif kind == EXPONENTIAL:
        stats[0] += 1.0
        stats[1] += z[0]
    else:
        add_one_moment(stats, z, 1.0)


@kernel
def learn_in_turn(
    ends,
    z,
    parent,
    first_child,
    kind,
    prior,
    own,
    total,
    log_marginal,
    log_q,
    log_odds,
):
    """Proposition 1: every row changes only the nodes on its way.

    The five arrays at the end, statistics and posterior, are changed in place.

    Parameters
    ----------
    ends : ndarray of shape (n_rows,)
        From ``find_ends``.
    z : ndarray of shape (n_rows, n_columns)
        The target, behind the features where the leaf model reads any.
    parent, first_child : ndarray of shape (n_nodes,)
    kind, prior
        Of the leaf model.
    own, total : ndarray of shape (n_nodes, n_stats)
    log_marginal, log_q, log_odds : ndarray of shape (n_nodes,)

    Returns
    -------
    ndarray of shape (n_rows,)
        Log density of every row given the rows before it.
    """
    log_density = np.empty(ends.size)
    for i in range(ends.size):
        node = ends[i]
        # A row that stops at an inner node is in one more child of that node.
        below = 0.0
        if first_child[node] >= 0:
            below = log_predictive(kind, own[node], prior, z[i])
        add_one(kind, own[node], z[i])
        while node >= 0:
            here = log_predictive(kind, total[node], prior, z[i])
            q = here
            if first_child[node] >= 0:
                # (8), then (6), which adds q(child) / p(y | node) to the odds of g.
                stop = here - softplus(log_odds[node])
                q = logaddexp(stop, below - softplus(-log_odds[node]))
                log_odds[node] += below - here
            log_marginal[node] += here
            log_q[node] += q
            add_one(kind, total[node], z[i])
            below = q
            node = parent[node]
        log_density[i] = below
    return log_density
