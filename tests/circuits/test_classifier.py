"""The class as a column of a network."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError
from tests.circuits import naive
from tests.circuits.test_estimators import people
from tests.wording import refuses, same_lines, warns

import clearwood as cw
from clearwood.circuits.nodes import Product, Sum
from clearwood.exceptions import IndependentClassWarning, InputError


def table(n=300, seed=0, missing=0.1):
    X = people(n, seed, missing=0)
    y = np.where(X.pop("ill"), "ill", "well")
    X["class"] = np.arange(n) % 2  # a name that the target would have
    return X.mask(np.random.default_rng(seed).random(X.shape) < missing), y


@pytest.fixture(scope="module", params=[False, True], ids=["one network", "per class"])
def fitted(request):
    return cw.SPNClassifier(per_class=request.param, random_state=0).fit(*table())


def joint(found, row, k):
    """Probability density of an encoded row and a class, as it says."""
    return naive.density(found.circuit_.root, np.append(row, k))


def test_probabilities_are_those_of_the_density(fitted):
    X, y = table(60, seed=1, missing=0.3)
    proba = fitted.predict_proba(X)
    for row, found in zip(fitted._encoded(X), proba):
        both = np.array([joint(fitted, row, k) for k in (0, 1)])
        np.testing.assert_allclose(found, both / both.sum(), rtol=1e-9)
    assert fitted.classes_.tolist() == ["ill", "well"]
    assert fitted.score(X, y) > 0.75
    np.testing.assert_allclose(np.log(proba), fitted.predict_log_proba(X), atol=1e-12)


def test_of_nothing_the_share_of_the_class_is_left(fitted):
    X, y = table()
    nothing = pd.DataFrame([[None] * X.shape[1]], columns=list(X))
    share = np.mean(y == "ill")
    assert fitted.predict_proba(nothing)[0, 0] == pytest.approx(share, abs=0.03)
    # Cells that are too far out for any class say nothing either.
    far = pd.DataFrame([[None] * X.shape[1]], columns=list(X)).assign(age=1e200)
    np.testing.assert_allclose(
        fitted.predict_proba(far), fitted.predict_proba(nothing), rtol=1e-12
    )
    (told,) = fitted.explain(far)
    assert told.cells == {}


def test_a_network_per_class_is_one_of_its_rows_alone():
    X, y = table()
    found = cw.SPNClassifier(cw.MiniSPN(random_state=0), per_class=True).fit(X, y)
    root = found.circuit_.root
    assert isinstance(root, Sum) and len(root.children) == 2
    for k, child in enumerate(root.children):
        assert isinstance(child, Product)
        assert child.children[-1].variables == (X.shape[1],)
        assert child.children[-1].probability == k
    share = np.mean(y == "well")
    assert root.weights[1] == pytest.approx(share, abs=0.05)


def test_the_network_is_cloned_and_any_learner_will_do():
    X, y = table(150)
    network = cw.ParetoSPN(20, discrete=["grade"], random_state=0)
    found = cw.SPNClassifier(network).fit(X, y)
    assert not hasattr(network, "circuit_") and not hasattr(network, "front_")
    assert found.score(X, y) > 0.7
    assert found.circuit_.features.names[-2:] == ("class", "class_")
    found = cw.SPNClassifier(network, per_class=True).fit(X, y)
    assert found.score(X, y) > 0.7


def test_the_model_of_the_class_is_chosen_on_new_rows():
    """Networks were chosen on the rows that select them, where they look too good."""
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=800)
    X = rng.normal(size=(800, 8)) + 0.4 * y[:, None]  # naive Bayes is the truth
    chosen = [cw.SPNClassifier(random_state=s).fit(X, y).chosen_ for s in range(2)]
    assert chosen == ["naive Bayes"] * 2
    few = np.arange(800) < 3
    found = cw.SPNClassifier(random_state=0).fit(X, np.where(few, 3, y))
    assert found.chosen_ == "naive Bayes"  # with three rows of a class as well
    X = rng.normal(size=(800, 1)) + 1.5 * y[:, None] + 0.1 * rng.normal(size=(800, 8))
    assert cw.SPNClassifier(random_state=0).fit(X, y).chosen_ != "naive Bayes"


def test_the_model_of_the_class_is_not_known_before_fit():
    with pytest.raises(NotFittedError, match="SPNClassifier"):
        cw.SPNClassifier().chosen_  # noqa: B018


def test_what_cells_say_is_what_is_lost_without_them(fitted):
    X, _ = table(8, seed=2, missing=0.2)
    for i, told in enumerate(fitted.explain(X)):
        row = X.iloc[[i]]
        k = fitted.classes_.tolist().index(told.prediction)
        p = fitted.predict_proba(row)[0, k]
        assert told.probability == pytest.approx(p) and p >= 0.5
        assert set(told.cells) == {name for name in X if row[name].notna().item()}
        for name, (_, added) in told.cells.items():
            q = fitted.predict_proba(row.assign(**{name: None}))[0, k]
            lost = np.log(p / (1 - p)) - np.log(q / (1 - q))
            assert added == pytest.approx(lost, abs=1e-6)


def test_evidence_in_words(fitted):
    X, _ = table(4, seed=2, missing=0)
    row = X.iloc[[0]].assign(age=80.5, ward="west")
    (told,) = fitted.explain(row)
    lines = str(told).splitlines()
    same_lines(lines[0])
    assert len(lines) == 6 and any(line.endswith("age is 80.5") for line in lines)
    size = [abs(float(line.split()[0])) for line in lines[1:]]
    assert size == sorted(size, reverse=True)
    with pytest.warns(UserWarning, match="ward"):
        assert (
            "ward" not in fitted.explain(pd.concat([row.assign(ward="x")] * 3))[0].cells
        )


def test_bad_classes_are_told():
    X, y = table(40)
    with refuses(InputError, match="'a'"):
        cw.SPNClassifier().fit(X, np.full(40, "a"))
    with refuses(InputError):
        cw.SPNClassifier().fit(X, None)
    with refuses(InputError, match="'age'"):
        cw.SPNClassifier().fit(X, y).predict(X.assign(age=np.inf))
    with pytest.raises(ValueError, match="'n_networks'"):
        cw.SPNClassifier(cw.MiniSPN(n_networks=0)).fit(X, y)


def test_classes_of_few_rows():
    X, y = table(60)
    y[:2] = ["a", "b"]
    for per_class in (False, True):
        found = cw.SPNClassifier(per_class=per_class, random_state=0).fit(X, y)
        proba = found.predict_proba(X)
        assert proba.shape == (60, 4) and np.isfinite(proba).all()


def test_dates_of_few_values_are_dates(tmp_path):
    month = np.arange(120) % 3
    X = pd.DataFrame({"at": pd.to_datetime("2020-01-01") + month * pd.Timedelta("30D")})
    y = np.where(month == 1, "yes", "no")
    found = cw.SPNClassifier(random_state=0).fit(X, y)
    assert found.score(X, y) == 1
    cw.save(found, tmp_path / "kept")
    assert cw.load(tmp_path / "kept").score(X, y) == 1
    with refuses(InputError, match="'at'"):
        cw.MiniSPN(discrete=["at"]).fit(X)


def test_held_out_rows_choose_between_one_network_and_one_per_class():
    """Of 20 numbers the class is one column of 21, and in no cluster another."""
    X, y = make_classification(2000, 20, n_informative=8, random_state=1)
    chosen = cw.SPNClassifier(random_state=1).fit(X[:1000], y[:1000])
    one = cw.SPNClassifier(per_class=False, random_state=1)
    with pytest.warns(IndependentClassWarning):
        one.fit(X[:1000], y[:1000])
    assert chosen.score(X[1000:], y[1000:]) > one.score(X[1000:], y[1000:]) + 0.2
    # Too few rows of a class for a network of their own.
    rare = np.where(np.arange(300) < 10, 2, y[:300])
    chosen = cw.SPNClassifier(random_state=0).fit(X[:300, :4], rare)
    assert not chosen.chosen_.endswith("class")


def test_a_class_that_depends_on_nothing_is_told():
    X, y = np.tile([[0], [1]], (200, 1)), np.tile([0, 0, 1, 1], 100)
    with warns(IndependentClassWarning):
        cw.SPNClassifier(per_class=False, random_state=0).fit(X, y)
