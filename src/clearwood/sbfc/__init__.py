"""The Selective Bayesian Forest Classifier (Krakovna 2016, chapters 2-3).

Features are split into noise, which knows nothing of the class, and signal, which does;
in each of the two groups they form a forest of trees. To be read in this order:

- ``estimators``: ``fit`` is the algorithm, from a table to graphs and predictions
- ``scores``: what every feature and every edge is worth (2.3.1), and the prior
- ``graphs``: the graph, the best one of a signal group, and random ones
- ``samplers``: the ways to the posterior of graphs, ``exact``, ``collapsed`` and
  ``original`` (2.3.2), and which of them is taken
- ``prediction``: classes by the average over graphs (2.3.4)
"""

from clearwood.sbfc.estimators import SelectiveBayesianForestClassifier
from clearwood.sbfc.graphs import FeatureForest

__all__ = ["FeatureForest", "SelectiveBayesianForestClassifier"]
