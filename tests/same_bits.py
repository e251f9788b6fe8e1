"""Digests of what every estimator is after a fit, and of what it says.

``python -m tests.same_bits`` prints them for the BLAS of that process; see
``test_same_bits.py``.
"""

import hashlib
import json
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import ZipFile, is_zipfile

import numpy as np
import pytest
from tests.estimators import DENSITIES, ESTIMATORS, people, says, search_less
from threadpoolctl import threadpool_info

import clearwood as cw

CHAINS = {"n_states": 2, "n_init": 2, "n_draws": 5, "n_iter": 5, "random_state": 0}


def fitted() -> Iterator[tuple[Any, np.ndarray]]:
    """Every estimator, and numbers that it says of its own rows."""
    for case in ESTIMATORS:
        X, y = case.data()
        estimator = case.made(case.forest()).fit(X, y)
        yield estimator, says(estimator, X)
    gaps, _ = people()
    for make, settings in DENSITIES.items():
        density = make(random_state=0, **settings).fit(gaps)
        yield density, density.score_samples(gaps)
    imputer = cw.SPNImputer(random_state=0).fit(gaps)
    yield imputer, imputer.transform(gaps)["age"].to_numpy()
    X, _ = ESTIMATORS[0].data()
    for binner in (cw.BinaryBinner(), cw.MDLPDiscretizer()):
        yield binner, np.asarray(binner.fit(X, X["bmi"] > 26).transform(X))
    steps = X.mask(np.random.default_rng(0).random(X.shape) < 0.1)
    for algorithm in ("gibbs", "em"):
        states = cw.HiddenMarkovModel(
            emission="gaussian", algorithm=algorithm, **CHAINS
        ).fit(steps)
        yield states, states.predict_proba(steps)


def digest(estimator: Any, numbers: np.ndarray) -> str:
    """Of the file that an estimator is saved to, and of the numbers."""
    found = hashlib.sha256(np.ascontiguousarray(numbers).tobytes())
    with TemporaryDirectory() as folder:
        path = Path(folder) / "saved"
        cw.save(estimator, path)
        assert is_zipfile(path)
        with ZipFile(path) as archive:
            for name in sorted(archive.namelist()):
                found.update(archive.read(name))
    return found.hexdigest()


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    with pytest.MonkeyPatch.context() as patch:
        search_less(patch)
        digests = [
            (type(estimator).__name__, digest(estimator, numbers))
            for estimator, numbers in fitted()
        ]
    blas = sorted({str(one.get("architecture")) for one in threadpool_info()})
    json.dump({"blas": blas, "digests": digests}, sys.stdout)
