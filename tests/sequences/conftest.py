"""Explanations of networks that need no long search for counterexamples."""

import pytest


@pytest.fixture
def few_words(monkeypatch):
    """Networks read few words in the search for a counterexample."""
    where = "clearwood.sequences.recurrent.counterexamples"
    monkeypatch.setattr(f"{where}.MOST_WORDS", 20)
    monkeypatch.setattr(f"{where}.N_RANDOM", 5)
