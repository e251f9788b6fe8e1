"""Factorized asymptotic Bayesian inference (Hara and Hayashi 2018), and EM.

Read ``inference`` for the paper's Algorithm 1, ``outputs`` for the two output models,
``rules`` for how components become printed rules, and ``restarts`` for the random
starts and the choice among them; ``estimators`` combines these.
"""
