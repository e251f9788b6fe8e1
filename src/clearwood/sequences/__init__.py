"""Hidden Markov models, and hybrids with recurrent networks (Krakovna, 5)."""

from clearwood.sequences.estimators import HiddenMarkovModel
from clearwood.sequences.networks.estimators import HMMLSTM
from clearwood.sequences.next_symbols import symbol_table
from clearwood.sequences.recurrent.automaton import StateAutomaton
from clearwood.sequences.recurrent.explain_rnn import RecurrentExplanation, explain_rnn
from clearwood.sequences.recurrent.fidelity import NetworkFidelity
from clearwood.sequences.recurrent.state_trees import StateTrees, state_trees
from clearwood.sequences.recurrent.trace import NetworkTrace

__all__ = [
    "HMMLSTM",
    "HiddenMarkovModel",
    "NetworkFidelity",
    "NetworkTrace",
    "RecurrentExplanation",
    "StateAutomaton",
    "StateTrees",
    "explain_rnn",
    "state_trees",
    "symbol_table",
]
