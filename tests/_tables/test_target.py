"""Which targets have classes."""

import numpy as np
import pandas as pd
from tests.wording import refuses

from clearwood._tables.target import split_target
from clearwood.columns.validation import FEW_CLASSES
from clearwood.exceptions import InputError


def test_many_labels_that_occur_once_are_no_classes():
    def table(n):
        return pd.DataFrame({"x": np.arange(n), "y": [f"row {i}" for i in range(n)]})

    most = 2 * FEW_CLASSES
    assert len(split_target(table(most), "y", "classification").y) == most
    with refuses(InputError, match="identifier"):
        split_target(table(most + 1), "y", "classification")
