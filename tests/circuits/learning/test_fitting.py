"""What validation rows choose, and what each repair of the thesis is worth."""

import numpy as np
import pytest
from tests.circuits.learning.test_golden import table
from tests.circuits.made import GOLDEN, space

from clearwood.circuits.learning.clusters import ALPHA, Starts
from clearwood.circuits.learning.dependence import split_columns
from clearwood.circuits.learning.fitting import (
    MEMBER,
    PAPER,
    Choices,
    LearningTable,
    choose,
    learn_spn,
    mini_spn,
    polished,
)
from clearwood.circuits.learning.recursion import assemble, grow
from clearwood.circuits.learning.slices import Slice
from clearwood.circuits.nodes import Sum, walk
from clearwood.distributions import ChowLiuTree


def golden_table(name):
    """Rows to learn from, and further ones as those to choose by and to judge by."""
    facts = GOLDEN["mini_spn"]["cases"][name]
    train, valid, test = (table(facts[part]) for part in ("train", "valid", "test"))
    levels = space([2] * 6)
    return LearningTable(train, valid, levels), LearningTable(train, test, levels)


@pytest.mark.parametrize("name", GOLDEN["mini_spn"]["cases"])
@pytest.mark.parametrize("n_rows", [30, 400])
def test_leaves_and_smoothing_are_chosen(name, n_rows):
    whole, _ = golden_table(name)
    whole = whole._replace(train=whole.train[:n_rows])
    pieces = grow(Slice.of(*whole[:3]), [split_columns], prune=False)
    choices = Choices()
    best = choose(pieces, whole, choices)
    scores = {
        trees: [whole.score(assemble(pieces, alpha, trees)) for alpha in choices.alphas]
        for trees in choices.trees
    }
    start = choices.alphas.index(ALPHA)
    trees = scores[True][start] > scores[False][start]
    # Here there is one best smoothing, and none that is best among its neighbours only.
    assert best.score == pytest.approx(max(scores[trees]), rel=1e-12)
    assert best.alpha == choices.alphas[int(np.argmax(scores[trees]))]
    has_tree = any(isinstance(node, ChowLiuTree) for node in walk(best.root))
    assert has_tree == (trees and n_rows == 400)


def test_more_starts_or_trees_mend_what_one_start_takes_for_noise():
    whole, judged = golden_table("collapse")

    def score(choices):
        rng = np.random.default_rng(0)
        return judged.score(mini_spn(whole, 0.0005, choices, rng))

    independent = score(PAPER)
    starts = PAPER._replace(first=Starts(10))
    for repaired in (starts, PAPER._replace(trees=(True,)), Choices()):
        assert score(repaired) > independent + 0.2


def test_em_makes_held_out_rows_likelier():
    whole, _ = golden_table("complete")
    rng = np.random.default_rng(0)
    kinds = mini_spn(whole, 0.0005, PAPER, rng)
    before = whole.score(kinds)
    assert whole.score(polished(kinds, 0.1, whole, Choices())) > before + 0.002
    assert polished(kinds, 0.1, whole, PAPER) is kinds
    by_default = PAPER._replace(polish=Choices().polish)
    assert whole.score(mini_spn(whole, 0.0005, by_default, rng)) > before + 0.002


def test_learn_spn_chooses_from_its_grid():
    whole, _ = golden_table("complete")
    cheap, dear = (
        learn_spn(whole, grid, (0.0015,), PAPER, np.random.default_rng(0))
        for grid in ((0.4, 1e6), (1e6,))
    )
    assert any(isinstance(node, Sum) for node in walk(cheap))
    assert not any(isinstance(node, Sum) for node in walk(dear))
    assert whole.score(cheap) > whole.score(dear)


def test_networks_of_several_are_drawn_and_held_out_rows_choose_among_them():
    rng = np.random.default_rng(0)
    share, kind = rng.random((4, 40)), rng.integers(4, size=160)
    rows = (rng.random((160, 40)) < share[kind]).astype(float)
    whole = LearningTable(rows[:80], rows[80:], space([2] * 40))
    assert all(starts.drawn for starts in (MEMBER.first, *MEMBER.later))

    def score(seed, *later):
        choices = PAPER._replace(first=MEMBER.first, later=later, balanced=True)
        rng = np.random.default_rng(seed)
        return whole.score(mini_spn(whole, 0.0005, choices, rng))

    gains = [
        score(seed, *MEMBER.later) - score(seed, MEMBER.later[0]) for seed in (0, 1, 2)
    ]
    assert min(gains) >= 0.0 and max(gains) > 0.1
