"""Rules that are logged in MLflow come back, and predict as its models do."""

import pandas as pd
import pytest
from tests.guides import blocks_of, names_of

import clearwood.mlflow as flavour
from clearwood.rules import CategorySet, FeatureSpace, Interval, Rule, RuleList

mlflow = pytest.importorskip("mlflow")

RULES = RuleList(
    (Rule((Interval(0, 60.0), CategorySet(1, (0,))), "yes", (0.1, 0.9)),),
    Rule((), "no", (0.8, 0.2)),
    FeatureSpace(("age", "ward"), (None, ("a", "b"))),
    ("no", "yes"),
)
X = pd.DataFrame({"age": [70.0, 70.0, 20.0] * 5, "ward": ["a", "b", "a"] * 5})


@pytest.fixture(autouse=True)
def runs(tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())


@pytest.mark.parametrize("page", [True, False])
def test_a_logged_model_predicts_as_the_rules(page):
    with mlflow.start_run() as run:
        info = flavour.log_model(RULES, "rules", X, show_report=page)
    model = mlflow.pyfunc.load_model(info.model_uri)
    assert list(model.predict(X)) == RULES.predict(X).tolist()
    assert model.metadata.signature.inputs.input_names() == ["age", "ward"]
    assert flavour.load_model(info.model_uri) == RULES
    files = mlflow.artifacts.list_artifacts(run_id=run.info.run_id)
    assert any(one.path == "rules" for one in files) == page


def test_the_guide_runs(capsys):
    logged, _ = blocks_of("serving")
    exec(logged, names_of("serving"))
    assert "by rule" in capsys.readouterr().out
