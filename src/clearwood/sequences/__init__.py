"""Hidden Markov models, alone and beside recurrent networks (Krakovna, 5)."""
