"""Factorized asymptotic Bayesian inference (Hara and Hayashi 2018), and EM."""
