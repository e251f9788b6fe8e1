"""Comparison of two methods by Bayesian t-tests, and stability of trees."""
