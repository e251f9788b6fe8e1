"""Networks of the studies, trained once on a text and saved.

They are saved in ``build/networks``, which git ignores; if it is deleted, the same
networks are trained again. Needs torch (``pip install clearwood[torch]``).
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import torch
from torch import nn

import clearwood as cw
from benchmarks._study import ROOT
from benchmarks.sequences import cases

KEPT = ROOT / "build" / "networks"
SHAKESPEARE = "shakespeare"
QUICK_CHARACTERS = 100_000
N_READ, N_TEST = 400_000, 111_540
"""Number of characters that are read for explanations, and how many of these, at the
end, are held out from networks, surrogates and trees."""

N_STREAMS, WINDOW, RATE = 16, 64, 0.01
"""Of the plain networks, and of the training of hybrids."""

N_EPOCHS, N_QUICK_EPOCHS = 40, 3
"""After some thirty epochs nothing changes: the rate has been halved too often."""

N_HMM_STATES = 10


class Size(NamedTuple):
    """Numbers of units, and of states of the hidden Markov model."""

    n_hidden: int
    n_states: int = 0


HYBRIDS = {
    "hybrid 10+10": Size(10, N_HMM_STATES),
    "LSTM 10": Size(10),
    "LSTM 20": Size(20),
    "hybrid 20+10": Size(20, N_HMM_STATES),
    "hybrid 10+20": Size(10, 20),
    "hybrid 20+20": Size(20, 20),
}
"""Networks of this library: rows of table 17, in the order of the studies."""

PLAIN = {"GRU 20": (nn.GRU, 20, 1), "two-layer LSTM 20": (nn.LSTM, 20, 2)}
"""Plain networks of torch: module, units and layers."""


@lru_cache(maxsize=2)
def parts_of(quick, of=SHAKESPEARE):
    """Training text and test text."""
    train, test = cases.parts_of(of)
    if quick:
        return train[:QUICK_CHARACTERS], test[: QUICK_CHARACTERS // 10]
    return train, test


def to_read(quick, of=SHAKESPEARE):
    """The text for explanations, and the held-out share at its end."""
    train, test = parts_of(quick, of)
    test = test[:N_TEST]
    text = train[len(test) - N_READ :] + test
    return text, len(test) / len(text)


@lru_cache(maxsize=2)
def symbols_of(quick, of=SHAKESPEARE):
    """All characters, in order."""
    return sorted(set("".join(parts_of(quick, of))))


def encoded(text, quick, of=SHAKESPEARE):
    """A text as integers."""
    return np.searchsorted(symbols_of(quick, of), list(text))


def hybrid(name, seed, quick):
    """A network of this library, trained or loaded."""
    path = kept_at(name, seed, quick, "zip")
    if not path.exists():
        print("training:", name, seed, flush=True)
        n_hidden, n_states = HYBRIDS[name]
        hmm = None
        if n_states:
            hmm = cw.HiddenMarkovModel(n_states, algorithm="em", random_state=seed)
        learner = cw.HMMLSTM(
            n_hidden,
            hybrid="sequential" if n_states else None,
            hmm=hmm,
            n_epochs=N_QUICK_EPOCHS if quick else N_EPOCHS,
            random_state=seed,
        )
        cw.save(learner.fit(parts_of(quick)[0]), path)
    return cw.load(path)


class NextSymbol(nn.Module):
    """Embedded symbols, a recurrent module, and a linear layer."""

    def __init__(self, kind, n_units, n_layers, n_symbols):
        super().__init__()
        self.lookup = nn.Embedding(n_symbols, n_units)
        self.recurrent = kind(n_units, n_units, n_layers)
        self.output = nn.Linear(n_units, n_symbols)

    def forward(self, codes, state=None):
        """Logits of the next symbol, and the new state."""
        hidden, state = self.recurrent(self.lookup(codes), state)
        return self.output(hidden), state


def plain(name, seed, quick, of=SHAKESPEARE):
    """A plain module of torch, trained or loaded."""
    stem = name if of == SHAKESPEARE else f"{of}-{name}"
    path = kept_at(stem, seed, quick, "pt")
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    module = NextSymbol(*PLAIN[name], len(symbols_of(quick, of)))
    if not path.exists():
        print("training:", stem, seed, flush=True)
        codes = encoded(parts_of(quick, of)[0], quick, of)
        n_epochs = N_QUICK_EPOCHS
        if not quick:
            n_epochs = N_EPOCHS // 2 if of == SHAKESPEARE else 1
        _train(module, codes, n_epochs)
        torch.save(module.state_dict(), path)
    module.load_state_dict(torch.load(path, weights_only=True))
    return module


def _train(module, codes, n_epochs):
    """Adam with a rate that decreases to zero, in parallel streams."""
    streams = np.resize(codes, (N_STREAMS, len(codes) // N_STREAMS))
    steps = torch.as_tensor(streams.T.copy())
    optimiser = torch.optim.Adam(module.parameters(), RATE)
    falling = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, n_epochs)
    for _ in range(n_epochs):
        state = None
        for first in range(0, len(steps) - 1, WINDOW):
            wanted = steps[first + 1 : first + 1 + WINDOW]
            logits, state = module(steps[first : first + len(wanted)], state)
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), wanted.flatten())
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(module.parameters(), 5.0)
            optimiser.step()
            state = _detached(state)
        falling.step()


def _detached(state):
    if isinstance(state, tuple):
        return tuple(part.detach() for part in state)
    return state.detach()


def kept_at(name, seed, quick, ending):
    """The file of a network."""
    KEPT.mkdir(parents=True, exist_ok=True)
    stem = f"{name}-{seed}" + "-quick" * quick
    return KEPT / f"{stem.replace(' ', '_')}.{ending}"
