"""What the kernels compute, step by step, for torch to find the gradients."""

from tests.sequences.networks.with_torch import torch


def filter_plainly(predicted, transition, log_emission):
    """Filtered states and log-likelihoods of steps, of one batch of streams."""
    ahead, filtered, log_likelihood = predicted.log(), [], []
    for step in log_emission.unbind(1):
        joint = ahead + step
        log_likelihood.append(joint.logsumexp(1))
        now = joint - log_likelihood[-1][:, None]
        filtered.append(now.exp())
        ahead = (now[:, :, None] + transition.log()).logsumexp(1)
    return torch.stack(filtered, 1), torch.stack(log_likelihood, 1)


def lstm_plainly(lstm, inputs, hidden, cell):
    """States of all steps, and the last cell, of an LSTM with peepholes."""
    found = []
    of_in, of_keep, of_out = lstm.peephole
    for step in inputs.unbind(1):
        gates = step @ lstm.weight_ih_l0.T + lstm.bias_ih_l0 + lstm.bias_hh_l0
        i, f, g, o = (gates + hidden @ lstm.weight_hh_l0.T).chunk(4, 1)
        keep = torch.sigmoid(f + of_keep * cell)
        cell = keep * cell + torch.sigmoid(i + of_in * cell) * torch.tanh(g)
        hidden = torch.sigmoid(o + of_out * cell) * torch.tanh(cell)
        found.append(hidden)
    return torch.stack(found, 1), cell
