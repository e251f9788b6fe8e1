"""The order of the examples: from first rules to the other families."""

from pathlib import Path

ORDER = (
    "first_rules", "rule_list", "tree", "numbers", "scorecard", "categories",
    "pipeline", "probabilities", "imbalanced", "frontier", "synthetic1",
    "projection", "projection_gp", "projection_digits", "metatree", "sbfc",
    "circuits", "states",
)  # fmt: skip


def place_of(path):
    """The place of an example; one that is in no place here is an error."""
    return ORDER.index(Path(path).stem.removeprefix("plot_"))
