"""Counterfactuals: the smallest changes of a row that change its prediction.

Predictions of rules depend only on the side of each cut that a value lies on and on the
group of its category, so trying one value of each kind is exhaustive.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from clearwood._words.labels import label_text, prediction_text
from clearwood._words.numbers import number_text, shortest_between
from clearwood.columns.dates import DATES, TIMED, date_text, value_text
from clearwood.columns.feature_space import FeatureSpace
from clearwood.rules.conditions import (
    LARGEST,
    Condition,
    Interval,
    name_text,
    shown_low,
    whole_bounds,
)

if TYPE_CHECKING:
    from clearwood.rules.rule_set import RuleSet

MOST_CHANGES = 5
MOST_LABELS = 3


@dataclass(frozen=True)
class Change:
    """Counterfactual: other values of a row with another prediction.

    Attributes
    ----------
    features : tuple of str
        One feature, or two.
    values : tuple
        A value for each, in the form of the row's cell.
    prediction : float, or a class label
        The prediction after the change.
    rule : int or None
        Number of the rule that then predicts; None in a sum or an average.
    text : str
        The change in words, with the range of values that have the same effect.
    reason : str
        The same as a reason for the present prediction: what the row has rather than
        what would change it.
    """

    features: tuple[str, ...]
    values: tuple[Any, ...]
    prediction: Any
    rule: int | None
    text: str
    reason: str


class Option(NamedTuple):
    """Set of values of a feature that are equivalent for the rules.

    Attributes
    ----------
    feature : int
        Position of the feature.
    cell : float or label
        The nearest value of the set.
    code : float
        The value as encoded.
    size : float
        Size of the change.
    region : int
        Index of the interval between cuts; -1 for categories.
    words : callable
        The values in words, up to those of a given region.
    """

    feature: int
    cell: Any
    code: float
    size: float
    region: int
    words: Callable[[int], str]


def smallest_changes(
    rule_set: RuleSet,
    row: np.ndarray,
    value_texts: tuple[str, ...],
    fixed: frozenset[int],
    scale: np.ndarray | None,
) -> tuple[Change, ...]:
    """Smallest changes of one feature, or of two where no change of one suffices.

    Parameters
    ----------
    rule_set : RuleSet
    row : ndarray of shape (n_features,)
        Encoded.
    value_texts : tuple of str
        The row's values in words.
    fixed : frozenset of int
        Features that may not change.
    scale : ndarray of shape (n_features,) or None
        Unit of change per feature. By default the size of a change is the number of
        cuts it crosses. A change of category, and a value in place of a missing one,
        has size 1.

    Returns
    -------
    tuple of Change
        Smallest first; one for each feature (or pair) and prediction, at most five.
    """
    options = [
        option
        for d in sorted(rule_set.used_features)
        if d not in fixed
        for option in options_of(rule_set, d, float(row[d]), scale)
    ]
    before = rule_set.predict_encoded(row[None, :])[0]
    for candidates in (_alone(options), _in_pairs(options)):
        found = _best(rule_set, row, before, candidates)
        if found:
            break
    return tuple(
        _change(rule_set, row, value_texts, options, chosen) for chosen in found
    )


def _alone(options: list[Option]) -> Iterator[list[tuple[Option, ...]]]:
    yield [(option,) for option in options]


def _in_pairs(options: list[Option]) -> Iterator[list[tuple[Option, ...]]]:
    # In blocks, so that memory stays bounded with many cuts.
    for one in options:
        yield [(one, two) for two in options if two.feature > one.feature]


def _best(
    rule_set: RuleSet,
    row: np.ndarray,
    before: Any,
    blocks: Iterator[list[tuple[Option, ...]]],
) -> list[tuple[Option, ...]]:
    """Smallest change per set of features and prediction; the smallest of these."""
    best: dict[Any, tuple[float, int, tuple[Option, ...]]] = {}
    tried = 0
    for block in blocks:
        if not block:
            continue
        predicted = _predicted(rule_set, row, block)
        for i in np.flatnonzero(predicted != before).tolist():
            options = block[i]
            key = (*(option.feature for option in options), predicted[i].item())
            size = sum(option.size for option in options)
            # Of two changes of equal size the first is kept.
            if key not in best or size < best[key][0]:
                best[key] = (size, tried + i, options)
        tried += len(block)
    return [options for *_, options in sorted(best.values())[:MOST_CHANGES]]


def _predicted(
    rule_set: RuleSet, row: np.ndarray, block: list[tuple[Option, ...]]
) -> np.ndarray:
    return rule_set.predict_encoded(_changed(row, block))


def _changed(row: np.ndarray, block: list[tuple[Option, ...]]) -> np.ndarray:
    changed = np.repeat(row[None, :], len(block), axis=0)
    n_options = len(block[0])
    features = [option.feature for options in block for option in options]
    codes = [option.code for options in block for option in options]
    changed[np.repeat(np.arange(len(block)), n_options), features] = codes
    return changed


def _change(
    rule_set: RuleSet,
    row: np.ndarray,
    value_texts: tuple[str, ...],
    options: list[Option],
    chosen: tuple[Option, ...],
) -> Change:
    matches = rule_set.matches_encoded(_changed(row, [chosen]))
    predicted = rule_set.predictions_by(matches).tolist()[0]
    predicting = rule_set.predicting_rule(matches)
    rule = None if predicting is None else int(predicting[0]) + 1
    by = "" if rule is None else f" (rule {rule})"
    farthest = {option: option.region for option in chosen}
    if len(chosen) == 1:
        farthest[chosen[0]] = _farthest(rule_set, row, options, chosen[0], predicted)
    features, names = rule_set.features, rule_set.features.names
    parts = [
        (
            name_text(features.shown(option.feature)),
            value_texts[option.feature],
            option.words(region),
        )
        for option, region in farthest.items()
    ]
    changes = " and ".join(f"{name} from {now} to {then}" for name, now, then in parts)
    reasons = (f"{name} is {now} rather than {then}" for name, now, then in parts)
    return Change(
        tuple(names[option.feature] for option in chosen),
        tuple(_cell_of(option, features) for option in chosen),
        predicted,
        rule,
        f"{changes} would change the prediction to {prediction_text(predicted)}{by}",
        ", and ".join(reasons),
    )


def _farthest(
    rule_set: RuleSet,
    row: np.ndarray,
    options: list[Option],
    start: Option,
    predicted: Any,
) -> int:
    """Last region in the same direction with the same rule and prediction."""
    if start.region < 0 or math.isnan(row[start.feature]):
        return start.region
    of_feature = {o.region: o for o in options if o.feature == start.feature}
    away = 1 if start.code > row[start.feature] else -1
    region = start.region
    while region + away in of_feature:
        further = of_feature[region + away]
        if _predicted(rule_set, row, [(further,)]).tolist()[0] != predicted:
            break
        if _decides(rule_set, row, further) != _decides(rule_set, row, start):
            break
        region += away
    return region


def _decides(rule_set: RuleSet, row: np.ndarray, option: Option) -> int | None:
    """The rule that predicts after a change; None in sums and averages."""
    matches = rule_set.matches_encoded(_changed(row, [(option,)]))
    predicting = rule_set.predicting_rule(matches)
    return None if predicting is None else int(predicting[0])


def options_of(
    rule_set: RuleSet, d: int, value: float, scale: np.ndarray | None
) -> list[Option]:
    """Alternatives of a feature: one option per set of equivalent values."""
    every = (c for rule in rule_set.rules for c in rule.conditions)
    conditions = [c for c in every if c.feature == d]
    if rule_set.features.categories[d] is not None:
        return _category_options(rule_set.features, d, value, conditions)
    step = None if scale is None else float(scale[d])
    return _interval_options(rule_set.features, d, value, conditions, step)


def _interval_options(
    features: FeatureSpace,
    d: int,
    value: float,
    conditions: list[Condition],
    step: float | None,
) -> list[Option]:
    bounds = {b for c in conditions if isinstance(c, Interval) for b in (c.low, c.high)}
    edges = [-math.inf, *sorted(filter(math.isfinite, bounds)), math.inf]
    is_missing = math.isnan(value)
    here = -1 if is_missing else int(np.searchsorted(edges[1:-1], value))
    options = []
    for region, (low, high) in enumerate(zip(edges, edges[1:])):
        if region == here:
            continue
        goes_up = not is_missing and region > here
        whole = whole_bounds(Interval(d, low, high), features.info[d].kind)
        if whole:
            near = whole[0] if goes_up or whole[1] == math.inf else whole[1]
        else:
            near = _plain_number(low, high, goes_up) if edges[1:-1] else 0.0
        found = _cell_inside(features, d, low, high, near)
        if found is None:
            continue
        cell, code = found
        size = 1.0
        if not is_missing:
            size = abs(region - here) if step is None else abs(cell - value) / step

        def words(far: int, region: int = region, goes_up: bool = goes_up) -> str:
            first, last = min(region, far), max(region, far)
            between = Interval(d, edges[first], edges[last + 1])
            return _range_text(features, between, goes_up)

        options.append(Option(d, cell, code, float(size), region, words))
    return options


def _plain_number(low: float, high: float, goes_up: bool) -> float:
    """Short number in ``low < number <= high``, near the nearer end.

    The next larger float64 would be valid, but tables round it, and float32 loses it.
    """
    if not goes_up and high < math.inf:
        return high
    # The width may overflow float64.
    width = min(high - low, LARGEST) if high < math.inf else max(abs(low), 1.0)
    first = low + 0.001 * width
    if not low < first < high:
        return math.nextafter(low, high)
    return min(shortest_between(first, low + 0.01 * width, near=first), high)


def _cell_inside(
    features: FeatureSpace, d: int, low: float, high: float, near: float
) -> tuple[float, float] | None:
    """A cell that is read as a number in ``low < number <= high``, and that number."""
    kind = features.info[d].kind
    if kind in TIMED:
        return (near, near) if low < near <= high else None
    cells = [near]
    at = features.missing_at[d]
    if at is not None:
        # Next to the number that encodes missing, but distinct from it.
        away = max(abs(at) * 1e-6, 1e-30)
        cells += [at - away, at + away]
    for cell in cells:
        code = float(_codes(features, d, [cell])[0])
        if math.isfinite(cell) and low < code <= high:
            return cell, code
    return None


def _cell_of(option: Option, features: FeatureSpace) -> Any:
    """The cell of a table."""
    is_date = features.info[option.feature].kind in DATES
    return date_text(option.cell) if is_date else option.cell


def _range_text(features: FeatureSpace, inside: Interval, goes_up: bool) -> str:
    """The interval in words, nearest value first."""
    low, high, kind = inside.low, inside.high, features.info[inside.feature].kind
    whole = whole_bounds(inside, kind)
    if whole and whole[0] == whole[1]:
        return value_text(whole[0], kind)
    is_inside, bound = shown_low(inside, kind)
    least = above = f"above {value_text(bound, kind)}"
    if is_inside:
        least, above = (
            f"at least {value_text(bound, kind)}",
            f"{value_text(bound, kind)} or above",
        )
    most = value_text(whole[1] if whole else high, kind)
    below = f"{most} or below"
    if low == -math.inf:
        words = "any value" if high == math.inf else below
    elif high == math.inf:
        words = above
    elif goes_up:
        words = f"{above} (at most {most})"
    else:
        words = f"{below} (but {least})"
    at = features.missing_at[inside.feature]
    if at is not None and low < at <= high:
        words += f", not {number_text(at)}"
    return words


def _category_options(
    features: FeatureSpace, d: int, value: float, conditions: list[Condition]
) -> list[Option]:
    labels = features.categories[d] or ()
    # All at once: encoding one by one would search all categories each time.
    codes = np.append(_codes(features, d, labels), value)
    answers = np.array([condition.matches(codes) for condition in conditions])
    *kinds, here = map(bytes, answers.T)
    groups: dict[bytes, list[tuple[Any, float]]] = {}
    for label, code, kind in zip(labels, codes.tolist(), kinds):
        # Some categories are known by a hash only, which no cell holds.
        if code >= 0 and kind != here:
            groups.setdefault(kind, []).append((label, code))
    options = []
    for members in groups.values():
        texts = [label_text(label, features.lookup[d]) for label, _ in members]
        if len(texts) > MOST_LABELS + 1:
            texts[MOST_LABELS:] = [f"{len(texts) - MOST_LABELS} others"]
        text = ", ".join(texts[:-1]) + " or " * (len(texts) > 1) + texts[-1]
        label, code = members[0]

        def words(far: int, text: str = text) -> str:
            return text

        options.append(Option(d, label, code, 1.0, -1, words))
    return options


def _codes(features: FeatureSpace, d: int, cells: Sequence[Any]) -> np.ndarray:
    column = np.empty(len(cells), dtype=object)
    column[:] = cells
    return features.encode_column(column, d)
