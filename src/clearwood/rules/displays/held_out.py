"""Fidelity measured on held-out rows during a fit."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class HeldOutPath(NamedTuple):
    """Fidelity of lists of at most 1, 2, ... rules on rows held out in the fit.

    Attributes
    ----------
    fidelity : ndarray of shape (max_rules,)
    standard_error : ndarray of shape (max_rules,)
    of_mixtures : bool
        Whether fidelity was measured on mixtures of these rows, as the model may have
        memorized the rows themselves.
    """

    fidelity: np.ndarray
    standard_error: np.ndarray
    of_mixtures: bool = False

    @property
    def rows(self) -> str:
        """Description of the rows of the measurement."""
        return f"{'synthetic mixtures of ' * self.of_mixtures}rows held out in the fit"


def held_out_of(estimator: Any) -> HeldOutPath | None:
    """Fidelity of all sizes on rows held out in the fit, if there was a choice."""
    results = getattr(estimator, "cv_results_", None)
    if not results:
        return None
    fidelity, error = results["fidelity"], results["standard_error"]
    of_mixtures = getattr(estimator, "learn_from", "labels") == "model"
    return HeldOutPath(np.array(fidelity), np.array(error), of_mixtures)
