"""What holds for tests and for the examples in docstrings alike."""

import gc
import os
import sys

import pytest
from tests import chosen, wording

# Boosting and linear algebra read this when they are loaded, which is later than
# here: on few rows more threads only wait.
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["OPENBLAS_NUM_THREADS"] = "1"

# What is loaded and collected stays to the end. To look through it for garbage, each
# time that much was made, took a quarter of the collection and a twelfth of the tests.
gc.disable()


def pytest_addoption(parser):
    """Add what ``tests/chosen.py`` and ``tests/wording.py`` decide by."""
    parser.addoption(
        "--update-texts",
        action="store_true",
        help="write down, in tests/*/texts, the wording that tests find",
    )
    parser.addoption(
        "--all",
        action="store_true",
        help="run also what repeats other tests on more estimators and parameters",
    )
    parser.addoption(
        "--quick",
        action="store_true",
        help="run one test per estimator, values from elsewhere, and what was changed",
    )


def pytest_configure(config):
    """Say whether wording is compared or written down."""
    wording.UPDATING = config.option.update_texts


def pytest_ignore_collect(collection_path, config):
    """Load no file of which a quick run has no test."""
    if config.option.quick and collection_path.suffix in ("", ".py", ".rst"):
        changed = chosen.changed_files()
        return None if chosen.is_quick(collection_path, changed) else True


def pytest_collection_modifyitems(config, items):
    """Tests that are named are run; of others those of ``tests/chosen.py``."""
    options = config.option
    is_named = options.keyword or any("::" in argument for argument in config.args)
    if options.all or is_named:
        return
    some = chosen.by_default(items)
    if options.quick:
        some = chosen.quick(items, chosen.changed_files())
    kept = {*some}
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = some


def pytest_collection_finish():
    """From here on look for garbage, but only in what tests make."""
    gc.freeze()
    gc.enable()


def pytest_unconfigure():
    """What is frozen would count as lost when Python ends."""
    gc.unfreeze()


@pytest.fixture(autouse=True)
def close_figures():
    """Close the figures that a test or an example has drawn."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
