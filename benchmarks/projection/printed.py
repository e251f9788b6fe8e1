"""Numbers that the paper prints, for comparison with ours."""

BEST = "best"
"""Printed in bold, and lost in the paper's text version."""

TABLE_2 = {
    "bodyfat": (
        BEST, "5.26 ± 0.42", "5.15 ± 0.36", "5.16 ± 0.37", "4.84 ± 0.38",
        "34.4 ± 6.5", "19.5 ± 5.7",
    ),
    "baseball": (
        "783 ± 73", "1020 ± 70", BEST, "769 ± 93", "756 ± 68", "35.5 ± 5.4",
        "15.3 ± 6.5",
    ),
    "autorisk": (
        "0.78 ± 0.06", "0.79 ± 0.10", "0.76 ± 0.10", BEST, "0.64 ± 0.09",
        "37.2 ± 12.4", "20.4 ± 4.8",
    ),
    "autompg": (
        "3.47 ± 0.33", BEST, "3.51 ± 0.31", "3.43 ± 0.33", "2.83 ± 0.34",
        "58.8 ± 8.1", "28.0 ± 4.4",
    ),
}  # fmt: skip
"""RMSE of Node Harvest, born-again tree, the paper's tree of 10 and of 15 leaves, and
the random forest; nodes and leaves of the first two."""
