"""The table of all public estimators, and data that suit each of them.

``contract.py``, the ``test_contract.py`` of a family and ``test_sklearn_checks.py``
hold every row to what all promise. **A new estimator gets its row here first**; nothing
else is needed to have it tested. What one row says:

``make``
    The class.
``quick``
    Settings with which a fit takes a tenth of a second.
``keeps``
    Promises that only some make: "path" (``path_`` has the rules of all sizes),
    "choice" (``n_rules="auto"`` is chosen on held-out rows, see ``cv_results_``),
    "repeats" (a weight of three is the same as three equal rows: none are drawn, if
    there are no synthetic ones), "shares" (a factor on all weights changes nothing; to
    FAB and to meta-trees they are numbers of rows, of which evidence depends),
    "order" (the order of rows changes no answer), "any-model" (rules of models that
    have no trees, too).
``least_score``
    What is expected on a table in which two features interact: less of straight lines.
``solved_to``
    How far probabilities may be from exact, where a solver of sums of rounded numbers
    finds them; or where they come from densities, whose logs depend on units.
"""

from collections import Counter
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import is_classifier
from sklearn.datasets import load_diabetes
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.utils.validation import has_fit_parameter

import clearwood as cw
from clearwood.metatree.growing import grown
from clearwood.simplifiers._common import cross_fitting
from clearwood.simplifiers.node_harvest import sparse

FITTED: dict[tuple[type, str, int], Any] = {}


class Case(NamedTuple):
    """One public estimator."""

    make: type
    quick: dict[str, Any] = {}
    keeps: frozenset[str] = frozenset()
    least_score: float = 0.9
    solved_to: float = 0.0

    @property
    def classifies(self) -> bool:
        return is_classifier(self.make())

    @property
    def parameters(self) -> list[str]:
        return self.make._get_param_names()

    @property
    def weighs(self) -> bool:
        """Whether rows may have weights."""
        return has_fit_parameter(self.make(), "sample_weight")

    @property
    def no_synthetic(self) -> dict[str, int]:
        """The setting that draws no synthetic rows before the fit, where there is."""
        return {"n_synthetic": 0} if "n_synthetic" in self.parameters else {}

    @property
    def exactly(self) -> dict[str, bool]:
        """The setting that rounds nothing for people, where there is."""
        return (
            {"round_thresholds": False} if "round_thresholds" in self.parameters else {}
        )

    @property
    def reads_ensembles(self) -> bool:
        return "estimator" in self.parameters

    def made(self, estimator: Any = None, **settings: Any) -> Any:
        """A cheap instance; those that read no ensemble do without the first one."""
        settings = {"random_state": 0, **self.quick, **settings}
        if self.reads_ensembles:
            settings["estimator"] = estimator
        return self.make(**settings)

    def fitted(self, **settings: Any) -> Any:
        """An instance that is fitted to the forest and the data of the examples.

        Without settings always the same one, which tests only read.
        """
        name = fitted_name(self)
        if name not in FITTED or settings:
            found = self.made(self.forest(), **settings).fit(*self.data())
            if settings:
                return found
            FITTED[name] = found
        return FITTED[name]

    def data(self) -> tuple[pd.DataFrame, pd.Series]:
        """Real numbers without gaps, and text labels or values."""
        return examples(self.classifies)

    def forest(self) -> Any:
        return fitted_forest(self.classifies)

    def gaps(self) -> tuple[pd.DataFrame, np.ndarray]:
        """Missing ages, wards, and who is at risk, or how much."""
        X, at_risk = people()
        return X, np.where(at_risk, "high", "low") if self.classifies else 1.0 * at_risk

    def raw(self) -> tuple[pd.DataFrame, np.ndarray]:
        """Texts, truth values, dates and durations, some empty; who came back."""
        X, came_back = visits()
        return X, np.where(came_back, "yes", "no") if self.classifies else (
            1.0 * came_back
        )

    def boosting(self) -> Any:
        return fitted_boosting(self.classifies)

    def unfitted(self, **settings: Any) -> Any:
        """Another ensemble, for those that read one."""
        make = RandomForestClassifier if self.classifies else RandomForestRegressor
        return make(3, max_depth=2, random_state=0, **settings)

    def model(
        self, x: float = 1.0, plus_x: float = 0.0, y: float = 1.0, plus_y: float = 0.0
    ) -> cw.TreeEnsemble:
        """The forest as it would be in other units of the data."""
        forest = cw.read_ensemble(self.forest())
        value = forest.value
        if not self.classifies:
            value = np.where(forest.feature[:, None] < 0, value * y + plus_y, 0.0)
        return replace(forest, cut=forest.cut * x + plus_x, value=value)

    def gap_teacher(self, wards: Any = None) -> Any:
        """An ensemble of the data with gaps, under other names of the wards."""
        if self in LEARNERS:
            return None
        ensemble = cw.read_ensemble(self.boosting())
        if wards is None:
            return ensemble
        features = replace(ensemble.features, categories=(None, tuple(wards)))
        return replace(ensemble, features=features)

    def reader(self) -> Any:
        """An ensemble for a table with gaps; learners fit one themselves."""
        return self.boosting() if self in SIMPLIFIERS else self.unfitted()


FEW = {"n_rules": 4, "max_rules": 4}

SIMPLIFIERS = [
    Case(make, {**FEW, **settings}, frozenset(keeps.split()))
    for classifier, regressor, settings, keeps in (
        (
            cw.RuleListClassifier,
            cw.RuleListRegressor,
            {"n_synthetic": 200},
            "path choice shares order any-model",
        ),
        (
            cw.DistilledTreeClassifier,
            cw.DistilledTreeRegressor,
            {"n_synthetic": 200},
            "path choice repeats shares order any-model",
        ),
        (
            cw.BornAgainTreeClassifier,
            cw.BornAgainTreeRegressor,
            {"n_node_samples": 100},
            "path choice shares order any-model",
        ),
        (
            cw.AdditiveRulesClassifier,
            cw.AdditiveRulesRegressor,
            {"n_synthetic": 200},
            "path choice shares order any-model",
        ),
        (cw.InTreesClassifier, cw.InTreesRegressor, {}, "path repeats shares order"),
        (
            cw.NodeHarvestClassifier,
            cw.NodeHarvestRegressor,
            {"min_samples_leaf": 40},
            "path repeats shares order",
        ),
        (
            cw.FABRulesClassifier,
            cw.FABRulesRegressor,
            {"n_init": 2},
            "repeats order any-model",
        ),
    )
    for make in (classifier, regressor)
]
"""Those that turn an ensemble into rules."""

LEARNERS = [
    Case(make, {}, frozenset({"repeats", "order"}))
    for make in (
        cw.MetaTreeClassifier,
        cw.MetaTreeRegressor,
        cw.MetaForestClassifier,
        cw.MetaForestRegressor,
    )
]
"""Those that are models themselves."""

REFERENCE = {"prior": "constant", "max_depth": 3, "random_state": 0}
LABELS, VALUES = cw.MetaTreeClassifier(**REFERENCE), cw.MetaTreeRegressor(**REFERENCE)
SMALL = {"alpha": 0.001, "max_leaf_nodes": 4}
LINES = {"alpha": 0.001, "max_rules": 3}

PROJECTIONS = [
    Case(make, {"reference": teacher, **settings}, frozenset({"order"}), *numbers)
    for make, teacher, settings, *numbers in (
        (cw.ProjectedTreeClassifier, LABELS, SMALL, 0.9),
        (cw.ProjectedTreeRegressor, VALUES, SMALL, 0.9),
        (cw.ProjectedRuleListClassifier, LABELS, LINES, 0.9),
        (cw.ProjectedRuleListRegressor, VALUES, LINES, 0.9),
        (cw.ProjectedLogisticRegression, LABELS, {}, 0.75, 1e-9),
        (cw.ProjectedLinearRegression, VALUES, {}, 0.4),
    )
]
"""Those that say what a reference model says."""

GRAPHS = [
    Case(
        cw.SelectiveBayesianForestClassifier,
        {"n_graphs": 50},
        frozenset({"repeats", "order"}),
    )
]
"""Those that say how features depend on each other."""

NETWORKS = [Case(cw.SPNClassifier, {}, frozenset(), 0.85, 1e-6)]
"""Those that are densities of features and class."""

TRANSFORMERS = [cw.MDLPDiscretizer, cw.BinaryBinner, cw.SPNImputer]
"""Those that predict nothing; scikit-learn checks them, and tests of their own."""

SEQUENCE_MODELS = [cw.HMMLSTM, cw.HiddenMarkovModel]
"""They read steps in their order, texts too, so that what holds for rows does not."""

SURVIVAL_RULES = [cw.RuleListSurvival, cw.DistilledTreeSurvival]
"""Their target is a table of times; see ``simplifiers/survival``."""

DENSITIES = {
    cw.MiniSPN: {},
    cw.LearnSPN: {"penalty": 0.4, "significance_level": 0.0015},
    cw.LatentTreeSPN: {"n_states": 4},
    cw.ParetoSPN: {"n_iter": 40},
    cw.HybridSPN: {"n_iter": 20},
}
"""Those of whole rows, without a target, and settings with which they are quick; see
``circuits/test_estimators.py``."""

ESTIMATORS = [*SIMPLIFIERS, *LEARNERS, *PROJECTIONS, *GRAPHS, *NETWORKS]


@cache
def examples(classify: bool) -> tuple[pd.DataFrame, pd.Series]:
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    X = X[["age", "bmi", "bp", "s5"]]
    if classify:
        y = pd.qcut(y, 3, labels=["low", "middle", "high"]).astype(str)
    return X, y


@cache
def fitted_forest(classify: bool) -> Any:
    make = RandomForestClassifier if classify else RandomForestRegressor
    return make(8, max_depth=3, random_state=0).fit(*examples(classify))


@cache
def people(n: int = 300) -> tuple[pd.DataFrame, np.ndarray]:
    """Missing ages and three wards, and who is at risk."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "age": np.where(rng.random(n) < 0.2, np.nan, rng.integers(20, 90, n)),
            "ward": pd.Categorical(rng.choice(["north", "south", "east"], n)),
        }
    )
    old = table["age"].fillna(80) > 60
    return table, (old & (table["ward"] != "north")).to_numpy()


@cache
def visits(n: int = 120) -> tuple[pd.DataFrame, np.ndarray]:
    """A table as people have it, and who came back."""
    rng = np.random.default_rng(0)
    begun = pd.Timestamp("2018-01-01") + pd.to_timedelta(rng.permutation(n) * 5, "D")
    table = pd.DataFrame(
        {
            "begun": begun,
            "seen": (begun + pd.Timedelta("100min")).tz_localize("UTC"),
            "stay": pd.to_timedelta(rng.integers(1, 90, n), "h"),
            "city": rng.choice(["NA", "Oslo", "Rome"], n),
            "member": rng.random(n) < 0.5,
        }
    )
    came_back = (table["begun"] >= "2019-04-01") & (table["city"] != "Oslo")
    table.loc[::40, "begun"] = pd.NaT
    table.loc[1::40, ["city", "stay"]] = None
    return table, came_back.to_numpy()


@cache
def fitted_boosting(classify: bool) -> Any:
    X, at_risk = people()
    if classify:
        model = HistGradientBoostingClassifier(max_iter=20, random_state=0)
        return model.fit(X, np.where(at_risk, "high", "low"))
    model = HistGradientBoostingRegressor(max_iter=20, random_state=0)
    return model.fit(X, 1.0 * at_risk)


# For the promises

KINDS = {
    "text, single precision": lambda X: X.astype({"ward": str, "age": "float32"}),
    "text nullable, whole": lambda X: X.astype({"ward": "string", "age": "Int64"}),
    "objects": lambda X: X.astype(object),
    "arrow": lambda X: X.convert_dtypes(dtype_backend="pyarrow"),
    "polars": pl.from_pandas,
    "polars text": lambda X: pl.from_pandas(X.astype({"ward": str})),
}
"""Spellings of the table with gaps that hold the same."""

IDS = {
    "digits": ["1", "2", "3"],
    "numbers": [1, 2, 3],
    "large numbers": [1_500_000_000_000_000_000 + 7 * i for i in range(3)],
}
"""Names of the three wards."""


def counting_reads(X: pd.DataFrame) -> tuple[pd.DataFrame, Counter[str]]:
    """A frame, and how often each column was taken out of it, or of a copy of it.

    Not what reads many columns at once, as models do, nor some of the rows.
    """
    reads: Counter[str] = Counter()

    class Counted(pd.DataFrame):
        @property
        def _constructor(self):
            return Counted

        def __getitem__(self, key):
            if isinstance(key, str) and len(self) == len(X):
                reads[key] += 1
            return super().__getitem__(key)

        def items(self):
            return ((name, self[name]) for name in self.columns)

    return Counted(X), reads


def search_less(patch: pytest.MonkeyPatch) -> None:
    """Two folds in place of five, and a quarter of the penalties of Node Harvest."""
    patch.setattr(cross_fitting, "FOLDS_OF_FEW", 2)
    patch.setattr(grown, "N_FOLDS", 2)
    patch.setattr(sparse, "PATH_PENALTIES", sparse.PATH_PENALTIES[::4])


def fitted_name(case: Case, how: str = "") -> tuple[type, str, int]:
    """Fits of ``few_folds`` are others."""
    return case.make, how, cross_fitting.FOLDS_OF_FEW


def fitted_exactly(case: Case) -> Any:
    """An instance that rounds nothing, which tests only read."""
    if not case.exactly:
        return case.fitted()
    name = fitted_name(case, "exactly")
    if name not in FITTED:
        FITTED[name] = case.fitted(**case.exactly)
    return FITTED[name]


def fitted_to_gaps(case: Case) -> Any:
    """An instance fitted to the data with gaps, which tests only read."""
    name = fitted_name(case, "with gaps")
    if name not in FITTED:
        FITTED[name] = case.made(case.gap_teacher()).fit(*case.gaps())
    return FITTED[name]


def each(cases: list[Case], *, keeps: str | None = None) -> Any:
    """The cases that make a promise, as parameters of a test."""
    chosen = [case for case in cases if keeps is None or keeps in case.keeps]
    return pytest.mark.parametrize("case", chosen, ids=lambda case: case.make.__name__)


def says(estimator: Any, X: Any) -> np.ndarray:
    """All that it says: probabilities where there are any."""
    return getattr(estimator, "predict_proba", estimator.predict)(X)


def check_batches(X: pd.DataFrame, predict: Any) -> None:
    """A row's prediction is the same, to the last bit, whatever rows come with it."""
    mixed = np.random.default_rng(0).permutation(len(X))
    batches = np.split(mixed, [1, 2, 4, 7, 15, 40])
    found = np.concatenate([predict(X.iloc[rows]) for rows in batches])
    np.testing.assert_array_equal(found, predict(X)[mixed])


def same(one: Any, other: Any, X: Any) -> None:
    """They say the same of all rows, and their lines ask the same."""
    np.testing.assert_allclose(says(one, X), says(other, X))
    if hasattr(one, "rules_"):
        same_rules(one, other)


def same_rules(one: Any, other: Any) -> None:
    """Their lines ask the same."""
    assert [a.conditions for a in one.rules_] == [b.conditions for b in other.rules_]


def asked(rules: cw.RuleSet) -> set[str]:
    """Names of the features that some line asks."""
    names = rules.features.names
    return {names[c.feature] for rule in rules for c in rule.conditions}
