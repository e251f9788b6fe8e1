"""What holds for tests and for the examples in docstrings alike."""

import os
import sys

import pytest

# Boosting and linear algebra read this when they are loaded, which is later than
# here: on few rows more threads only wait.
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["OPENBLAS_NUM_THREADS"] = "1"


@pytest.fixture(autouse=True)
def close_figures():
    """Close the figures that a test or an example has drawn."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
