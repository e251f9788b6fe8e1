"""References of functions of rows and a draw's number; networks with dropout."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from clearwood.columns.cells import unwrapped
from clearwood.exceptions import InputError
from clearwood.references.base import Reference, check_noise, fixed_seed
from clearwood.references.checks import check_draws
from clearwood.references.tabular import (
    as_fitted,
    columns_read_by,
    count_rows,
    task_with,
    times_of,
)
from clearwood.references.truncated import check_normal, truncated


class FunctionReference(Reference):
    """Reference whose draws are computed by a user-defined function.

    Parameters
    ----------
    function : callable
        ``function(X, l)`` returns the predictions of draw ``l``, from 0 on: means or
        rates (n_samples,), probabilities (n_samples, n_classes), or probabilities of
        survival (n_samples, n_horizons).
    X : array-like or frame of shape (n_samples, n_features), optional
        Example rows; the function gets all others in their form.
    n_draws : int
        Number of draws.
    task : {"regression", "counts", "survival"}, optional
        Kind of the predictions, if there are no classes; by default survival with
        ``horizons``, and regression without.
    classes : sequence, optional
        Labels in the order of the probabilities.
    noise_variance : float, array or callable, default=0.0
        In regression: a number; one per draw; or ``noise_variance(X, l)``, which
        gives one per row.
    bounds : tuple of float, optional
        In regression, the interval that outcomes are truncated to, of which an end may
        be infinite: draws and ``noise_variance`` are then those of the normal
        distribution before truncation.
    horizons : sequence of float, optional
        Times of survival probabilities, ascending.
    time_unit : str, default=""
        Their unit, such as "years".
    is_posterior : bool, default=True
        Whether the draws are from a posterior; members of an ensemble are not.
    description : str, default="function"
        Printed description.

    Examples
    --------
    >>> import numpy as np
    >>> def wave(X, draw):
    ...     phase = np.random.default_rng(draw).normal()
    ...     return np.sin(X[:, 0] + phase)
    >>> reference = FunctionReference(wave, n_draws=20, noise_variance=0.1)
    >>> reference.draws(np.zeros((3, 1))).shape
    (20, 3)
    """

    def __init__(
        self,
        function: Callable[[Any, int], Any],
        X: Any = None,
        *,
        n_draws: int,
        task: str | None = None,
        classes: Sequence[Any] | None = None,
        noise_variance: Any = 0.0,
        bounds: Sequence[float] | None = None,
        horizons: Any = None,
        time_unit: str = "",
        is_posterior: bool = True,
        description: str = "function",
    ) -> None:
        self.horizons, self.time_unit = times_of(horizons, time_unit)
        self.task, self.classes = task_with(classes, task, self.horizons)
        self.bounds = check_normal(noise_variance, bounds, self.task)
        self.function, self.noise = function, noise_variance
        self.n_draws, self.is_posterior = n_draws, is_posterior
        self.description = f"{description}, {n_draws} draws"
        self.features = columns_read_by(None, X)

    def draws(self, X: Any) -> np.ndarray:
        """Values of the function by draw; see :meth:`~clearwood.Reference.draws`."""
        return self._moments(X)[0] if self.bounds else self._values(X)

    def noise_variance(self, X: Any) -> np.ndarray:
        """Noise variance as passed; see :meth:`~clearwood.Reference.noise_variance`."""
        return self._moments(X)[1] if self.bounds else self._noise(X)

    def _moments(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        assert self.bounds is not None
        return truncated(self._values(X), self._noise(X), self.bounds)

    def _values(self, X: Any) -> np.ndarray:
        rows = as_fitted(X, self.features)
        values = [unwrapped(self.function(rows, draw)) for draw in range(self.n_draws)]
        return check_draws(values, self, count_rows(X))

    def _noise(self, X: Any) -> np.ndarray:
        if not callable(self.noise):
            return super().noise_variance(X)
        rows = as_fitted(X, self.features)
        noise = [unwrapped(self.noise(rows, draw)) for draw in range(self.n_draws)]
        return check_noise(noise, self.n_draws, count_rows(X))


def dropout_reference(
    network: Any,
    X: Any = None,
    *,
    n_draws: int = 100,
    task: str | None = None,
    random_state: Any = None,
    **settings: Any,
) -> FunctionReference:
    """Make a reference of a torch network with dropout: one set of masks per draw.

    Parameters
    ----------
    network : torch.nn.Module
        Takes a float tensor (n_samples, n_features) and returns values, or the logits
        of ``classes``; one suffices for two classes. It is copied; a network in half
        precision is evaluated in single precision.
    X : array-like or frame of shape (n_samples, n_features), optional
        Example rows.
    n_draws : int, default=100
        Number of draws.
    task : {"regression", "counts"}, default="regression"
        Kind of the predictions, if there are no classes.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the masks.
    **settings
        Parameters of :class:`FunctionReference`: ``classes``, ``noise_variance``.

    Returns
    -------
    FunctionReference

    Examples
    --------
    >>> from torch import nn  # doctest: +SKIP
    >>> network = nn.Sequential(
    ...     nn.Linear(8, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 1)
    ... )  # doctest: +SKIP
    >>> dropout_reference(network, n_draws=200, noise_variance=0.3)  # doctest: +SKIP
    <FunctionReference: network with dropout, 200 draws>
    """
    n_classes = len(settings["classes"]) if settings.get("classes") is not None else 0
    function = MaskedNetwork(network, n_classes, fixed_seed(random_state))
    settings.setdefault("description", "network with dropout")
    return FunctionReference(function, X, n_draws=n_draws, task=task, **settings)


class MaskedNetwork:
    """Torch network whose dropout masks depend on the draw alone.

    All rows and calls share them. Every entry of a hidden vector has its own mask, or
    every channel in layers of channel dropout.

    Parameters
    ----------
    network : torch.nn.Module
    n_classes : int
        Number of probabilities; 0 for values.
    seed : int
    """

    def __init__(self, network: Any, n_classes: int, seed: int) -> None:
        self.network = copy.deepcopy(network).eval()
        if any(p.is_floating_point() and p.itemsize == 2 for p in network.parameters()):
            self.network.float()  # or draws would depend on the number of rows
        self.n_classes, self.seed = n_classes, seed
        kinds = ("Dropout", "Dropout1d", "Dropout2d", "Dropout3d")
        layers = [(type(m).__name__, m) for m in self.network.modules()]
        unknown = {name for name, _ in layers if "Dropout" in name} - set(kinds)
        self.layers = [layer for name, layer in layers if name in kinds]
        if unknown or not self.layers:
            found = ", ".join(sorted(unknown)) or "none"
            raise InputError(
                f"The network requires dropout layers of type {', '.join(kinds)}; "
                f"found {found}. Pass a function (X, draw) instead."
            )

    def __call__(self, X: Any, draw: int) -> np.ndarray:
        """Predictions under the masks of one draw."""
        import torch

        like = next(self.network.parameters())
        rows = torch.as_tensor(np.array(unwrapped(X), dtype=np.float64)).to(like)
        with torch.no_grad(), self._masked(draw):
            out = self.network(rows).double()
        if not self.n_classes:
            return out.reshape(len(rows)).cpu().numpy()
        out = out.reshape(len(rows), -1)
        if self.n_classes == 2 and out.shape[1] == 1:
            out = torch.cat([torch.zeros_like(out), out], dim=1)
        return out.softmax(dim=1).cpu().numpy()

    @contextmanager
    def _masked(self, draw: int) -> Iterator[None]:
        def mask(number: int) -> Callable[..., Any]:
            def hook(layer: Any, inputs: Any, output: Any) -> Any:
                shape = list(output.shape[1:])
                if type(layer).__name__ != "Dropout":
                    shape[1:] = [1] * len(shape[1:])
                generator = np.random.default_rng([self.seed, draw, number])
                keep = generator.random(shape) >= layer.p
                scaled = keep / (1 - layer.p) if layer.p < 1 else keep
                return output * output.new_tensor(scaled)

            return hook

        hooks = [
            layer.register_forward_hook(mask(number))
            for number, layer in enumerate(self.layers)
        ]
        try:
            yield
        finally:
            for hook in hooks:
                hook.remove()
