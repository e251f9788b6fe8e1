"""A posterior over trees baked into one tree that predicts the same."""
