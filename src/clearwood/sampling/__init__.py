"""Markov chain Monte Carlo: sampler protocol, parallel chains and diagnostics.

A sampler is a small object with ``init``, ``step`` and ``record``. ``run_chains`` runs
several chains of it, with checkpoints from which a run continues bit for bit.
"""

from clearwood.sampling.chains import Chains, run_chains
from clearwood.sampling.contract import Sampler, fingerprint_of
from clearwood.sampling.diagnostics import Diagnosis, bulk_ess, split_rhat
from clearwood.sampling.export import to_arviz

__all__ = [
    "Chains",
    "Diagnosis",
    "Sampler",
    "bulk_ess",
    "fingerprint_of",
    "run_chains",
    "split_rhat",
    "to_arviz",
]
