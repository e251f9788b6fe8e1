"""
Which features tell the class, and how they depend
==================================================

No single feature of these data says anything of the class: all that differs between the
classes is which features depend on each other. A forest of features finds them, with a
probability for every feature and for every two of them.
"""

# %%
# Forty features: the first three depend on each other in one class, the next four in
# the other, three more in both, and thirty say nothing (section 3.2.1 of the thesis of
# Krakovna).
import clearwood as cw
from clearwood.datasets import make_cluster_classes

X, y = make_cluster_classes(1000, 40, random_state=0)
forest = cw.SelectiveBayesianForestClassifier(n_draws=300, random_state=0)
forest.fit(X[:500], y[:500])
print(f"Right on {forest.score(X[500:], y[500:]):.0%} of the rows held out.")

# %%
# The average over all graphs. A box is the darker, the more probably its feature is
# signal; a line is the thicker, the more probably two features depend on each other.
# The small boxes are the cluster that says nothing of the class.
average = cw.sbfc.FeatureGraphDisplay.from_estimator(forest).plot()

# %%
# One graph, the most probable that was seen.
best = cw.sbfc.FeatureGraphDisplay.from_estimator(
    forest, graph=forest.best_graph_
).plot()

# %%
# The features by their probability of being signal.
bars = cw.sbfc.SignalDisplay.from_estimator(forest, most=12).plot()

# %%
# Up to 16 features all graphs are summed over. Here four Markov chains have drawn which
# features are signal; they move in the same band, as they should.
trace = cw.sbfc.LogPosteriorDisplay.from_estimator(forest).plot()

# %%
# How many features are signal in the graphs drawn, and how many edges there are for
# every feature of the two groups.
size = cw.sbfc.GraphSizesDisplay.from_estimator(forest).plot()
density = cw.sbfc.GraphSizesDisplay.from_estimator(forest, "edge_density").plot()
