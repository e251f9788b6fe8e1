"""
What a network looks at, early and late in training
===================================================

Small networks tell handwritten threes from eights: once after two passes over the
data, once after two dozen. What they say is projected onto models that can be drawn, a
logistic regression whose coefficients are a picture and a tree that asks for single
pixels. Projected draw by draw, these also show what the networks do not agree on.
"""

# %%
# Twelve networks, each with a start and a bootstrap sample of its own, stand for a
# posterior; draw *l* is the probability that network *l* gives. Such an ensemble is not
# strictly a posterior, and its reference says so.
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
    print(f"{when}: {share:.1%} of new digits are recognised")

# %%
# Around one digit
# ----------------
# The networks are asked about copies of one three with other shades of grey, and a
# logistic regression is projected onto what each of them says. Where a red pixel is
# dark that speaks for a three, where a blue one is dark for an eight; each row has its
# own scale. Early, every network has its own reasons, and their mean has hardly any.
# Later they share them: the left side of a three is open, its lower right is not. What
# they still differ by is small beside that.
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
# Among all digits
# ----------------
# A tree of six leaves for the networks together, and one for each of them: how many ask
# for a pixel? Early the trees differ as the networks do; later most of them agree on a
# few pixels.
figure, axes = plt.subplots(1, 2, figsize=(6.4, 3.2), layout="constrained")
for ax, (when, ref) in zip(axes, references.items()):
    tree = cw.ProjectedTreeClassifier(ref, max_leaf_nodes=6, draws="each")
    tree.fit(X_train, y_train)
    asked = np.zeros(64)
    for own, _ in tree.draw_trees_:
        pixels = {c.feature for leaf in own.leaves for c in leaf.conditions}
        asked[list(pixels)] += 1
    shown = ax.imshow(asked.reshape(8, 8), cmap="Blues", vmin=0, vmax=len(numbers))
    ax.set(title=f"{when}: {np.sum(asked > 0)} pixels", xticks=[], yticks=[])
bar = figure.colorbar(shown, ax=axes, label="networks whose tree asks")

# %%
# The tree of the networks that have learnt, in words. Pixels have the numbers of their
# row and column, from 0.
print(tree.tree_)
print(f"{tree.score(X_new, y_new):.1%} of new digits are recognised by the tree")
