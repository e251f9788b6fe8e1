"""What commands do with rules does not depend on how long these were searched for."""

import pytest


@pytest.fixture(autouse=True, scope="module")
def search_less(request):
    """For all files of this folder but one, whose figures are on file."""
    if request.path.stem != "test_survival":
        request.getfixturevalue("few_folds")
