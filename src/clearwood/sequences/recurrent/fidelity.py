"""How much of a network a picture explains, beside what plain tables explain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from clearwood._words.numbers import percent_text
from clearwood.sequences.recurrent.automaton import distilled
from clearwood.sequences.recurrent.trace import NetworkTrace, probabilities

LONGEST = 3
"""Symbols that the largest of the plain tables looks back at."""

READ, ALONE, CONSTANT = "states read", "automaton alone", "constant"
LAST = ("last symbol", "last 2 symbols", "last 3 symbols")


class NearnessToNetwork(NamedTuple):
    """How near what a picture says is to what a network says, on held-out steps.

    Attributes
    ----------
    kl : float
        Mean divergence, KL(network || picture), in nats.
    agreement : float
        Share of steps for which both find the same symbol most probable; of equal
        ones the first.
    log_likelihood_gap : float
        Mean log-probability of the symbol that did follow, by the network less by the
        picture: positive where the picture is worse.
    n_lines : int
        Lines of the picture's table.
    """

    kl: float
    agreement: float
    log_likelihood_gap: float
    n_lines: int


@dataclass(frozen=True)
class NetworkFidelity(Mapping[str, NearnessToNetwork]):
    """How near several pictures of a network are to it; prints as a table.

    Attributes
    ----------
    lines : dict of str to NearnessToNetwork
    n_steps : int
        Held-out steps on which all were judged.
    """

    lines: dict[str, NearnessToNetwork]
    n_steps: int

    def __getitem__(self, name: str) -> NearnessToNetwork:
        return self.lines[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.lines)

    def __len__(self) -> int:
        return len(self.lines)

    def explained(self, name: str) -> float:
        """Share of the divergence of a constant that a picture does away with."""
        constant = self.lines[CONSTANT].kl
        return 1.0 - self.lines[name].kl / constant if constant > 0 else 1.0

    def __str__(self) -> str:
        head = f"on {self.n_steps:,} held-out steps"
        lines = [f"{head:<28}{'KL':>8}{'agreement':>11}{'gap':>9}{'lines':>9}"]
        lines += [
            f"{name:<28}{line.kl:>8.4f}{percent_text(line.agreement):>11}"
            f"{line.log_likelihood_gap:>9.4f}{line.n_lines:>9,}"
            for name, line in self.lines.items()
        ]
        return "\n".join(lines)


def nearness(
    log_proba: np.ndarray, said: np.ndarray, lines: np.ndarray, following: np.ndarray
) -> NearnessToNetwork:
    """Compare what a network says with lines of a table.

    Parameters
    ----------
    log_proba : ndarray of shape (n_steps, n_symbols)
        Of the network.
    said : ndarray of shape (n_lines, n_symbols)
        Probabilities.
    lines : ndarray of int of shape (n_steps,)
        The line of the table that stands for each step.
    following : ndarray of int of shape (n_steps,)
        The symbol that followed; -1 where none did.
    """
    with np.errstate(divide="ignore"):
        log_said = np.log(said)
    best = said.argmax(axis=1)
    divergence, n_equal, gap = 0.0, 0, 0.0
    for block, p in probabilities(log_proba):
        by_network, by_table = log_proba[block], log_said[lines[block]]
        with np.errstate(invalid="ignore"):  # both may be sure of what is not
            lead = np.where(by_network == by_table, 0.0, by_network - by_table)
            terms = np.where(p > 0, p * lead, 0.0)
        divergence += float(terms.sum())
        n_equal += int((p.argmax(axis=1) == best[lines[block]]).sum())
        known = np.flatnonzero(following[block] >= 0)
        gap += float(lead[known, following[block][known]].sum())
    n_steps, n_known = len(log_proba), max(int((following >= 0).sum()), 1)
    # Rounding alone makes it negative.
    divergence = max(divergence, 0.0)
    return NearnessToNetwork(
        divergence / n_steps, n_equal / n_steps, gap / n_known, len(said)
    )


def held_out_nearness(
    trace: NetworkTrace, said: np.ndarray, lines: np.ndarray
) -> NearnessToNetwork:
    """The same, on the steps that are held out."""
    judged = trace.is_held_out
    return nearness(
        trace.log_proba[judged], said, lines[judged], trace.following[judged]
    )


def judge_tables(trace: NetworkTrace) -> dict[str, NearnessToNetwork]:
    """What the last 1, 2, 3 symbols explain, and what a constant does."""
    names = (CONSTANT, *LAST)
    tables = zip(names, symbol_tables(trace, LONGEST))
    found = {name: held_out_nearness(trace, *table) for name, table in tables}
    return {name: found[name] for name in (*LAST, CONSTANT)}


def symbol_tables(
    trace: NetworkTrace, longest: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """What the network says on average after the last 0, 1, ... symbols.

    Where the last few were not seen together in training, or a sequence has just
    begun, fewer of them count.

    Yields
    ------
    said : ndarray of shape (n_lines, n_symbols)
    lines : ndarray of int of shape (n_steps,)
    """
    lines = np.zeros(len(trace.codes), dtype=np.int64)
    said = distilled(trace, lines, 1)
    yield said, lines
    key = np.zeros(len(lines), dtype=np.int64)
    for back in range(longest):
        key = key * trace.n_symbols + np.roll(trace.codes, back)
        whole = trace.age >= back
        known = np.unique(key[whole & ~trace.is_held_out])
        at = np.searchsorted(known, key).clip(max=max(len(known) - 1, 0))
        found = whole & (known[at] == key) if len(known) else np.zeros_like(whole)
        longer = distilled(trace, np.where(found, at + 1, 0), len(known) + 1)[1:]
        lines = np.where(found, len(said) + at, lines)
        said = np.concatenate([said, longer])
        yield said, lines
