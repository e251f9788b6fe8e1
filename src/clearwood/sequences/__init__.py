"""Hidden Markov models, alone and beside recurrent networks (Krakovna, 5)."""

from clearwood.sequences.estimators import HiddenMarkovModel
from clearwood.sequences.networks.estimators import HMMLSTM

__all__ = ["HMMLSTM", "HiddenMarkovModel"]
