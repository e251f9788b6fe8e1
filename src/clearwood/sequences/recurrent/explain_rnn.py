"""Explanation of a recurrent network by an automaton of few states, and its fidelity.

The network reads sequences; its state vectors are quantized into states; an automaton
is counted from their transitions; the output of each state is the network's mean
prediction there. Fidelity is measured on held-out steps: with states read from the
network, and with the automaton alone, next to tables of the last few symbols.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from clearwood._numeric import as_generator
from clearwood._warned_once import users_level
from clearwood._words.labels import type_text
from clearwood._words.spelling import suggests_parameters
from clearwood.columns.cells import unwrapped
from clearwood.exceptions import InputError, ModelError, PoorFidelityWarning
from clearwood.results import Result
from clearwood.sequences.estimators import HiddenMarkovModel
from clearwood.sequences.networks.as_module import add_filtered_states, module_of
from clearwood.sequences.networks.estimators import HMMLSTM
from clearwood.sequences.recurrent.automaton import StateAutomaton, unseen_share
from clearwood.sequences.recurrent.counterexamples import (
    Counterexample,
    find_counterexample,
)
from clearwood.sequences.recurrent.fidelity import (
    ALONE,
    LAST,
    READ,
    NetworkFidelity,
    SurrogateFidelity,
    table_fidelity,
)
from clearwood.sequences.recurrent.hidden_states import (
    LSTM_STATES,
    find_layer,
    is_module,
    read_network,
    rounding_of,
)
from clearwood.sequences.recurrent.quantizers import QUANTIZERS, comparable
from clearwood.sequences.recurrent.surrogates import fit_surrogate
from clearwood.sequences.recurrent.trace import (
    NetworkTrace,
    Reader,
    check_reads_forwards,
    read_sequences,
)
from clearwood.sequences.recurrent.vectors import encoded, output_classes

if TYPE_CHECKING:
    import pandas as pd


SIZES = (2, 5, 10, 20, 50, 100, 200, 500)
"""Numbers of states among which "auto" selects."""

TO_LABELS = (
    "pass labels=[...], if outputs are labels and not the next symbol, or labels=5, if "
    "they are numbers."
)
"""Remedy for outputs that are not those of the symbols."""

MUST_BEAT = LAST[1]
"""Baseline table that a surrogate must exceed in fidelity."""


class SizeTried(NamedTuple):
    """Fidelity of the surrogates with one number of states; a point of the curve.

    Attributes
    ----------
    n_states : int
    read, alone : SurrogateFidelity
        With states read from the network, and of the automaton alone.
    """

    n_states: int
    read: SurrogateFidelity
    alone: SurrogateFidelity


@dataclass(frozen=True, eq=False, repr=False)
class RecurrentExplanation(Result):
    """Surrogate of a recurrent network; result of :func:`~clearwood.explain_rnn`.

    Attributes
    ----------
    fidelity_ : NetworkFidelity
        Per surrogate the mean KL divergence from the network, the share of steps with
        the same most probable symbol, and the difference in log-likelihood, on held-out
        steps: ``"states read"`` from the network, ``"automaton alone"``, tables of the
        ``"last symbol"``, ``"last 2 symbols"``, ``"last 3 symbols"``, and the
        ``"constant"``. ``print`` it.
    states_ : ndarray of int of shape (n_steps,)
        State of the network at each step, the most frequent being 0.
    output_ : ndarray of shape (n_states, n_outputs)
        Mean prediction of the network in each state: of the next symbol, or labels.
    automaton_ : StateAutomaton
        Automaton of the states' transitions.
    counterexample_ : Counterexample
        Shortest word after which the automaton and the network differ, if one was
        found, and the number of words searched.
    unseen_ : float
        Share of the held-out steps at which the automaton, alone, met a pair of state
        and symbol that was not seen in training; see ``StateAutomaton.counts``.
    curve_ : tuple of SizeTried
        Every number of states that was tried, ascending.
    warning_ : str
        Warning of poor fidelity; empty if there is none.
    tolerance : float
        Accepted loss of explained share.
    symbols, outputs : tuple of str
        Symbols of the codes, or names of the classes of input vectors; and names of the
        outputs: labels, or the symbols again.
    network : str
        Description of the network.
    trace : NetworkTrace
        Recorded states and predictions of the network.
    other_states_ : ndarray of int of shape (n_steps,) or None
        States of another model, shown for comparison on the page.
    values_ : ndarray of shape (n_states, n_columns) or None
        If the network returns numbers, their mean in training in each of ``states_``.
    r2_ : dict of str to float
        If it does, the share of their variance on held-out steps that is explained by
        the ``"states read"``, and by the ``"automaton alone"``; of several columns the
        mean of their shares.
    """

    _display = "clearwood.sequences.reading.automaton_display:AutomatonDisplay"

    fidelity_: NetworkFidelity
    states_: np.ndarray
    output_: np.ndarray
    automaton_: StateAutomaton
    counterexample_: Counterexample
    unseen_: float
    curve_: tuple[SizeTried, ...]
    warning_: str
    tolerance: float
    symbols: tuple[str, ...]
    outputs: tuple[str, ...]
    network: str
    trace: NetworkTrace
    other_states_: np.ndarray | None = None
    values_: np.ndarray | None = None
    r2_: dict[str, float] = field(default_factory=dict)

    @property
    def n_states(self) -> int:
        """Number of states."""
        return len(self.output_)

    def to_frame(self) -> pd.DataFrame:
        """Fidelity, one surrogate per row."""
        return self.fidelity_.to_frame()

    def __str__(self) -> str:
        return (
            f"{self.n_states} states of {self.network}\n{self.fidelity_}\n"
            f"automaton alone: {self.counterexample_}"
            + "".join(f"\nR2, {name}: {r2:.3f}" for name, r2 in self.r2_.items())
        )


def check_explanation(result: Any) -> RecurrentExplanation:
    """Raise an error if the result is no explanation of a network."""
    if not isinstance(result, RecurrentExplanation):
        raise InputError(
            f"Found {type_text(result)}, expected the result of explain_rnn."
        )
    return result


@suggests_parameters
def explain_rnn(
    network: Any,
    sequences: Any,
    *,
    n_states: int | str | Iterable[int] = 100,
    symbols: Sequence[Any] | int | None = None,
    labels: Any = None,
    layer: int | str | tuple[str, int] | None = None,
    lstm_state: str = "h",
    predict: Callable[[Any, Any], Any] | None = None,
    quantizer: str = "kmeans",
    test_size: float = 0.2,
    tolerance: float = 0.05,
    other_states: Any = None,
    random_state: Any = 0,
) -> RecurrentExplanation:
    """Explain a recurrent network by an automaton, and measure its fidelity.

    The network is run once over every whole sequence, one at a time, and over the
    beginning of one once more: its output may not depend on later symbols. Mode, device
    and gradients are restored afterwards.

    Parameters
    ----------
    network : torch.nn.Module, HMMLSTM or callable
        Any module with an ``nn.RNN``, ``nn.GRU`` or ``nn.LSTM`` inside, or a cell of
        these, that predicts the next symbol or, with ``labels``, labels or numbers,
        per step or per sequence; a fitted HMMLSTM, whose states are those of its LSTM
        concatenated with the filtered ones of its HMM; or a function from the input of
        a sequence (ndarray) to its states and logits, a row of each per step: for a
        transformer, for example. If there is a single row of logits for a sequence, the
        network is run on every beginning of it, and explained at each.
    sequences : str, array-like of int, array of float, or list of these
        Input of the network: codes, or strings and other symbols of ``symbols``, in one
        sequence or a list, as for ``HiddenMarkovModel.fit``. Each row of an array of
        several columns is a sequence. Or rows of numbers: an array of float of shape
        (n_steps, n_columns), a list of these, or of shape (n_sequences, n_steps,
        n_columns). The automaton then reads classes of similar rows.
    n_states : int, "auto" or sequence of int, default=100
        Number of clusters of the network's vectors, before equivalent states are
        merged. Of several numbers ("auto": 2, 5, 10, 20, 50, 100, 200, 500), that of
        the smallest automaton whose explained share is within ``tolerance`` of the
        largest; ``curve_`` holds all of them.
    symbols : sequence or int, optional
        Symbols of the codes 0, 1, ...: the network's vocabulary, in its order. An
        HMMLSTM has its own. For rows of numbers, the number of their classes (by
        default 12).
    labels : sequence or int, optional
        Names of the network's outputs, if these are labels and not the next symbol. If
        they are numbers, as in regression, the number of their classes: the automaton
        predicts classes of similar outputs, and their mean is ``values_``.
    layer : int, str or (str, int), optional
        Layer whose states are read: a layer of a stack (the last by default), the name
        of a recurrent module as in ``named_modules``, or both.
    lstm_state : {"h", "c", "both"}, default="h"
        For an LSTM: hidden state, cell, or both concatenated. Cells are unbounded, and
        large ones dominate the distances between states.
    predict : callable, optional
        Function that runs the network: ``predict(module, codes)`` with ``codes`` a
        tensor of shape (n_steps,) or (n_steps, n_columns) returns logits of shape
        (n_steps, n_outputs), row t after ``codes[t]`` was read, or a single row for the
        sequence. By default ``module(codes)`` with a batch of
        one, first or second as the recurrent layer has it; of several outputs the
        first.
    quantizer : {"kmeans", "hmm"}, default="kmeans"
        Quantization of vectors into states: the nearest centre, or the most probable
        state of a Gaussian hidden Markov model, given the vectors up to a step.
    test_size : float, default=0.2
        Share of the steps on which surrogates are evaluated, and which are not used to
        fit them: the last of the sequences, or the end of a single one.
    tolerance : float, default=0.05
        Loss of the explained share of the network's behaviour that is accepted for a
        smaller automaton. With 0, states are merged only if nothing is lost.
    other_states : HiddenMarkovModel or array-like of int of shape (n_steps,), optional
        Other states of the same steps, shown below the network's on the page, with
        their agreement: the most probable ones of a fitted model of the same symbols,
        given all up to a step, or any. By default, for an HMMLSTM, its HMM's.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the quantizer.

    Returns
    -------
    RecurrentExplanation

    Notes
    -----
    The network's predictions are kept, in its precision: a number per step and symbol.

    Warns
    -----
    PoorFidelityWarning
        A surrogate explains less than a table of the last two symbols, by more than
        ``tolerance``.

    Examples
    --------
    A network that predicts 1 where the number of ones read so far is odd:

    >>> import numpy as np
    >>> def network(codes):
    ...     odd = np.cumsum(codes) % 2
    ...     return odd[:, None].astype(float), np.column_stack([-9.0 * odd, 9.0 * odd])
    >>> codes = np.random.default_rng(0).integers(2, size=1000)
    >>> found = explain_rnn(network, codes, n_states=2)
    >>> found.automaton_.transition
    array([[0, 1],
           [1, 0]])
    >>> print(found.fidelity_)
    on 200 held-out steps             KL  agreement     loss    lines
    states read                   0.0000      100 %   0.0000        2
    automaton alone               0.0000      100 %   0.0000        2
    last symbol                   ...
    """
    sizes = _checked_sizes(n_states)
    _check_settings(lstm_state, quantizer, test_size, tolerance)
    is_hybrid = isinstance(network, HMMLSTM)
    if is_hybrid:
        if symbols is not None:
            raise InputError("An HMMLSTM has its own symbols; leave symbols out.")
        network, sequences, symbols = module_of(network, sequences)
    cells, codes, names, centres = encoded(sequences, symbols, test_size, random_state)
    reader, description = _reader_of(network, layer, lstm_state, predict)
    reader = add_filtered_states(reader, network) if is_hybrid else reader
    hmm = network.hmm if is_hybrid else None
    n_filtered = 0 if hmm is None else len(hmm.initial)
    n_read, numbers = None if labels is None else len(names), None
    named: tuple[str, ...] | None = None
    if isinstance(labels, Integral):
        seed = int(as_generator(random_state).integers(2**31))
        numbers = output_classes(reader, cells, int(labels), test_size, seed)
        reader, named = numbers.reader, numbers.names
    elif labels is not None:
        named = tuple(map(str, labels))
    trace = read_sequences(reader, codes, test_size, cells, n_read)
    check_reads_forwards(reader, trace, cells, rounding_of(network))
    if named is None and centres is None:
        names = _names_of(trace, symbols)
    outputs = names if named is None else named
    if len(outputs) != trace.log_proba.shape[1]:
        n = trace.log_proba.shape[1]
        raise InputError(
            f"The network has {n} output{'s' * (n != 1)}, but the number of labels or "
            f"symbols is {len(outputs)}; {TO_LABELS}"
        )
    others = _comparison_states(other_states, trace, symbols, n_filtered)
    tables = table_fidelity(trace)
    places = comparable(trace)
    surrogates = [
        fit_surrogate(trace, places, size, quantizer, tolerance, rng)
        for size, rng in zip(sizes, as_generator(random_state).spawn(len(sizes)))
    ]
    least = min(own.loss for own in surrogates)
    near = [own for own in surrogates if own.loss <= least + tolerance]
    selected = min(near, key=lambda own: own.automaton.n_states)
    lines = {READ: selected.read, ALONE: selected.alone, **tables}
    fidelity = NetworkFidelity(lines, int(trace.is_held_out.sum()))
    values, r2 = None, dict[str, float]()
    if numbers is not None:
        values, r2 = numbers.explained(trace, selected.states, selected.automaton)
    return RecurrentExplanation(
        fidelity_=fidelity,
        states_=selected.states,
        output_=selected.output,
        automaton_=selected.automaton,
        counterexample_=find_counterexample(
            reader if centres is None else lambda codes: reader(centres[codes]),
            selected.automaton,
            trace,
            (names, outputs),
            as_generator(random_state),
        ),
        unseen_=unseen_share(selected.automaton, trace),
        curve_=tuple(
            SizeTried(own.automaton.n_states, own.read, own.alone) for own in surrogates
        ),
        warning_=_warn_of_poor_surrogates(fidelity, tolerance),
        tolerance=tolerance,
        symbols=names,
        outputs=outputs,
        network=description,
        trace=trace,
        other_states_=others,
        values_=values,
        r2_=r2,
    )


def _warn_of_poor_surrogates(fidelity: NetworkFidelity, tolerance: float) -> str:
    """Warn of surrogates less faithful than the last two symbols, as one text."""
    table = fidelity[MUST_BEAT]
    poor = [
        f"{name} (KL {fidelity[name].kl:.3g})"
        for name in (READ, ALONE)
        if fidelity.explained(name) < fidelity.explained(MUST_BEAT) - tolerance
    ]
    if not poor:
        return ""
    text = (
        f"A table of the {MUST_BEAT} (KL {table.kl:.3g}, {table.n_lines:,} lines) "
        f"explains more of the network than {fidelity[READ].n_lines} states do: "
        f"{', '.join(poor)}. Allow more of them (n_states), or a smaller tolerance."
    )
    warnings.warn(text, PoorFidelityWarning, stacklevel=users_level())
    return text


def _comparison_states(
    other_states: Any,
    trace: NetworkTrace,
    symbols: Any,
    n_filtered: int,
) -> np.ndarray | None:
    """States of another model at every step; of a hybrid's HMM by default."""
    if isinstance(other_states, HiddenMarkovModel):
        cells = trace.codes
        if symbols is not None:
            known = np.empty(len(symbols), dtype=object)
            known[:] = list(symbols)
            cells = known[cells]
        lengths = [len(codes) for codes in trace.sequences]
        return other_states.filter_proba(cells, lengths).argmax(axis=1)
    if other_states is None:  # a hybrid's filtered HMM states come last
        return trace.states[:, -n_filtered:].argmax(axis=1) if n_filtered else None
    found = np.asarray(unwrapped(other_states))
    fits = found.shape == trace.codes.shape and found.dtype.kind in "iu"
    if not fits or found.min() < 0:
        raise InputError(
            f"other_states has the shape {found.shape} and type {found.dtype}; "
            f"expected a HiddenMarkovModel, or a state 0, 1, ... for each of "
            f"{len(trace.codes)} steps."
        )
    return found


# Arguments


def _reader_of(
    network: Any, layer: Any, lstm_state: str, predict: Any
) -> tuple[Reader, str]:
    """Function from codes to states and logits, and its description."""
    if is_module(network):
        selected = find_layer(network, layer, lstm_state)

        def reader(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            return read_network(
                network, selected, codes, lstm_state=lstm_state, predict=predict
            )

        return reader, f"{selected} in {type(network).__name__}"
    if not callable(network):
        raise ModelError(
            f"Found {type_text(network)}, expected a torch.nn.Module, or a "
            "function: codes -> (states, logits)."
        )
    if layer is not None or predict is not None or lstm_state != "h":
        raise InputError(
            "A function returns states and logits itself; leave out layer, "
            "lstm_state and predict."
        )
    return network, getattr(network, "__name__", type(network).__name__)


def _checked_sizes(n_states: Any) -> list[int]:
    if isinstance(n_states, str) and n_states != "auto":
        raise InputError(f"n_states is {n_states!r}; expected a number or 'auto'.")
    sizes = SIZES if n_states == "auto" else n_states
    sizes = sizes if isinstance(sizes, Iterable) else [sizes]
    sizes = sorted(set(sizes))
    if not sizes or any(not isinstance(n, Integral) or n < 1 for n in sizes):
        raise InputError(f"n_states is {n_states!r}; expected whole numbers from 1 on.")
    return [int(size) for size in sizes]


def _check_settings(
    lstm_state: str, quantizer: str, test_size: float, tolerance: float
) -> None:
    for name, value, known in (
        ("lstm_state", lstm_state, LSTM_STATES),
        ("quantizer", quantizer, tuple(QUANTIZERS)),
    ):  # fmt: skip
        if value not in known:
            raise InputError(f"{name} must be one of {known}, found {value!r}.")
    if not 0 < test_size < 1:
        raise InputError(
            f"test_size is {test_size!r}; expected a share above 0, below 1."
        )
    if not 0 <= tolerance < 1:
        raise InputError(
            f"tolerance is {tolerance!r}; expected a share from 0 to below 1."
        )


def _names_of(trace: NetworkTrace, symbols: Any) -> tuple[str, ...]:
    """Symbols of codes, as text."""
    found, largest = trace.n_symbols, int(trace.codes.max())
    names = tuple(map(str, range(found) if symbols is None else symbols))
    if len(names) != found:
        raise InputError(
            f"The network predicts {found} symbols, but symbols has {len(names)}; "
            f"pass its vocabulary, in its order, or {TO_LABELS}"
        )
    if largest >= found:
        raise InputError(
            f"Code {largest} is none of the network's {found} symbols; correct it, or "
            f"{TO_LABELS}"
        )
    return names
