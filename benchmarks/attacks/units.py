"""Units: do predictions depend on the units of X, y and the weights?

Every estimator is fitted to the same rows in other units, also near the limits of
float64, and must make the same predictions or raise an error.
"""

import re
import warnings
from functools import partial as bind

import numpy as np
from tests.estimators import ESTIMATORS, NETWORKS, SIMPLIFIERS, says

import clearwood as cw
from benchmarks.attacks.checks import Attack, held, of_all, refused, study
from clearwood.rules import Interval, Rule, RuleList

OF_Y = {
    "times 1e-30": (1e-30, 0.0),
    "times 1e-8": (1e-8, 0.0),
    "times 1e30": (1e30, 0.0),
    "plus 1e9": (1.0, 1e9),
    "plus 1e12": (1.0, 1e12),
}
OF_X = {
    "times 1e-45": (1e-45, 0.0),
    "times 1e-8": (1e-8, 0.0),
    "times 1e30": (1e30, 0.0),
    "plus 1e8": (1.0, 1e8),
    "unix seconds": (10.0, 1.7e9),
}
WEIGHTS = (1e-300, 1e-200, 1e-150, 1e-30, 1e30, 1e150)
ENDS = (1.7e308, 1e-310, 5e-324)
REGRESSORS = [case for case in ESTIMATORS if not case.classifies]
EXACT = [case for case in ESTIMATORS if case not in NETWORKS]
NEAR = max(case.solved_to for case in NETWORKS)
WEIGHTED = [case for case in ESTIMATORS if case.weighs]
LOSS = 0.02
"""Maximum loss of R2 or accuracy by a change of units."""


def main():
    study("units", __doc__, attacks)


def attacks(count):
    """All attacks; ``count`` has no effect."""
    same, read = f"a score within {LOSS}", "fitted and displayed, or refused"
    return [
        *(
            Attack(f"X: {unit}", same, bind(of_all, in_unit, 1.0, 0.0, *move))
            for unit, move in OF_X.items()
        ),
        *(
            Attack(f"y: {unit}", same, bind(of_all, in_unit, *move, cases=REGRESSORS))
            for unit, move in OF_Y.items()
        ),
        *(
            Attack(
                f"weights of {w:g}",
                read,
                bind(of_all, fit_and_read, 1.0, w, cases=WEIGHTED),
            )
            for w in WEIGHTS
        ),
        *(
            Attack(f"X times {by:g}", read, bind(of_all, fit_and_read, by))
            for by in ENDS
        ),
        Attack(
            "powers of two",
            "the same to the last bit",
            bind(of_all, powers_of_two, 0.0, cases=EXACT),
        ),
        Attack(
            "powers of two, circuits",
            f"probabilities within {NEAR:g}",
            bind(of_all, powers_of_two, NEAR, cases=NETWORKS),
        ),
        Attack(
            "rows and weights in texts",
            "numbers of rows, not weights",
            bind(of_all, rows_and_weights, cases=SIMPLIFIERS),
        ),
        Attack(
            "explain between subnormal thresholds", "an explanation", explain_subnormal
        ),
        Attack(
            "64-bit integers in float32", "as predicted by scikit-learn", rounded_once
        ),
    ]


def signal(case, n=300):
    """Rows with a predictable target."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    y = 2 * X[:, 0] + (X[:, 1] > 0) + 0.2 * rng.normal(size=n)
    return X, np.where(y > 0.5, "high", "low") if case.classifies else y


def in_unit(case, of_y, plus_y, of_x=1.0, plus_x=0.0):
    X, y = signal(case)
    before = case.made(None).fit(X, y).score(X, y)
    if case.classifies:
        Z = of_x * X + plus_x
        after = case.made(None).fit(Z, y).score(Z, y)
    else:
        Z, t = of_x * X + plus_x, of_y * y + plus_y
        predicted = case.made(None).fit(Z, t).predict(Z)
        # Squares of the raw values may underflow or overflow.
        error = (predicted - t.mean()) / t.std() - (t - t.mean()) / t.std()
        after = 1 - float((error**2).mean())
    return held(after > before - LOSS, f"{before:.3f} -> {after:.3f}")


def fit_and_read(case, of_x, weight=None):
    """Refused, or fitted with all outputs available."""
    X, y = signal(case, 120)
    X = np.clip(X, -1, 1) * of_x
    weights = {} if weight is None else {"sample_weight": np.full(len(y), weight)}

    def whole():
        found = case.made(None).fit(X, y, **weights)
        found.predict(X)
        if hasattr(found, "rules_"):
            rules = found.rules_
            str(rules), rules._repr_html_(), str(rules.explain(X[0])), rules.to_json()

    try:
        return refused(whole)
    except ValueError as error:
        # scikit-learn's trees refuse values beyond float32, with their own message.
        return held("float32" in str(error) or "infinity" in str(error), str(error))


def powers_of_two(case, near):
    X, y = case.data()
    plain, different = case.made(case.model(), **case.exactly).fit(X, y), []
    for power in (-40, -9, 17, 60):
        x, of_y = 2.0**power, 1.0 if case.classifies else 2.0**-power
        scaled = case.made(case.model(x=x, y=of_y), **case.exactly)
        scaled.fit(X * x, y if case.classifies else y * of_y)
        error = np.abs(says(scaled, X * x) / of_y - says(plain, X)).max()
        if not error <= near:
            different.append(f"2^{power}")
    return held(not different, f"different at {', '.join(different)}")


def rows_and_weights(case):
    X, y = signal(case, 120)
    rules = case.made(None).fit(X, y, sample_weight=np.full(120, 28.4)).rules_
    # The displayed numbers.
    text = " ".join(str(rules).split())
    most = max(map(float, re.findall(r"\(([\d.e+]+) rows?\b", text)))
    return held(most <= 120, f"a rule displays {most:g} of 120 rows")


def explain_subnormal():
    space = cw.FeatureSpace(("a",), (None,))
    rules = RuleList(
        (Rule((Interval(0, -5e-324, 1e-320),), 1.0),), Rule((), 0.0), space
    )
    return f"{len(str(rules.explain([-1e300])))} characters"


def rounded_once():
    """Rounding integers to float64 and then to float32 gives another value."""
    from sklearn.tree import DecisionTreeRegressor

    low = 2**60
    X = np.array([[low], [low + 2**37]], dtype=np.int64).repeat(20, 0)
    y = np.repeat([0.0, 1.0], 20)
    X_new = np.array([[low + 2**36 + 1]], dtype=np.int64)
    model = DecisionTreeRegressor().fit(X, y)
    native, ours = model.predict(X_new)[0], cw.read_ensemble(model).predict(X_new)[0]
    return held(native == ours, f"scikit-learn {native}, read {ours}")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
