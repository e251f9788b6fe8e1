"""Words that an automaton accepts, and words on which it differs from the network."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from clearwood.sequences.recurrent.automaton import StateAutomaton
from clearwood.sequences.recurrent.trace import NetworkTrace, Reader, read_sequences

MOST_WORDS, N_RANDOM, LONGEST = 512, 100, 50
"""Maximum number of words of the length up to which all are searched; number and
maximum length of random parts of the sequences, whose beginnings are searched."""


class Counterexample(NamedTuple):
    """Shortest word after which an automaton and the network differ.

    Attributes
    ----------
    word : tuple of str
        Empty if no such word was found.
    network, automaton : str
        The most probable output of each.
    n_words, n_different : int
        Number of distinct words searched, and of those after which both differ.
    longest : int
        Length up to which all words were searched.
    """

    word: tuple[str, ...]
    network: str
    automaton: str
    n_words: int
    n_different: int
    longest: int

    def __str__(self) -> str:
        searched = f"{self.n_words:,} words searched"
        if not self.n_different:
            return f"no difference on the {searched}"
        return (
            f"network {self.network!r}, automaton {self.automaton!r} after "
            f"{' '.join(self.word)!r}; different on {self.n_different:,} of the "
            f"{searched}"
        )


def find_counterexample(
    reader: Reader,
    automaton: StateAutomaton,
    trace: NetworkTrace,
    names: tuple[tuple[str, ...], tuple[str, ...]],
    rng: np.random.Generator,
) -> Counterexample:
    """Search all short words, and beginnings of random parts of the sequences.

    ``names`` are those of the symbols and of the outputs.
    """
    symbols, outputs = names
    n_random = min(int(trace.age.max()) + 1, LONGEST)
    longest = min(whole_length(trace.n_symbols), n_random)
    short = all_words(trace.n_symbols, longest)
    ends = np.append(trace.starts[1:], len(trace.codes))
    parts = [
        trace.codes[begin : min(begin + n_random, *ends[ends > begin][:1])]
        for begin in rng.integers(len(trace.codes), size=N_RANDOM)
    ]
    words = [*filter(len, short), *parts]
    found = read_sequences(reader, words, 0.5, n_read=trace.n_read)
    alone = automaton.run(found.codes, found.starts)
    network, by_automaton = (
        found.log_proba.argmax(axis=1), automaton.output.argmax(axis=1)[alone]
    )  # fmt: skip
    # Every beginning of a word is a word; steps are those of all, in order.
    beginnings = (own[: n + 1].tobytes() for own in words for n in range(len(own)))
    step_of: dict[bytes, int] = {}
    for step, word in enumerate(beginnings):
        step_of.setdefault(word, step)
    first = np.array(list(step_of.values()))
    differ = first[network[first] != by_automaton[first]]
    if not len(differ):
        return Counterexample((), "", "", len(first), 0, longest)
    step = differ[found.age[differ].argmin()]
    return Counterexample(
        tuple(symbols[c] for c in found.codes[step - found.age[step] : step + 1]),
        outputs[network[step]],
        outputs[by_automaton[step]],
        len(first),
        len(differ),
        longest,
    )


def whole_length(n_symbols: int) -> int:
    """Largest length of which there are few enough words to search all.

    Examples
    --------
    >>> whole_length(2), whole_length(5), whole_length(1000)
    (9, 3, 0)
    """
    length = 0
    while length < LONGEST and n_symbols ** (length + 1) <= MOST_WORDS:
        length += 1
    return length


def all_words(n_symbols: int, length: int) -> np.ndarray:
    """All words of a length, in order.

    Examples
    --------
    >>> all_words(2, 2).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    return np.indices((n_symbols,) * length).reshape(length, n_symbols**length).T


def example_words(automaton: StateAutomaton, most: int) -> dict[int, list[np.ndarray]]:
    """Shortest words after which each output is the most probable one, at most so many.

    Of the words that are short enough to list all.

    Examples
    --------
    >>> parity = StateAutomaton(
    ...     np.array([0, 1]), np.array([[0, 1], [1, 0]]),
    ...     np.ones((2, 2), dtype=int), np.array([[0.9, 0.1], [0.1, 0.9]]),
    ... )
    >>> {k: [w.tolist() for w in own] for k, own in example_words(parity, 2).items()}
    {0: [[0], [0, 0]], 1: [[1], [0, 1]]}
    """
    n_symbols = automaton.transition.shape[1]
    found: dict[int, list[np.ndarray]] = {}
    for length in range(1, whole_length(n_symbols) + 1):
        words = all_words(n_symbols, length)
        last = automaton.run(words.ravel(), np.arange(len(words)) * length)
        for word, state in zip(words, last[length - 1 :: length]):
            own = found.setdefault(int(automaton.output[state].argmax()), [])
            if len(own) < most:
                own.append(word)
    return dict(sorted(found.items()))
