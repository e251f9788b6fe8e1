"""Ctrl-C wherever it comes; what every estimator makes of it is in ``contract.py``."""

import signal
import subprocess
import sys

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from tests.interrupts import Broken, stopped_at
from tests.waiting import SECONDS, running

import clearwood as cw

SECOND_FIT = """
import pickle
import numpy as np
import clearwood as cw
rng = np.random.default_rng(0)
X = rng.normal(size=(100_000, 20))
found = cw.RuleListClassifier(max_rules=3, random_state=0)
found.fit(X[:100, :2], np.where(X[:100, 0] > 0, "a", "b"))
before = pickle.dumps(vars(found))
try:
    print("fitting", flush=True)
    found.fit(X, rng.integers(3, size=len(X)))  # takes minutes
except KeyboardInterrupt:
    print(pickle.dumps(vars(found)) == before)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="has no such signals")
def test_ctrl_c_in_a_second_fit_keeps_the_first(python_listens):
    command = [sys.executable, "-W", "ignore", "-c", SECOND_FIT]
    with running(command, stdout=subprocess.PIPE, text=True) as fitting:
        assert fitting.stdout.readline() == "fitting\n"
        with pytest.raises(subprocess.TimeoutExpired):
            fitting.wait(1)
        fitting.send_signal(signal.SIGINT)
        assert fitting.communicate(timeout=SECONDS)[0] == "True\n"


def boosted(X, y):
    return cw.InTreesClassifier(HistGradientBoostingClassifier(max_iter=2)).fit(X, y)


@pytest.mark.parametrize("module", ["numpy._core._internal"])
def test_errors_that_code_in_c_makes_of_ctrl_c_are_ctrl_c(module):
    X = np.random.default_rng(0).normal(size=(200, 2))
    y = X[:, 0] > 0
    boosted(X, y)
    with stopped_at(0, Broken, module) as calls:
        boosted(X, y)
    assert calls[0] > 0
    for at in np.unique(np.linspace(1, calls[0], 5).astype(int)):
        with (
            pytest.raises(KeyboardInterrupt),
            stopped_at(at, KeyboardInterrupt, module),
        ):
            boosted(X, y)
