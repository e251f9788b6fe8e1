"""
Neural networks early and late in training
==========================================

Small networks classify handwritten threes and eights, after two passes over the data
and after two dozen. Their predictions are projected onto a logistic regression, whose
coefficients are an image, and onto a tree that splits on single pixels. Projecting each
network by itself shows where the networks differ.
"""

# %%
# The draws are twelve networks, each with its own initialization and bootstrap sample.
# Such an ensemble is not a sample of a posterior, hence ``is_posterior=False``.
from copy import deepcopy

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.neural_network import MLPClassifier
from sklearn.utils import resample

import clearwood as cw

images, digit = load_digits(return_X_y=True, as_frame=True)
is_kept = digit.isin([3, 8])
X, y = images[is_kept] / 16, digit[is_kept]
is_new = np.arange(len(y)) % 3 == 0
X_train, y_train, X_new, y_new = X[~is_new], y[~is_new], X[is_new], y[is_new]

numbers = range(12)
networks = [MLPClassifier(16, batch_size=32, random_state=k) for k in numbers]
samples = [resample(X_train, y_train, random_state=k) for k in numbers]


def train(passes):
    for network, sample in zip(networks, samples):
        for _ in range(passes):
            network.partial_fit(*sample, classes=[3, 8])


def as_reference(networks):
    return cw.reference(
        lambda rows, draw: networks[draw].predict_proba(rows),
        X_train,
        n_draws=len(networks),
        classes=[3, 8],
        is_posterior=False,
        description="networks",
    )


train(2)
references = {"early": as_reference(deepcopy(networks))}
train(22)
references["late"] = as_reference(networks)
for when, ref in references.items():
    is_eight = ref.mean_and_variance(X_new)[0][:, 1] > 0.5
    share = np.mean(is_eight == (y_new == 8))
    print(f"{when}: test accuracy {share:.1%}")

# %%
# Local explanation
# -----------------
# The networks predict copies of one three with perturbed pixels, and a logistic
# regression is fitted to the predictions of each network. A dark red pixel increases
# the probability of a three, a dark blue one that of an eight; each row has its own
# scale. Early in training the coefficients differ between networks and their mean is
# close to zero. Later they agree: the left side of a three is open, its lower right is
# not. The remaining differences are small in comparison.
three = X_train[y_train == 3].iloc[[4]]
rng = np.random.default_rng(0)
near = three.loc[three.index.repeat(400)]
near = (near + 0.5 * X.std().to_numpy() * rng.normal(size=near.shape)).clip(0, 1)

figure, axes = plt.subplots(2, 6, figsize=(9.5, 3.6), layout="constrained")
for row, (when, ref) in zip(axes, references.items()):
    proxy = cw.ProjectedLogisticRegression(ref, alpha=1.0).fit(near)
    # Positive coefficients are for the second class, the eight.
    for_three = np.zeros((ref.n_draws, 64))
    for_three[:, proxy.terms_.feature] = -proxy.coef_draws_[:, 0]
    pictures = {"mean": for_three.mean(axis=0), "standard deviation": for_three.std(0)}
    pictures |= {f"network {k + 1}": for_three[k] for k in range(3)}
    most = np.abs(for_three).max()
    row[0].imshow(three.to_numpy().reshape(8, 8), cmap="Greys")
    row[0].set(title="the digit", ylabel=when)
    for ax, (title, picture) in zip(row[1:], pictures.items()):
        ax.imshow(picture.reshape(8, 8), cmap="RdBu_r", vmin=-most, vmax=most)
        ax.set_title(title, fontsize=10)
for ax in axes.flat:
    ax.set(xticks=[], yticks=[])

# %%
# Global explanation
# ------------------
# A tree with six leaves is fitted to the mean of the networks, and one to each of them.
# The images show how many of these trees use each pixel. Early in training the trees
# differ; later most use the same few pixels.
figure, axes = plt.subplots(1, 2, figsize=(6.4, 3.2), layout="constrained")
for ax, (when, ref) in zip(axes, references.items()):
    tree = cw.ProjectedTreeClassifier(ref, n_leaf_nodes=6, draws="each")
    tree.fit(X_train, y_train)
    counts = np.zeros(64)
    for draw_tree, _ in tree.draw_trees_:
        pixels = {c.feature for leaf in draw_tree.leaves for c in leaf.conditions}
        counts[list(pixels)] += 1
    image = ax.imshow(counts.reshape(8, 8), cmap="Blues", vmin=0, vmax=len(numbers))
    ax.set(title=f"{when}: {np.sum(counts > 0)} pixels", xticks=[], yticks=[])
bar = figure.colorbar(image, ax=axes, label="trees that use the pixel")

# %%
# The tree of the fully trained networks. Pixels are named by row and column, from 0.
print(tree.tree_)
print(f"test accuracy of the tree {tree.score(X_new, y_new):.1%}")
