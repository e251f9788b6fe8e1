"""Where folds and prices are not what a file is about, there are few of them."""

import pytest

ALL_FOLDS = {"test_cross_fitting", "test_estimates", "test_golden", "test_new_rows"}
ALL_FOLDS |= {"test_limits", "test_multi_output", "test_node_harvest", "test_real_data"}


@pytest.fixture(autouse=True, scope="module")
def search_less(request):
    """For all other files of this folder."""
    path = request.path
    if path.stem not in ALL_FOLDS and path.parent.name != "survival":
        request.getfixturevalue("few_folds")
