"""Hidden Markov models, and hybrids with recurrent networks (Krakovna, 5)."""

from clearwood._lazy import loader, names_in
from clearwood.sequences.estimators import HiddenMarkovModel
from clearwood.sequences.networks.estimators import HMMLSTM
from clearwood.sequences.next_symbols import symbol_table
from clearwood.sequences.recurrent.automaton import StateAutomaton
from clearwood.sequences.recurrent.explain_rnn import RecurrentExplanation, explain_rnn
from clearwood.sequences.recurrent.fidelity import NetworkFidelity
from clearwood.sequences.recurrent.state_trees import StateTrees, state_trees
from clearwood.sequences.recurrent.trace import NetworkTrace

_DISPLAYS = names_in(
    {
        "sequences.reading.automaton_display": "AutomatonDisplay",
        "sequences.reading.display": "FidelityCurveDisplay SurprisalDisplay",
        "sequences.reading.states_display": "StatesDisplay",
        "sequences.reading.sweeps_display": "StateNumbersDisplay SweepsDisplay",
    }
)
"""Names that are loaded when they are first used, and their modules."""

__all__ = [
    "AutomatonDisplay",
    "FidelityCurveDisplay",
    "HMMLSTM",
    "HiddenMarkovModel",
    "NetworkFidelity",
    "NetworkTrace",
    "RecurrentExplanation",
    "StateAutomaton",
    "StateNumbersDisplay",
    "StateTrees",
    "StatesDisplay",
    "SurprisalDisplay",
    "SweepsDisplay",
    "explain_rnn",
    "state_trees",
    "symbol_table",
]

__getattr__ = loader(__name__, _DISPLAYS)
