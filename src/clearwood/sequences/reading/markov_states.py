"""Summaries of the states of a hidden Markov model: share, duration, emissions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np

from clearwood._words.labels import printable, type_text
from clearwood._words.numbers import percent_text, share_text, short_text
from clearwood.columns.dates import DATES, date_text, value_text
from clearwood.columns.info import Kind, shown_names
from clearwood.exceptions import InputError
from clearwood.sequences.estimators import HiddenMarkovModel
from clearwood.sequences.kinds import table_variables
from clearwood.sequences.reading.state_words import visible

MOST_SYMBOLS, MOST_NAMED, LEAST = 6, 2, 0.01
"""Maximum numbers of symbols listed and of columns in a name, and their minimum
probability."""

TYPICAL = 0.8
"""Minimum share of a state's symbols that name it."""


class EmittedCell(NamedTuple):
    """Column in one state: its text, and its deviation from all steps.

    Attributes
    ----------
    text : str
    far : float
        Standard deviations of the column, over all states, above its mean.
    """

    text: str
    far: float


PointMasses = tuple[Sequence[float], np.ndarray]
"""Point masses of a column, and their shares in every state."""

Row = tuple[EmittedCell, ...]
"""All columns of one state, or its symbols."""


class MarkovState(NamedTuple):
    """Summary of a state of a hidden Markov model.

    Attributes
    ----------
    number : int
        As in ``predict``.
    name : str
        Distinctive emissions.
    share : float
        Share of the steps.
    stay : float
        Mean duration in steps.
    emits : tuple of EmittedCell
        The most probable symbols, or every column.
    transitions : tuple of (int, float)
        Next states other than this one, most probable first, with the probability of
        each when the state ends.
    """

    number: int
    name: str
    share: float
    stay: float
    emits: Row
    transitions: tuple[tuple[int, float], ...]


def check_model(model: Any) -> HiddenMarkovModel:
    """Raise an error if the model is no hidden Markov model."""
    if not isinstance(model, HiddenMarkovModel):
        raise InputError(f"Found {type_text(model)}, expected a HiddenMarkovModel.")
    return model


def column_names(model: HiddenMarkovModel) -> list[str]:
    """Names of columns for display; none for symbols."""
    if model.emission == "categorical":
        return []
    if hasattr(model, "features_"):
        return [printable(name) for name in shown_names(model.features_)]
    shape = np.shape(model.means_ if model.emission == "gaussian" else
                     model.emissionprob_)  # fmt: skip
    return [f"x{d}" for d in range(shape[1])]


def column_labels(model: HiddenMarkovModel) -> list[tuple[str, ...] | None]:
    """Labels of the codes of columns; None where they are numbers."""
    if model.emission != "mixed":
        return [None] * len(column_names(model))
    return [
        None if own is None else tuple(printable(str(label)) for label in own)
        for own in model.features_.categories
    ]


def expected_share(
    startprob: np.ndarray, transmat: np.ndarray, n_steps: int | None = None
) -> np.ndarray:
    """Expected share of every state in a sequence of a length; by default, infinite.

    Examples
    --------
    >>> turns = np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> expected_share(np.array([1.0, 0.0]), turns).tolist()
    [0.5, 0.5]
    >>> expected_share(np.array([1.0, 0.0]), turns, 3).round(2).tolist()
    [0.67, 0.33]
    """
    one = np.eye(len(transmat))
    if n_steps is None:
        # A chain that may linger has the same shares, and does not turn in circles.
        total = np.linalg.matrix_power((transmat + one) / 2, 2**20)
    else:
        # Powers 0 to n - 1 added up, and power n; n doubles, and grows by one.
        total, power = one, transmat
        for bit in f"{n_steps:b}"[1:]:
            total, power = total + power @ total, power @ power
            if bit == "1":
                total, power = total + power, power @ transmat
    share: np.ndarray = startprob @ total
    return share / share.sum()


def markov_states(
    model: HiddenMarkovModel, share: np.ndarray | None = None
) -> list[MarkovState]:
    """Summarize all states, in their order.

    Parameters
    ----------
    model : HiddenMarkovModel
        Fitted.
    share : ndarray of shape (n_states,), optional
        Share of steps; by default in a sequence of the mean training length, or an
        infinite one if there was none.

    Examples
    --------
    >>> hmm = HiddenMarkovModel(2)
    >>> hmm.startprob_, hmm.transmat_ = [0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]]
    >>> hmm.emissionprob_, hmm.symbols_ = [[0.9, 0.1], [0.2, 0.8]], ["a", "b"]
    >>> [(state.name, round(state.stay)) for state in markov_states(hmm)]
    [('a', 10), ('b', 10)]
    """
    found, _ = model._model()
    if share is None:
        length = getattr(model, "mean_length_", None)
        n_steps = None if length is None else round(length)
        share = expected_share(found.startprob, found.transmat, n_steps)
    emits = EMITS[model.emission](model, share)
    names = column_names(model)
    with np.errstate(divide="ignore"):
        stay = 1.0 / (1.0 - np.diagonal(found.transmat))
    states = []
    for k, row in enumerate(found.transmat):
        away = np.where(np.arange(len(row)) == k, 0.0, row)
        order = np.argsort(-away, kind="stable")
        transitions = [
            (int(j), float(away[j] / away.sum()))
            for j in order if away[j] > LEAST * away.sum()
        ]  # fmt: skip
        name = _marked(emits[k], names) if names else _symbols_named(emits[k])
        states.append(
            MarkovState(
                k, name, float(share[k]), float(stay[k]), emits[k], tuple(transitions)
            )
        )
    return states


def _symbols_named(cells: Row) -> str:
    """Symbols that make up most of a state's emissions."""
    texts, covered = [], 0.0
    for cell in cells:
        texts.append(cell.text.removesuffix(f" {share_text(cell.far)}"))
        covered += cell.far
        if covered >= TYPICAL:
            return " or ".join(texts)
    return f"{' '.join(texts[:4])} ..."


def _marked(cells: Row, names: list[str]) -> str:
    """Columns that differ most from all steps."""
    order = sorted(range(len(cells)), key=lambda d: -abs(cells[d].far))
    return ", ".join(f"{names[d]} {cells[d].text}" for d in order[:MOST_NAMED])


# Emissions, by type


def _symbols(model: HiddenMarkovModel, share: np.ndarray) -> list[Row]:
    """Most probable symbols; here "far" is the probability."""
    table = np.asarray(model.emissionprob_)
    symbols = getattr(model, "symbols_", np.arange(table.shape[1]))
    names = [visible(str(symbol)) for symbol in np.asarray(symbols).tolist()]
    return [
        tuple(
            EmittedCell(f"{names[i]} {share_text(float(row[i]))}", float(row[i]))
            for i in np.argsort(-row, kind="stable")[:MOST_SYMBOLS]
            if row[i] >= LEAST
        )
        for row in table
    ]


def _switches(model: HiddenMarkovModel, share: np.ndarray) -> list[Row]:
    ones = np.asarray(model.emissionprob_)
    far = _far(ones, share)
    return [
        tuple(EmittedCell(percent_text(p), float(z)) for p, z in zip(*lines))
        for lines in zip(ones, far)
    ]


def _far(p: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Deviations of probabilities from their mean, in standard deviations."""
    mean = share @ p
    return (p - mean) / np.sqrt(np.maximum(mean * (1 - mean), 1e-12))


def _numbers(model: HiddenMarkovModel, share: np.ndarray) -> list[Row]:
    means = np.asarray(model.means_, dtype=float)
    given = np.asarray(model.covars_, dtype=float)
    variance = given if given.ndim == 2 else np.diagonal(given, axis1=1, axis2=2)
    kinds: list[Kind] = ["number"] * means.shape[1]
    at: list[PointMasses] = [((), np.empty((len(means), 0)))] * means.shape[1]
    if hasattr(model, "features_"):
        plain = [d for d, own in enumerate(model.features_.categories) if own is None]
        kinds = [model.features_.info[d].kind for d in plain]
        found = point_masses(model)
        at = [found.get(d, at[0]) for d in plain]
    columns = map(_number_cells, means.T, variance.T, at, kinds, repeat(share))
    return list(zip(*columns))


def point_masses(model: HiddenMarkovModel) -> dict[int, PointMasses]:
    """Point masses of the columns that have some."""
    table, found = table_variables(model), {}
    for d, place in table.place_of.items():
        shares = model.emissionprob_[table.variables.names[place]]
        values = model.point_masses_[table.columns.names[d]]
        found[d] = values, np.asarray(shares)[:, 1:]
    return found


def _number_cells(
    mean: np.ndarray,
    variance: np.ndarray,
    masses: PointMasses,
    kind: Kind,
    share: np.ndarray,
) -> list[EmittedCell]:
    """A column of numbers in every state: its point masses, and all other cells."""
    values, at = masses
    rest = 1.0 - at.sum(axis=1)
    centre = rest * mean + at @ np.array(values)
    spread = rest * (variance + (mean - centre) ** 2)
    spread += (at * (np.array(values) - centre[:, None]) ** 2).sum(axis=1)
    of_all = share @ centre
    sd = np.sqrt(share @ (spread + (centre - of_all) ** 2))
    far = (centre - of_all) / np.maximum(sd, 1e-300)
    texts = map(_number, mean.tolist(), np.sqrt(variance).tolist(), repeat(kind))
    return [
        EmittedCell(_with_masses(text, values, own, kind), float(z))
        for text, own, z in zip(texts, at, far)
    ]


def _with_masses(text: str, values: Sequence[float], at: np.ndarray, kind: Kind) -> str:
    """Shares of the point masses of a column, then the text of its other cells."""
    texts = [
        f"{value_text(value, kind)} in {share_text(p)}"
        for value, p in zip(values, at.tolist()) if p >= LEAST
    ]  # fmt: skip
    if at.sum() <= 1.0 - LEAST:
        texts.append(f"else {text}" if texts else text)
    return ", ".join(texts)


def _number(mean: float, sd: float, kind: Kind) -> str:
    if kind in DATES:
        return f"{date_text(round(mean))} ± {short_text(sd, 2)} days"
    return f"{short_text(mean)} ± {short_text(sd, 2)}"


def _mixed(model: HiddenMarkovModel, share: np.ndarray) -> list[Row]:
    features = model.features_
    columns: list[list[EmittedCell]] = []
    plain = iter(zip(*_numbers(model, share))) if hasattr(model, "means_") else iter(())
    for name, labels in zip(features.names, features.categories):
        if labels is None:
            columns.append(list(next(plain)))
            continue
        table = np.asarray(model.emissionprob_[name])
        far = _far(table, share)
        # The label that is most raised in this state.
        best = far.argmax(axis=1)
        names = [printable(str(label)) for label in labels]
        columns.append([
            EmittedCell(f"{names[i]} {percent_text(row[i])}", float(z[i]))
            for i, row, z in zip(best, table, far)
        ])  # fmt: skip
    return list(zip(*columns))


EMITS: dict[str, Callable[[HiddenMarkovModel, np.ndarray], list[Row]]] = {
    "bernoulli": _switches,
    "categorical": _symbols,
    "gaussian": _numbers,
    "mixed": _mixed,
}


def step_surprisal(
    model: HiddenMarkovModel, X: Any, lengths: Any, share: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Surprise of each step in nats, minus the log density for numbers.

    Parameters
    ----------
    model : HiddenMarkovModel
        Fitted.
    X, lengths
        As in ``HiddenMarkovModel.fit``.
    share : ndarray of shape (n_states,)
        Frequency of the states.

    Returns
    -------
    own, any_order : ndarray of shape (n_steps,)
        Under the model, given all previous steps of the sequence; and with states in
        random order, at the same frequencies. 0 for missing steps.
    """
    given = model._given(X, lengths)
    with np.errstate(divide="ignore"):
        of_kinds = np.logaddexp.reduce(given.log_emission + np.log(share), axis=1)
    any_order = of_kinds if given.row is None else of_kinds[given.row]
    return -model.step_log_likelihood(X, lengths), -any_order


def state_vectors(model: HiddenMarkovModel, states: list[MarkovState]) -> np.ndarray:
    """States as points, close for similar emissions."""
    if model.emission == "categorical":
        return np.sqrt(np.asarray(model.emissionprob_))
    return np.array([[cell.far for cell in state.emits] for state in states])
