"""
The best model, read through a small tree
=========================================

A small tree that is fitted to data says less than the best model there is. Here the
best model is fitted first, a **reference**; then the small tree is found that says most
nearly what the reference says. So its leaves know what the reference is sure of.
"""

# %%
# Diabetes a year after ten measurements. The reference is a forest whose trees have
# Bayesian-bootstrap weights: each tree is a draw of what might be true. Three quarters
# of the patients are for the fit.
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
# How many leaves? Parts of the rows are held out, reference and trees are fitted anew,
# and the smallest tree is taken that predicts about as well as the reference.
sizes = cw.projection.SizePathDisplay.from_estimator(tree).plot()

# %%
# What each leaf says. Thick: what the draws of the reference say of its mean, which
# more patients would make narrower. Thin: where nine in ten new patients are.
leaves = cw.projection.LeavesDisplay.from_estimator(tree).plot()

# %%
# On patients that neither has seen, the tree stands beside its reference, and beside a
# tree of the same size that was fitted to the data.
size = tree.rules_.n_rules
cart = DecisionTreeRegressor(max_leaf_nodes=size, min_samples_leaf=5, random_state=0)
cart.fit(X_train, y_train)
for name, model in {"reference": reference, "projected": tree, "CART": cart}.items():
    off = ((model.predict(X_test) - y_test) ** 2).mean() ** 0.5
    print(f"{name:10} is off by {off:.1f} (root mean square)")

# %%
# One patient: the reference is asked about others like this one, and a tree of three
# leaves is found for them alone.
found = cw.explain_local(reference, X_test.iloc[0], max_size=3, n_neighbours=256)
print(found)
neighbours = cw.projection.LocalDisplay(found).plot()

# %%
# How much would the tree change with other patients? Both procedures are repeated on
# bootstrap samples, and every two trees are compared: to the left is more stable. Here
# neither is: of so few patients, one should not make much of which questions are asked.


def projected(rows):
    X_drawn, y_drawn = X_train.iloc[rows], y_train.iloc[rows]
    forest = cw.reference(None, X_drawn, y_drawn, n_draws=20, random_state=0)
    proxy = cw.ProjectedTreeRegressor(forest, max_leaf_nodes=size)
    return proxy.fit(X_drawn, y_drawn).tree_


# To be compared, CART's trees must be trees of ours: each is projected as if it were a
# reference. Projections need a noise, which moves no split of a tree of means: any will
# do.
def fitted(rows):
    X_drawn, y_drawn = X_train.iloc[rows], y_train.iloc[rows]
    teacher = cw.reference(cart, X_drawn, noise_variance=1.0)
    teacher = teacher.refit(X_drawn, y_drawn)
    # A projection of as many leaves is the tree itself.
    proxy = cw.ProjectedTreeRegressor(
        teacher, max_leaf_nodes=size, round_thresholds=False
    )
    return proxy.fit(X_drawn).tree_


stability = cw.projection.TreeStabilityDisplay(
    {
        name: tree_stability(fit, X_train, n_refits=5, random_state=0)
        for name, fit in {"projected": projected, "CART": fitted}.items()
    }
).plot()
