"""
Averaging over the prunings of a tree
=====================================

How far should a tree be pruned? A meta-tree assigns each pruning its exact posterior
probability and averages predictions over all of them. The most probable pruning can be
read, with the posterior probability of each node.
"""

# %%
# The tree is grown on half of the patients. The target is disease progression after one
# year.
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

import clearwood as cw
from clearwood.metatree import compare_scores

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
tree = cw.MetaTreeRegressor(random_state=0).fit(X_train, y_train)
tree.target_name = "progression"
print(tree.map_tree_)

# %%
# The tree as a chart. The outline of a bar is the posterior probability that the node
# is present, its dark part that it is a leaf. A mostly empty bar is a node that is
# almost certainly split.
chart = cw.metatree.MetaTreeDisplay.from_estimator(tree)

# %%
# The average predicts at least as well as the most probable pruning, and both predict
# better than the full tree, whose leaves have one patient each. Intervals are too
# narrow if the tree was grown on the same few rows, since they do not include the
# uncertainty of the splits; for the average this effect is smaller.
for name, scores in compare_scores(tree, X_test, y_test).items():
    print(
        f"{name:10} RMSE {scores['rmse']:.1f}, coverage of 90 % intervals "
        f"{scores['coverage']:.0%}, {scores['n_leaves']:.0f} leaves"
    )

# %%
# A tree sampled from the posterior shows which parts are uncertain.
other = cw.metatree.MetaTreeDisplay(tree.sample_trees(1, random_state=1)[0]).plot()
