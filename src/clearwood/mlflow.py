"""Flavour of MLflow: rules and fitted estimators as logged models."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

__all__ = ["load_model", "log_model"]

FILE, PAGE = "model.clearwood", "report.html"


def log_model(
    result: Any, name: str, X: Any, *, y: Any = None, show_report: bool = True
) -> Any:
    """Log a result in the active run of MLflow, as a pyfunc with a signature.

    Parameters
    ----------
    result : RuleSet or fitted estimator
        What :func:`clearwood.save` writes and what has ``predict``.
    name : str
        Name of the model.
    X : DataFrame of shape (n_samples, n_features)
        Rows for the signature and the report; preferably held out.
    y : array-like of shape (n_samples,), optional
        True labels or values, for the report.
    show_report : bool, default=True
        Whether :func:`clearwood.report` of the result on ``X`` becomes an artifact.

    Returns
    -------
    mlflow.models.model.ModelInfo

    Examples
    --------
    >>> import mlflow  # doctest: +SKIP
    >>> with mlflow.start_run():  # doctest: +SKIP
    ...     info = log_model(rules, "rules", X_new, y=y_new)
    >>> mlflow.pyfunc.load_model(info.model_uri).predict(X_new)  # doctest: +SKIP
    """
    import mlflow
    from mlflow.models import infer_signature

    from clearwood import __version__, report, save

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        save(result, path / FILE)
        if show_report:
            report(result, path / PAGE, X=X, y=y)
            mlflow.log_artifact(str(path / PAGE), artifact_path=name)
        return mlflow.pyfunc.log_model(
            name=name,
            loader_module="clearwood.mlflow",
            data_path=str(path / FILE),
            signature=infer_signature(X, result.predict(X)),
            pip_requirements=[f"clearwood=={__version__}"],
        )


def load_model(uri: str) -> Any:
    """Load a result logged by :func:`clearwood.mlflow.log_model`, with all methods.

    Parameters
    ----------
    uri : str
        As in ``info.model_uri``.

    Returns
    -------
    RuleSet or fitted estimator
    """
    import mlflow

    from clearwood import load

    folder = mlflow.artifacts.download_artifacts(uri)
    return load(Path(folder) / "data" / FILE)


def _load_pyfunc(path: str) -> Any:
    """The result in a file; MLflow calls its ``predict``."""
    from clearwood import load

    return load(path)
