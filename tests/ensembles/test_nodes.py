import numpy as np
from tests.wording import refuses

from clearwood.ensembles import nodes
from clearwood.exceptions import ModelFormatError


def tree(*sets):
    """A chain of categorical questions, one per set."""
    n = len(sets)
    leaf = -np.ones(n + 1)
    return nodes.TreeNodes(
        feature=np.r_[np.zeros(n), leaf],
        cut=np.zeros(2 * n + 1),
        left=np.r_[np.arange(n) + n, leaf].astype(int),
        right=np.r_[np.arange(1, n), 2 * n, leaf].astype(int),
        missing_left=np.zeros(2 * n + 1),
        value=np.ones((2 * n + 1, 1)),
        categories_left={i: np.array(s, bool) for i, s in enumerate(sets)},
    )


def test_equal_sets_of_categories_are_kept_once():
    joined = nodes.join_trees([tree([1, 0], [0, 1]), tree([0, 1], [1, 0, 0], [1, 0])])
    asked = joined["category_set"][joined["category_set"] >= 0]
    assert asked.tolist() == [0, 1, 1, 2, 0]
    assert joined["category_offsets"].tolist() == [0, 2, 4, 7]
    assert joined["categories_left"].astype(int).tolist() == [1, 0, 0, 1, 1, 0, 0]


def test_the_table_of_sets_has_a_limit(monkeypatch):
    monkeypatch.setattr(nodes, "MOST_SET_ENTRIES", 4)
    nodes.join_trees([tree([1, 0], [0, 1], [1, 0])])
    with refuses(ModelFormatError):
        nodes.join_trees([tree([1, 0], [0, 1], [1, 1])])
