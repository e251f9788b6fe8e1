"""What a fit measured on rows that it held out."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class HeldOutPath(NamedTuple):
    """Fidelity of lists of at most 1, 2, ... lines on rows held out in the fit.

    Attributes
    ----------
    fidelity : ndarray of shape (max_rules,)
    standard_error : ndarray of shape (max_rules,)
    """

    fidelity: np.ndarray
    standard_error: np.ndarray


def held_out_of(estimator: Any) -> HeldOutPath | None:
    """What the fit measured on held-out rows with the settings that it chose."""
    results = getattr(estimator, "cv_results_", None)
    if not results:
        return None
    fidelity, error = np.array(results["fidelity"]), np.array(results["standard_error"])
    settings = getattr(estimator, "settings_", {})
    fits = [
        all(results[name][i] == v for name, v in settings.items() if name in results)
        for i in range(len(fidelity))
    ]
    chosen = fits.index(True)
    return HeldOutPath(fidelity[chosen], error[chosen])
