"""Reading recurrent networks: an automaton of few states, and what it explains."""
