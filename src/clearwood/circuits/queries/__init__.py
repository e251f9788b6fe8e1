"""Queries of circuits: exact, or with a bound of the error."""

from clearwood.circuits.queries.completion import MostProbable, most_probable
from clearwood.circuits.queries.conditioning import condition
from clearwood.circuits.queries.covariances import RowMoments, moments
from clearwood.circuits.queries.draws import draw_missing, sample
from clearwood.circuits.queries.shares import (
    LevelShares,
    ValueShares,
    conditionals,
)
from clearwood.circuits.queries.surprisal import (
    Contributions,
    contributions,
    surprisals,
)
from clearwood.circuits.queries.table_cells import (
    CellShares,
    cell_conditionals,
    cell_surprisals,
    per_cell,
)

__all__ = [
    "CellShares",
    "Contributions",
    "LevelShares",
    "MostProbable",
    "RowMoments",
    "ValueShares",
    "cell_conditionals",
    "cell_surprisals",
    "condition",
    "conditionals",
    "contributions",
    "draw_missing",
    "moments",
    "most_probable",
    "per_cell",
    "sample",
    "surprisals",
]
