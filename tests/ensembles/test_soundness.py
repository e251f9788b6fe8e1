"""Every structural check: break one field of a sound ensemble and expect its name."""

from dataclasses import replace

import numpy as np
import pytest
from tests.wording import refuses

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
    ("left", 0, 0),
    ("left", 1, 0),
    ("right", 0, 7),
    ("right", 5, 10),
    ("left", 2, 3),
    ("right", 6, -1),
    ("left", 1, 4),
    ("left", 0, 3),
    ("feature", 6, 2),
    ("feature", 3, -2),
    ("cut", 1, np.nan),
    ("value", 4, np.inf),
    ("value", 9, np.nan),
    ("category_set", 5, -1),
    ("category_set", 5, 1),
    ("category_set", 0, 0),
    ("category_set", 9, 0),
]


@pytest.mark.parametrize(("field", "node", "value"), BROKEN_NODES)
def test_broken_nodes(sound, field, node, value):
    broken = changed(getattr(sound, field), node, value)
    with refuses(ModelFormatError):
        replace(sound, **{field: broken})


BROKEN_FIELDS = [
    ("cut", np.zeros(3)),
    ("missing_left", np.zeros(9)),
    ("value", np.zeros(10)),
    ("value", np.zeros((10, 2))),
    ("output", [0]),
    ("output", [0, 1]),
    ("output", [-1, 0]),
    ("roots", [1, 5]),
    ("roots", [5, 0]),
    ("roots", [0, 10]),
    ("roots", [0, -(2**31)]),
    ("roots", [0, 4]),
    ("left", [1.5] * 10),
    ("right", [2**40] * 10),
    ("missing_left", [2] * 10),
    ("category_offsets", [0, 2]),
    ("category_offsets", [1, 3]),
    ("category_offsets", [0, 4, 3]),
    ("category_offsets", [0, 2**62, -(2**63), -(2**62), 0, 3]),
    ("category_offsets", []),
    ("categories_left", [True, False]),
    ("base_score", [np.nan]),
    ("scale", np.inf),
    ("link_scale", np.nan),
    ("offset", [np.inf]),
    ("base_score", [0.0, 0.0]),
    ("divisor", 0.0),
    ("divisor", np.inf),
    ("aggregation", "max"),
    ("aggregation", "weighted_median"),
    ("link", "cubic"),
    ("link", "softmax"),
    ("classes", np.array(["a"])),
    ("task", "ranking"),
    ("task", "classification"),
]


@pytest.mark.parametrize(("field", "value"), BROKEN_FIELDS)
def test_broken_fields(sound, field, value):
    with refuses(ModelFormatError):
        replace(sound, **{field: value})


def test_category_set_of_the_wrong_size(sound):
    with refuses(ModelFormatError, match="category_set"):
        replace(sound, category_offsets=[0, 2], categories_left=[True, False])


@pytest.mark.parametrize(
    "link, classes", [("logistic", [1, 2, 3]), ("softmax", [1, 2])]
)
def test_number_of_classes(sound, link, classes):
    with refuses(ModelFormatError):
        replace(sound, task="classification", link=link, classes=np.array(classes))


def test_a_node_with_two_parents_is_found_even_when_all_nodes_are_reached():
    # Node 3 hangs on both inner nodes; nothing is left over without a parent.
    with refuses(ModelFormatError):
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
