"""Quality of the size that a projected tree chooses by itself.

Usage: python -m benchmarks.projection.sizes [--quick] [--fresh] [--tables]

Trees of BART with ``n_leaf_nodes="auto"``: scores of every size on held-out rows of the
training set, the chosen size, and scores of all sizes on test rows.
"""

from functools import partial

import numpy as np

import clearwood as cw
from benchmarks._study import Study, arguments
from benchmarks.projection.cases import SIZES, VALUES, bart, make_case
from benchmarks.projection.methods import measures, of_trees, own_answer
from benchmarks.projection.tables import write_sizes

SETS = (*VALUES, "heart", "breast", "pima")
N_RUNS = 20


def main():
    options = arguments(__doc__, tables="only the page, from existing rows")
    study = Study("projection_sizes", ["data", "run"], options)
    if not options.tables:
        study.run(
            {
                (name, run): partial(scores, name, run)
                for run in range(1 if options.quick else N_RUNS)
                for name in SETS
            },
            warm=partial(scores, "heart", 0),
        )
    write_sizes(study)


class Watched:
    """Keeps the loss of every held-out row."""

    def _held_out_losses(self, *given):
        self.folds_ = list(super()._held_out_losses(*given))
        return iter(self.folds_)

    def lost(self):
        """Per size and row."""
        sizes = self.size_path_.size
        lost = np.empty((len(sizes), sum(len(test) for test, _ in self.folds_)))
        for test, found in self.folds_:
            path, losses = found[self.min_samples_leaf_]
            lost[:, test] = losses[path.up_to(sizes)]
        return lost


def scores(name, run):
    """Rows of the held-out scores, and of the first measure on test rows."""
    case = make_case(name, run)
    reference, _ = bart(case)
    make = cw.ProjectedTreeClassifier if case.is_class else cw.ProjectedTreeRegressor
    make = type(make.__name__, (Watched, make), {})
    tree = make(reference, random_state=case.seed).fit(case.X, case.y)
    path = tree.size_path_
    measure, score = next(iter(measures(case).items()))
    predicted = of_trees(case, tree.trees_).by_size
    lost = tree.lost()
    apart = lost - lost[path.held_out.argmin()]
    by_size = {
        "held_out": path.held_out,
        "error_to_best": apart.std(axis=1, ddof=1) / np.sqrt(len(case.y)),
        measure: [score(case.y_test, predicted[k]) for k in path.size],
    }
    common = {
        "chosen": tree.tree_.n_leaves,
        "reference": score(case.y_test, own_answer(case, reference).own),
    }
    most = max(SIZES)
    return [
        {"measure": what}
        | common
        | {str(k): float(v) for k, v in enumerate(_filled(values, most), 1)}
        for what, values in by_size.items()
    ]


def _filled(values, most):
    """The largest tree represents sizes that are absent."""
    return np.pad(np.asarray(values), (0, most - len(values)), mode="edge")


if __name__ == "__main__":
    main()
