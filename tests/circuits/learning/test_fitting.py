"""What validation rows select_leaves, and what each repair of the thesis is worth."""

import numpy as np
import pytest
from tests.circuits.learning.test_golden import table
from tests.circuits.made import GOLDEN, space

from clearwood.circuits.circuit import Circuit
from clearwood.circuits.compiled import compile_circuit
from clearwood.circuits.learning import fitting
from clearwood.circuits.learning.clusters import ALPHA, Starts
from clearwood.circuits.learning.dependence import split_columns
from clearwood.circuits.learning.fitting import (
    MIXTURE_OPTIONS,
    PAPER_OPTIONS,
    LearningTable,
    Options,
    is_clearly_greater,
    learn_spn,
    mini_spn,
    polished,
    select_leaves,
)
from clearwood.circuits.learning.recursion import assemble, grow
from clearwood.circuits.learning.slices import Slice
from clearwood.circuits.nodes import Sum, walk
from clearwood.distributions import ChowLiuTree

ONE_START = PAPER_OPTIONS._replace(first=Starts(1), later=(Starts(1),))
"""The golden networks start from rows far apart, which are not drawn."""


def golden_table(name):
    """Rows to learn from, and further ones to select by and to evaluate on."""
    facts = GOLDEN["mini_spn"]["cases"][name]
    train, valid, test = (table(facts[part]) for part in ("train", "valid", "test"))
    levels = space([2] * 6)
    return LearningTable(train, valid, levels), LearningTable(train, test, levels)


@pytest.mark.parametrize("name", GOLDEN["mini_spn"]["cases"])
@pytest.mark.parametrize("n_rows", [30, 400])
def test_leaves_and_smoothing_are_chosen(name, n_rows):
    whole, _ = golden_table(name)
    whole = whole._replace(train=whole.train[:n_rows])
    pieces = grow(Slice.from_table(*whole[:3]), [split_columns], prune=False)
    options = Options()
    best = select_leaves(pieces, whole, options)
    scores = {
        trees: [whole.score(assemble(pieces, alpha, trees)) for alpha in options.alphas]
        for trees in options.trees
    }
    start = options.alphas.index(ALPHA)
    trees = scores[True][start] > scores[False][start]
    # Here there is one best smoothing, and none that is best among its neighbours only.
    assert best.score == pytest.approx(max(scores[trees]), rel=1e-12)
    assert best.alpha == options.alphas[int(np.argmax(scores[trees]))]
    has_tree = any(isinstance(node, ChowLiuTree) for node in walk(best.root))
    assert has_tree == (trees and n_rows == 400)


def test_structure_is_of_a_sample_and_parameters_are_of_all_rows(monkeypatch):
    rng = np.random.default_rng(0)
    shares = np.linspace(0.1, 0.9, 12)
    rows = (rng.random((4400, 12)) < shares).astype(float)
    whole = LearningTable(rows[:4000], rows[4000:], space([2] * 12))
    sizes = []
    whole_slice = Slice.from_table

    def from_table(train, valid, features):
        sizes.append((len(train), len(valid)))
        return whole_slice(train, valid, features)

    monkeypatch.setattr(Slice, "from_table", from_table)

    def learned(n_rows, table=whole):
        monkeypatch.setattr(fitting, "STRUCTURE_ROWS", n_rows)
        rng = np.random.default_rng(1)
        root = mini_spn(table, 0.0005, Options(hidden=False), rng)
        alone = np.where(np.eye(12, dtype=bool), 1.0, np.nan)
        log = compile_circuit(Circuit(root, whole.features)).log_likelihood(alone)
        return [*np.exp(log), rng.random()]

    # Shares in 500 rows differ by about .02 from those in all.
    found = learned(500)[:-1]
    np.testing.assert_allclose(found, rows[:4000].mean(axis=0), atol=5e-3)
    assert sizes.pop() == (500, 100)
    assert learned(4000) == learned(10**6)  # bit for bit, and as many draws
    assert sizes == [(4000, 400)] * 2
    learned(500, whole._replace(valid=rows[:0]))
    assert sizes.pop() == (4000, 0)  # no EM without validation rows


def test_more_starts_or_trees_mend_what_one_start_takes_for_noise():
    whole, judged = golden_table("collapse")

    def score(options):
        rng = np.random.default_rng(0)
        return judged.score(mini_spn(whole, 0.0005, options, rng))

    independent = score(ONE_START)
    for more in ({"first": Starts(10)}, {"trees": (True,)}, Options()._asdict()):
        repaired = ONE_START._replace(**more)
        assert score(repaired) > independent + 0.2


def test_em_makes_held_out_rows_likelier():
    whole, _ = golden_table("complete")
    rng = np.random.default_rng(0)
    kinds = mini_spn(whole, 0.0005, ONE_START, rng)
    before = whole.score(kinds)
    assert whole.score(polished(kinds, 0.1, whole, Options())) > before + 0.002
    assert polished(kinds, 0.1, whole, PAPER_OPTIONS) is kinds
    by_default = ONE_START._replace(polish=Options().polish)
    assert whole.score(mini_spn(whole, 0.0005, by_default, rng)) > before + 0.002


def test_learn_spn_chooses_from_its_grid():
    whole, _ = golden_table("complete")
    cheap, dear = (
        learn_spn(whole, grid, (0.0015,), PAPER_OPTIONS, np.random.default_rng(0))
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
    assert all(
        starts.drawn for starts in (MIXTURE_OPTIONS.first, *MIXTURE_OPTIONS.later)
    )

    def score(seed, *later):
        options = PAPER_OPTIONS._replace(
            first=MIXTURE_OPTIONS.first, later=later, balanced=True
        )
        rng = np.random.default_rng(seed)
        return whole.score(mini_spn(whole, 0.0005, options, rng))

    gains = [
        score(seed, *MIXTURE_OPTIONS.later) - score(seed, MIXTURE_OPTIONS.later[0])
        for seed in (0, 1, 2)
    ]
    assert min(gains) >= 0.0 and max(gains) > 0.1


def test_what_is_impossible_under_one_alone_decides():
    rows, never = np.full(9, -1.0), np.full(9, -1.0)
    never[3] = -np.inf
    assert is_clearly_greater(rows, never)
    assert not is_clearly_greater(never, rows)
    assert not is_clearly_greater(never, never)
    assert is_clearly_greater(never + 1.0, never)
    assert not is_clearly_greater(never[::-1], never)
