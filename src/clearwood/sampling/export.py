"""Export of draws to ArviZ, for its plots and its other diagnostics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clearwood.exceptions import InputError

if TYPE_CHECKING:
    from clearwood.sampling.chains import Chains


def to_arviz(chains: Chains) -> Any:
    """Convert draws to ArviZ.

    Parameters
    ----------
    chains : Chains

    Returns
    -------
    xarray.DataTree or arviz.InferenceData
        The first from ArviZ 1.0 on, the second before; in both, groups ``posterior``
        and ``sample_stats``.

    Raises
    ------
    InputError
        ArviZ is not installed.
    """
    try:
        import arviz
    except ImportError:
        raise InputError(
            "ArviZ is not installed; install clearwood[arviz], or use chains.draws, "
            "a dict of arrays (n_chains, n_draws, ...)."
        ) from None
    groups = {"posterior": chains.draws, "sample_stats": chains.info}
    if int(arviz.__version__.split(".")[0]) >= 1:
        return arviz.from_dict(groups)
    return arviz.from_dict(**groups)
