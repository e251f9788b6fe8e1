"""CPU time of hidden Markov models: sweeps, and EM compared with hmmlearn's.

python -m benchmarks.sequences.speed [--quick] [--fresh]

On characters of Tiny Shakespeare (shared data). The comparison needs hmmlearn
(``pip install hmmlearn``) and is omitted without it.
"""

import importlib.util
import lzma
import time
from functools import partial

import numpy as np

from benchmarks._data import SHARED
from benchmarks._study import (
    Study,
    arguments,
    in_fresh_process,
    markdown_table,
    memory,
)

N_STEPS = 200_000
STATES = (10, 20)
GROWTH = (200_000, 1_000_000, 5_000_000)


def characters(n_steps):
    """The first ``n_steps`` characters as integers; a short text is repeated."""
    with lzma.open(SHARED / "text" / "tinyshakespeare.txt.xz", "rt") as file:
        text = np.frombuffer(file.read().encode("ascii"), dtype=np.uint8)
    _, codes = np.unique(text, return_inverse=True)
    return np.resize(codes, n_steps).astype(np.int32)


def start_of(n_states, n_symbols):
    """Random parameters."""
    from clearwood.sequences.sequence_model import StateModel

    rng = np.random.default_rng(0)
    return StateModel(
        np.full(n_states, 1 / n_states),
        rng.dirichlet(np.ones(n_states), n_states),
        rng.dirichlet(np.ones(n_symbols), n_states),
    )


def problem(codes):
    """Data and prior."""
    from clearwood.distributions import CategoricalEmission
    from clearwood.sequences.sequence_model import Observed, SequencePrior

    n_symbols = int(codes.max()) + 1
    kinds = np.arange(float(n_symbols))[:, None]
    prior = SequencePrior(1.0, 1.0, CategoricalEmission((1.0,) * n_symbols))
    return Observed(kinds, codes, [len(codes)]), prior


def fastest(function, n=7):
    """Minimum CPU time of several calls after a first one."""
    function()
    times = []
    for _ in range(n):
        begin = time.process_time()
        function()
        times.append(time.process_time() - begin)
    return min(times)


def iterations(run, more):
    """Seconds per iteration: the additional time of ``more`` iterations."""
    return (fastest(partial(run, 1 + more), 5) - fastest(partial(run, 1), 5)) / more


def compared(n_states):
    """Times of our sweep and EM iteration, and of hmmlearn's EM iteration."""
    from clearwood.sequences.baum_welch import baum_welch
    from clearwood.sequences.gibbs import StateSampler

    codes = characters(N_STEPS)
    observed, prior = problem(codes)
    start = start_of(n_states, int(codes.max()) + 1)
    sampler = StateSampler(observed, prior, n_states, start)
    rng = np.random.default_rng(0)
    state = sampler.init(rng)
    found = {
        "sweep": fastest(lambda: sampler.step(rng, state)),
        "iteration": iterations(
            lambda n: baum_welch(observed, prior, start, n, tol=-np.inf), 5
        ),
        "hmmlearn": np.nan,
    }
    if importlib.util.find_spec("hmmlearn"):
        from hmmlearn.hmm import CategoricalHMM

        def peer(n):
            CategoricalHMM(
                n_states,
                n_iter=n,
                tol=-np.inf,
                random_state=0,
                implementation="scaling",
            ).fit(codes[:, None])

        found["hmmlearn"] = iterations(peer, 5)
    yield found


def growth(n_steps, n_states):
    """Seconds of a sweep of many steps, and peak memory in MB."""
    from clearwood.sequences.gibbs import StateSampler

    observed, prior = problem(characters(n_steps))
    start = start_of(n_states, len(observed.values))
    sampler = StateSampler(observed, prior, n_states, start)
    rng = np.random.default_rng(0)
    state = sampler.init(rng)
    seconds = fastest(lambda: sampler.step(rng, state), 2)
    return seconds, memory("VmHWM")


def grown(n_steps, n_states):
    """One row of the study."""
    seconds, megabytes = in_fresh_process(growth, n_steps, n_states)
    yield {"seconds": seconds, "megabytes": megabytes}


def main():
    options = arguments(__doc__)
    sizes = GROWTH[:1] if options.quick else GROWTH
    speed = Study("sequences_speed", ["states"], options)
    speed.run({(k,): partial(compared, k) for k in STATES}, warm=lambda: None)
    memory = Study("sequences_growth", ["steps", "states"], options)
    memory.run({(n, 20): partial(grown, n, 20) for n in sizes}, warm=lambda: None)
    rows = speed.frame()
    beside_peer = [
        [int(r.states), 1e3 * r.sweep, 1e3 * r.iteration, 1e3 * r.hmmlearn,
         r.hmmlearn / r.sweep, r.hmmlearn / r.iteration]
        for r in rows.itertuples()
    ]  # fmt: skip
    speed.write_markdown(
        "Speed of hidden Markov models",
        f"{N_STEPS:,} characters of Tiny Shakespeare, CPU time in milliseconds: "
        "a sweep of Gibbs sampling (forward filtering, backward sampling, parameters), "
        "an iteration of EM, and one of hmmlearn's (scaling); minima of several runs.",
        markdown_table(
            [
                "states",
                "sweep",
                "EM",
                "hmmlearn's EM",
                "relative to a sweep",
                "relative to our EM",
            ],
            beside_peer,
        ),
        "Sweeps of more characters (the text repeated), and the peak memory of the "
        "process.",
        markdown_table(
            ["steps", "states", "seconds", "MB", "nanoseconds per step"],
            [
                [
                    int(r.steps),
                    int(r.states),
                    r.seconds,
                    r.megabytes,
                    1e9 * r.seconds / int(r.steps),
                ]
                for r in memory.frame().itertuples()
            ],
        ),  # fmt: skip
    )


if __name__ == "__main__":
    main()
