"""Surrogates of recurrent networks: automata of few states, and their fidelity."""
