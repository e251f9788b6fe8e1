"""Scores of features and edges, beside plain counting and the golden tables."""

import numpy as np
import pytest
from tests.sbfc import naive
from tests.sbfc.tables import as_table, golden_cases, random_table

from clearwood.sbfc import scores as scores_module
from clearwood.sbfc.scores import NOISE, SIGNAL, Penalty, score, strong_edges

# Sums of some dozens of log gammas, each right to a few units in the last place.
EXACT = 1e-9


def table_of(scores, group):
    """Scores of features given parents, as the golden facts have them."""
    found = scores.gains(group) + scores.alone[group][:, None]
    np.fill_diagonal(found, scores.alone[group])
    return found


@pytest.mark.parametrize("case", golden_cases(), ids=lambda case: case["name"])
def test_golden_score_tables(case):
    scores = score(as_table(case), case["alpha"])
    for group in (NOISE, SIGNAL):
        wanted = case["score_table"][f"group{group}"]
        np.testing.assert_allclose(table_of(scores, group), wanted, rtol=0, atol=EXACT)


WEIGHTS = {
    "none": lambda n: None,
    "whole": lambda n: np.arange(n) % 3 * 1.0,
    "parts": lambda n: np.arange(n) % 7 / 4,
    "above 65,535": lambda n: np.arange(n) % 5 * 70_001.0,
    "above float32": lambda n: np.arange(n) % 5 * 2.0**24 + 1,
}


@pytest.mark.parametrize("weight", WEIGHTS)
@pytest.mark.parametrize("cells", [2**24, 2**8], ids=["whole", "in blocks"])
def test_scores_are_those_of_plain_counting(monkeypatch, weight, cells):
    monkeypatch.setattr(scores_module, "BLOCK_CELLS", cells)
    n, levels = 40, (2, 5, 1, 3, 3)
    table = random_table(levels, n, n_classes=3, weight=WEIGHTS[weight](n))
    scores = score(table, alpha=2.0)
    for group in (NOISE, SIGNAL):
        wanted = naive.score_table(table, group, 2.0)
        # Log gammas of large counts cancel: by units in their last place.
        size = np.abs(wanted).max() + (0 if table.weight is None else 40 * 2.0**30)
        loss = EXACT if size < 1e6 else 1e-15 * size
        np.testing.assert_allclose(table_of(scores, group), wanted, rtol=0, atol=loss)
    assert scores.alone[:, 2].tolist() == [0.0, 0.0]  # a constant says nothing


@pytest.mark.parametrize("most_kept", [0, 10])
def test_strong_edges_are_those_above_the_bound(monkeypatch, most_kept):
    monkeypatch.setattr(scores_module, "MOST_KEPT", most_kept)
    monkeypatch.setattr(scores_module, "BLOCK_CELLS", 100)
    scores = score(random_table((2, 3, 2, 2, 4), 60))
    assert (scores.kept is None) == (most_kept == 0)
    penalty, bound = Penalty((1.0, 0.5), (0.0, 0.0)), -3.0
    for group, edges in enumerate(strong_edges(scores, penalty, bound)):
        log_weight = scores.gains(group) - penalty.edge[group]
        strong = log_weight > bound
        assert 0 < strong.sum() < 20
        found = np.full((5, 5), -np.inf)
        i, j = edges.log_weight.nonzero()
        found[i, j] = edges.log_weight.data
        wanted = np.where(strong, log_weight, -np.inf)
        np.testing.assert_allclose(found, wanted, rtol=0, atol=EXACT)
        weak = np.where(strong, 0, np.exp(log_weight)).sum(axis=1)
        np.testing.assert_allclose(edges.dropped, weak, rtol=EXACT)
        rows = np.array([3, 0])
        np.testing.assert_array_equal(
            scores.gains(group, rows), scores.gains(group)[rows]
        )


def test_priors():
    thesis = Penalty.of("paper", 4.0, 1.0, n_columns=100, n_classes=4)
    balanced = Penalty.of("balanced", 4.0, 1.0, n_columns=100, n_classes=4)
    ell = np.log(100)
    assert thesis.edge == pytest.approx((4 * ell, ell))
    assert balanced.edge == pytest.approx((4 * ell, 4 * ell))
    assert thesis.node == balanced.node == pytest.approx((0, ell / 4))
