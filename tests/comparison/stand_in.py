"""A package that behaves, or misbehaves, as a test wants it to; and a quick worker."""

import pickle
import sys
import textwrap

from clearwood.comparison.fits import do_job

CODE = """
import os, sys, time, warnings
from pathlib import Path

Path({folder!r}, f"pid-{{os.getpid()}}").touch()

class FIGSClassifier:
    def __init__(self, max_rules):
        self.max_rules = max_rules

    def fit(self, X, y):
        print("noise on stdout", flush=True)
        print("noise on stderr", file=sys.stderr, flush=True)
        warnings.warn("noise of a peer")
        {fit}
        self.y, self.trees_ = y, [Node(self.max_rules)]
        return self

    def predict(self, X):
        # Right in one row more for every split, counted from the mean.
        return (X[:, 0] > 0.5 + 0.1 * (4 - self.max_rules)).astype(int)

    def __str__(self):
        return f"FIGS\\n  X0 and X_1, {{self.max_rules}} splits"

class Node:
    feature = 0
    def __init__(self, n_splits):
        self.left = self.right = None
        if n_splits:
            self.left, self.right = Node(n_splits - 1), Node(0)

FIGSRegressor = FIGSClassifier
"""


def stand_in(folder, monkeypatch, fit="pass"):
    """Put it where it is found, here and in workers."""
    package = folder / "imodels"
    package.mkdir()
    code = textwrap.dedent(CODE).format(folder=str(folder), fit=fit)
    (package / "__init__.py").write_text(code)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "imodels", raising=False)


def worker_ids(folder):
    """Processes that have imported it."""
    return [int(path.name[4:]) for path in folder.glob("pid-*")]


class Here:
    """A worker in this process, for what does not depend on there being another.

    A Python of its own takes seconds to start. What it is sent is pickled all the same.
    """

    is_killed = False

    def __init__(self, problem):
        self.problem = pickle.loads(problem)

    def start(self):
        pass

    def begin(self, job):
        self.job = pickle.loads(pickle.dumps(job))

    def answer(self):
        return pickle.loads(pickle.dumps(do_job(self.problem, self.job)))

    def kill(self):
        pass

    def close(self):
        pass
