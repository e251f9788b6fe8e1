"""Which targets have classes."""

import numpy as np
import pandas as pd
import pytest
from tests.wording import refuses

from clearwood._tables.target import split_target
from clearwood.columns.validation import FEW_CLASSES
from clearwood.exceptions import InputError


@pytest.mark.parametrize("n_more", [0, 1])
def test_many_labels_that_occur_once_are_no_classes(n_more):
    n = 2 * FEW_CLASSES + n_more
    frame = pd.DataFrame({"x": np.arange(n), "y": [f"row {i}" for i in range(n)]})
    if n_more:
        with refuses(InputError, match="identifier"):
            split_target(frame, "y", "classification")
    else:
        assert len(split_target(frame, "y", "classification").y) == n
