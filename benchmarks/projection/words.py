"""What the pages say beside their tables."""

PRIOR = """\
Three quarters of the rows are trained on, one quarter is tested on; all methods have
the same splits. The reference is BART as `stochtree` samples it: 200 trees, 500
draws, the library's defaults. Missing numbers (horsepower of six cars) are the
median.

- `projected, plain`: `ProjectedTreeRegressor(refine=False)`: grown as in the paper,
  and cut back to the best subtree of every size. `projected, refined`: the default.
- `CART, tuned`: scikit-learn's tree of K leaves, fitted to the observations (the
  paper's interpretability prior); the fewest rows of a leaf (1, 2, 5, 10, 20 or 30)
  chosen by five folds, for every K. `at most K leaves`: the number of leaves up to K
  as well. `as it comes`: not tuned.
- `observations, refined`: the search of the refined tree, fitted to the
  observations. What it lacks is the reference alone.
- `born-again tree` and `Node Harvest`: ours, of a random forest of 100 trees. In
  table 2 they choose their sizes themselves: the tree by held-out rows, up to 64
  leaves; Node Harvest keeps all nodes with weight and is fitted to the observations,
  as in its article.

A gain is positive where the projected tree is better. "Same" are differences of at
most 1 % of the rival's RMSE. The paired test (BEST) takes the runs for independent,
which they are not, as they share rows: it is too sure. The correlated one knows it,
and answers for another split of the same data: it is the one to go by. The paper has
the first kind, for two groups that are not even paired.

## In words

- **A gain on all four sets, of 3 to 5 % of the RMSE; surest on body fat.**
  Against the tuned CART, mean over all sizes: body fat 0.28, baseball 38, auto mpg
  0.11, auto risk 0.03. At 20 leaves body fat 0.32, baseball 57, auto mpg 0.14, auto
  risk 0.05. The paired test is sure of all four; the correlated one gives a gain of
  more than 1 % a probability of 0.95, 0.85, 0.76 and 0.74, and only for body fat
  does its interval leave out zero.
- **Trees of two and three leaves are equally good**, wherever they come from, as the
  paper says; the gain comes from about five leaves on. There the CARTs begin to fit
  noise; the projected trees do not, up to 20 leaves.
- **An untuned CART exaggerates the gain**: against CART as it comes it is 0.48 in
  place of 0.28 on body fat, 56 in place of 38 on baseball, 0.29 in place of 0.11 on
  auto mpg.
- **It is the reference, not the search.** The same search on the observations is
  worse than the tuned CART on body fat and baseball: what searches better also fits
  noise better. Refining helps where the target is a reference: on auto mpg (0.065)
  and a little on auto risk (0.017) and baseball (5), not on body fat. Of the plain
  tree's gains on auto risk nothing is left that one could be sure of.
- **Born-again trees of the same size are as good on baseball and auto risk**, and a
  little worse on body fat (0.09) and auto mpg (0.11). What their default size lacks
  in table 2 is leaves: they stop at 8 to 17. On auto risk the forest is the better
  teacher: BART itself is worse than the forest there.
- **Node Harvest has the lowest RMSE of table 2 on three of four sets**, with 36 to
  155 nodes, several of which hold for every row. With as few nodes as a tree has
  leaves it is worse than all trees up to seven, and on auto risk better from eight
  on. The paper has the projected tree ahead of it on auto risk and auto mpg; here it
  is the other way round.
- The paper's own RMSEs are about within one standard deviation of ours wherever they
  can be read, but for its born-again trees of baseball: 1020, where ours have 754."""

EFFECT = """\
Splits, sizes and refined trees as in `projection_prior.md`. BART, tuned: 10, 20, 50,
100 or 200 trees, whichever predicts best a quarter of the training rows that is held
out, then fitted to all of these. Gaussian process: Matern 5/2 and noise on
standardised columns, by maximal likelihood. Bayesian bootstrap forest: what the
library takes where no reference is given. "Itself" is the RMSE of the reference,
which the picture has as a dotted line.

- **A better reference makes a better tree**, as the paper's figure 3 has it: the
  Gaussian process on body fat, BART and the forest on baseball; the BART of three
  trees is the worst reference on all three sets and has the worst trees, but on
  baseball, where the Gaussian process has worse ones from eleven leaves on though it
  predicts better itself. A good reference that is smooth is not always one that few
  steps can follow.
- **The default reference needs no extra and no tuning, and holds its own**: trees of
  the Bayesian bootstrap forest are as good as those of BART on baseball and body fat
  (a difference of less than 1 % with probability 0.87 and 0.68 by the paired test),
  and if anything better on auto risk.
- **Tuning the number of trees on a quarter of so few rows does not pay**: the BART
  of 200 trees has 4.57, 710 and 0.730 on the same splits, the tuned one 4.64, 728
  and 0.754.
- That the tree predicts better than its reference, which the paper saw for the
  Gaussian process on one set, is seen here only for the BART of three trees on
  baseball, by less than 1 %."""

CLASSES = """\
The study of `projection_prior.md` for two classes, which the paper has not: the same
methods and tests on splits that hold as many of each class. BART is the probit model
of `stochtree`, 200 trees and 500 draws. Leaves that are fitted to observations say
probabilities as if they held one row more, of both classes alike; for log loss, no
probability counts as less than 0.001. The CART is tuned for log loss, and once more
for accuracy; born-again trees have up to 32 leaves. "Same" are differences of at
most 0.01, in both measures.

## In words

- **The projected tree says better probabilities**: its log loss is lower than that
  of the tuned CART by 0.105 on heart (a fifth of it), 0.034 on breast (a sixth) and
  0.021 on pima (4 %), mean over all sizes; a gain of more than 0.01 has the
  probability 0.99, 0.88 and 0.74 by the correlated test. It goes on falling up to 20
  leaves, where that of every tree fitted to observations rises or stands still. A
  leaf's probability is the mean of the reference's, not a count of few rows.
- **Accuracy is another matter.** On heart it is higher by 0.043 (0.82 in place of
  0.78 from about seven leaves on); on breast and pima the same, with a probability
  of 0.99 and 1.00 by the paired test. On pima and breast, trees of three and four
  leaves, and on pima of five, are up to 0.015 **less** accurate than CARTs: they
  follow probabilities, wherever these are, and not the one border that counts for
  accuracy.
- Refined or plain makes hardly a difference here.
- **Again it is the reference**: the same search on observations has the log loss of
  CART or a worse one. Born-again trees of a forest lie between, on heart nearer to
  the projected tree.
- **Node Harvest** is the best of all on breast, in both measures, with 56 nodes, and
  has about the log loss of the projected tree there from eight nodes on; on heart
  and pima it is behind in log loss."""

SIZES_CHOSEN = """\
Trees of BART with `n_leaf_nodes="auto"` and all else by default, on the first
splits of the other studies: five folds of the training rows, BART fitted anew
without each, and the fewest leaves with which held-out rows are as likely as under
BART, within 0.05 nats and one standard error; where no size is, the fewest that are
worse than the best size by no more than a standard error of their difference. "Best
size on average": one size for all runs, chosen on the test rows; "best of every
run": the best of each test set, which nobody can choose.

- **What is chosen is readable rather than accurate.** Test scores are worse than
  those of the best single size by 2 to 9 % of the RMSE, by 0.015 on heart, and by
  0.04 in log loss on breast and pima. That is as much as a projected tree gains on a
  tuned CART: who wants the gain has to ask for it, by a number of leaves or a
  smaller `tolerance`.
- **On classes 0.05 nats are much**: with a tolerance of 0.02 the log loss is lower
  by 0.006 on heart, 0.017 on breast and 0.033 on pima, for three leaves more, on
  pima six.
- The error of the difference between two sizes, where no size is as good as BART, is
  better than that of the best size: on auto risk 0.833 in place of 0.873 with one
  leaf more, on auto mpg 3.24 in place of 3.30 with three. It was taken up after a look
  at the first ten of these runs, test rows included; on the other ten it is 0.850 in
  place of 0.888 on auto risk, 3.16 in place of 3.23 on auto mpg, 768 in place of 785
  on baseball, and the same elsewhere.
- The size that is best on held-out rows is the best rule here for prediction, with 9
  to 17 leaves; up to 20 leaves projected trees hardly overfit."""
