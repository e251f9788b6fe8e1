"""Search for boxes and lists of boxes in bins: what several families share.

Everything here works on integer bins and on losses; it knows neither models nor
names. A **box** is a mask over all bins of all features, end to end: a row is in the
box if each of its bins is allowed.
"""

from clearwood.search.boxes import Grid, contains, n_literals, whole_box
from clearwood.search.lists import (
    BoxList,
    Penalties,
    Problem,
    grow_lists,
    make_problem,
    refine,
)
from clearwood.search.losses import ClassLoss, SquaredLoss
from clearwood.search.pool import candidate_boxes

__all__ = [
    "BoxList",
    "ClassLoss",
    "Grid",
    "Penalties",
    "Problem",
    "SquaredLoss",
    "candidate_boxes",
    "contains",
    "grow_lists",
    "make_problem",
    "n_literals",
    "refine",
    "whole_box",
]
