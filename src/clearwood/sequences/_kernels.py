"""Recursions over the steps of several sequences, one after the other.

All take a *block* of steps, from step ``first`` on, of sequences between the
steps ``bounds``; what one block leaves behind is where the next one starts. The number
``k`` of states is a multiple of four, with states of probability 0 at the end.
"""

from __future__ import annotations

import math

import numpy as np

from clearwood._numeric import kernel

TINY = 1e-250
"""Probabilities of a step below this are found again in logarithms."""

FLOOR = 1e-300
"""Nothing is divided by less."""


@kernel
def times(vector, matrix, out):
    """Product of a row and a square matrix, four rows at a time."""
    k = vector.size
    for j in range(k):
        out[j] = 0.0
    # k % 4 is 0; as a constant it makes slower code.
    for i in range(k % 4, k, 4):
        a, b, c, d = vector[i], vector[i + 1], vector[i + 2], vector[i + 3]
        for j in range(k):
            out[j] += (a * matrix[i, j] + b * matrix[i + 1, j]) + (
                c * matrix[i + 2, j] + d * matrix[i + 3, j]
            )


@kernel
def sequence_at(bounds, step):
    """Number of the sequence that a step belongs to."""
    return np.searchsorted(bounds, step, side="right") - 1


@kernel
def weigh_in_logs(predicted, log_row, found):
    """Predicted probabilities times those of what is seen, where these are tiny.

    Returns the log of what the products were divided by; -inf, and the prediction
    itself, where what is seen is impossible.
    """
    top = -math.inf
    for j in range(log_row.size):
        found[j] = -math.inf
        if predicted[j] > 0.0:
            found[j] = math.log(predicted[j]) + log_row[j]
            top = max(top, found[j])
    for j in range(log_row.size):
        found[j] = predicted[j] if top == -math.inf else math.exp(found[j] - top)
    return top


@kernel
def filter_block(
    startprob, transmat, seen, row, bounds, first, predicted, filtered, inverse, log_p
):
    """Forward filter, scaled: P(state | all up to its step).

    Parameters
    ----------
    seen : tuple of ndarray
        Per kind of step: log probabilities in every state, the same with the largest
        taken off and exponentiated, and that largest.
    row : ndarray of shape (n,)
        Kind of every step of the block.
    predicted : ndarray of shape (k,)
        P(state of the next step | all before it), changed in place.
    filtered : ndarray of shape (n, k)
        Filled.
    inverse : ndarray of shape (n, k) or (0, k)
        Filled with one over what was predicted, where it has rows.
    log_p : ndarray of shape (n_sequences,)
        The log-likelihood of the block is added to it.
    """
    log_rows, weight, offset = seen
    n, k = filtered.shape
    keeps = inverse.shape[0] > 0
    # What is made here shares no memory, and is fast to work on.
    now, found = predicted.copy(), np.empty(k)
    s = sequence_at(bounds, first)
    total, product = 0.0, 1.0
    for i in range(n):
        t = first + i
        if bounds[s + 1] == t:
            log_p[s] += total + math.log(product)
            total, product = 0.0, 1.0
            s += 1
        if bounds[s] == t:
            now[:] = startprob
        r = row[i]
        for j in range(k):
            found[j] = now[j] * weight[r, j]
        norm = 0.0
        for j in range(0, k, 4):
            norm += (found[j] + found[j + 1]) + (found[j + 2] + found[j + 3])
        total += offset[r]
        if norm < TINY:
            total += weigh_in_logs(now, log_rows[r], found) - offset[r]
            norm = found.sum()
        product *= norm
        if product < TINY or product > 1.0 / TINY:
            total += math.log(product)
            product = 1.0
        if keeps:
            for j in range(k):
                inverse[i, j] = 1.0 / max(now[j], FLOOR)
        times(found, transmat, now)
        scale = 1.0 / norm
        for j in range(k):
            now[j] *= scale
            filtered[i, j] = found[j] * scale
    log_p[s] += total + math.log(product)
    predicted[:] = now


@kernel
def smooth_block(
    transposed, row, bounds, first, ratio, filtered, inverse, start_count, row_count
):
    """Smoother, backwards: P(state | whole sequence), without the emissions.

    Parameters
    ----------
    transposed : ndarray of shape (k, k)
        Transition matrix, columns first.
    ratio : ndarray of shape (k,)
        Of the step behind the block: smoothed over predicted probabilities. Changed in
        place, into that of the first step.
    filtered, inverse : ndarray of shape (n, k)
        From :func:`filter_block`. The second becomes the ratio of every step that has
        one before it in its sequence, 0 for the others: products of the first with the
        second one step later add up to expected transitions over their probability.
    start_count, row_count : ndarray of shape (k,) and (n_kinds, k)
        Smoothed probabilities are added: at the begin of sequences, and per kind.
    """
    n, k = filtered.shape
    after, smoothed = ratio.copy(), np.empty(k)
    s = sequence_at(bounds, first + n)
    for i in range(n - 1, -1, -1):
        t = first + i
        r = row[i]
        if bounds[s] == t + 1:  # the last step of its sequence
            smoothed[:] = 1.0
            s -= 1
        else:
            times(after, transposed, smoothed)
        begin = bounds[s] == t
        for j in range(k):
            smoothed[j] *= filtered[i, j]
            row_count[r, j] += smoothed[j]
            after[j] = smoothed[j] * inverse[i, j]
            inverse[i, j] = 0.0 if begin else after[j]
        if begin:
            for j in range(k):
                start_count[j] += smoothed[j]
    ratio[:] = after


@kernel
def draw_block(transposed, bounds, first, after, filtered, uniform, states):
    """Backward sampling: states drawn jointly, from the last step to the first.

    Parameters
    ----------
    after : int
        State of the step behind the block.
    uniform : ndarray of shape (n,)
        One number between 0 and 1 per step.
    states : ndarray of int of shape (n,)
        Filled.
    """
    n, k = filtered.shape
    cumulated = np.empty(k)
    s = sequence_at(bounds, first + n)
    for i in range(n - 1, -1, -1):
        total = 0.0
        if bounds[s] == first + i + 1:
            s -= 1
            for j in range(k):
                total += filtered[i, j]
                cumulated[j] = total
        else:
            for j in range(k):
                total += filtered[i, j] * transposed[after, j]
                cumulated[j] = total
        goal = uniform[i] * total
        after = 0
        # A state without probability adds nothing, and is never stopped at.
        while cumulated[after] <= goal and cumulated[after] < total:
            after += 1
        states[i] = after


@kernel
def best_paths(
    log_start, log_transmat, log_rows, row, bounds, come_from, states, log_joint
):
    """Viterbi: the most probable states of every sequence, the first of equals.

    What is impossible in all states that can be there is passed over like a missing
    step, with a log probability of -inf. Here ``k`` is the number of states itself.

    Parameters
    ----------
    come_from : ndarray of int of shape (n, k)
        Space for the best state before each.
    states, log_joint : ndarray of shape (n,) and (n_sequences,)
        Filled, and added to.
    """
    n, k = come_from.shape
    score, found = np.empty(k), np.empty(k)
    s = -1
    for t in range(n):
        if bounds[s + 1] == t:
            s += 1
            found[:] = log_start
        else:
            for j in range(k):
                found[j] = score[0] + log_transmat[0, j]
                come_from[t, j] = 0
            for i in range(1, k):
                for j in range(k):
                    value = score[i] + log_transmat[i, j]
                    if value > found[j]:
                        found[j] = value
                        come_from[t, j] = i
        top = -math.inf
        for j in range(k):
            score[j] = found[j] + log_rows[row[t], j]
            top = max(top, score[j])
        if top == -math.inf:
            score[:] = found
            log_joint[s] = -math.inf
        if t == bounds[s + 1] - 1:
            best = np.argmax(score)
            log_joint[s] += score[best]
            for back in range(t, bounds[s] - 1, -1):
                states[back] = best
                best = come_from[back, best]


@kernel
def count_changes(states, bounds, start_count, pair_count):
    """Count the states at bounds of sequences, and pairs of states in a row."""
    s = 0
    for t in range(states.size):
        if bounds[s] == t:
            start_count[states[t]] += 1.0
            s += 1
        else:
            pair_count[states[t - 1], states[t]] += 1.0


@kernel
def count_kinds(states, row, row_count):
    """Count how often each kind of step met each state."""
    for t in range(states.size):
        row_count[row[t], states[t]] += 1.0
