"""Errors by group are those that fairlearn computes."""

import numpy as np
import pandas as pd
import pytest
from fairlearn.metrics import MetricFrame, false_negative_rate, false_positive_rate
from tests.rules.monitoring.test_monitor import LIST, labels, table

import clearwood as cw


@pytest.mark.parametrize("seed", range(5))
def test_rates_by_group_are_those_of_fairlearn(seed):
    X = table(300, seed)
    y = labels(X, seed)
    y[::7] = np.random.default_rng(seed).choice(["ill", "well"], len(y[::7]))
    found = cw.monitor(LIST, X, y, by="site", pos_label="ill").groups_to_frame()
    own = found.pivot(index="site", columns="error", values="value")
    frame = MetricFrame(
        metrics={
            "error": lambda true, predicted: float(np.mean(true != predicted)),
            "false negatives": false_negative_rate,
            "false positives": false_positive_rate,
        },
        y_true=(y == "ill").astype(int),
        y_pred=(LIST.predict(X) == "ill").astype(int),
        sensitive_features=X["site"],
    )
    pd.testing.assert_frame_equal(
        own, frame.by_group, check_names=False, rtol=1e-12, atol=1e-12
    )
    counts = found.groupby("site")["rows"].first()
    assert counts.tolist() == X["site"].value_counts().sort_index().tolist()
