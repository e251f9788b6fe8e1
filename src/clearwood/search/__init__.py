"""Search for boxes, lists and sums of boxes in bins, shared by several families.

Everything here works on integer bins and on losses, without models or names. A **box**
is a mask over all bins of all features, concatenated: a row is in the box if each of
its bins is allowed.

Read ``grid`` first (rows as bins), then ``lists``: ``candidates`` are added one box at
a time (``growth``), and at every size all boxes are improved in turn (``ascent``, with
``_kernels`` for the sides of one box). ``sums`` do the same with another loss;
``trees`` are grown and improved split by split. ``monotone`` enforces monotonicity of
lists.
"""

from clearwood.search.candidates import candidate_boxes, frequent_boxes
from clearwood.search.grid import Grid, contains, n_literals, whole_box
from clearwood.search.lists.ascent import (
    BoxList,
    ListProblem,
    Penalties,
    make_problem,
    refine,
)
from clearwood.search.lists.grow import grow_lists
from clearwood.search.losses import Loss
from clearwood.search.sums.ascent import (
    BoxSum,
    SumProblem,
    make_sum_problem,
    refine_sum,
)
from clearwood.search.sums.grow import grow_sums, select_sums
from clearwood.search.sums.losses import ClassSumLoss, SquaredSumLoss

__all__ = [
    "BoxList",
    "BoxSum",
    "ClassSumLoss",
    "Grid",
    "ListProblem",
    "Loss",
    "Penalties",
    "SquaredSumLoss",
    "SumProblem",
    "candidate_boxes",
    "contains",
    "frequent_boxes",
    "grow_lists",
    "grow_sums",
    "make_problem",
    "make_sum_problem",
    "n_literals",
    "refine",
    "refine_sum",
    "select_sums",
    "whole_box",
]
