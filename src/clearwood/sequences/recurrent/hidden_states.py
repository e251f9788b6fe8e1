"""Hidden states and outputs of a recurrent torch network, step by step.

The network is run unchanged; a hook on one of its recurrent layers records its inputs
and outputs. States that torch does not return are derived from both: those of lower
layers of a stack, and the cells of an LSTM.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from clearwood._kernels.sequences_recurrent import cell_values
from clearwood.columns.cells import unwrapped
from clearwood.exceptions import ClearwoodError, InputError, ModelError

LSTM_STATES = ("h", "c", "both")

ROUNDING, OF_HALF = 4e-3, 0.05
"""Differences between outputs for sequences of several lengths, whose sums are rounded
in other orders: with the ten bits of TF32 on a GPU, and in half precision."""


class RecurrentLayer(NamedTuple):
    """One layer of a recurrent module inside a network.

    Attributes
    ----------
    name : str
        Of the module, as in ``named_modules``; empty for the network itself.
    module : torch.nn.Module
        An ``nn.RNN``, ``nn.GRU`` or ``nn.LSTM``, or a cell of these.
    depth : int
        Layer within its stack, from 0.
    """

    name: str
    module: Any
    depth: int

    def __str__(self) -> str:
        kind = type(self.module).__name__
        where = f" {self.name!r}" if self.name else ""
        of = getattr(self.module, "num_layers", 1)
        return f"{kind}{where}" + (f", layer {self.depth} of {of}" if of > 1 else "")


def is_module(network: Any) -> bool:
    """Whether this is a torch module; without torch loaded nothing can be one."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(network, torch.nn.Module)


def rounding_of(network: Any) -> float:
    """Tolerance between two outputs of a network for the same steps."""
    weights = network.parameters() if is_module(network) else ()
    return OF_HALF if any(weight.itemsize == 2 for weight in weights) else ROUNDING


def find_layer(
    network: Any, layer: Any = None, lstm_state: str = "h"
) -> RecurrentLayer:
    """Layer whose states are read.

    Parameters
    ----------
    network : torch.nn.Module
    layer : None, int, str or (str, int)
        See :func:`clearwood.explain_rnn`.
    lstm_state : {"h", "c", "both"}

    Raises
    ------
    ModelError
        If there is none, or if it is ambiguous.
    """
    from torch import nn

    kinds = (nn.RNN, nn.GRU, nn.LSTM, nn.RNNCell, nn.GRUCell, nn.LSTMCell)
    found = {n: m for n, m in network.named_modules() if isinstance(m, kinds)}
    if not found:
        raise ModelError(
            f"There is no nn.RNN, nn.GRU or nn.LSTM, nor a cell, in this "
            f"{type(network).__name__}; pass a function instead: "
            "codes -> (states, logits)."
        )
    name, index = layer if isinstance(layer, tuple) else (layer, -1)
    if isinstance(layer, int):
        name, index = None, layer
    if name is None and len(found) > 1:
        raise ModelError(
            f"There are {len(found)} recurrent modules; choose one of them: "
            f"layer={' or '.join(map(repr, found))}."
        )
    name = next(iter(found)) if name is None else name
    if name not in found:
        raise ModelError(f"layer={name!r} is none of the modules {list(found)}.")
    module = found[name]
    n_layers = getattr(module, "num_layers", 1)
    if not -n_layers <= index < n_layers:
        raise ModelError(f"layer {index} is none of the {n_layers} layers.")
    if getattr(module, "bidirectional", False) and (
        lstm_state != "h" or index % n_layers != n_layers - 1
    ):
        raise ModelError(
            f"{type(module).__name__} {name!r} is bidirectional; only the hidden "
            "states of its last layer can be read."
        )
    if lstm_state != "h" and not isinstance(module, nn.LSTM | nn.LSTMCell):
        raise ModelError(
            f"lstm_state={lstm_state!r} requires cells, which "
            f"{type(module).__name__} does not have; use lstm_state='h'."
        )
    return RecurrentLayer(name, module, index % n_layers)


def read_network(
    network: Any,
    layer: RecurrentLayer,
    codes: np.ndarray,
    *,
    lstm_state: str = "h",
    predict: Callable[[Any, Any], Any] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Run a network over a sequence, recording its states and outputs.

    Mode, device and gradients of the network are restored afterwards.

    Parameters
    ----------
    network : torch.nn.Module
    layer : RecurrentLayer
    codes : ndarray of shape (n_steps,) or (n_steps, n_columns)
        Codes, or rows of numbers.
    lstm_state : {"h", "c", "both"}
    predict : callable, optional
        See :func:`clearwood.explain_rnn`.

    Returns
    -------
    states : ndarray of shape (n_steps, n_units)
        After each symbol was read.
    logits : ndarray of shape (n_steps, n_outputs) or (1, n_outputs)
        Of the symbol that follows, or of labels; a single row for the whole sequence.
    """
    import torch

    weight = next(layer.module.parameters())
    dtype = torch.long if codes.ndim == 1 else weight.dtype
    line = torch.as_tensor(codes, dtype=dtype, device=weight.device)
    calls: list[Any] = []

    def keep(module: Any, args: Any, kwargs: Any, output: Any) -> None:
        calls.append(_states_of_call(layer, lstm_state, *args, output=output, **kwargs))

    with _quiet(network), torch.no_grad():
        handle = layer.module.register_forward_hook(keep, with_kwargs=True)
        try:
            if predict is None:
                batch = 0 if getattr(layer.module, "batch_first", True) else 1
                logits = network(line.unsqueeze(batch))
            else:
                logits = predict(network, line)
        except IndexError as error:
            raise InputError(
                f"The network cannot read codes {codes.min()} to {codes.max()}: {error}"
            ) from error
        except ClearwoodError:
            raise
        except (RuntimeError, TypeError, ValueError) as error:
            if predict is not None:
                raise
            raise ModelError(
                "The network does not accept a sequence as a batch of one: "
                f"{error}. Pass a function that runs it: predict=lambda module, "
                "codes: ..."
            ) from error
        finally:
            handle.remove()
    states = np.concatenate(calls) if calls else np.empty((0, 0))
    if len(states) != len(codes):
        raise ModelError(
            f"{layer} made {len(states)} states for {len(codes)} symbols; predict has "
            "to run the network once over the sequence, and a layer that is used."
        )
    return states, _lines_of(logits, len(codes), predict is not None)


@contextmanager
def _quiet(network: Any) -> Iterator[None]:
    """Disable dropout; afterwards every submodule has its former mode."""
    modes = [(module, module.training) for module in network.modules()]
    network.eval()
    try:
        yield
    finally:
        for module, mode in modes:
            module.training = mode


def _lines_of(logits: Any, n_steps: int, is_own: bool) -> np.ndarray:
    """Output of a network as one row per step."""
    if isinstance(logits, tuple | list):
        logits = logits[0]
    shape = tuple(getattr(logits, "shape", ()))
    if len(shape) == 3 and 1 in shape[:2]:
        logits = logits.squeeze(0 if shape[0] == 1 else 1)
    lines = unwrapped(logits) if shape else np.empty(0)
    lines = lines[None] if len(shape) == 1 else lines
    if lines.ndim != 2 or len(lines) not in (1, n_steps):
        raise ModelError(
            f"The network gave {type(logits).__name__} of shape {shape} for {n_steps} "
            f"symbols, expected logits of shape ({n_steps}, number of outputs), or a "
            "single row for the sequence"
            + ("." if is_own else ": pass predict=lambda module, codes: ...")
        )
    return lines


# States that torch does not return


def _states_of_call(
    layer: RecurrentLayer, lstm_state: str, x: Any, hx: Any = None, *, output: Any
) -> np.ndarray:
    """States of the layer for one call of its module."""
    rnn, depth = layer.module, layer.depth
    if not hasattr(rnn, "num_layers"):
        return _states_of_cell(lstm_state, output)
    if not hasattr(x, "dim"):
        raise ModelError("Packed sequences cannot be read; pass a plain tensor.")
    batch = 0 if rnn.batch_first else 1
    if x.dim() == 3 and x.shape[batch] != 1:
        raise ModelError(
            f"The recurrent layer got {x.shape[batch]} sequences at once, expected one."
        )
    is_batch = x.dim() == 3
    if lstm_state == "h" and depth == rnn.num_layers - 1:
        top = unwrapped(output[0].squeeze(batch) if is_batch else output[0])
        if not rnn.bidirectional:
            return top
        # The layer that reads backwards ends at the first step.
        ahead, back = np.split(top, 2, axis=1)
        return np.hstack([ahead, np.broadcast_to(back[:1], back.shape)])
    if type(rnn).__module__ != "torch.nn.modules.rnn":
        return _states_of_steps(layer, lstm_state, x, hx)
    x = x.squeeze(batch) if is_batch else x
    given = () if hx is None else hx if isinstance(hx, tuple) else (hx,)
    before = [h.squeeze(1) if is_batch else h for h in given]
    for number in range(depth + 1):
        single = _single_layer(rnn, number)
        first = [h[number] for h in before] or _zeros(single, x)
        states = tuple(h[None] for h in first)
        hidden, _ = single(x, states if len(states) > 1 else states[0])
        inner, x = x, hidden
    if lstm_state == "h":
        return unwrapped(hidden)
    cells = _cells(single, inner, hidden, *first)
    return cells if lstm_state == "c" else np.hstack([unwrapped(hidden), cells])


def _states_of_cell(lstm_state: str, output: Any) -> np.ndarray:
    """States after one call of a cell: one step."""
    states = output if isinstance(output, tuple) else (output,)
    if states[0].dim() == 2 and len(states[0]) != 1:
        raise ModelError(
            f"The recurrent cell got {len(states[0])} sequences at once, expected one."
        )
    chosen = _chosen(lstm_state, states)
    return np.hstack([unwrapped(state).reshape(1, -1) for state in chosen])


def _chosen(lstm_state: str, states: tuple[Any, ...]) -> tuple[Any, ...]:
    return {"h": states[:1], "c": states[1:], "both": states}[lstm_state]


def _states_of_steps(
    layer: RecurrentLayer, lstm_state: str, x: Any, after: Any
) -> np.ndarray:
    """States returned by a custom module, run step by step.

    Only its ``forward`` defines its weights: gates may see the cells.
    """
    lines = []
    for step in x.split(1, dim=int(layer.module.batch_first and x.dim() == 3)):
        # Past the hook, which would see this call too.
        _, after = layer.module.forward(step, after)
        chosen = _chosen(lstm_state, after if isinstance(after, tuple) else (after,))
        lines.append(np.hstack([unwrapped(s[layer.depth]).ravel() for s in chosen]))
    return np.array(lines)


def _single_layer(rnn: Any, index: int) -> Any:
    """A layer of a stack as a separate module, with the same weights."""
    own = {
        name.removesuffix(f"_l{index}") + "_l0": value
        for name, value in rnn.named_parameters()
        if name.endswith(f"_l{index}")
    }
    size = own["weight_ih_l0"].shape[1]
    more = {"nonlinearity": rnn.nonlinearity} if hasattr(rnn, "nonlinearity") else {}
    if rnn.proj_size:
        more["proj_size"] = rnn.proj_size
    weight = own["weight_ih_l0"]
    # On no device at first: weights would be drawn from torch's own generator.
    single = type(rnn)(
        size, rnn.hidden_size, bias=rnn.bias, **more, device="meta", dtype=weight.dtype
    ).to_empty(device=weight.device)
    single.load_state_dict(own)
    return single


def _zeros(single: Any, x: Any) -> list[Any]:
    sizes = [single.proj_size or single.hidden_size]
    if single.mode == "LSTM":
        sizes.append(single.hidden_size)
    return [x.new_zeros(size) for size in sizes]


def _cells(lstm: Any, x: Any, hidden: Any, h: Any, c: Any) -> np.ndarray:
    """Cells of an LSTM over time: given the hidden states, all gates follow."""
    import torch

    before = torch.cat([h[None], hidden[:-1]])
    biases = (lstm.bias_ih_l0, lstm.bias_hh_l0) if lstm.bias else (None, None)
    gates = torch.nn.functional.linear(x, lstm.weight_ih_l0, biases[0])
    gates = gates + torch.nn.functional.linear(before, lstm.weight_hh_l0, biases[1])
    i, f, g, _ = gates.chunk(4, dim=1)
    keep, new = f.sigmoid(), i.sigmoid() * g.tanh()
    return cell_values(*map(unwrapped, (keep, new, c)))
