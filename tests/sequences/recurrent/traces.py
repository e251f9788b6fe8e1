"""Small traces without a network, and the slow twins of what is counted in them."""

import json
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

from clearwood.sequences.recurrent.trace import NetworkTrace


def golden(name):
    path = Path(__file__).parents[2] / "golden" / "hmm.json"
    return json.loads(path.read_text(encoding="utf-8"))[name]


def made_trace(lengths, n_symbols=3, n_held_out=0, seed=0):
    """Sequences and predictions at random."""
    rng = np.random.default_rng(seed)
    n = sum(lengths)
    p = rng.dirichlet(np.ones(n_symbols), size=n)
    return NetworkTrace(
        codes=rng.integers(n_symbols, size=n),
        starts=np.cumsum(lengths) - lengths,
        states=rng.normal(size=(n, 2)),
        log_proba=np.log(p),
        is_held_out=np.arange(n) >= n - n_held_out,
    )


TRACES = st.builds(
    made_trace,
    st.lists(st.integers(1, 8), min_size=2, max_size=6),
    st.integers(1, 4),
    st.integers(0, 1),
    st.integers(0, 1000),
)


def steps_of(trace):
    """Per step its sequence up to there, as a tuple of codes."""
    for first, end in zip(trace.starts, [*trace.starts[1:], len(trace.codes)]):
        for step in range(first, end):
            yield step, tuple(trace.codes[first : step + 1].tolist())


def naive_table(trace, longest):
    """What is said after the last symbols, by a dictionary; per step."""
    p, told = np.exp(trace.log_proba), defaultdict(list)
    past = dict(steps_of(trace))
    for step, codes in past.items():
        for n in range(min(longest, len(codes)) + 1):
            if not trace.is_held_out[step]:
                told[codes[len(codes) - n :]].append(p[step])
    lines = []
    for codes in past.values():
        known = min(longest, len(codes))
        while codes[len(codes) - known :] not in told:
            known -= 1
        lines.append(np.mean(told[codes[len(codes) - known :]], axis=0))
    return np.array(lines)


def naive_automaton(trace, states, n_states):
    """First states, moves and counts, by counting."""
    seen = Counter()
    for step, past in steps_of(trace):
        if not trace.is_held_out[step]:
            before = states[step - 1] if len(past) > 1 else "start"
            seen[before, past[-1], states[step]] += 1

    training = ~trace.is_held_out
    centres = [
        trace.states[training & (states == s)].sum(0)
        / max((training & (states == s)).sum(), 1)
        for s in range(n_states)
    ]

    def most(table, key, stay):
        found = {k[-1]: n for k, n in table.items() if k[:-1] == key}
        return min(found, key=lambda state: (-found[state], state), default=stay)

    def move(before, code):
        known = [s for s in range(n_states) if (s, code) in {k[:2] for k in seen}]
        if before not in known and known:
            gaps = [np.linalg.norm(centres[s] - centres[before]) for s in known]
            before = known[int(np.argmin(gaps))]
        return most(seen, (before, code), before)

    symbols = range(trace.n_symbols)
    counts = [
        [sum(n for k, n in seen.items() if k[:2] == (s, c)) for c in symbols]
        for s in range(n_states)
    ]
    table = [[move(s, c) for c in symbols] for s in range(n_states)]
    first = [most(seen, ("start", c), None) for c in symbols]
    alike = [sum(own == state for own, state in zip(row, first)) for row in table]
    like_start = table[int(np.argmax(alike))]
    first = [like_start[c] if first[c] is None else first[c] for c in symbols]
    return first, table, counts
