"""Damaged model files: refused, or read and predicted exactly as they stand."""

import base64
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from tests.ensembles import mutants
from tests.ensembles.judge import judged
from tests.ensembles.seeds import seeds

LIBRARY = {
    "xgboost json": "xgboost",
    "xgboost ubjson": "xgboost",
    "lightgbm text": "lightgbm",
    "catboost json": "catboost",
}
SUFFIXES = {
    ".xgb.json": "xgboost json",
    ".ubj": "xgboost ubjson",
    ".txt": "lightgbm text",
    ".cat.json": "catboost json",
}
CRASHERS = sorted((Path(__file__).parent / "crashers").glob("*"))
N_MUTANTS = 300
every_format = pytest.mark.parametrize("format", mutants.FORMATS)


def files_of(format):
    if format in LIBRARY:
        pytest.importorskip(LIBRARY[format])
    return seeds(format)


def check(format, name, kind, data):
    """The verdict; where there is none, the failure shows how to repeat it."""
    try:
        return judged(format, data)
    except Exception as error:
        shown = base64.b64encode(data[:20_000]).decode()
        pytest.fail(f"{format}, {name!r}, {kind}: {error!r}\nbase64: {shown}")


@pytest.mark.parametrize("format", (*mutants.FORMATS, *mutants.STORED))
def test_sound_files_are_accepted(format):
    for name, data in files_of(format).items():
        assert check(format, name, "sound", data) == "accepted", name


@pytest.mark.parametrize("format", (*mutants.FORMATS, *mutants.STORED))
def test_mutants_are_refused_or_predict_what_they_say(format):
    files = files_of(format)
    verdicts = []
    for number, (name, data) in enumerate(files.items()):
        made = mutants.mutants(format, data, np.random.default_rng(number))
        for kind, mutant in islice(made, -(-N_MUTANTS // len(files))):
            verdicts.append(check(format, name, kind, mutant))
    # The mutants are neither all hopeless nor all without effect.
    assert len(verdicts) >= N_MUTANTS
    assert 20 < verdicts.count("accepted") < N_MUTANTS - 20


@every_format
def test_harmless_changes_are_accepted(format):
    for number, (name, data) in enumerate(files_of(format).items()):
        made = mutants.harmless(format, data, np.random.default_rng(number))
        for kind, mutant in islice(made, 5 * len(mutants.HARMLESS[format])):
            assert check(format, name, kind, mutant) == "accepted", (name, kind)


@pytest.mark.parametrize("path", CRASHERS, ids=lambda path: path.name)
def test_files_that_once_broke_a_reader(path):
    format = next(f for suffix, f in SUFFIXES.items() if path.name.endswith(suffix))
    judged(format, path.read_bytes())
