"""
A smooth curve read through a tree
==================================

What shall be easy to read is a matter of the reader, not of the data. A tree that is
fitted to the data has to be small and true at once; one that is *projected* only has to
say what a good model says already. Here the good model is a Gaussian process of one
feature, so that everything can be seen.
"""

# %%
# Forty noisy observations of a smooth curve, and a Gaussian process: the **reference**.
# Its draws are whole functions from the posterior.
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
# Trees of 2 to 16 leaves, some fitted to the observations, some projected: fitted to
# what the process says of a fine grid. The first follow the noise, the more so the
# larger they are. The second have nothing to follow but the process, so a larger one
# is only a closer copy of it: how many leaves to print is a matter of taste, and no
# longer of error.
grid = np.linspace(-3, 3, 241)[:, None]
tree = cw.ProjectedTreeRegressor(ref, max_leaf_nodes=16, random_state=0).fit(grid)
projected = {size: tree.trees_[size - 1] for size in range(2, 17)}
fitted = {
    size: DecisionTreeRegressor(max_leaf_nodes=size, random_state=0).fit(X, y)
    for size in projected
}


def rmse(said):
    return np.sqrt(np.mean((said - truth(grid[:, 0])) ** 2))


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
# Left to choose, the tree takes the fewest leaves with which held-out rows are nearly
# as well described as by the reference. It is the noise that makes so few enough: where
# a step is much smaller than the noise, no observation could tell the two apart. (Rows
# that are counted are those of the grid.)
print(tree.rules_)
path = cw.projection.SizePathDisplay.from_estimator(tree).plot()

# %%
# The leaves know how sure the reference is. Of an observation, nine in ten lie in the
# outer band: noise, what the draws differ by, and what the steps leave out of the
# curve. The draws' own means, a leaf at a time, lie in the inner one.
low, high = tree.predict_interval(grid, coverage=0.9).T
means = np.quantile(tree.predict_draws(grid), [0.05, 0.95], axis=0)
half = 1.645 * np.sqrt(variance + noise)
_, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
ax.fill_between(grid[:, 0], low, high, color="C1", alpha=0.2, label="tree, 90 %")
ax.fill_between(grid[:, 0], *means, color="C1", alpha=0.6, label="its means, 90 %")
ax.plot(grid, mean - half, "--", color="C2", label="reference, 90 %")
ax.plot(grid, mean + half, "--", color="C2")
ax.plot(X, y, ".", color="grey", label="observations")
ax.set(xlabel="x", ylabel="y")
legend = ax.legend(fontsize=8, frameon=False)

# %%
# Around one row a line is enough. The same question has the same answer every time,
# and beside it stands how faithful it is on other neighbours.
found = cw.explain_local(ref, [1.0], X, proxy="linear", max_size=1, width=0.2)
print(found)
local = cw.projection.LocalDisplay(found).plot()
