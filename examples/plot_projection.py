"""
Projection of a Bayesian model onto a tree
==========================================

The most accurate model, the **reference**, is fitted first. Then a small tree is found
whose predictive distribution is closest to that of the reference, so that its leaves
include the uncertainty of the reference.
"""

# %%
# The target is the progression of diabetes one year after ten measurements. The
# reference is a forest with Bayesian-bootstrap weights, each tree of which is a draw.
# It is fitted to three quarters of the patients.
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeRegressor

import clearwood as cw
from clearwood.projection import tree_stability

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
X_train, y_train = X_train.reset_index(drop=True), y_train.reset_index(drop=True)
y_train.name = "progression"
reference = cw.reference(None, X_train, y_train, n_draws=50, random_state=0)
tree = cw.ProjectedTreeRegressor(reference, max_leaf_nodes=8, random_state=0)
tree.fit(X_train, y_train)
print(tree.rules_)

# %%
# Cross-validation, including the reference, selects the smallest tree that predicts
# about as well as the reference.
sizes = cw.projection.SizePathDisplay.from_estimator(tree)

# %%
# Predictions of the leaves. Thick lines are intervals of the mean over the draws, which
# become narrower with more patients. Thin lines are 90 % prediction intervals.
leaves = cw.projection.LeavesDisplay.from_estimator(tree)

# %%
# Test error of the reference, of the projected tree, and of a tree of the same size
# fitted to the data.
size = tree.rules_.n_rules
cart = DecisionTreeRegressor(max_leaf_nodes=size, min_samples_leaf=5, random_state=0)
cart.fit(X_train, y_train)
for name, model in {"reference": reference, "projected": tree, "CART": cart}.items():
    rmse = ((model.predict(X_test) - y_test) ** 2).mean() ** 0.5
    print(f"{name:10} RMSE {rmse:.1f}")

# %%
# Explanation of one patient: a tree with three leaves, fitted to the predictions of the
# reference for similar patients.
explanation = cw.explain_local(reference, X_test.iloc[0], max_size=3, n_neighbours=256)
print(explanation)
neighbours = cw.projection.LocalDisplay(explanation).plot()

# %%
# Stability under resampling of patients. Both procedures are repeated on bootstrap
# samples and each pair of trees is compared; values further left are more stable. Here
# neither is stable: with so few patients, the selected splits should not be
# interpreted.


def projected(rows):
    X_drawn, y_drawn = X_train.iloc[rows], y_train.iloc[rows]
    forest = cw.reference(None, X_drawn, y_drawn, n_draws=20, random_state=0)
    proxy = cw.ProjectedTreeRegressor(forest, n_leaf_nodes=size)
    return proxy.fit(X_drawn, y_drawn).tree_


# For the comparison, each CART tree is converted by projecting it onto a tree of the
# same size, which reproduces it. The noise variance is required, but has no effect on
# the splits.
def fitted(rows):
    X_drawn, y_drawn = X_train.iloc[rows], y_train.iloc[rows]
    model = cw.reference(cart, X_drawn, noise_variance=1.0).refit(X_drawn, y_drawn)
    proxy = cw.ProjectedTreeRegressor(model, n_leaf_nodes=size, round_thresholds=False)
    return proxy.fit(X_drawn).tree_


stability = cw.projection.TreeStabilityDisplay(
    {
        name: tree_stability(fit, X_train, n_refits=5, random_state=0)
        for name, fit in {"projected": projected, "CART": fitted}.items()
    }
).plot()
