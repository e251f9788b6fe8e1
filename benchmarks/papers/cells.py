"""Cells of the papers' tables next to ours, and their layout on a page."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from benchmarks._study import RESULTS, shown

REPRODUCED, BETTER, DIFFERS = "reproduced", "better", "differs"
MARKS = {REPRODUCED: "", BETTER: " (+)", DIFFERS: " (*)"}


class Cell(NamedTuple):
    """A figure of a paper and ours."""

    row: str
    column: str
    printed: str
    ours: str
    verdict: str


class Item(NamedTuple):
    """A table or figure.

    ``study`` is the module whose command makes the page of results; ``protocol`` states
    how the data and the procedure differ from the paper's; ``cause`` states what
    differences are due to. ``lacking`` cells are impossible here, for the reason
    ``why``.
    """

    place: str
    subject: str
    study: str = ""
    page: str = ""
    protocol: str = ""
    cells: tuple[Cell, ...] = ()
    cause: str = ""
    lacking: int = 0
    why: str = ""


def results(page, **values):
    """The rows of a page's CSV file that have these values."""
    frame = pd.read_csv(RESULTS / f"{page}.csv")
    for column, value in values.items():
        frame = frame[frame[column] == value]
    return frame


def cell(row, column, printed, ours, margin=0.0, better=None):
    """Compare a printed number, with its standard deviation if it has one, with ours.

    Parameters
    ----------
    row, column : str
    printed : float or str
        A number, or ``"mean ± standard deviation"``.
    ours : float or array of float
        A number, or one for each run.
    margin : float
        A difference up to it is none, nor is one up to the larger of the two standard
        deviations.
    better : {"higher", "lower"}, optional
        Whether a difference in this direction is an improvement.
    """
    mean, sd = with_deviation(printed)
    values = np.atleast_1d(np.asarray(ours, dtype=float))
    own, own_sd = values.mean(), values.std(ddof=1) if len(values) > 1 else 0.0
    verdict = DIFFERS
    if abs(own - mean) <= max(margin, sd, own_sd) + 1e-9:
        verdict = REPRODUCED
    elif better and (own > mean) == (better == "higher"):
        verdict = BETTER
    text = shown(float(own)) + (f" ± {own_sd:.2g}" if own_sd else "")
    return Cell(row, column, str(printed), text, verdict)


def with_deviation(printed):
    """A printed number and its standard deviation, 0 without one."""
    mean, *sd = (float(part) for part in str(printed).split("±"))
    return mean, (sd or [0.0])[0]


def ratio(printed, other):
    """A printed ratio, its standard deviation by propagation of errors."""
    (a, a_sd), (b, b_sd) = with_deviation(printed), with_deviation(other)
    sd = a / b * ((a_sd / a) ** 2 + (b_sd / b) ** 2) ** 0.5
    return f"{a / b:.2f} ± {sd:.2f}"


def claim(row, column, printed, ours, holds):
    """A statement of a paper about its table or figure, next to what is found here."""
    return Cell(row, column, printed, ours, REPRODUCED if holds else DIFFERS)


def counts(items):
    """Cells by verdict, and those that are impossible here."""
    verdicts = [cell.verdict for item in items for cell in item.cells]
    found = [verdicts.count(v) for v in (REPRODUCED, BETTER, DIFFERS)]
    return [len(verdicts), *found, sum(item.lacking for item in items)]


def section(item):
    """A table or figure that has numbers, in reStructuredText."""
    n, same, better, differ, lacking = counts([item])
    title = f"{item.place}: {item.subject}"
    tally = f"{n} cells: {same} reproduced, {better} better, {differ} differ"
    tally += f"; {lacking} impossible ({item.why})" * bool(lacking)
    parts = [
        f"{title}\n{'^' * len(title)}",
        item.protocol,
        f"{tally}. ``python -m benchmarks.{item.study}``, "
        f"``benchmarks/results/{item.page}.md``.",
    ]
    parts += [f"*Differences:* {item.cause}"] * (same < n)
    return "\n\n".join([*parts, grid(item.cells)])


def grid(cells):
    """Rows and columns of a table, each entry as ``printed / ours``."""
    rows = list(dict.fromkeys(cell.row for cell in cells))
    columns = list(dict.fromkeys(cell.column for cell in cells))
    at = {(cell.row, cell.column): cell for cell in cells}
    body = [["", *columns]]
    for row in rows:
        found = [at.get((row, column)) for column in columns]
        texts = [
            f"{c.printed} / {c.ours}{MARKS[c.verdict]}" if c else "" for c in found
        ]
        body.append([row, *texts])
    return csv_table(body)


def csv_table(body, widths=""):
    """A table of reStructuredText whose first row is its header."""
    lines = [".. csv-table::", "   :header-rows: 1"]
    lines += [f"   :widths: {widths}"] * bool(widths)
    quoted = [
        ", ".join('"' + str(x).replace('"', '""') + '"' for x in row) for row in body
    ]
    return "\n".join([*lines, "", *(f"   {line}" for line in quoted)])
