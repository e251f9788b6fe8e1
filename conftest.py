"""What holds for tests and for the examples in docstrings alike."""

import sys

import pytest


@pytest.fixture(autouse=True)
def close_figures():
    """Close the figures that a test or an example has drawn."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
