"""LightGBM: models in memory and text files."""
