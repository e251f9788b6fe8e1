"""Small networks of torch; without torch their tests are skipped, but not in CI."""

import os

import numpy as np
import pytest

try:
    import torch
    from torch import nn
except ImportError:
    if os.environ.get("CI", "").lower() in {"1", "true"}:
        raise
    pytest.skip("no torch installed", allow_module_level=True)

KINDS = {"RNN": nn.RNN, "GRU": nn.GRU, "LSTM": nn.LSTM}


class Speaker(nn.Module):
    """Symbols in, logits of the next symbol out."""

    def __init__(self, recurrent, n_symbols=3, dropout=0.0):
        super().__init__()
        size = recurrent.proj_size or recurrent.hidden_size
        both = 2 if recurrent.bidirectional else 1
        self.lookup = nn.Embedding(n_symbols, recurrent.input_size)
        self.inner = recurrent
        self.dropout = nn.Dropout(dropout)
        self.linear = nn.Linear(both * size, n_symbols)
        self.to(recurrent.weight_hh_l0.dtype)

    def forward(self, codes, before=None):
        hidden, after = self.inner(self.lookup(codes), before)
        return self.linear(self.dropout(hidden)), after


def speaker(kind="LSTM", seed=0, n_symbols=3, dropout=0.0, **options):
    """Of double precision, with weights from a seed, in the mode for reading."""
    options = {"batch_first": True, "dtype": torch.float64} | options
    state = torch.get_rng_state()
    torch.manual_seed(seed)
    made = Speaker(KINDS[kind](2, 4, **options), n_symbols, dropout).eval()
    torch.set_rng_state(state)
    return made


def parity():
    """Says 1 where the number of ones so far is odd, by two units of three vectors."""
    inner = nn.RNN(1, 2, batch_first=True)
    made = Speaker(inner, n_symbols=2)
    with torch.no_grad():
        made.lookup.weight.copy_(torch.tensor([[0.0], [1.0]]))
        # The first unit is on from one of (odd before, read 1) on, the other from both.
        inner.weight_ih_l0.copy_(torch.tensor([[20.0], [20.0]]))
        inner.weight_hh_l0.copy_(torch.tensor([[10.0, -10.0], [10.0, -10.0]]))
        inner.bias_ih_l0.copy_(torch.tensor([-10.0, -30.0]))
        inner.bias_hh_l0.zero_()
        made.linear.weight.copy_(torch.tensor([[-3.0, 3.0], [3.0, -3.0]]))
        made.linear.bias.copy_(torch.tensor([3.0, -3.0]))
    return made.eval()


def random_codes(n, n_symbols=3, seed=0):
    return np.random.default_rng(seed).integers(n_symbols, size=n)
