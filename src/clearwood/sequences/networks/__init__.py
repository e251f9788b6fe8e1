"""Hybrids of recurrent networks and hidden Markov models (Krakovna, 5.2.3)."""
