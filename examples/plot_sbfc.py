"""
Feature selection with dependences
==================================

In these data no single feature is associated with the class; the classes differ only in
which features are dependent. A selective Bayesian forest finds them, with posterior
probabilities of features and of edges.
"""

# %%
# Forty features: the first three are dependent in one class, the next four in the
# other, three more in both, and thirty are noise (section 3.2.1 of the thesis of
# Krakovna).
import clearwood as cw
from clearwood.datasets import make_cluster_classes

X, y = make_cluster_classes(1000, 40, random_state=0)
forest = cw.SelectiveBayesianForestClassifier(n_draws=300, random_state=0)
forest.fit(X[:500], y[:500])
print(f"Test accuracy {forest.score(X[500:], y[500:]):.0%}")

# %%
# The average graph. The shade of a box is the posterior probability that its feature is
# signal; the width of a line is that of the edge. The small boxes are the cluster that
# is independent of the class.
average = cw.sbfc.FeatureGraphDisplay.from_estimator(forest)

# %%
# The most probable sampled graph.
best = cw.sbfc.FeatureGraphDisplay.from_estimator(forest, graph=forest.best_graph_)

# %%
# Features by their posterior probability of being signal.
bars = cw.sbfc.SignalDisplay.from_estimator(forest, most=12)

# %%
# With up to 16 features the posterior is exact. Here four Markov chains sample the set
# of signal features; their traces overlap, as they should.
trace = cw.sbfc.LogPosteriorDisplay.from_estimator(forest)

# %%
# Number of signal features in the sampled graphs, and number of edges per feature in
# both groups.
size = cw.sbfc.GraphSizesDisplay.from_estimator(forest)
density = cw.sbfc.GraphSizesDisplay.from_estimator(forest, "edge_density")
