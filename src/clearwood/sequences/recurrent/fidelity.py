"""Fidelity of surrogates to a network, compared with simple tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from clearwood._words.numbers import percent_text
from clearwood.results import Result
from clearwood.sequences.recurrent.automaton import StateAutomaton, distilled
from clearwood.sequences.recurrent.trace import NetworkTrace, probabilities

if TYPE_CHECKING:
    import pandas as pd

LONGEST = 3
"""Number of previous symbols of the largest baseline table."""

READ, ALONE, CONSTANT = "states read", "automaton alone", "constant"
LAST = ("last symbol", "last 2 symbols", "last 3 symbols")


class SurrogateFidelity(NamedTuple):
    """Fidelity of a surrogate's predictions to a network's, on held-out steps.

    Attributes
    ----------
    kl : float
        Mean divergence, KL(network || surrogate), in nats. Infinite where the surrogate
        excludes what the network does not, as a table of hard outputs, 0 and 1, may.
    agreement : float
        Share of steps for which both have the same most probable symbol; of ties the
        first.
    log_likelihood_loss : float
        Mean log probability of the symbol that followed, of the network less that of
        the surrogate: positive if the surrogate is worse. NaN for labels.
    n_lines : int
        Rows of the surrogate's table.
    """

    kl: float
    agreement: float
    log_likelihood_loss: float
    n_lines: int


@dataclass(frozen=True, repr=False)
class NetworkFidelity(Result, Mapping[str, SurrogateFidelity]):
    """Fidelity of several surrogates of a network; prints as a table.

    Attributes
    ----------
    lines : dict of str to SurrogateFidelity
    n_steps : int
        Held-out steps of the evaluation.
    """

    lines: dict[str, SurrogateFidelity]
    n_steps: int

    def __getitem__(self, name: str) -> SurrogateFidelity:
        return self.lines[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.lines)

    def __len__(self) -> int:
        return len(self.lines)

    def explained(self, name: str) -> float:
        """Share of a constant's divergence that a surrogate removes."""
        constant = self.lines[CONSTANT].kl
        return 1.0 - self.lines[name].kl / constant if constant > 0 else 1.0

    def to_frame(self) -> pd.DataFrame:
        """Fidelity, one surrogate per row."""
        import pandas as pd

        return pd.DataFrame.from_dict(
            self.lines, orient="index", columns=SurrogateFidelity._fields
        )

    def __str__(self) -> str:
        head = f"on {self.n_steps:,} held-out steps"
        lines = [f"{head:<28}{'KL':>8}{'agreement':>11}{'loss':>9}{'lines':>9}"]
        lines += [
            f"{name:<28}{line.kl:>8.4f}{percent_text(line.agreement):>11}"
            f"{_loss_text(line.log_likelihood_loss):>9}{line.n_lines:>9,}"
            for name, line in self.lines.items()
        ]
        return "\n".join(lines)


def _loss_text(loss: float) -> str:
    return "" if np.isnan(loss) else f"{loss:.4f}"


def fidelity_of(
    log_proba: np.ndarray,
    predicted: np.ndarray,
    lines: np.ndarray,
    following: np.ndarray,
) -> SurrogateFidelity:
    """Compare a network's predictions with rows of a table.

    Parameters
    ----------
    log_proba : ndarray of shape (n_steps, n_symbols)
        Of the network.
    predicted : ndarray of shape (n_lines, n_symbols)
        Probabilities.
    lines : ndarray of int of shape (n_steps,)
        The row of the table for each step.
    following : ndarray of int of shape (n_steps,)
        The next symbol; -1 where there is none.
    """
    with np.errstate(divide="ignore"):
        log_predicted = np.log(predicted)
    best = predicted.argmax(axis=1)
    divergence, n_equal, gap = 0.0, 0, 0.0
    for block, p in probabilities(log_proba):
        by_network, by_table = log_proba[block], log_predicted[lines[block]]
        with np.errstate(invalid="ignore"):  # both may be sure of what is not
            lead = np.where(by_network == by_table, 0.0, by_network - by_table)
            terms = np.where(p > 0, p * lead, 0.0)
        divergence += float(terms.sum())
        n_equal += int((p.argmax(axis=1) == best[lines[block]]).sum())
        known = np.flatnonzero(following[block] >= 0)
        gap += float(lead[known, following[block][known]].sum())
    n_steps, n_known = len(log_proba), int((following >= 0).sum())
    # Rounding alone makes it negative.
    divergence = max(divergence, 0.0)
    return SurrogateFidelity(
        divergence / n_steps,
        n_equal / n_steps,
        gap / n_known if n_known else np.nan,
        len(predicted),
    )


def held_out_fidelity(
    trace: NetworkTrace, predicted: np.ndarray, lines: np.ndarray
) -> SurrogateFidelity:
    """Fidelity on the held-out steps."""
    held_out = trace.is_held_out
    return fidelity_of(
        trace.log_proba[held_out], predicted, lines[held_out], trace.following[held_out]
    )


def divergence(trace: NetworkTrace, predicted: np.ndarray, lines: np.ndarray) -> float:
    """Mean divergence from the network, on all steps."""
    return fidelity_of(trace.log_proba, predicted, lines, trace.following).kl


def alone_divergence(trace: NetworkTrace, automaton: StateAutomaton) -> float:
    """Mean divergence of an automaton, alone, from the network, on all steps."""
    alone = automaton.run(trace.codes, trace.starts)
    return divergence(trace, automaton.output, alone)


def table_fidelity(trace: NetworkTrace) -> dict[str, SurrogateFidelity]:
    """Fidelity of tables of the last 1, 2, 3 symbols, and of a constant."""
    names = (CONSTANT, *LAST)
    tables = zip(names, symbol_tables(trace, LONGEST))
    found = {name: held_out_fidelity(trace, *table) for name, table in tables}
    return {name: found[name] for name in (*LAST, CONSTANT)}


def symbol_tables(
    trace: NetworkTrace, longest: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Mean prediction of the network after the last 0, 1, ... symbols.

    For contexts that were not seen in training, and at the start of a sequence, fewer
    symbols are used.

    Yields
    ------
    predicted : ndarray of shape (n_lines, n_symbols)
    lines : ndarray of int of shape (n_steps,)
    """
    lines = np.zeros(len(trace.codes), dtype=np.int64)
    predicted = distilled(trace, lines, 1)
    yield predicted, lines
    key = np.zeros(len(lines), dtype=np.int64)
    for back in range(longest):
        key = key * trace.n_symbols + np.roll(trace.codes, back)
        whole = trace.age >= back
        known = np.unique(key[whole & ~trace.is_held_out])
        at = np.searchsorted(known, key).clip(max=max(len(known) - 1, 0))
        found = whole & (known[at] == key) if len(known) else np.zeros_like(whole)
        longer = distilled(trace, np.where(found, at + 1, 0), len(known) + 1)[1:]
        lines = np.where(found, len(predicted) + at, lines)
        predicted = np.concatenate([predicted, longer])
        yield predicted, lines
