"""ONNX of rules, as the guide writes it, says what the rules say in another runtime."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import clearwood as cw

skl2onnx = pytest.importorskip("skl2onnx")
onnxruntime = pytest.importorskip("onnxruntime")


@pytest.mark.parametrize("load", [load_iris, load_diabetes])
def test_another_runtime_decides_as_the_rules_do(load):
    X, y = load(return_X_y=True)
    kind = DecisionTreeClassifier if load is load_iris else DecisionTreeRegressor
    model = kind(max_depth=4).fit(X, y)
    rules = cw.simplify(model, X, y, n_rules=5, random_state=0)
    X = X.astype(np.float32)
    written = skl2onnx.to_onnx(rules.to_sklearn(), X).SerializeToString()
    session = onnxruntime.InferenceSession(written)
    said = session.run(None, {session.get_inputs()[0].name: X})
    wanted = rules.predict(X.astype(float))
    if load is load_diabetes:
        np.testing.assert_allclose(said[0].ravel(), wanted, rtol=1e-6)
        return
    np.testing.assert_array_equal(said[0], wanted)
    shares = np.array([[row[c] for c in rules.classes] for row in said[1]])
    np.testing.assert_allclose(shares, rules.predict_proba(X), atol=1e-6)
