"""The forward recursion in logs, step by step, for torch to find its gradient."""

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
