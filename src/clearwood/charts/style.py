"""Colours, markers and texts shared by all displays."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from clearwood._words.labels import printable

# Okabe and Ito's colour-blind safe colours, and as many markers.
COLOURS = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F",
    "#000000",
)  # fmt: skip
QUIET = "#566173"
MARKERS = ("o", "^", "s", "D", "v", "P", "X", "*")


def colour(position: int) -> str:
    """Colour of a class."""
    return COLOURS[position % len(COLOURS)]


def plain(*lines: str) -> str:
    r"""Lines of text for matplotlib: ``$`` in a name is escaped.

    Examples
    --------
    >>> print(plain("price ($)", "a\x1b[2J"))
    price (\$)
    'a\x1b[2J'
    """
    return "\n".join(map(printable, lines)).replace("$", r"\$")


def in_lines(words: str) -> str:
    """Like :func:`plain`, for text with line breaks."""
    return plain(*words.split("\n"))


def wrapped(
    pieces: Sequence[str], width: float, measure: Callable[[str], float]
) -> list[str]:
    """Wrap pieces of text to a width.

    Lines break between pieces if possible, else between words, else inside one.

    Parameters
    ----------
    pieces : sequence of str
        Text that should stay together.
    width : float
        Maximum width of a line.
    measure : callable
        Width of a text.

    Returns
    -------
    list of str
        At least one line.

    Examples
    --------
    >>> wrapped(["age <= 20 and", "income > 1,000"], 15, len)
    ['age <= 20 and', 'income > 1,000']
    >>> wrapped(["a long piece", "unbreakable"], 8, len)
    ['a long', 'piece', 'unbreaka', 'ble']
    """
    parts = []
    for piece in pieces:
        fits = measure(piece) <= width
        parts += [piece] if fits else _cut(piece.split(), width, measure)
    lines = [""]
    for part in parts:
        longer = f"{lines[-1]} {part}".strip()
        if measure(longer) <= width or not lines[-1]:
            lines[-1] = longer
        else:
            lines.append(part)
    return lines


def _cut(words: list[str], width: float, measure: Callable[[str], float]) -> list[str]:
    """Words, those that are too wide in several parts."""
    parts = []
    for word in words:
        part = ""
        for letter in word:
            if part and measure(part + letter) > width:
                parts.append(part)
                part = ""
            part += letter
        parts.append(part)
    return parts


def text_width(size: float, weight: str = "normal") -> Callable[[str], float]:
    """Function that measures text of a font size, in points.

    Sums over letters, and so slightly too large for kerned text.
    """
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextToPath

    font = FontProperties(size=size, weight=weight)
    measured = TextToPath().get_text_width_height_descent
    widths: dict[str, float] = {}

    def measure(text: str) -> float:
        for letter in set(text) - set(widths):
            widths[letter] = measured(letter, font, ismath=False)[0]
        return sum(widths[letter] for letter in text)

    return measure
