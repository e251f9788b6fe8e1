"""Golden models and sequences, as arrays."""

import json
from functools import cache
from pathlib import Path

import numpy as np


@cache
def section(name):
    path = Path(__file__).parents[1] / "golden" / "hmm.json"
    return json.loads(path.read_text())[name]


def model(name):
    """Start, transition and emission probabilities."""
    found = section("discrete")["models"][name]
    return tuple(np.array(found[k]) for k in ("initial", "transition", "emission"))


def log_table(emission):
    """Log probabilities per symbol, with one row more: of nothing seen."""
    with np.errstate(divide="ignore"):
        return np.vstack([np.log(emission).T, np.zeros(len(emission))])


def joined(sequences, n_symbols):
    """Sequences one after the other, as rows of a log table, and their lengths."""
    symbols = [n_symbols if x is None else x for part in sequences for x in part]
    return np.array(symbols), [len(part) for part in sequences]


def parts(per_sequence, name):
    """What several sequences say, one after the other."""
    return np.concatenate([np.array(part[name]) for part in per_sequence])
