"""The plain formulas of inTrees, one rule and one literal at a time."""

import numpy as np


def masks(paths, bins, codes, k):
    """Which rows satisfy each literal of rule k."""
    found = []
    for one in paths.ids(k):
        d = paths.literals.feature[one]
        found.append(paths.literals.allowed(one, int(bins.n_bins[d]))[codes[:, d]])
    return found


def metrics(inside, target, weight, n_classes, said=None):
    """Weight, what is said, and the error of a rule."""
    target, weight = target[inside], weight[inside]
    if n_classes:
        if said is None:
            said = np.bincount(target.astype(int), weight, n_classes).argmax()
        return weight.sum(), said, weight[target != said].sum() / weight.sum()
    said = np.average(target, weights=weight)
    error = np.average((target - said) ** 2, weights=weight)
    return weight.sum(), said, error


def prune(literals, target, weight, n_classes, decay, most, floor=0.001):
    """Positions of the literals that stay, and metrics of the rest of the rule."""
    result = metrics(np.all(literals, axis=0), target, weight, n_classes)
    said, before = result[1:]
    kept = list(range(len(literals)))
    for i in reversed(range(len(literals))):
        rest = [literals[j] for j in kept if j != i]
        if not rest:
            break
        trial = metrics(np.all(rest, axis=0), target, weight, n_classes, said)
        rise = trial[2] - before
        if decay == "relative":
            rise /= max(before, floor)
        if rise <= most:
            kept.remove(i)
            result = trial
    return kept, result


def order(inside, said, lengths, target, weight, n_classes, least):
    """STEL: positions of the rules, in order."""
    free, found = np.ones(len(target), bool), []
    while (weight * free).sum() > 0:
        tried = []
        for k, rows in enumerate(inside):
            rows = rows & free
            frequency = round(weight[rows].sum() / weight.sum(), 9)
            if frequency >= least and frequency > 0:
                error = metrics(rows, target, weight, n_classes, said[k])[2]
                tried.append((round(error, 9), -frequency, lengths[k], k))
        rest = metrics(free, target, weight, n_classes)[2]
        if not tried or min(tried)[0] >= round(rest, 9):
            break
        found.append(min(tried)[-1])
        free &= ~inside[found[-1]]
    return found
