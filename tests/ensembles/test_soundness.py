"""Every structural check: break one field of a sound ensemble and expect its name."""

from dataclasses import replace

import numpy as np
import pytest

from clearwood.columns.feature_space import FeatureSpace
from clearwood.ensembles import TreeEnsemble
from clearwood.ensembles.nodes import TreeNodes, join_trees
from clearwood.exceptions import ModelFormatError


@pytest.fixture
def sound():
    """Two trees: root, inner node and three leaves each, the second one categorical."""
    shape = {
        "left": [1, 3, -1, -1, -1],
        "right": [2, 4, -1, -1, -1],
        "missing_left": [True, False, False, False, False],
        "value": [[0.0], [0.0], [1.0], [2.0], [3.0]],
    }
    numeric = TreeNodes([0, 0, -1, -1, -1], [0.5, 0.1, 0, 0, 0], **shape)
    categorical = TreeNodes(
        [1, 0, -1, -1, -1],
        [0, 0.7, 0, 0, 0],
        **shape,
        categories_left={0: np.array([True, False, True])},
    )
    return TreeEnsemble(
        features=FeatureSpace(("age", "city"), (None, ("a", "b", "c"))),
        task="regression",
        **join_trees([numeric, categorical]),
        base_score=np.zeros(1),
        link="identity",
        allows_missing=True,
        allows_infinite=True,
        input_dtype="float64",
        source="tests",
    )


def changed(array, position, value):
    array = np.array(array)
    array[position] = value
    return array


# Node 5 is the root of tree 1; positions in messages count from the tree's root.
BROKEN_NODES = [
    ("left", 0, 0, "left of node 0 in tree 0: found 0, expected a later node"),
    ("left", 1, 0, "left of node 1 in tree 0: found 0, expected a later node"),
    ("right", 0, 7, "right of node 0 in tree 0: found 7, expected a later node"),
    ("right", 5, 10, "right of node 0 in tree 1: found 10, expected a later node"),
    ("left", 2, 3, "left of node 2 in tree 0: found 3, expected -1"),
    ("right", 6, -1, "right of node 1 in tree 1: found -1, expected a later node"),
    ("left", 1, 4, "left/right of node 3 in tree 0: found 0 parents"),
    ("left", 0, 3, "left/right of node 1 in tree 0: found 0 parents"),
    ("feature", 6, 2, "feature of node 1 in tree 1: found 2, expected .* 0 to 1"),
    ("feature", 3, -2, "feature of node 3 in tree 0: found -2, expected -1 at a leaf"),
    ("cut", 1, np.nan, "cut of node 1 in tree 0: found nan, expected a number"),
    ("value", 4, np.inf, "value of node 4 in tree 0: found .inf., expected finite"),
    ("value", 9, np.nan, "value of node 4 in tree 1: found .nan., expected finite"),
    ("category_set", 5, -1, "category_set of node 0 in tree 1: found -1"),
    ("category_set", 5, 1, "category_set of node 0 in tree 1: found 1, .* below 1"),
    ("category_set", 0, 0, "category_set of node 0 in tree 0: found 0"),
    ("category_set", 9, 0, "category_set of node 4 in tree 1: found 0"),
]


@pytest.mark.parametrize("field, node, value, message", BROKEN_NODES)
def test_broken_nodes(sound, field, node, value, message):
    broken = changed(getattr(sound, field), node, value)
    with pytest.raises(ModelFormatError, match=f"^{message}.*refit it"):
        replace(sound, **{field: broken})


BROKEN_FIELDS = [
    ("cut", np.zeros(3), r"cut: found shape \(3,\), expected \(10,\)"),
    ("missing_left", np.zeros(9), r"missing_left: found shape \(9,\)"),
    ("value", np.zeros(10), r"value: found shape \(10,\), expected \(10, width\)"),
    ("value", np.zeros((10, 2)), "output of tree 0: found 0, .* 1 output"),
    ("output", [0], r"output: found shape \(1,\), expected \(2,\)"),
    ("output", [0, 1], "output of tree 1: found 1"),
    ("output", [-1, 0], "output of tree 0: found -1"),
    ("roots", [1, 5], "roots: found .1, 5"),
    ("roots", [5, 0], "roots: found"),
    ("roots", [0, 10], "roots: found"),
    ("roots", [0, -(2**31)], "roots: found"),
    ("roots", [0, 4], "right of node 1 in tree 0: found 4"),
    ("left", [1.5] * 10, "left: found values that do not fit, expected int32"),
    ("right", [2**40] * 10, "right: found values that do not fit"),
    ("missing_left", [2] * 10, "missing_left: found values that do not fit"),
    ("category_offsets", [0, 2], "category_offsets: found .0, 2"),
    ("category_offsets", [1, 3], "category_offsets: found .1, 3"),
    ("category_offsets", [0, 4, 3], "category_offsets: found .0, 4, 3"),
    (
        "category_offsets",
        [0, 2**62, -(2**63), -(2**62), 0, 3],
        "category_offsets: found",
    ),
    ("category_offsets", [], "category_offsets: found"),
    ("categories_left", [True, False], "category_offsets: found .0, 3"),
    ("base_score", [np.nan], "base_score: found .nan., expected one finite"),
    ("scale", np.inf, "scale: found inf, expected a finite number"),
    ("link_scale", np.nan, "link_scale: found nan, expected a finite number"),
    ("offset", [np.inf], "offset: found .inf., expected one finite number"),
    ("base_score", [0.0, 0.0], "offset: found .0.."),
    ("divisor", 0.0, "divisor: found 0.0, expected a positive"),
    ("divisor", np.inf, "divisor: found inf"),
    ("aggregation", "max", "aggregation: found 'max', expected 'sum' or"),
    ("aggregation", "weighted_median", "tree_weight: found 0 weights"),
    ("link", "cubic", "link: found 'cubic', expected one of"),
    ("link", "softmax", "task: found .* expected one output, no classes"),
    ("classes", np.array(["a"]), "task: found .* expected one output, no classes"),
    ("task", "ranking", "task: found 'ranking', expected 'regression' or"),
    ("task", "classification", "task: found classes None"),
]


@pytest.mark.parametrize("field, value, message", BROKEN_FIELDS)
def test_broken_fields(sound, field, value, message):
    with pytest.raises(ModelFormatError, match=f"^{message}.*refit it"):
        replace(sound, **{field: value})


def test_category_set_of_the_wrong_size(sound):
    message = "category_set of node 0 in tree 1: found a set over 2 .* expected 3"
    with pytest.raises(ModelFormatError, match=message):
        replace(sound, category_offsets=[0, 2], categories_left=[True, False])


@pytest.mark.parametrize(
    "link, classes", [("logistic", [1, 2, 3]), ("softmax", [1, 2])]
)
def test_number_of_classes(sound, link, classes):
    with pytest.raises(ModelFormatError, match="task: found classes"):
        replace(sound, task="classification", link=link, classes=np.array(classes))


def test_a_node_with_two_parents_is_found_even_when_all_nodes_are_reached():
    # Node 3 hangs on both inner nodes; nothing is left over without a parent.
    with pytest.raises(ModelFormatError, match="node 3 in tree 0: found 2 parents"):
        TreeEnsemble(
            features=FeatureSpace.numeric(1),
            task="regression",
            **join_trees(
                [
                    TreeNodes(
                        feature=[0, 0, 0, -1, -1],
                        cut=[0.0] * 5,
                        left=[1, 3, 3, -1, -1],
                        right=[2, 4, 4, -1, -1],
                        missing_left=[False] * 5,
                        value=np.zeros((5, 1)),
                    )
                ]
            ),
            base_score=np.zeros(1),
            link="identity",
            allows_missing=True,
            allows_infinite=True,
            input_dtype="float64",
            source="tests",
        )
