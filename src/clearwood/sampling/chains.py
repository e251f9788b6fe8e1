"""Parallel chains of one sampler, with checkpoints and exact continuation."""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from clearwood._numeric import spawn_generators
from clearwood._numeric.progress import progress as show_progress
from clearwood.codec.files import check_writable
from clearwood.exceptions import (
    CheckpointWarning,
    InputError,
    InterruptedFitWarning,
    ModelFormatError,
    PoorMixingWarning,
)
from clearwood.sampling.checkpoint import read_checkpoint, write_checkpoint
from clearwood.sampling.contract import Sampler
from clearwood.sampling.diagnostics import Diagnosis, diagnose

ROUNDS = 50
"""Parts of a run, between which all chains are synchronized."""

GOOD_RHAT = 1.01
"""Largest R-hat of chains that agree."""

LARGEST_RHAT = 1.05
"""The same for the largest of many, which is above that of most by chance."""

STUCK_RHAT = 3.0
"""R-hat beyond which chains differ by several of their standard deviations."""

GOOD_ESS = 100
"""Effective sample size that every chain should reach."""

MOST_DOUBLINGS = 4
"""How often the steps per draw are doubled in a run that has not converged."""

RARE = 0.01
"""Indicators that are as rarely true, or false, are not assessed."""

CHECKPOINT_SECONDS = 30.0
"""Least time between two checkpoints, which are written at the end of a round."""


@dataclass(frozen=True, eq=False)
class Chains:
    """Draws of several Markov chains.

    Attributes
    ----------
    draws : dict of str to ndarray of shape (n_chains, n_draws, ...)
        Quantities that the sampler records.
    info : dict of str to ndarray of shape (n_chains, n_draws)
        Statistics of the steps, averaged over the steps of each draw.
    states : list
        The last state of each chain.
    """

    draws: dict[str, np.ndarray]
    info: dict[str, np.ndarray]
    states: list[Any]

    @property
    def n_chains(self) -> int:
        """Number of chains."""
        return len(self.states)

    @property
    def n_draws(self) -> int:
        """Number of draws per chain."""
        return next(iter(self.draws.values())).shape[1]

    def diagnose(self) -> dict[str, Diagnosis]:
        """Mean, standard error, R-hat and effective sample size per recorded number.

        Entries of arrays are named ``name[i, j]``. Integers are labels, and omitted.
        """
        found = {}
        for name, values in self.draws.items():
            if values.dtype.kind != "f":
                continue
            for place in np.ndindex(values.shape[2:]):
                label = name + (f"[{', '.join(map(str, place))}]" if place else "")
                found[label] = diagnose(values[(..., *place)])
        return found


class Now(NamedTuple):
    """Current position of a chain, from which it can continue."""

    state: Any
    generator: Mapping[str, Any]
    done: int


class _Chain:
    """A running chain. A *turn* is one step of warm-up, or one draw."""

    def __init__(self, generator: np.random.Generator, state: Any) -> None:
        self.generator = generator
        self.now = Now(state, generator.bit_generator.state, 0)
        self.draws: list[dict[str, Any]] = []
        self.info: list[dict[str, float]] = []

    def advance(
        self, sampler: Sampler, plan: Plan, target: int, stop: threading.Event
    ) -> None:
        """Take turns until ``target`` are done, or until ``stop`` is set."""
        while self.now.done < target and not stop.is_set():
            state, done = self.now.state, self.now.done
            warm = done >= plan.n_warmup
            reports = []
            for _ in range(plan.thin if warm else 1):
                state, info = sampler.step(self.generator, state)
                reports.append(info)
            if warm:
                self.draws.append(dict(sampler.record(state)))
                means = [float(np.mean(values)) for values in zip(*reports)]
                self.info.append(dict(zip(info._fields, means)))
            # Assigned last and at once, so that an interrupt leaves whole turns.
            self.now = Now(state, self.generator.bit_generator.state, done + 1)

    def thinned(self, n_warmup: int) -> _Chain:
        """The same without the first half of the draws and every second one after."""
        found = _Chain(self.generator, self.now.state)
        found.draws, found.info = (
            kept[: len(kept) // 2 : -2][::-1] for kept in (self.draws, self.info)
        )
        found.now = self.now._replace(done=n_warmup + len(found.draws))
        return found


class Plan(NamedTuple):
    """Settings that a run must share with the checkpoint that it continues."""

    fingerprint: str
    n_chains: int
    n_warmup: int
    thin: int


def run_chains(
    sampler: Sampler,
    n_draws: int = 1000,
    *,
    n_warmup: int = 500,
    n_chains: int = 4,
    thin: int = 1,
    random_state: Any = None,
    min_ess: int | None = None,
    n_jobs: int | None = None,
    checkpoint: str | Path | None = None,
    progress: bool = False,
) -> Chains:
    """Run several chains of a sampler.

    The draws of chain ``i`` depend on ``random_state`` and ``i`` alone: more draws or
    chains, other ``n_jobs``, or an interruption change none of them. (With ``min_ess``,
    the length of the run depends on all draws.)

    Parameters
    ----------
    sampler : Sampler
    n_draws : int, default=1000
        Number of draws kept per chain.
    n_warmup : int, default=500
        Warm-up steps before the first draw, which are discarded.
    n_chains : int, default=4
    thin : int, default=1
        Steps per draw.
    random_state : int, Generator, RandomState or None
    min_ess : int, optional
        A run that has not converged, or whose effective sample size is below this,
        is continued with twice as many steps per draw, up to 16 times ``thin``. Its
        first half becomes warm-up, and every second draw of the other half is kept, so
        that the number of draws is the same. By default, with fewer than ``min_ess``
        draws in all chains, or where R-hats above 3 show that chains are in different
        modes, runs are not continued.
    n_jobs : int, optional
        Number of chains run in parallel, in threads (-1: one per core). It helps
        samplers that spend their time in compiled code.
    checkpoint : str or Path, optional
        File that is written every half minute, at the end and at Ctrl-C. If it exists,
        the run continues from it, with its generators; a damaged one is refused.
    progress : bool, default=False
        Whether to show progress on stderr.

    Returns
    -------
    Chains
        After Ctrl-C, with the draws that all chains have completed.

    Warns
    -----
    PoorMixingWarning
        Of a number, R-hat is above 1.01, or the effective sample size below
        ``min_ess``, by default 100 per chain; or R-hat is above 1.05 of an indicator
        that is true in 1 to 99 % of the draws.
    InterruptedFitWarning
        The run was stopped by Ctrl-C.
    CheckpointWarning
        The checkpoint could not be written. The run continues and tries again at the
        next save; all draws are returned.
    """
    least = {"n_draws": 1, "n_warmup": 0, "n_chains": 1, "thin": 1}
    for name, value in zip(least, (n_draws, n_warmup, n_chains, thin)):
        if value < least[name]:
            raise InputError(f"{name} is {value}; expected {least[name]} or more.")
    plan = Plan(sampler.fingerprint, n_chains, n_warmup, thin)
    plans, least_ess = [plan], GOOD_ESS * n_chains if min_ess is None else min_ess
    if min_ess is not None and n_draws * n_chains >= min_ess:
        plans += [plan._replace(thin=thin << k + 1) for k in range(MOST_DOUBLINGS)]
    path = None if checkpoint is None else Path(checkpoint)
    if path is not None:
        check_writable(path, overwrite=True)
    if path is not None and path.exists():
        plan, running = _resume(path, plans, sampler)
    else:
        running = [
            _Chain(generator, sampler.init(generator))
            for generator in spawn_generators(random_state, n_chains)
        ]
    interrupted = False
    try:
        while True:
            for _ in _rounds(sampler, running, plan, n_draws, n_jobs, path, progress):
                pass
            chains = _collect(running, n_draws)
            poor = _poor(chains, least_ess)
            later = plans[plans.index(plan) + 1 :]
            if not later or not poor or _are_stuck(chains):
                break
            # At once, so that an interrupt leaves a plan and its chains.
            plan, running = later[0], [chain.thinned(n_warmup) for chain in running]
    except KeyboardInterrupt:
        interrupted = True
    if path is not None:
        _save(path, plan, running)
    n_made = min(chain.now.done for chain in running) - n_warmup
    if interrupted:
        if n_made < 1:
            raise KeyboardInterrupt
        warnings.warn(
            f"Interrupted after {n_made} of {n_draws} draws; these are kept.",
            InterruptedFitWarning,
            stacklevel=2,
        )
        chains = _collect(running, min(n_made, n_draws))
        poor = _poor(chains, least_ess)
    _warn_of(poor, least_ess)
    return chains


def _rounds(
    sampler: Sampler,
    running: list[_Chain],
    plan: Plan,
    n_draws: int,
    n_jobs: int | None,
    path: Path | None,
    visible: bool,
) -> Iterator[None]:
    """Advance all chains, part by part."""
    from joblib import effective_n_jobs

    end = plan.n_warmup + n_draws
    targets = sorted({end * (i + 1) // ROUNDS for i in range(ROUNDS)})
    stop, saved = threading.Event(), time.monotonic()
    # Not joblib, whose threads keep working on the chains after Ctrl-C.
    with ThreadPoolExecutor(min(effective_n_jobs(n_jobs), plan.n_chains)) as pool:
        for target in show_progress(targets, len(targets), "sampling", visible):
            work = [
                pool.submit(chain.advance, sampler, plan, target, stop)
                for chain in running
            ]
            try:
                for part in work:
                    part.result()
            finally:
                if any(not part.done() or part.exception() for part in work):
                    stop.set()
            if path is not None and time.monotonic() - saved > CHECKPOINT_SECONDS:
                _save(path, plan, running)
                saved = time.monotonic()
            yield


def _collect(running: list[_Chain], n_draws: int) -> Chains:
    """Draws as arrays, truncated to the number that all chains have."""
    draws = _stack([chain.draws[:n_draws] for chain in running])
    info = _stack([chain.info[:n_draws] for chain in running])
    return Chains(draws, info, [chain.now.state for chain in running])


def _stack(rows: list[list[dict[str, Any]]]) -> dict[str, np.ndarray]:
    """Dict of arrays (n_chains, n_draws, ...) from lists of dicts, one per chain."""
    names = rows[0][0] if rows[0] else {}
    return {k: np.array([[row[k] for row in chain] for chain in rows]) for k in names}


def _poor(chains: Chains, least: int) -> dict[str, Diagnosis]:
    """Diagnostics of numbers, and of indicators that change, that are not good."""
    found = {
        name: d
        for name, d in chains.diagnose().items()
        if d.rhat > GOOD_RHAT or d.ess < least
    }
    for name, values in chains.draws.items():
        if values.dtype.kind == "b":
            share = values.mean(axis=(0, 1))
            for place in zip(*np.nonzero((share >= RARE) & (share <= 1 - RARE))):
                d = diagnose(values[(..., *place)])
                if d.rhat > LARGEST_RHAT:
                    found[f"{name}[{', '.join(map(str, place))}]"] = d
    return found


def _are_stuck(chains: Chains) -> bool:
    """Whether chains are in different modes, so that more steps are of little use."""
    return any(d.rhat > STUCK_RHAT for d in chains.diagnose().values())


def _warn_of(poor: dict[str, Diagnosis], least: int) -> None:
    if poor:
        name = max(poor, key=lambda k: poor[k].rhat)
        warnings.warn(
            f"{len(poor)} recorded quantities have not converged; {name!r} has an "
            f"R-hat of {poor[name].rhat:.3f} (good: up to {GOOD_RHAT}) and an "
            f"effective sample size of {poor[name].ess:.0f} (good: "
            f"{least} or more). Use more draws, or a longer warm-up.",
            PoorMixingWarning,
            stacklevel=3,
        )


def _save(path: Path, plan: Plan, running: list[_Chain]) -> None:
    """Write the current position of all chains; draws beyond it are made again.

    Failure is only a warning, so that a full disk does not lose draws in memory.
    """
    chains = []
    for chain in running:
        now = chain.now
        n = max(now.done - plan.n_warmup, 0)
        chains.append({
            "state": now.state._asdict(),
            "generator": now.generator,
            "done": now.done,
            "draws": {k: v[0] for k, v in _stack([chain.draws[:n]]).items()},
            "info": {k: v[0] for k, v in _stack([chain.info[:n]]).items()},
        })  # fmt: skip
    try:
        write_checkpoint(path, {"plan": plan._asdict(), "chains": chains})
    except InputError as error:
        warnings.warn(
            f"No checkpoint was written: {error} All draws stay in memory and the run "
            "continues; saving is tried again, at the latest at its end. Make space "
            "for the file until then. An earlier checkpoint is kept.",
            CheckpointWarning,
            stacklevel=3,
        )


def _resume(
    path: Path, plans: list[Plan], sampler: Sampler
) -> tuple[Plan, list[_Chain]]:
    """Plan and chains of a checkpoint, which must belong to this run."""
    content = read_checkpoint(path)
    plan = next((p for p in plans if p._asdict() == content.get("plan")), None)
    if plan is None:
        raise InputError(
            f"The checkpoint {str(path)!r} belongs to another run: it has "
            f"{content.get('plan')}, this run {plans[0]._asdict()}. Delete it or "
            "choose another path."
        )
    try:
        running = [_read_chain(chain, plan, sampler) for chain in content["chains"]]
    except (
        LookupError, TypeError, ValueError, AttributeError, OverflowError,
    ) as error:  # fmt: skip
        raise ModelFormatError(
            f"The checkpoint {str(path)!r} is damaged ({error!r}); delete it to start "
            "again."
        ) from None
    kinds = {tuple(chain.info[0]) for chain in running if chain.info}
    if len(running) != plan.n_chains or len(kinds) > 1:
        raise ModelFormatError(
            f"The checkpoint {str(path)!r} holds {len(running)} chains with reports "
            f"{sorted(kinds)}, expected {plan.n_chains} of one kind; delete it to "
            "start again."
        )
    return plan, running


def _read_chain(content: dict[str, Any], plan: Plan, sampler: Sampler) -> _Chain:
    known = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")
    name = content["generator"]["bit_generator"]
    if name not in known:
        raise ValueError(f"generator {name!r}")
    generator = np.random.Generator(getattr(np.random, name)())
    state = _read_state(content["state"], sampler.init(generator))
    generator.bit_generator.state = content["generator"]
    chain, done = _Chain(generator, state), content["done"]
    if type(done) is not int or done < 0:
        raise ValueError(f"{done} turns done")
    n = max(done - plan.n_warmup, 0)
    record = dict(sampler.record(state))
    for kept, rows in ((chain.draws, "draws"), (chain.info, "info")):
        if n and not content[rows] and rows == "draws":
            raise ValueError("there are no draws")
        if any(len(values) != n for values in content[rows].values()):
            raise ValueError(f"{rows} are not {n}")
        kept.extend({k: v[i] for k, v in content[rows].items()} for i in range(n))
    if n and not _equal(record, chain.draws[-1]):
        raise ValueError("the last draw differs from the state")
    chain.now = Now(state, generator.bit_generator.state, done)
    return chain


def _equal(a: dict[str, Any], b: dict[str, Any]) -> bool:
    return a.keys() == b.keys() and all(np.array_equal(a[k], b[k]) for k in a)


def _read_state(content: dict[str, Any], like: Any) -> Any:
    """State with the types and dimensions of another one."""
    state = type(like)(**content)
    for name, value, other in zip(state._fields, state, like):
        found, expected = np.asarray(value), np.asarray(other)
        if found.dtype.kind != expected.dtype.kind or found.ndim != expected.ndim:
            raise ValueError(f"{name} of the state is {value!r}")
    return state
