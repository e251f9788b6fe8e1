"""The posterior over all prunings of a tree, and what follows from it."""
