"""The Selective Bayesian Forest Classifier (Krakovna 2016, chapters 2-3).

Features are split into noise, which knows nothing of the class, and signal, which does;
in each of the two groups they form a forest of trees. ``scores`` tells what every
feature and every edge is worth; ``samplers`` are the ways to the posterior of graphs.
"""

from clearwood.sbfc.estimators import SelectiveBayesianForestClassifier
from clearwood.sbfc.graphs import FeatureForest

__all__ = ["FeatureForest", "SelectiveBayesianForestClassifier"]
