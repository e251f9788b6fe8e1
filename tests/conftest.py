"""Fixtures that more than one folder of tests needs."""

import os
import signal
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import settings
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

ROOT = Path(__file__).resolve().parents[1]

# The same examples in every run and no time limit: a slow machine must not
# look like a broken property.
settings.register_profile("all", derandomize=True, deadline=None)
settings.register_profile("some", settings.get_profile("all"), max_examples=50)


def pytest_configure(config):
    """With ``--all`` look at twice as many examples of a property."""
    settings.load_profile("all" if config.option.all else "some")


def find_shared_data(name: str) -> Path:
    """Return a file or folder of the shared data, which is not in the repository.

    ``CLEARWOOD_SHARED`` names the folder; without it, ``shared`` beside the
    repository is meant. Where the data are absent the test is skipped, but in
    continuous integration (``CI=true``) it fails: there they have to be present.
    """
    folder = Path(os.environ.get("CLEARWOOD_SHARED") or ROOT.parent / "shared")
    path = folder / name
    if path.exists():
        return path
    reason = (
        f"no {name} in the shared data folder; set CLEARWOOD_SHARED to the folder "
        "that holds it"
    )
    if os.environ.get("CI", "").lower() in {"1", "true"}:
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def cancer():
    """Two classes of 569 rows and 30 columns, and a forest; only to be read."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return X, y, RandomForestClassifier(20, random_state=0).fit(X, y)


@pytest.fixture(scope="session")
def diabetes():
    """Values of 442 rows and 10 columns, and a forest; only to be read."""
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    return X, y, RandomForestRegressor(20, max_depth=5, random_state=0).fit(X, y)


@pytest.fixture
def full_disk(monkeypatch):
    """A context in which no file can grow beyond some bytes, as on a full disk."""
    resource = pytest.importorskip("resource")

    @contextmanager
    def limited(most=0):
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        # Python would keep bytecode that is cut off.
        monkeypatch.setattr(sys, "dont_write_bytecode", True)
        # Python ignores the signal that would end it, so that the write fails.
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, before[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)

    return limited


@pytest.fixture(scope="session")
def shared_data():
    """Return the function that finds shared data or skips the test."""
    return find_shared_data


@pytest.fixture(scope="session")
def golden_folder() -> Path:
    """Return the folder of exact values that come with the repository."""
    return Path(__file__).parent / "golden"


@pytest.fixture(scope="module")
def small_samples():
    """Of tables in blocks 2,000 rows are what structure is chosen by."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("clearwood._tables.learning.SAMPLE_ROWS", 2000)
        yield


@pytest.fixture(scope="module")
def few_folds():
    """Fits take every step, but search less: see ``tests/estimators.py``."""
    from tests.estimators import search_less

    with pytest.MonkeyPatch.context() as patch:
        search_less(patch)
        yield


@pytest.fixture
def in_this_process(monkeypatch):
    """Comparisons start no worker, which takes seconds to load its modules."""
    from tests.comparison.stand_in import Here

    monkeypatch.setattr("clearwood.comparison.processes.Worker", Here)


@pytest.fixture
def python_listens():
    """As in a terminal, Ctrl-C is heard, in processes that a test starts, too.

    What runs in the background may have it ignored.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    after = signal.signal(signal.SIGINT, before)
    assert after is signal.default_int_handler
