"""The sum over all trees, without one tree that is given."""
