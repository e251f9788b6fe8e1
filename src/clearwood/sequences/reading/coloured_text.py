"""Text coloured by state: HTML without a script.

A run of one state is one element with the class of the state, styled by a style sheet,
which also holds the name shown in the tooltip.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

import numpy as np
from markupsafe import Markup

NOT_PARSED = str.maketrans({"\r": "&#13;", "\0": "␀"})
"""Characters that a browser would change: a raw carriage return to a new line, a zero
to nothing."""


def text_pieces(symbols: Sequence[str], begins: Iterable[int] = ()) -> list[str]:
    r"""Split a text into symbols: letters unchanged, words separated by spaces.

    Parameters
    ----------
    symbols : sequence of str
    begins : iterable of int, default=()
        Starts of sequences, on new lines.

    Examples
    --------
    >>> text_pieces("abc", [0, 2]), text_pieces(["to", "be"])
    (['a', 'b\n', 'c'], ['to ', 'be '])
    """
    are_letters = all(len(symbol) == 1 for symbol in symbols)
    pieces = [symbol if are_letters else f"{symbol} " for symbol in symbols]
    for begin in begins:
        if 0 < begin < len(pieces):
            pieces[begin - 1] += "\n"
    return pieces


def coloured_text(
    pieces: Sequence[str], states: Sequence[int] | np.ndarray, prefix: str = "s"
) -> Markup:
    r"""Text as a run of elements, each with a class: a letter and its state's number.

    Stands in a ``<pre>``, whose first new line a browser would drop if no element were
    opened before it.

    Parameters
    ----------
    pieces : sequence of str
        The text, symbol by symbol; a string is a sequence of its characters.
    states : sequence of int
    prefix : str, default="s"
        Letter of the class.

    Returns
    -------
    Markup

    Examples
    --------
    >>> print(coloured_text("a<b\r", [0, 0, 1, 1]))
    <i class=s0>a&lt;</i><i class=s1>b&#13;</i>
    """
    runs = []
    for first, last, state in state_runs(np.asarray(states, dtype=np.int64)):
        text = html.escape("".join(pieces[first:last])).translate(NOT_PARSED)
        runs.append(f"<i class={prefix}{state}>{text}</i>")
    whole = "".join(runs)
    # Halves of characters cannot be written.
    return Markup(whole.encode("utf-8", "replace").decode("utf-8"))


def state_runs(states: np.ndarray) -> list[tuple[int, int, int]]:
    """Runs of one state: their first step, the one after their last, and the state.

    Examples
    --------
    >>> state_runs(np.array([2, 2, 0]))
    [(0, 2, 2), (2, 3, 0)]
    """
    firsts = np.flatnonzero(np.diff(states, prepend=-1))
    ends = [*firsts[1:].tolist(), len(states)]
    return list(zip(firsts.tolist(), ends, states[firsts].tolist()))


def state_styles(
    names: Sequence[str], hues: Sequence[float] | np.ndarray, prefix: str = "s"
) -> Markup:
    r"""CSS rule per state: its colour, and its number and name as a tooltip.

    Parameters
    ----------
    names : sequence of str
    hues : sequence of float
        Degrees on the circle of colours.
    prefix : str, default="s"
        Letter of the class.

    Examples
    --------
    >>> print(state_styles(["a}b"], [30.0]))
    .s0{--h:30}.s0:hover::after{content:"0: a\7d b"}
    """
    return Markup(
        "".join(
            f".{prefix}{state}{{--h:{hue:.0f}}}.{prefix}{state}:hover::after"
            f'{{content:"{state}: {_in_style(name)}"}}'
            for state, (name, hue) in enumerate(zip(names, hues))
        )
    )


def _in_style(text: str) -> str:
    """Escape text for a style sheet."""
    plain = text.encode("utf-8", "replace").decode("utf-8")
    return "".join(
        letter if letter.isascii() and (letter.isalnum() or letter in " ,.:")
        else f"\\{ord(letter) or 0xFFFD:x} "
        for letter in plain
    )  # fmt: skip


def state_hues(points: np.ndarray) -> np.ndarray:
    """Hues of states, such that similar states have similar hues.

    Parameters
    ----------
    points : ndarray of shape (n_states, n)
        For example square roots of the predictive probabilities in each state.

    Returns
    -------
    ndarray of shape (n_states,)
        Degrees of hue.

    Examples
    --------
    >>> bool(np.ptp(state_hues(np.array([[1.0, 0.0], [0.0, 1.0]]))) == 180)
    True
    """
    from scipy.cluster.hierarchy import leaves_list, linkage

    n_states = len(points)
    if n_states < 3:
        order = np.arange(n_states)
    else:
        order = leaves_list(linkage(points, "average", optimal_ordering=True))
    hues = np.empty(n_states)
    hues[order] = np.arange(n_states) * 360.0 / max(n_states, 1)
    return hues
