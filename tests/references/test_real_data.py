"""References on the data of the paper: good means, and honest variances."""

import numpy as np
import pandas as pd
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

import clearwood as cw

KERNEL = ConstantKernel(1.0) * RBF(5.0) + WhiteKernel(0.3)
PROCESS = make_pipeline(
    StandardScaler(),
    GaussianProcessRegressor(KERNEL, normalize_y=True, optimizer=None),
)


@pytest.mark.parametrize("model", [None, "bart", PROCESS], ids=["", "bart", "process"])
def test_intervals_hold_new_rows(shared_data, model):
    """As often as they say, and the mean is nearer than a tree of any small size."""
    if model == "bart":
        pytest.importorskip("stochtree", reason="needs stochtree (extra bart)")
    table = pd.read_csv(shared_data("data/tabular/bodyfat.csv"))
    X, y = table.drop(columns="Bodyfat"), table["Bodyfat"].to_numpy()
    X, new, y, y_new = train_test_split(X, y, test_size=0.4, random_state=0)
    few = {"n_draws": 150} if model == "bart" else {}
    reference = cw.reference(model, X, y, random_state=0, **few)
    mean, variance, noise = reference.mean_and_variance(new)
    inside = np.abs(y_new - mean) < 1.96 * np.sqrt(variance + noise)
    # Of 101 rows 95 % are meant: 91 to 100 % with six splits and each reference.
    assert inside.mean() > 0.85
    assert np.sqrt(np.mean(variance + noise)) < 0.9 * y.std()
    sizes = range(2, 12)
    trees = [DecisionTreeRegressor(max_leaf_nodes=n).fit(X, y) for n in sizes]
    errors = [np.mean((y_new - tree.predict(new)) ** 2) for tree in trees]
    assert np.mean((y_new - mean) ** 2) < min(errors)


def test_text_and_empty_cells_of_a_real_table_are_read(shared_data):
    table = pd.read_csv(shared_data("data/tabular/autompg.csv")).drop(columns="name")
    X, y = table.drop(columns="mpg"), table["mpg"].to_numpy()
    assert X.isna().any(axis=None) and X["origin"].dtype.kind != "f"
    reference = cw.reference(None, X[::2], y[::2], n_draws=50, random_state=0)
    mean, _, _ = reference.mean_and_variance(X[1::2])
    assert np.mean((y[1::2] - mean) ** 2) < y.var() / 4
