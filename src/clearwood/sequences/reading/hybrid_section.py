"""Report section of a hybrid of a recurrent network and a hidden Markov model."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from clearwood._words.numbers import short_text
from clearwood.charts.chart import Axis, svg
from clearwood.sequences.networks.estimators import HMMLSTM
from clearwood.sequences.networks.steps import codes_of
from clearwood.sequences.reading.charts import two_lines
from clearwood.sequences.reading.markov_states import markov_states
from clearwood.sequences.states_over_time import sequence_bounds
from clearwood.sequences.symbols import end_to_end

KINDS = {
    "sequential": "fitted first, then left as it is",
    "joint": "trained with the network",
    None: "none",
}
"""Training of the hidden Markov model, by ``hybrid``."""


def section(result: HMMLSTM, X: Any = None, y: Any = None) -> dict[str, Any]:
    """Sizes, training history, scores, and the states of the Markov model.

    ``X`` are the steps to score, as in ``HMMLSTM.fit``, and ``y`` the lengths of their
    sequences or, for a series, its outputs.
    """
    check_is_fitted(result)
    history = result.history_
    places = range(len(history))
    kept = max(places, key=lambda i: _or_least(history[i].validation), default=None)
    return {
        "facts": [
            ("Size of the LSTM's state", f"{result.n_hidden:,}"),
            ("Hidden Markov model", KINDS[result.hybrid]),
            ("Parameters of the network", f"{result.n_parameters_:,}"),
            ("Epochs", f"{len(history):,}"),
            *_facts_of_kept(history, kept),
        ],
        "training": _training_chart(history),
        "states": [] if result.hmm_ is None else markov_states(result.hmm_),
        "scores": None if X is None else _scores(result, X, y),
    }


def _facts_of_kept(history: list[Any], kept: int | None) -> list[tuple[str, str]]:
    if kept is None:
        return []
    perplexity = _perplexity(history[kept].validation)
    return [("Epoch kept", f"{kept + 1:,}"), ("Held-out perplexity", perplexity)]


def _or_least(value: float) -> float:
    return -math.inf if math.isnan(value) else value


def _perplexity(log_likelihood: float) -> str:
    if math.isnan(log_likelihood):
        return "nothing was held out"
    with np.errstate(over="ignore"):
        return short_text(float(np.exp(-log_likelihood)))


def _training_chart(history: list[Any]) -> str | None:
    """Log loss of training and held-out steps by epoch."""
    if len(history) < 2:
        return None
    lines = [-np.array(values) for values in list(zip(*history))[:2]]
    if not np.isfinite(lines).all():
        return None
    epochs, across = np.arange(1, len(history) + 1), Axis("epoch", is_whole=True)
    title, names = "Log loss by epoch", ("training", "held-out")
    return svg(two_lines(title, epochs, lines, names, (across, "nats")), "loss")


def _scores(result: HMMLSTM, X: Any, y: Any) -> list[tuple[str, float]]:
    """Mean log-likelihood per step, of the network and of simpler predictions."""
    if result.n_columns_ is not None:
        return [("Network", result.score(X, y))]
    X, lengths = end_to_end(X, y)
    scores = [("Network", result.score(X, lengths=lengths))]
    # The first symbol of a sequence is not predicted, nor a missing one.
    codes = codes_of(X, result.classes_)
    predicted = codes >= 0
    predicted[sequence_bounds(lengths, len(X))[:-1]] = False
    if result.hmm_ is not None:
        steps = result.hmm_.step_log_likelihood(X, lengths)[predicted]
        scores.append(("Hidden Markov model alone", float(steps.mean())))
    with np.errstate(divide="ignore"):
        frequency = np.log(result.frequency_[codes[predicted]])
    return [*scores, ("Frequencies of the symbols", float(frequency.mean()))]
