"""scikit-learn's own conformance checks, once for every public estimator."""

import pytest
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.utils.estimator_checks import (
    check_estimator_sparse_array,
    check_estimator_sparse_matrix,
    check_estimator_sparse_tag,
    parametrize_with_checks,
)
from tests.estimators import (
    DENSITIES,
    ESTIMATORS,
    PROJECTIONS,
    SIMPLIFIERS,
    TRANSFORMERS,
    each,
)

pytestmark = pytest.mark.usefixtures("few_folds")


def quick(case):
    """A cheap instance; other than random forests, these take a weight for rows."""
    boosting = HistGradientBoostingRegressor, HistGradientBoostingClassifier
    if case in SIMPLIFIERS:
        return case.made(boosting[case.classifies](max_iter=10))
    if case in PROJECTIONS:
        few = {"max_iter": 8, "learning_rate": 0.3}
        return case.made(reference=boosting[case.classifies](**few))
    trees = ExtraTreesRegressor, ExtraTreesClassifier
    return case.made(trees[case.classifies](n_estimators=3, random_state=0))


SPARSE = (
    pytest.param(check_estimator_sparse_array, marks=pytest.mark.dear),
    check_estimator_sparse_matrix,
    check_estimator_sparse_tag,
)
"""Of ensembles that take no sparse matrices, these ask for an error alone."""


@each([case for case in SIMPLIFIERS if case.make._reads_sparse])
@pytest.mark.parametrize("check", SPARSE, ids=lambda check: check.__name__)
def test_sparse_conformance(case, check):
    trees = ExtraTreesRegressor, ExtraTreesClassifier
    inner = trees[case.classifies](n_estimators=3, random_state=0)
    check(case.make.__name__, case.made(inner))


UNSUPERVISED = [
    *(make(**quick) for make, quick in DENSITIES.items()),
    *(make() for make in TRANSFORMERS),
]


def no_repeats(estimator):
    """Synthetic rows are drawn from rows, and estimates for new rows count them."""
    if type(estimator) not in {case.make for case in SIMPLIFIERS}:
        return {}
    kinds = ("dense", "sparse")
    names = (f"check_sample_weight_equivalence_on_{kind}_data" for kind in kinds)
    return dict.fromkeys(names, "a weight is no number of rows, see contract.py")


# Their few rows of random classes depend on nothing.
@pytest.mark.filterwarnings("ignore::clearwood.exceptions.IndependentClassWarning")
@parametrize_with_checks(
    [*map(quick, ESTIMATORS), *UNSUPERVISED], expected_failed_checks=no_repeats
)
def test_conformance(estimator, check):
    check(estimator)
