"""Summaries of the states of a network: symbols read, and symbols predicted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from clearwood._words.labels import printable
from clearwood.columns.cells import is_missing

LONGEST = 3
"""Maximum number of symbols of a context."""

TYPICAL = 0.8
"""Minimum share of a state's steps that a context must have to name it."""

MOST_NAMED, MOST_SAID = 4, 3
"""Maximum numbers of symbols in a name, and of predicted ones."""

MISSING = "▯"
"""Placeholder for a step without a symbol."""

VISIBLE = str.maketrans({" ": "␣", "\n": "↵", "\t": "⇥", "\r": "␍"})


class StateDescription(NamedTuple):
    """Summary of one state.

    Attributes
    ----------
    name : str
        The context in which it occurs, or the symbols read most often in it.
    share : float
        Share of all steps.
    contexts : tuple of (str, float)
        The last symbols read, most frequent first, and their shares.
    predictions : tuple of (str, float)
        Most probable next symbols.
    """

    name: str
    share: float
    contexts: tuple[tuple[str, float], ...]
    predictions: tuple[tuple[str, float], ...]


def visible(symbol: str) -> str:
    r"""Printable form of a symbol.

    Examples
    --------
    >>> print(visible(" "), visible("the"), visible(chr(27)))
    ␣ the '\x1b'
    """
    return printable(symbol.translate(VISIBLE))


def written(cells: np.ndarray) -> list[str]:
    """Steps of a text as strings.

    Examples
    --------
    >>> written(np.array(["a", None, 3], dtype=object))
    ['a', '▯', '3']
    """
    return [MISSING if is_missing(cell) else str(cell) for cell in cells.tolist()]


def joined(symbols: Sequence[str]) -> str:
    """Join symbols: letters without, words with a space between."""
    between = "" if all(len(symbol) == 1 for symbol in symbols) else " "
    return between.join(visible(symbol) for symbol in symbols)


def describe_states(
    codes: np.ndarray,
    age: np.ndarray,
    states: np.ndarray,
    output: np.ndarray,
    symbols: Sequence[str],
    outputs: Sequence[str] | None = None,
) -> tuple[StateDescription, ...]:
    """Summarize all states.

    Parameters
    ----------
    codes, age, states : ndarray of int of shape (n_steps,)
        Symbol read, its position in the sequence, and the state afterwards.
    output : ndarray of shape (n_states, n_outputs)
        Probabilities of the next symbol, or of labels, in each state.
    symbols : sequence of str
    outputs : sequence of str, optional
        Names of the outputs; by default the symbols.

    Examples
    --------
    >>> codes = np.array([0, 1, 1, 0, 0, 1, 0, 1, 1, 1, 0, 0, 0])
    >>> described = describe_states(codes, np.arange(13), codes, np.eye(2), ["a", " "])
    >>> [words.name for words in described]
    ['after a', 'after ␣']
    """
    n_states = len(output)
    tables = [
        _contexts(codes, age, states, n_states, n, symbols)
        for n in range(1, LONGEST + 1)
    ]
    share = np.bincount(states, minlength=n_states) / len(states)
    return tuple(
        StateDescription(
            _name_of([table[state] for table in tables]),
            float(share[state]),
            tuple(tables[-1][state][:MOST_NAMED]),
            tuple(
                (visible((outputs or symbols)[code]), float(output[state, code]))
                for code in np.argsort(-output[state], kind="stable")[:MOST_SAID]
            ),
        )
        for state in range(n_states)
    )


def _contexts(
    codes: np.ndarray,
    age: np.ndarray,
    states: np.ndarray,
    n_states: int,
    length: int,
    symbols: Sequence[str],
) -> list[list[tuple[str, float]]]:
    """Per state the last symbols read, most frequent first, with their shares."""
    whole = age >= length - 1
    lines = np.column_stack([np.roll(codes, back) for back in range(length)][::-1])
    key = states
    for column in lines.T:
        key = key * len(symbols) + column
    _, first, times = np.unique(key[whole], return_index=True, return_counts=True)
    steps = np.flatnonzero(whole)[first]
    total = np.bincount(states[whole], minlength=n_states)
    found: list[list[tuple[str, float]]] = [[] for _ in range(n_states)]
    for i in np.argsort(-times, kind="stable"):
        step = steps[i]
        state = int(states[step])
        if len(found[state]) < MOST_NAMED:
            text = joined([symbols[code] for code in lines[step]])
            found[state].append((text, float(times[i] / total[state])))
    return found


def _name_of(tables: list[list[tuple[str, float]]]) -> str:
    """The longest typical context; otherwise the symbols read most often."""
    for table in reversed(tables):
        if table and table[0][1] >= TYPICAL:
            return f"after {table[0][0]}"
    names, covered = [], 0.0
    for text, share in tables[0]:
        names.append(text)
        covered += share
        if covered >= TYPICAL:
            return f"after {' or '.join(names)}"
    return f"after {', '.join(names)} ..." if names else "not seen"
