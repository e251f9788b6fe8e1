"""Hidden Markov models, alone and beside recurrent networks (Krakovna, 5)."""

from clearwood.sequences.estimators import HiddenMarkovModel

__all__ = ["HiddenMarkovModel"]
