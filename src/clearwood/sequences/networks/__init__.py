"""Recurrent networks with a hidden Markov model beside them (Krakovna, 5.2.3)."""
