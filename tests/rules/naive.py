"""Slow and obvious twins of what `clearwood.rules` computes fast."""

import numpy as np


def truth(bins, codes):
    """The papers' binary features s(x): rows by statements."""
    s = bins.statements
    dense = np.empty((len(codes), len(s.feature)), dtype=bool)
    for i, d in enumerate(s.feature):
        column = codes[:, d]
        if i < len(s.first_true):
            missing = column == bins.missing_bin(d)
            dense[:, i] = np.where(
                missing, s.missing_true[i], column >= s.first_true[i]
            )
        else:
            dense[:, i] = s.category_truth[i - len(s.first_true)][column]
    return dense


def statement_sum(truth, when_true, when_false):
    """Row by row, statement by statement: rows by columns."""
    n_rows, n_columns = len(truth), when_true.shape[1]
    total = np.zeros((n_rows, n_columns))
    for n in range(n_rows):
        for s in range(truth.shape[1]):
            total[n] += when_true[s] if truth[n, s] else when_false[s]
    return total


def statement_mass(truth, mass):
    """Mass of the rows for which each statement is true, and false."""
    true = np.zeros((truth.shape[1], mass.shape[1]))
    false = np.zeros_like(true)
    for n in range(len(truth)):
        for s in range(truth.shape[1]):
            (true if truth[n, s] else false)[s] += mass[n]
    return true, false


def goes_right(x, split):
    """One numeric split (feature, cut, missing right) on one row."""
    feature, cut, missing_right = split
    return missing_right if np.isnan(x[feature]) else x[feature] > cut


def category_goes_left(code, split):
    """One categorical split (feature, codes left, missing left, unseen left)."""
    _, codes, missing_left, unseen_left = split
    if np.isnan(code):
        return missing_left
    return unseen_left if code == -1 else int(code) in codes


def every_cell(rules):
    """Per feature a value in every interval that the rules tell apart, and NaN."""
    values = [{0.0, np.nan} for _ in rules.features.names]
    for rule in rules:
        for condition in rule.conditions:
            d = condition.feature
            if hasattr(condition, "codes"):
                n_labels = len(rules.features.categories[d])
                values[d] |= set(np.arange(-1.0, n_labels))
            else:
                for cut in (condition.low, condition.high):
                    values[d] |= {cut, np.nextafter(cut, np.inf)}
    # NaN, of which there may be several, comes last.
    return [np.unique(list(v)) for v in values]


def ways(rules, d, most=200_000):
    """How what is said changes where feature d grows: a set of -1 and 1.

    All cells of the other features are tried; of very many, a part.
    """
    cells = every_cell(rules)
    along = cells[d][~np.isnan(cells[d])]
    cells[d] = np.zeros(1)
    shape = [len(c) for c in cells]
    n_cells = int(np.prod(shape))
    places = np.arange(n_cells)
    if n_cells * len(along) > most:
        places = np.random.default_rng(0).integers(n_cells, size=most // len(along))
    rows = np.column_stack(
        [c[i] for c, i in zip(cells, np.unravel_index(places, shape))]
    )
    rows = np.repeat(rows, len(along), axis=0)
    rows[:, d] = np.tile(along, len(places))
    lines = list(rules)
    said = [np.array([line.prediction for line in lines])]
    if rules.classes:
        said = [
            np.array([line.probabilities[1] for line in lines]),
            np.array([rules.classes.index(line.prediction) for line in lines]),
        ]
    first = rules.apply_encoded(rows)
    changes = [np.diff(s[first].reshape(-1, len(along)), axis=1) for s in said]
    return {int(np.sign(c)) for change in changes for c in change.ravel() if c != 0}


def read_aloud(document, row):
    """What the rules of a JSON document say of a row (a dict): a value, or shares."""
    labels = {f["name"]: f["categories"] for f in document["features"]}
    lines = [*document["rules"], document["otherwise"]]
    holds = [all(satisfies(c, row, labels) for c in k["conditions"]) for k in lines]
    classes = document["task"] == "classification"
    key = "probabilities" if classes else "prediction"
    if document["combine"] == "first":
        return lines[holds.index(True)][key]
    lines = [line for line, it_holds in zip(lines, holds) if it_holds]
    if document["combine"] == "average":
        said = np.array([line[key] for line in lines])
        weight = np.array([line["weight"] for line in lines])
        return said[-1] if not weight.any() else weight @ said / weight.sum()
    if not classes:
        return sum(line["prediction"] for line in lines)
    odds = np.exp(np.sum([line["scores"] for line in lines], axis=0))
    return odds / odds.sum()


def satisfies(condition, row, labels):
    """Whether a row has the value that is asked for."""
    value = row[condition["feature"]]
    if value is None or value != value:
        return condition["missing"]
    if "categories" in condition:
        if value not in labels[condition["feature"]]:
            return condition["unseen"]
        return value in condition["categories"]
    low, high = condition["low"], condition["high"]
    return (low is None or low < value) and (high is None or value <= high)
