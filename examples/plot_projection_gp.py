"""
Projection of a Gaussian process onto a tree
============================================

A tree fitted to data has to be small and accurate at the same time. A *projected* tree
only has to approximate an accurate model. Here that model is a Gaussian process with
one feature, so that all quantities can be plotted.
"""

# %%
# Forty noisy observations of a smooth curve. The **reference** is a Gaussian process,
# with draws from its posterior over functions.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.tree import DecisionTreeRegressor

import clearwood as cw


def truth(x):
    return 2 * np.tanh(1.5 * x) + 0.3 * x


rng = np.random.default_rng(3)
X = np.sort(rng.uniform(-3, 3, 40))[:, None]
y = truth(X[:, 0]) + 0.8 * rng.normal(size=40)
kernel = ConstantKernel(4.0) * RBF(1.0) + WhiteKernel(0.5)
process = GaussianProcessRegressor(kernel, normalize_y=True, random_state=0).fit(X, y)
ref = cw.reference(process, X, y, n_draws=200, random_state=0)
print(ref.description)

# %%
# Trees with 2 to 16 leaves are fitted to the observations, or projected: fitted to the
# predictions of the process on a fine grid. The former overfit increasingly with size.
# The latter approximate the process more closely with size, so that the number of
# leaves can be chosen for readability.
grid = np.linspace(-3, 3, 241)[:, None]
tree = cw.ProjectedTreeRegressor(ref, max_leaf_nodes=16, random_state=0).fit(grid)
projected = {size: tree.trees_[size - 1] for size in range(2, 17)}
fitted = {
    size: DecisionTreeRegressor(max_leaf_nodes=size, random_state=0).fit(X, y)
    for size in projected
}


def rmse(predicted):
    return np.sqrt(np.mean((predicted - truth(grid[:, 0])) ** 2))


mean, variance, noise = ref.mean_and_variance(grid)
_, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
left.plot(X, y, ".", color="grey", label="observations")
left.plot(grid, truth(grid), color="black", linewidth=1, label="truth")
left.plot(grid, mean, color="C2", linewidth=1, label="reference")
left.plot(grid, fitted[10].predict(grid), color="C0", label="tree fitted, 10 leaves")
left.plot(grid, projected[10].predict(grid), color="C1", label="projected, 10 leaves")
left.set(xlabel="x", ylabel="y")
left.legend(fontsize=8, frameon=False)
for trees, marker, words in ((fitted, "o-", "fitted"), (projected, "s-", "projected")):
    errors = [rmse(tree.predict(grid)) for tree in trees.values()]
    right.plot(list(trees), errors, marker, markersize=4, label=f"tree {words}")
right.axhline(rmse(mean), color="C2", linestyle="--", label="reference")
right.set(xlabel="leaves", ylabel="RMSE to the truth")
legend = right.legend(fontsize=8, frameon=False)

# %%
# By default, the smallest tree is selected whose log likelihood on held-out rows is
# close to that of the reference. Few leaves suffice because of the noise: steps that
# are much smaller than the noise hardly change the likelihood. (Numbers of rows refer
# to the grid.)
print(tree.rules_)
path = cw.projection.SizePathDisplay.from_estimator(tree)

# %%
# The leaves include the uncertainty of the reference. The outer band is a 90 %
# prediction interval: noise, variation between draws, and variation of the curve within
# a leaf. The inner band is a 90 % interval of the leaf means over the draws.
low, high = tree.predict_interval(grid, coverage=0.9).T
means = np.quantile(tree.predict_draws(grid), [0.05, 0.95], axis=0)
half = 1.645 * np.sqrt(variance + noise)
_, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
ax.fill_between(grid[:, 0], low, high, color="C1", alpha=0.2, label="tree, 90 %")
ax.fill_between(grid[:, 0], *means, color="C1", alpha=0.6, label="leaf means, 90 %")
ax.plot(grid, mean - half, "--", color="C2", label="reference, 90 %")
ax.plot(grid, mean + half, "--", color="C2")
ax.plot(X, y, ".", color="grey", label="observations")
ax.set(xlabel="x", ylabel="y")
legend = ax.legend(fontsize=8, frameon=False)

# %%
# A local linear explanation of one row. It is deterministic, and reports its fidelity
# on other neighbours.
explanation = cw.explain_local(ref, [1.0], X, proxy="linear", max_size=1, width=0.2)
print(explanation)
local = cw.projection.LocalDisplay(explanation).plot()
