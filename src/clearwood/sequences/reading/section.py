"""Report section of a recurrent network explained by states, as plain data."""

from __future__ import annotations

from typing import Any

import numpy as np

from clearwood._words.labels import printable
from clearwood._words.numbers import percent_text, short_text
from clearwood.charts.chart import svg
from clearwood.exceptions import InputError
from clearwood.sequences.reading.automaton_display import AutomatonDisplay, moves_of
from clearwood.sequences.reading.charts import surprisal_chart
from clearwood.sequences.reading.coloured_text import (
    coloured_text,
    state_hues,
    state_styles,
    text_pieces,
)
from clearwood.sequences.reading.display import FidelityCurveDisplay, surprisals
from clearwood.sequences.reading.state_words import (
    StateDescription,
    describe_states,
    joined,
)
from clearwood.sequences.reading.two_models import paired_text, state_agreement
from clearwood.sequences.recurrent.automaton import distilled
from clearwood.sequences.recurrent.counterexamples import example_words
from clearwood.sequences.recurrent.explain_rnn import (
    RecurrentExplanation,
    check_explanation,
)
from clearwood.sequences.recurrent.fidelity import ALONE, READ
from clearwood.sequences.recurrent.trace import probabilities

MOST_SHOWN = 20_000
"""Maximum number of symbols of the held-out text that are shown."""

MOST_MOVES, MOST_SYMBOLS, MOST_FAILURES, MOST_WORDS = 4, 6, 10, 8
"""Maximum numbers of transitions, symbols of one, contexts of poor fidelity, and
example words."""


def section(result: Any, X: Any = None, y: Any = None) -> dict[str, Any]:
    """Coloured text, summaries of the states, fidelity, and where it is poor."""
    e = check_explanation(result)
    if X is not None:
        raise InputError(
            "An explanation of a network contains the steps it is evaluated on; leave "
            "out X and y."
        )
    words = describe_states(
        e.trace.codes, e.trace.age, e.states_, e.output_, e.symbols, e.outputs
    )
    shown = np.flatnonzero(e.trace.is_held_out)[:MOST_SHOWN]
    begins = np.flatnonzero(e.trace.age[shown] == 0)
    symbols = [e.symbols[code] for code in e.trace.codes[shown]]
    hues = state_hues(np.sqrt(e.output_))
    automaton = AutomatonDisplay.from_explanation(e)
    along = surprisal_chart(
        "Surprisal along the held-out steps", surprisals(e)[1:], "held-out steps"
    )
    return {
        "title": f"{e.n_states} states of {printable(e.network)}",
        "warning": e.warning_,
        "tiles": _tiles(e),
        "fidelity": _fidelity(e),
        "n_steps": e.fidelity_.n_steps,
        "text": coloured_text(text_pieces(symbols, begins), e.states_[shown]),
        "n_shown": len(shown),
        "styles": state_styles([word.name for word in words], hues),
        "comparison": _comparison(e, shown, text_pieces(symbols), begins, hues),
        "states": _states(e, words),
        "are_labels": e.trace.n_read is not None,
        "are_numbers": e.values_ is not None,
        "starts": _starts(e),
        "tolerance": e.tolerance,
        "words": _words(e),
        "search": e.counterexample_,
        "counterexample": joined(e.counterexample_.word),
        "graph": svg(automaton.chart(), "graph", look="cw-graph"),
        "unseen": e.unseen_,
        "failures": _failures(e),
        "curve": _curve(e),
        "surprisal": None if along is None else svg(along, "surprisal"),
    }


def _tiles(e: RecurrentExplanation) -> list[tuple[str, str, str]]:
    read, alone = e.fidelity_[READ], e.fidelity_[ALONE]
    return [
        ("States", f"{e.n_states:,}", "of the automaton"),
        (
            "Explained by the states",
            percent_text(max(e.fidelity_.explained(READ), 0.0)),
            f"read from the network; divergence {short_text(read.kl)} nats",
        ),
        (
            "Explained by the automaton",
            percent_text(max(e.fidelity_.explained(ALONE), 0.0)),
            f"run alone; divergence {short_text(alone.kl)} nats",
        ),
        (
            "Same most probable output",
            percent_text(read.agreement),
            f"the automaton alone: {percent_text(alone.agreement)}",
        ),
        *(
            ("Variance explained", percent_text(max(r2, 0.0)), f"of numbers: {name}")
            for name, r2 in e.r2_.items()
        ),
    ]


def _fidelity(e: RecurrentExplanation) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "is_picture": name in (READ, ALONE),
            "kl": line.kl,
            "explained": max(e.fidelity_.explained(name), 0.0),
            "agreement": line.agreement,
            "loss": line.log_likelihood_loss,
            "n_lines": line.n_lines,
        }
        for name, line in e.fidelity_.items()
    ]


def _comparison(
    e: RecurrentExplanation,
    shown: np.ndarray,
    pieces: list[str],
    begins: np.ndarray,
    hues: np.ndarray,
) -> dict[str, Any] | None:
    """The same text in the states of another model, and the agreement of both."""
    if e.other_states_ is None:
        return None
    others = e.other_states_
    output = distilled(e.trace, others, int(others.max()) + 1)
    words = describe_states(
        e.trace.codes, e.trace.age, others, output, e.symbols, e.outputs
    )
    held_out = e.trace.is_held_out
    agreement = state_agreement(
        e.states_[held_out], others[held_out], e.n_states, len(words)
    )
    return {
        "text": paired_text(pieces, e.states_[shown], others[shown], begins),
        "styles": state_styles([w.name for w in words], agreement.hues(hues), "t"),
        "n_states": len(np.unique(others)),
        "matched": agreement.matched,
        "information": agreement.information,
    }


def _states(
    e: RecurrentExplanation, words: tuple[StateDescription, ...]
) -> list[dict[str, Any]]:
    """One row per state: its name, its predictions, and its transitions."""
    transitions: list[list[str]] = [[] for _ in words]
    for move in sorted(moves_of(e), key=lambda move: -move.share):
        if len(transitions[move.source]) < MOST_MOVES:
            named = ", ".join(move.symbols[:MOST_SYMBOLS])
            more = " ..." if len(move.symbols) > MOST_SYMBOLS else ""
            transitions[move.source].append(
                f"{named}{more} to {move.target} ({percent_text(move.share)})"
            )
    return [
        {
            "number": number,
            "name": word.name,
            "share": word.share,
            "contexts": [text for text, _ in word.contexts],
            "predictions": [
                f"{text} {percent_text(p)}" for text, p in word.predictions
            ],
            "value": None if e.values_ is None else _number_of(e.values_[number]),
            "transitions": transitions[number],
        }
        for number, word in enumerate(words)
    ]


def _number_of(value: np.ndarray) -> str:
    """Mean output of a state, of its first columns."""
    shown = [short_text(float(own)) for own in value[:MOST_SYMBOLS]]
    return "; ".join([*shown, "..."] if len(value) > MOST_SYMBOLS else shown)


def _starts(e: RecurrentExplanation) -> list[str]:
    """States after the first symbol of a sequence, with the symbols of each."""
    first = e.automaton_.first
    return [
        f"{joined([e.symbols[code] for code in np.flatnonzero(first == state)])} "
        f"to {state}"
        for state in np.unique(first)
    ]


def _words(e: RecurrentExplanation) -> list[dict[str, Any]]:
    """Example words by the most probable symbol that the automaton predicts."""
    found = example_words(e.automaton_, MOST_WORDS)
    return [
        {
            "output": joined([e.outputs[output]]),
            "words": [joined([e.symbols[code] for code in word]) for word in words],
        }
        for output, words in found.items()
    ]


def _failures(e: RecurrentExplanation) -> list[dict[str, Any]]:
    """Contexts whose steps contribute most to the divergence of the states read."""
    held_out = np.flatnonzero(e.trace.is_held_out & (e.trace.age > 0))
    if not len(held_out):
        return []
    divergence = np.concatenate(
        [
            _divergences(p, e.output_[e.states_[held_out[block]]])
            for block, p in probabilities(e.trace.log_proba[held_out])
        ]
    )
    codes = e.trace.codes
    key = codes[held_out - 1] * e.trace.n_symbols + codes[held_out]
    known, group = np.unique(key, return_inverse=True)
    total = np.bincount(group, divergence)
    times = np.bincount(group)
    everything = max(float(total.sum()), 1e-300)
    found = []
    for i in np.argsort(-total, kind="stable")[:MOST_FAILURES]:
        before, last = divmod(int(known[i]), e.trace.n_symbols)
        example = held_out[group == i][int(divergence[group == i].argmax())]
        network = int(e.trace.log_proba[example].argmax())
        picture = int(e.output_[e.states_[example]].argmax())
        found.append({
            "context": joined([e.symbols[before], e.symbols[last]]),
            "times": int(times[i]),
            "kl": float(total[i] / times[i]),
            "share": float(total[i]) / everything,
            "network": joined([e.outputs[network]]),
            "picture": joined([e.outputs[picture]]),
        })  # fmt: skip
    return found


def _divergences(p: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    from scipy.special import rel_entr

    return rel_entr(p, predicted).sum(axis=1)


def _curve(e: RecurrentExplanation) -> str | None:
    """Divergence by number of states; None for a single one."""
    if len(e.curve_) < 2:
        return None
    return svg(FidelityCurveDisplay.from_explanation(e).chart(), "curve")
