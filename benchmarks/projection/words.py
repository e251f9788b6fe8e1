"""Texts of the pages."""

PRIOR = """\
Three quarters of the rows are used for training, one quarter for testing; all methods
have the same splits. The reference is BART as sampled by `stochtree`: 200 trees, 500
draws, the library's defaults. Missing numbers (horsepower of six cars) are imputed by
the median.

- `projected, plain`: `ProjectedTreeRegressor(refine=False)`: grown as in the paper,
  and pruned to the best subtree of every size. `projected, refined`: the default.
- `CART, tuned`: scikit-learn's tree of K leaves, fitted to the observations (the
  paper's interpretability prior); the fewest rows of a leaf (1, 2, 5, 10, 20 or 30)
  chosen by five folds, for every K. `at most K leaves`: the number of leaves up to K
  as well. `default`: not tuned.
- `observations, refined`: the search of the refined tree, fitted to the
  observations; it differs by the reference alone.
- `born-again tree` and `Node Harvest`: ours, of a random forest of 100 trees. In
  table 2 they choose their sizes themselves: the tree by held-out rows, up to 64
  leaves; Node Harvest keeps all nodes with weight and is fitted to the observations,
  as in its article.

A gain is positive where the projected tree is better. "Same" are differences of at
most 1 % of the rival's RMSE. The paired test (BEST) treats the runs as independent; as
they share rows, its intervals are too narrow. The correlated test accounts for this,
and refers to another split of the same data: conclusions should rest on it. The paper
has a test of the first kind, for two groups that are not paired.

## Summary

- **A gain on all four sets, of 3 to 5 % of the RMSE; most certain on body fat.**
  Against the tuned CART, mean over all sizes: body fat 0.28, baseball 38, auto mpg
  0.11, auto risk 0.03. At 20 leaves body fat 0.32, baseball 57, auto mpg 0.14, auto
  risk 0.05. The paired test finds a gain on all four; the correlated one gives a gain
  of more than 1 % a probability of 0.95, 0.85, 0.76 and 0.73, and only for body fat
  does its interval exclude zero.
- **Trees of two and three leaves are equally good**, whatever they are fitted to, as
  in the paper; the gain begins at about five leaves. From there on the CARTs fit
  noise; the projected trees do not, up to 20 leaves.
- **An untuned CART exaggerates the gain**: relative to CART with default settings it
  is 0.48 in place of 0.28 on body fat, 56 in place of 38 on baseball, 0.29 in place of
  0.11 on auto mpg.
- **The gain is due to the reference, not to the search.** The same search on the
  observations is worse than the tuned CART on body fat and baseball: a better search
  also fits noise better. Refining helps where the target is a reference: on auto mpg
  (0.065) and a little on auto risk (0.019) and baseball (5), not on body fat. None of
  the plain tree's gains on auto risk is significant.
- **Born-again trees of the same size are as good on baseball and auto risk**, and a
  little worse on body fat (0.08) and auto mpg (0.09). They choose 9 to 23 leaves in
  table 2. On auto risk the forest is the better reference: BART itself is worse than
  the forest there.
- **Node Harvest has the lowest RMSE of table 2 on three of four sets**, with 36 to
  155 nodes, several of which cover every row. With as few nodes as a tree has
  leaves it is worse than all trees up to seven, and on auto risk better from eight
  on. In the paper the projected tree has the lower RMSE on auto risk and auto mpg;
  here Node Harvest has.
- The paper's own RMSEs are about within one standard deviation of ours wherever they
  can be read, except for its born-again trees of baseball: 1020, where ours have
  737."""

EFFECT = """\
Splits, sizes and refined trees as in `projection_prior.md`. BART, tuned: 10, 20, 50,
100 or 200 trees, whichever predicts a held-out quarter of the training rows best,
then fitted to all of them. Gaussian process: Matern 5/2 and noise on standardized
columns, by maximum likelihood. Bayesian bootstrap forest: the library's default
reference. "Itself" is the RMSE of the reference, a dotted line in the picture.

- **A better reference gives a better tree**, as in the paper's figure 3: the
  Gaussian process on body fat, BART and the forest on baseball; the BART of three
  trees is the worst reference on all three sets and has the worst trees, except on
  baseball, where the Gaussian process has worse ones from eleven leaves on although it
  predicts better itself. A good but smooth reference is not always well approximated
  by few steps.
- **The default reference needs no extra package and no tuning, and is competitive**:
  trees of the Bayesian bootstrap forest are as good as those of BART on baseball and
  body fat (a difference of less than 1 % with probability 0.87 and 0.67 by the paired
  test), and if anything better on auto risk.
- **Tuning the number of trees on a quarter of so few rows does not help**: the BART
  of 200 trees has 4.57, 710 and 0.730 on the same splits, the tuned one 4.64, 728
  and 0.754.
- A tree that predicts better than its reference, which the paper found for the
  Gaussian process on one set, occurs here only for the BART of three trees on
  baseball, by less than 1 %."""

CLASSES = """\
The study of `projection_prior.md` for two classes, which the paper does not study: the
same methods and tests on stratified splits. BART is the probit model of `stochtree`,
200 trees and 500 draws. Leaves fitted to observations have probabilities as if they
had one more row, half of each class; in the log loss, probabilities are at least
0.001. The CART is tuned for log loss, and separately for accuracy; born-again trees
have up to 32 leaves. "Same" are differences of at most 0.01, in both measures.

## Summary

- **The projected tree has better probabilities**: its log loss is lower than that
  of the tuned CART by 0.105 on heart (a fifth of it), 0.034 on breast (a sixth) and
  0.021 on pima (4 %), mean over all sizes; a gain of more than 0.01 has the
  probability 0.99, 0.88 and 0.74 by the correlated test. It decreases up to 20
  leaves, where that of every tree fitted to observations increases or is constant. A
  leaf's probability is the mean of the reference's, not a count of few rows.
- **Accuracy differs less.** On heart it is higher by 0.043 (0.82 in place of
  0.78 from about seven leaves on); on breast and pima the same, with a probability
  of 0.99 and 1.00 by the paired test. On pima, trees of two to five leaves, and on
  breast of three and four, are up to 0.015 **less** accurate than CARTs: they
  approximate probabilities everywhere, not only the decision boundary.
- Refined and plain trees hardly differ here.
- **Again the gain is due to the reference**: the same search on observations has the
  log loss of CART or a worse one. Born-again trees of a forest lie between, on heart
  nearer to the projected tree.
- **Node Harvest** is the best of all on breast, in both measures, with 56 nodes, and
  has about the log loss of the projected tree there from eight nodes on; on heart
  and pima its log loss is higher."""

SIZES_CHOSEN = """\
Trees of BART with `n_leaf_nodes="auto"` and otherwise default settings, on the first
splits of the other studies: five folds of the training rows, BART refitted without
each. The fewest rows of a leaf (2 or 10) are those of least loss on held-out rows, and
the size is the smallest whose loss is within `tolerance` (0.001 nats) of it. "Best
size on average": one size for all runs, chosen on the test rows; "best of every run":
the best on each test set, which is not available in practice. Larger tolerances choose
smaller trees."""
