"""Is a damaged model file handled as promised?"""

import numpy as np
from tests.ensembles.files.r_cases import LEVELS
from tests.ensembles.mutants import STORED
from tests.ensembles.plain_reading import read_plainly, rows_of

from clearwood.ensembles.read import read_document
from clearwood.exceptions import InputError, ModelFormatError


def judged(format, data, n_rows=20):
    """``"refused"`` or ``"accepted"``; any other behaviour is an exception."""
    levels = LEVELS if format == "r csv" else None
    try:
        ensemble = read_document(data, "mutant", levels)
    except ModelFormatError as error:
        assert str(error), "a refusal without a message"
        return "refused"
    except InputError as error:
        # Of a table of R whose columns are others than the levels name.
        assert levels and "levels" in str(error), error
        return "refused"
    if format not in STORED:
        check_scores(ensemble, format, data, n_rows)
    return "accepted"


def check_scores(ensemble, format, data, n_rows=20):
    """The raw scores are those of the plain reading, bit for bit."""
    cells, scores = read_plainly(format, data)
    assert len(cells) == ensemble.n_features, (
        f"{ensemble.n_features} features, by plain reading {len(cells)}"
    )
    takes_missing = np.broadcast_to(ensemble.allows_missing, len(cells))
    cells = [
        column if takes else [cell for cell in column if cell == cell]
        for column, takes in zip(cells, takes_missing)
    ]
    rows = rows_of(cells, np.random.default_rng(0), n_rows)
    with np.errstate(all="ignore"):
        expected = np.array([scores(row) for row in rows], dtype=np.float64)
        found = ensemble.raw_scores(as_table(rows))
    expected = expected.reshape(n_rows, -1)
    assert found.shape == expected.shape, f"scores {found.shape}, not {expected.shape}"
    wrong = ~((found == expected) | (np.isnan(found) & np.isnan(expected)))
    if wrong.any():
        row, k = np.argwhere(wrong)[0]
        raise AssertionError(
            f"row {rows[row]}: score {k} is {found[row, k]!r}, by plain reading "
            f"{expected[row, k]!r}"
        )


def as_table(rows):
    table = np.empty((len(rows), len(rows[0])), dtype=object)
    for i, row in enumerate(rows):
        table[i] = row
    return table
