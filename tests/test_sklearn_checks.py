"""scikit-learn's own conformance checks, once for every public estimator."""

from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.estimators import (
    DENSITIES,
    ESTIMATORS,
    PROJECTIONS,
    SIMPLIFIERS,
    TRANSFORMERS,
)


def quick(case):
    """A cheap instance; other than random forests, these take a weight for rows."""
    boosting = HistGradientBoostingRegressor, HistGradientBoostingClassifier
    if case in SIMPLIFIERS:
        return case.made(boosting[case.classifies](max_iter=10))
    if case in PROJECTIONS:
        return case.made(reference=boosting[case.classifies](max_iter=20))
    trees = ExtraTreesRegressor, ExtraTreesClassifier
    return case.made(trees[case.classifies](n_estimators=3, random_state=0))


UNSUPERVISED = [
    *(make(**quick) for make, quick in DENSITIES.items()),
    *(make() for make in TRANSFORMERS),
]


@parametrize_with_checks([*map(quick, ESTIMATORS), *UNSUPERVISED])
def test_conformance(estimator, check):
    check(estimator)
