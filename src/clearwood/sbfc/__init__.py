"""The Selective Bayesian Forest Classifier (Krakovna 2016, chapters 2-3).

Features are divided into noise, independent of the class, and signal, which depends on
it; within each group they form a forest of trees. In reading order:

- ``estimators``: ``fit`` is the algorithm, from a table to graphs and predictions
- ``scores``: scores of features and edges (2.3.1), and the prior
- ``graphs``: the graph, the best one of a signal group, and random ones
- ``samplers``: computation of the posterior over graphs, ``exact``, ``collapsed`` and
  ``original`` (2.3.2), and the choice between them
- ``prediction``: classification by averaging over graphs (2.3.4)
- ``calibration``: the correction of its probabilities
- ``reading``: displays, the page, and how each level changes the odds
"""

from clearwood._lazy import loader, names_in
from clearwood.sbfc.estimators import SelectiveBayesianForestClassifier
from clearwood.sbfc.graphs import FeatureForest

_DISPLAYS = names_in(
    {
        "sbfc.reading.display": "FeatureGraphDisplay SignalDisplay",
        "sbfc.reading.draws_display": "GraphSizesDisplay LogPosteriorDisplay",
        "sbfc.reading.level_odds": "level_odds",
        "sbfc.as_query": "to_sql",
    }
)
"""Names that are loaded when they are first used, and their modules."""

__all__ = [
    "FeatureForest",
    "FeatureGraphDisplay",
    "GraphSizesDisplay",
    "LogPosteriorDisplay",
    "SelectiveBayesianForestClassifier",
    "SignalDisplay",
    "level_odds",
    "to_sql",
]

__getattr__ = loader(__name__, _DISPLAYS)
