"""scikit-learn's own conformance checks."""

from sklearn.ensemble import ExtraTreesRegressor
from sklearn.ensemble import RandomForestClassifier as Forest
from sklearn.utils.estimator_checks import parametrize_with_checks

from clearwood import (
    MetaForestClassifier,
    MetaForestRegressor,
    MetaTreeClassifier,
    MetaTreeRegressor,
)

# A forest that draws rows: a weight is not the same as repeated rows to it.
INNER = {"check_sample_weight_equivalence_on_dense_data": "the forest fails it"}


@parametrize_with_checks(
    [
        MetaTreeClassifier(),
        MetaTreeRegressor(missing="branch", min_samples_leaf=2),
        MetaForestRegressor(ExtraTreesRegressor(n_estimators=3, random_state=0)),
        MetaForestClassifier(Forest(n_estimators=3, max_depth=4, random_state=0)),
    ],
    expected_failed_checks=lambda e: (
        INNER if isinstance(getattr(e, "estimator", None), Forest) else {}
    ),
)
def test_conformance(estimator, check):
    check(estimator)
