"""Hybrid of an LSTM and a hidden Markov model, with scikit-learn's interface."""

from __future__ import annotations

from importlib import import_module
from numbers import Integral
from types import ModuleType
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from clearwood._base import Estimator
from clearwood._estimators import Interval, StrOptions, fit_context
from clearwood._numeric import as_generator
from clearwood._words.labels import type_text
from clearwood.exceptions import InputError
from clearwood.sequences.estimators import HiddenMarkovModel
from clearwood.sequences.networks.steps import binary_columns, codes_of
from clearwood.sequences.networks.streams import Series
from clearwood.sequences.symbols import end_to_end, symbol_cells, symbols_in


class HMMLSTM(Estimator):
    """LSTM with a hidden Markov model, for a smaller and more interpretable network.

    A linear layer predicts from the state of a small LSTM and the state probabilities
    of a hidden Markov model (HMM), concatenated: the next symbol of a sequence; or, for
    a series of zeros and ones, an output at every step. The HMM captures the coarse
    structure in states that can be named, and the LSTM the remainder (Krakovna, 2016,
    5.2.3).

    For a symbol that is missing (None, NaN), or was not seen in ``fit``, the LSTM reads
    zeros and the HMM a missing value; missing entries of a series likewise. As targets
    they are left out of scores. Runs on one CPU thread.

    Parameters
    ----------
    n_hidden : int, default=10
        Size of the LSTM's state.
    n_states : int, default=10
        Number of states of the HMM.
    hybrid : {"sequential", "joint"} or None, default="sequential"
        ``"sequential"`` fits the HMM first, and keeps it fixed; ``"joint"`` trains both
        together, with the HMM optimized for prediction only; None is the LSTM.
    hmm : HiddenMarkovModel, default=None
        The HMM of the sequential hybrid, by default one with ``n_states`` states. A
        fitted one is used unchanged, with its own number of states.
    preset : {"paper"} or None, default=None
        None: Adam with a learning rate of 0.01, halved after every epoch in which the
        perplexity of held-out steps rose. ``"paper"``: gradient descent with a rate of
        1, halved if it rose by more than 1, as in the thesis; and the gates of the LSTM
        have peephole connections to its cell, as they have there by the number of
        parameters.
    n_epochs : int, default=100
        Maximum number of passes over the data.
    patience : int, default=5
        Training ends after this many epochs without improvement. The best is kept.
    batch_size : int, default=16
        Parts of the data that are read in parallel; fewer for short data, so that each
        has 20 windows.
    window : int, default=64
        Number of steps of truncated backpropagation.
    verbose : bool, default=False
        Show the progress of the training on stderr.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the initial weights, of the held-out steps (a twentieth, in pieces
        throughout the data, as long as a window or a short sequence; none, if that
        would be more than a fifth; the HMM of the sequential hybrid has seen them) and
        of the order of batches.

    Attributes
    ----------
    network_ : torch.nn.Module
        Takes codes of symbols, (n_sequences, n_steps), or series; returns logits and
        the state to continue from. Has ``lookup``, ``lstm``, ``hmm`` and ``output``.
    classes_ : ndarray
        The target classes: the symbols, in order, or the outputs.
    frequency_ : ndarray
        Frequency of each symbol in ``fit``; not for a series.
    n_columns_ : int or None
        Number of columns of a series; None for symbols.
    is_text_ : bool
        Whether ``fit`` received a string, so that samples are strings.
    hmm_ : HiddenMarkovModel or None
        The fitted HMM of the sequential hybrid; None also if the network was loaded
        from a file, which has it inside.
    n_parameters_ : int
        Number of parameters learned by the network, without those of a fitted HMM.
    history_ : list of Epoch
        Mean log-likelihoods of each pass, in training and on held-out steps, and its
        learning rate.

    References
    ----------
    Krakovna, "Building Interpretable Models: From Bayesian Networks to Neural
    Networks", Harvard 2016, chapter 5.

    Examples
    --------
    >>> lm = HMMLSTM(n_hidden=4, hybrid=None, n_epochs=5, random_state=0)
    >>> lm = lm.fit("now here now there " * 100)
    >>> bool(lm.score("there now here") > -1.0)
    True
    >>> print(lm.classes_[lm.predict_next("now the")[-1].argmax()])
    r
    """

    _parameter_constraints: dict[str, Any] = {
        "n_hidden": [Interval(Integral, 1, None, closed="left")],
        "n_states": [Interval(Integral, 1, None, closed="left")],
        "hybrid": [StrOptions({"sequential", "joint"}), None],
        "hmm": "no_validation",
        "preset": [None, StrOptions({"paper"})],
        "n_epochs": [Interval(Integral, 1, None, closed="left")],
        "patience": [Interval(Integral, 1, None, closed="left")],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "window": [Interval(Integral, 1, None, closed="left")],
        "verbose": ["verbose"],
        "random_state": "no_validation",
    }

    def __init__(
        self,
        n_hidden: int = 10,
        n_states: int = 10,
        *,
        hybrid: str | None = "sequential",
        hmm: Any = None,
        preset: str | None = None,
        n_epochs: int = 100,
        patience: int = 5,
        batch_size: int = 16,
        window: int = 64,
        verbose: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_hidden = n_hidden
        self.n_states = n_states
        self.hybrid = hybrid
        self.hmm = hmm
        self.preset = preset
        self.n_epochs = n_epochs
        self.patience = patience
        self.batch_size = batch_size
        self.window = window
        self.verbose = verbose
        self.random_state = random_state

    # Fitting

    @fit_context
    def fit(self, X: Any, y: Any = None, lengths: Any = None) -> HMMLSTM:
        """Train the network; Ctrl-C keeps its best epoch.

        Parameters
        ----------
        X : str, list of sequences, or array-like
            A string, or symbols of any type, read as by ``HiddenMarkovModel.fit``. With
            y: a series of zeros and ones, (n_steps, n_columns).
        y : array-like of shape (n_steps,), optional
            Output of every step of a series; None or NaN if unknown.
        lengths : array-like of shape (n_sequences,), optional
            Numbers of steps of the sequences, if they are concatenated.

        Returns
        -------
        HMMLSTM
            The fitted estimator.
        """
        descent, forward = with_torch("descent"), with_torch("forward")
        rng = as_generator(self.random_state)
        self.is_text_ = isinstance(X, str)
        if y is None:
            self.n_columns_ = None
            X, lengths = end_to_end(X, lengths)
            self.classes_ = symbols_in(X)
        else:
            self.n_columns_ = binary_columns(X).shape[1]
            self.classes_ = symbols_in(symbol_cells(y))
        series = self._series(X, y, lengths)
        if series.n_targets == 0:
            raise InputError(
                "There is nothing to predict: every sequence has one step, or what "
                "follows is missing; give longer sequences."
            )
        if y is None:
            # Distribution of the first symbol of a sample.
            seen = series.inputs[series.inputs >= 0]
            self.frequency_ = np.bincount(seen) / len(seen)
        self.hmm_ = self._fitted_hmm(X, lengths, rng)
        with forward.reproducible(int(rng.integers(2**31))):
            self.network_ = self._start()
            self.history_ = descent.learn(
                self.network_,
                series,
                preset=self.preset,
                n_epochs=self.n_epochs,
                patience=self.patience,
                batch_size=self.batch_size,
                window=self.window,
                rng=rng,
                verbose=self.verbose,
            )
        return self

    @property
    def n_parameters_(self) -> int:
        """Number of parameters learned by the network."""
        check_is_fitted(self)
        learned = [p for p in self.network_.parameters() if p.requires_grad]
        return sum(p.numel() for p in learned)

    def _series(self, X: Any, y: Any = None, lengths: Any = None) -> Series:
        """Encode sequences for the network."""
        if self.n_columns_ is None:
            if y is not None:
                raise InputError("The target of symbols is the next symbol: omit y.")
            cells, lengths = end_to_end(X, lengths)
            return Series.of_symbols(codes_of(cells, self.classes_), lengths)
        columns = binary_columns(X, self.n_columns_)
        outputs = np.full(len(columns), -1)
        if y is not None:
            outputs = codes_of(symbol_cells(y), self.classes_)
        if len(outputs) != len(columns):
            raise InputError(f"y has {len(outputs)} steps, but X has {len(columns)}.")
        return Series.of_outputs(columns, outputs, lengths)

    def _fitted_hmm(self, X: Any, lengths: Any, rng: np.random.Generator) -> Any:
        """Hidden Markov model of the sequential hybrid."""
        if self.hybrid != "sequential":
            return None
        emission = "categorical" if self.n_columns_ is None else "bernoulli"
        if self.hmm is None:
            hmm = HiddenMarkovModel(
                self.n_states, emission=emission, verbose=self.verbose, random_state=rng
            )
            return hmm.fit(X, lengths)
        if not isinstance(self.hmm, HiddenMarkovModel):
            raise InputError(
                f"hmm is {type_text(self.hmm)}, expected a HiddenMarkovModel."
            )
        if self.hmm.emission != emission:
            raise InputError(
                f"hmm has the emission {self.hmm.emission!r}, X requires {emission!r}."
            )
        fitted = hasattr(self.hmm, "startprob_")
        return self.hmm if fitted else clone(self.hmm).fit(X, lengths)

    def _start(self) -> Any:
        """Untrained network."""
        if self.hmm_ is None:
            return self._build(self.n_states if self.hybrid else 0)
        hmm = self.hmm_
        emission = np.asarray(hmm.emissionprob_)
        if self.n_columns_ is None:
            known = np.asarray(getattr(hmm, "symbols_", np.arange(emission.shape[1])))
            places = codes_of(self.classes_, known)
            if sorted(places) != list(range(len(known))):
                raise InputError(
                    f"hmm knows the symbols {known[:5].tolist()} ..., X holds "
                    f"{self.classes_[:5].tolist()} ...; give one for the symbols of X."
                )
            emission = emission[:, places]
        elif emission.shape[1] != self.n_columns_:
            raise InputError(
                f"hmm knows {emission.shape[1]} columns, X has {self.n_columns_}."
            )
        network = self._build(len(emission))
        network.hmm.set_probabilities(
            np.asarray(hmm.startprob_), np.asarray(hmm.transmat_), emission
        )
        return network

    def _build(self, n_states: int) -> Any:
        """Network of this architecture, with random parameters."""
        n_classes = len(self.classes_)
        return with_torch("layers").HybridNetwork(
            self.n_columns_ or n_classes,
            n_classes,
            self.n_hidden,
            n_states,
            binary=self.n_columns_ is not None,
            peephole=self.preset == "paper",
        )

    # Prediction

    def score(self, X: Any, y: Any = None, lengths: Any = None) -> float:
        """Mean log-likelihood of a step given those before it, in nats.

        The first symbol of a sequence is not predicted; for a series every output is,
        from the columns up to its own step.

        Parameters
        ----------
        X, y, lengths
            As for :meth:`fit`.

        Returns
        -------
        float
        """
        forward, series = self._ready(X, y, lengths)
        if series.n_targets == 0:
            raise InputError("Nothing to predict; pass longer sequences, or y.")
        with forward.reproducible():
            return float(np.nanmean(forward.log_likelihoods(self.network_, series)))

    def predict_next(self, X: Any, lengths: Any = None) -> np.ndarray:
        """Predicted probabilities of the next symbol or of the output.

        Parameters
        ----------
        X, lengths
            As for :meth:`fit`.

        Returns
        -------
        ndarray of shape (n_steps, n_classes)
            After every step those of the next symbol; for a series those of the output
            at that step.
        """
        forward, series = self._ready(X, None, lengths)

        def predict(inputs: Any, state: Any, steps: np.ndarray) -> tuple[Any, Any]:
            logits, state = self.network_(inputs, state)
            return logits.double().softmax(2), state

        with forward.reproducible():
            return forward.over_time(series, predict)

    def hidden_states(self, X: Any, lengths: Any = None) -> np.ndarray:
        """State of the LSTM after every step.

        Parameters
        ----------
        X, lengths
            As for :meth:`fit`.

        Returns
        -------
        ndarray of shape (n_steps, n_hidden)
        """
        return self._over_time(X, lengths, lambda hidden, filtered: hidden)

    def filter_proba(self, X: Any, lengths: Any = None) -> np.ndarray:
        """Filtered probabilities of the states of the HMM, given the steps up to each.

        Parameters
        ----------
        X, lengths
            As for :meth:`fit`.

        Returns
        -------
        ndarray of shape (n_steps, n_states)
        """
        check_is_fitted(self)
        if self.network_.hmm is None:
            raise InputError("hybrid=None is an LSTM alone: it has no HMM.")
        return self._over_time(X, lengths, lambda hidden, filtered: filtered)

    def _over_time(self, X: Any, lengths: Any, choose: Any) -> np.ndarray:
        forward, series = self._ready(X, None, lengths)

        def predict(inputs: Any, state: Any, steps: np.ndarray) -> tuple[Any, Any]:
            hidden, filtered, state = self.network_.states(inputs, state)
            return choose(hidden, filtered), state

        with forward.reproducible():
            return forward.over_time(series, predict)

    def sample(
        self, n_steps: int = 100, start: Any = None, random_state: Any = None
    ) -> Any:
        """Draw a random sequence from the network.

        Parameters
        ----------
        n_steps : int, default=100
            Number of symbols drawn.
        start : str or sequence of symbols, optional
            Preceding symbols. By default the first symbol is drawn with its frequency
            in ``fit``.
        random_state : int, Generator, RandomState or None, default=None
            Seed of the draws.

        Returns
        -------
        str or ndarray of shape (n_steps,)
            A string, if ``fit`` received one.
        """
        forward = with_torch("forward")
        check_is_fitted(self)
        if self.n_columns_ is not None:
            raise InputError(
                "A network of columns models outputs only; it cannot sample."
            )
        rng, codes = as_generator(random_state), []
        if start is None:
            before = [int(rng.choice(len(self.classes_), p=self.frequency_))]
            codes = before[:n_steps]
        else:
            before = codes_of(symbol_cells(start), self.classes_).tolist()
        with forward.reproducible():
            codes += forward.write_on(self.network_, before, n_steps - len(codes), rng)
        drawn = self.classes_[np.array(codes, dtype=np.int64)]
        return "".join(drawn) if self.is_text_ else drawn

    def _ready(self, X: Any, y: Any, lengths: Any) -> tuple[ModuleType, Series]:
        check_is_fitted(self)
        return with_torch("forward"), self._series(X, y, lengths)


def with_torch(name: str) -> ModuleType:
    """Import a module of this folder that needs torch, an extra."""
    try:
        import torch  # noqa: F401
    except ImportError:
        raise InputError(
            "Recurrent networks need torch; install clearwood[torch]."
        ) from None
    return import_module(f"clearwood.sequences.networks.{name}")
