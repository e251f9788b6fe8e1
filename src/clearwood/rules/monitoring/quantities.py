"""Checks of new rows against reference rows, or the statistics of the rules."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from clearwood._tables import is_read_in_blocks
from clearwood._words.labels import prediction_text
from clearwood.columns.cells import UNSEEN
from clearwood.columns.info import info_of_more
from clearwood.exceptions import InputError, UnknownCategoriesWarning
from clearwood.outcomes.intervals import UNKNOWN, Rate, mean_of, rate_of
from clearwood.rules.monitoring import shifts
from clearwood.rules.rule_set import RuleSet


class Quantity(NamedTuple):
    """Comparison of one quantity in new rows with what was expected.

    Attributes
    ----------
    subject : str
        The rule or the column.
    name : str
        What is compared.
    expected : float
        NaN where nothing is known.
    observed : Rate
        In the new rows, with its 95 % interval.
    is_share : bool
        Whether both are shares, displayed in percent.
    p : float
        p value of the hypothesis that nothing has changed, not adjusted for the number
        of tests; NaN where there is no test.
    signal : bool
        Whether a change is signalled: p is small enough after Holm's correction for all
        tests, or a column holds numbers of another kind than before.
    """

    subject: str
    name: str
    expected: float
    observed: Rate
    is_share: bool = True
    p: float = UNKNOWN
    signal: bool = False


class Sample(NamedTuple):
    """Rows, encoded for the rules, with the rules that they satisfy."""

    X: Any
    encoded: np.ndarray
    matches: np.ndarray
    line: np.ndarray | None
    truth: np.ndarray | None

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.encoded)


def read_sample(rules: RuleSet, X: Any, y: Any, name: str) -> Sample:
    """Validate and encode some rows; ``name`` is that of the argument."""
    if is_read_in_blocks(X):
        raise InputError(
            f"{name} is read in blocks, and distributions are compared in memory; pass "
            "a sample of its rows as a frame."
        )
    with warnings.catch_warnings():
        # They are counted below.
        warnings.simplefilter("ignore", UnknownCategoriesWarning)
        encoded = rules.encode(X)
    if len(encoded) == 0:
        raise InputError(f"{name} is empty: it has no rows to compare.")
    matches = rules.matches_encoded(encoded)
    truth = None
    if y is not None:
        own = "y" if name == "X" else "reference_y"
        truth = rules.check_target(y, len(encoded), own)
    return Sample(X, encoded, matches, rules.predicting_rule(matches), truth)


def compare(
    rules: RuleSet, old: Sample | None, new: Sample
) -> tuple[list[Quantity], float]:
    """All quantities, without signals of their p values, and the stability index."""
    before, n = _rows_by_rule(rules, old)
    now, _ = _rows_by_rule(rules, new)
    found = [
        *_shares(rules, before, n, now, new),
        *_rates(rules, old, new),
        *_residuals(rules, old, new),
        *_columns(rules, old, new),
    ]
    index = UNKNOWN
    if new.line is not None and math.isfinite(n):
        index = shifts.stability_index(before.tolist(), now.tolist())
    return found, index


def _rows_by_rule(rules: RuleSet, sample: Sample | None) -> tuple[np.ndarray, float]:
    """Rows that each rule predicts, or covers where several predict; and all rows."""
    if sample is None:
        kind = "rows_assigned" if rules.one_rule_predicts else "rows"
        rows = [getattr(rule.statistics, kind) for rule in rules]
        return np.array(rows, dtype=float), rules.n_rows
    if sample.line is not None:
        return np.bincount(sample.line, minlength=rules.n_rules), sample.n
    return np.array([*sample.matches.sum(axis=0), sample.n]), sample.n


def _shares(
    rules: RuleSet, before: np.ndarray, n: float, now: np.ndarray, new: Sample
) -> Iterator[Quantity]:
    """Share of rows per rule, of ``before`` among ``n`` rows and of ``now``."""
    if not math.isfinite(n) or rules.n_rules == 1:
        return
    what = "share of rows" if rules.one_rule_predicts else "share of rows covered"
    # The default rule of sums and averages covers every row.
    for k in range(rules.n_rules - (not rules.one_rule_predicts)):
        rows = new.matches[:, k] if new.line is None else new.line == k
        p = shifts.share_shift(before[k], n, int(now[k]), new.n)
        observed = rate_of(rows, np.ones(new.n))
        yield Quantity(f"rule {k + 1}", what, float(before[k] / n), observed, p=p)


def _rates(rules: RuleSet, old: Sample | None, new: Sample) -> Iterator[Quantity]:
    """Rate of the predicted class, or mean of the target, per rule that predicts."""
    if new.truth is None or new.line is None:
        return
    for k, rule in enumerate(rules):
        own = new.truth[new.line == k]
        before = None
        if old is not None and old.truth is not None and old.line is not None:
            before = old.truth[old.line == k]
        known = rule.statistics
        name = f"rule {k + 1}"
        if not rules.classes:
            expected, low, high = known.expected, known.low, known.high
            if before is not None:
                expected, low, high, _ = mean_of(before, np.ones(len(before)))
            p = shifts.mean_shift(expected, low, high, own)
            observed = mean_of(own, np.ones(len(own)))
            yield Quantity(
                name, f"mean of {rules.target}", expected, observed, False, p
            )
            continue
        hits = own == rule.prediction
        observed = rate_of(hits, np.ones(len(own)))
        if before is not None:
            hit = before == rule.prediction
            expected = float(hit.mean()) if len(hit) else UNKNOWN
            p = shifts.share_shift(hit.sum(), len(hit), int(hits.sum()), len(own))
        else:
            expected = known.expected
            p = shifts.rate_shift(
                expected, known.low, known.high, int(hits.sum()), len(own)
            )
        what = f"rate of {prediction_text(rule.prediction)}"
        yield Quantity(name, what, expected, observed, p=p)


def _residuals(rules: RuleSet, old: Sample | None, new: Sample) -> Iterator[Quantity]:
    """Mean of truth minus prediction over all rows, where several rules predict."""
    if new.truth is None or new.line is not None:
        return
    now = _differences(rules, new)
    before = None
    if old is not None and old.truth is not None:
        before = _differences(rules, old)
    for name, values in now.items():
        observed = mean_of(values, np.ones(new.n))
        # Zero on average, if the predictions are right; but by how much they may be
        # wrong is known of reference rows alone.
        known = Rate(0.0, UNKNOWN, UNKNOWN, 0)
        if before is not None:
            known = mean_of(before[name], np.ones(len(before[name])))
        p = shifts.mean_shift(known.value, known.low, known.high, values)
        yield Quantity("all rows", name, known.value, observed, False, p)


def _differences(rules: RuleSet, sample: Sample) -> dict[str, np.ndarray]:
    """Truth minus prediction; of two classes for the second, of more for each."""
    answers = rules.answers_by(sample.matches)
    if not rules.classes:
        return {"truth minus prediction": sample.truth - answers}
    return {
        f"{prediction_text(label)}, rate minus probability": (sample.truth == label)
        - answers[:, k]
        for k, label in enumerate(rules.classes)
        if k > 0 or len(rules.classes) > 2
    }


def _columns(rules: RuleSet, old: Sample | None, new: Sample) -> Iterator[Quantity]:
    """Missing values, unknown levels, kinds, ranges and distributions."""
    features = rules.features
    for d in sorted(rules.used_features):
        name, now = f"column {features.shown(d)}", new.encoded[:, d]
        before = None if old is None else old.encoded[:, d]
        if features.categories[d] is None:
            yield from _kind(rules, name, d, now)
        elif before is not None:
            yield from _rows(name, "unknown levels", before == UNSEEN, now == UNSEEN)
        elif math.isfinite(rules.n_rows):
            # All levels of the training rows are known.
            known = np.zeros(round(rules.n_rows), dtype=bool)
            yield from _rows(name, "unknown levels", known, now == UNSEEN)
        if before is None:
            continue
        yield from _rows(name, "missing values", np.isnan(before), np.isnan(now))
        before, now = before[~np.isnan(before)], now[~np.isnan(now)]
        if not len(before) or not len(now):
            continue
        if features.categories[d] is None:
            yield _outside(name, before, now)
            distance, p = shifts.values_shift(before, now)
            what = "distribution"
        else:
            codes = [(column - UNSEEN).astype(int) for column in (before, now)]
            size = max(c.max() for c in codes) + 1
            counts = (np.bincount(c, minlength=size) for c in codes)
            distance, p = shifts.levels_shift(*counts)
            what = "distribution of levels"
        observed = Rate(distance, UNKNOWN, UNKNOWN, len(now))
        yield Quantity(name, what, UNKNOWN, observed, False, p)


def _rows(
    subject: str, name: str, before: np.ndarray, now: np.ndarray
) -> Iterator[Quantity]:
    """Compare shares of rows, if there are any such rows."""
    if not before.any() and not now.any():
        return
    p = shifts.share_shift(int(before.sum()), len(before), int(now.sum()), len(now))
    observed = rate_of(now, np.ones(len(now)))
    yield Quantity(subject, name, float(before.mean()), observed, p=p)


def _kind(rules: RuleSet, name: str, d: int, column: np.ndarray) -> Iterator[Quantity]:
    """Numbers that the kind of the column does not allow, such as 0.5 for integers."""
    info = rules.features.info[d]
    if info_of_more([info], column[:, None])[0].kind == info.kind:
        return
    allowed = (column % 1 == 0) if info.kind == "integer" else np.isin(column, (0, 1))
    other = ~allowed & ~np.isnan(column)
    what = f"not {'integer' if info.kind == 'integer' else '0 or 1'}"
    yield Quantity(name, what, 0.0, rate_of(other, np.ones(len(column))), signal=True)


def _outside(name: str, before: np.ndarray, now: np.ndarray) -> Quantity:
    outside = (now < before.min()) | (now > before.max())
    p = shifts.range_shift(len(before), int(outside.sum()), len(now))
    # Of exchangeable values.
    expected = min(1.0, 2 / (len(before) + 1))
    observed = rate_of(outside, np.ones(len(now)))
    return Quantity(name, "outside of range", expected, observed, p=p)
