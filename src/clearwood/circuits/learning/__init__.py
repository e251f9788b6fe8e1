"""Learning circuits from tables: one recursion, two ways to split what is left."""
