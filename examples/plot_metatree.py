"""
One tree that averages its prunings
===================================

Where should a tree be cut back? A meta-tree does not choose: every pruning gets its
exact posterior probability, and predictions average over all of them. What one reads
is the most probable tree, and how sure each of its nodes is.
"""

# %%
# One tree is grown on half of the patients; their diabetes a year later is a number.
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
# The same as a picture. The outline of a bar is the probability that a tree has the
# node, its dark part that it has it as a leaf: where little is filled the tree surely
# asks on, where all is filled it surely stops.
picture = cw.metatree.MetaTreeDisplay.from_estimator(tree).plot()

# %%
# The average predicts at least as well as the most probable tree alone, and both
# better than the tree in full, whose leaves hold one patient each. Intervals are too
# narrow where a tree was searched for on the same few rows, as they do not know of the
# other trees that might have been grown; those of the average less so.
for name, scores in compare_scores(tree, X_test, y_test).items():
    print(
        f"{name:10} off by {scores['rmse']:.1f} (root mean square), 90 % intervals "
        f"hold {scores['coverage']:.0%}, {scores['n_leaves']:.0f} leaves"
    )

# %%
# A tree drawn at random from the posterior: another way to see what is not settled.
other = cw.metatree.MetaTreeDisplay(tree.sample_trees(1, random_state=1)[0]).plot()
