"""Slow and obvious twins of what `clearwood.search` computes fast."""

import itertools

import numpy as np

from clearwood._kernels.search import LOG_MEAN, LOG_VARIANCE


def parts(grid):
    """Per feature its stretch of a box."""
    return [slice(a, a + n) for a, n in zip(grid.start, grid.n_bins)]


def is_inside(grid, box, i):
    """Whether row i has an allowed bin in every feature."""
    return all(box[part][column[i]] for part, column in zip(parts(grid), grid.columns))


def members(grid, boxes):
    """Boxes by rows."""
    return np.array(
        [[is_inside(grid, box, i) for i in range(grid.n_rows)] for box in boxes],
        dtype=bool,
    ).reshape(len(boxes), grid.n_rows)


def part_literals(allowed, seen, category):
    """Literals of one feature."""
    shut = [b for b in range(len(allowed)) if seen[b] and not allowed[b]]
    if not shut:
        return 0
    inside = [b for b in range(len(allowed) - 1) if allowed[b]]
    if category or not inside:
        return 1
    values = [b for b in shut if b < len(allowed) - 1]
    below = any(b < inside[0] for b in values)
    above = any(b > inside[-1] for b in values)
    return max(1, below + above)


def literals(grid, box, seen):
    """Literals of a box."""
    return sum(
        part_literals(box[part], seen[part], category)
        for part, category in zip(parts(grid), grid.is_category)
    )


def every_part(size, category):
    """All that one feature may allow: intervals with or without missing, or sets."""
    if category:
        for chosen in itertools.product([False, True], repeat=size):
            yield np.array(chosen)
        return
    for low in range(size - 1):
        for high in range(low, size - 1):
            for missing in (False, True):
                allowed = np.zeros(size, dtype=bool)
                allowed[low : high + 1] = True
                allowed[-1] = missing
                yield allowed
    yield np.arange(size) == size - 1


def box_cost(grid, box, seen, cost, bound_cost):
    """Cost of the rows of a box and of its literals."""
    rows = sum(cost[i] for i in range(grid.n_rows) if is_inside(grid, box, i))
    return rows + bound_cost * literals(grid, box, seen)


def first_box(member):
    """Per row the first box that it is in, their number where there is none."""
    n_boxes, n_rows = member.shape
    return [
        next((k for k in range(n_boxes) if member[k, i]), n_boxes)
        for i in range(n_rows)
    ]


def objective(problem, boxes, values, otherwise):
    """Loss of the first match, overlap and literals, row by row."""
    grid, seen, loss, penalties = problem[:4]
    member = members(grid, boxes)
    said = [*values, otherwise]
    total = 0.0
    for i, first in enumerate(first_box(member)):
        total += loss.rows(said[first])[i]
        further = max(member[:, i].sum() - 1, 0)
        total += penalties.overlap * loss.share[i] * further
    n_literals = sum(literals(grid, box, seen) for box in boxes)
    return total + penalties.literal * n_literals


def sum_loss(problem, scores):
    """Loss of scores (outputs by rows), row by row."""
    loss, total = problem.loss, 0.0
    for i, share in enumerate(loss.share):
        target, score = loss.target[:, i], scores[:, i]
        if len(target) == 1:
            total += share * (target[0] - score[0]) ** 2
        else:
            total -= share * target @ (score - np.log(np.exp(score).sum()))
    return total


def sum_objective(problem, boxes, values, outputs, constant):
    """Loss of the sums, ridge and literals."""
    grid, seen = problem.grid, problem.seen
    scores = np.array([[c] * grid.n_rows for c in constant])
    for rows, value, output in zip(members(grid, boxes), values, outputs):
        scores[output, rows] += value
    ridge = problem.ridge / 2 * sum(value**2 for value in values)
    n_literals = sum(literals(grid, box, seen) for box in boxes)
    return sum_loss(problem, scores) + ridge + problem.literal * n_literals


def leaf_loss(problem, rows):
    """What a leaf of a tree loses, row by row, with the best it can say."""
    scores, weight = problem.stats[rows, :-3], problem.stats[rows, -3]
    if len(rows) == 0:
        return 0.0
    kind = problem.leaf.kind
    if kind == LOG_VARIANCE:
        # The variance of a mixture: of what rows say, and between them.
        mean = np.average(scores / weight[:, None], axis=0, weights=weight)
        pairs = mean.reshape(-1, 2)
        return sum(weight.sum() * np.log(square - value**2) for value, square in pairs)
    if kind == LOG_MEAN:
        shares = scores.sum(axis=0) / weight.sum()
        return -sum(s @ np.log(shares[shares > 0]) for s in scores[:, shares > 0])
    # What is lost of the score that decides.
    lost = scores - scores.min(axis=1, keepdims=True)
    hard = min(sum(line[c] for line in lost) for c in range(scores.shape[1]))
    means = scores.sum(axis=0) / weight.sum()
    soft = sum(w * ((s / w - means) ** 2).sum() for s, w in zip(scores, weight))
    return problem.leaf.hard * hard + problem.leaf.soft * soft


def every_split(grid, d):
    """Bins that go left, for all questions about a feature."""
    size = grid.n_bins[d]
    if grid.is_category[d]:
        yield from every_part(size, category=True)
        return
    for cut in range(-1, size - 1):
        for missing in (False, True):
            yield np.array([b <= cut for b in range(size - 1)] + [missing])


def sides(problem, rows, d, goes_left, least):
    """The rows on both sides; None where one has too few that count."""
    column, support = problem.grid.columns[d], problem.stats[:, -2]
    left = [i for i in rows if goes_left[column[i]]]
    right = [i for i in rows if not goes_left[column[i]]]
    if min(support[left].sum(), support[right].sum()) < least:
        return None
    return left, right


def best_split(problem, rows, d, least):
    """Least loss after one question about a feature."""
    losses = [np.inf]
    for goes_left in every_split(problem.grid, d):
        both = sides(problem, rows, d, goes_left, least)
        if both:
            losses.append(sum(leaf_loss(problem, side) for side in both))
    return min(losses)


def best_sides(problem, rows, left, right, least):
    """Least cost of rows that go to two sides, by a question, as cheaply as they may.

    ``left`` and ``right`` are what each row costs there.
    """
    costs, place = np.stack([left, right]), {i: j for j, i in enumerate(rows)}
    losses = [np.inf]
    for d in range(len(problem.grid.start)):
        for goes_left in every_split(problem.grid, d):
            both = sides(problem, rows, d, goes_left, least)
            if both:
                held = [[place[i] for i in side] for side in both]
                losses.append(sum(costs[:, own].sum(axis=1).min() for own in held))
    return min(losses)


def best_of_two_levels(problem, rows, least):
    """Least loss after a question and one more on each side."""

    def after(side):
        found = [best_split(problem, side, d, least) for d in features]
        return min(leaf_loss(problem, side), *found)

    features = range(len(problem.grid.start))
    losses = [np.inf]
    for d in features:
        for goes_left in every_split(problem.grid, d):
            both = sides(problem, rows, d, goes_left, least)
            if both:
                losses.append(sum(after(side) for side in both))
    return min(losses)


def best_trees(problem, statements, most, depth, rows=None, box=None):
    """Least cost of exactly 1, 2, ... leaves: every tree that asks the statements."""
    grid, support = problem.grid, problem.stats[:, -2]
    if box is None:
        rows = list(range(grid.n_rows))
        box = np.ones(int(grid.n_bins.sum()), dtype=bool)
    costs = np.full(most, np.inf)
    if support[rows].sum() >= problem.min_samples_leaf:
        costs[0] = leaf_loss(problem, rows)
        costs[0] += problem.literal * literals(grid, box, problem.seen)
    if depth == 0 or most == 1:
        return costs
    for d, goes_left in statements:
        both = sides(problem, rows, d, goes_left, problem.min_samples_leaf)
        if both is None or not all(both):
            continue
        found = []
        for side, bins in zip(both, (goes_left, ~goes_left)):
            inside = box.copy()
            inside[grid.start[d] : grid.start[d] + grid.n_bins[d]] &= bins
            found.append(
                best_trees(problem, statements, most - 1, depth - 1, side, inside)
            )
        for i, left in enumerate(found[0]):
            for j, right in enumerate(found[1][: most - i - 1]):
                costs[i + j + 1] = min(costs[i + j + 1], left + right)
    return costs


def every_pruning(left, right, node=0):
    """The leaves of all prunings of a tree."""
    yield (node,)
    if left[node] >= 0:
        for some in every_pruning(left, right, left[node]):
            for others in every_pruning(left, right, right[node]):
                yield some + others


def leaf_of(tree, i):
    """The leaf of a row, question by question."""
    while tree.children:
        bin_ = tree.problem.grid.columns[tree.feature][i]
        tree = tree.children[0 if tree.goes_left[bin_] else 1]
    return tree
