"""The page of a recurrent network beside a hidden Markov model."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import clearwood as cw
from clearwood.sequences.reading.hybrid_section import section

torch = pytest.importorskip("torch")
TEXT = "the cat sat on the mat and the dog sat on the log " * 20


@pytest.fixture(scope="module")
def fitted():
    hmm = cw.HiddenMarkovModel(3, algorithm="em", random_state=0)
    return cw.HMMLSTM(n_hidden=4, hmm=hmm, n_epochs=3, random_state=0).fit(TEXT)


def test_scores_are_those_of_the_network_and_of_simpler_predictions(fitted):
    text, lengths = TEXT[:60], [20, 40]
    scores = dict(section(fitted, text, lengths)["scores"])
    assert scores["Network"] == fitted.score(text, lengths=lengths)
    steps = fitted.hmm_.step_log_likelihood(text, lengths)
    later = [i for i in range(60) if i not in (0, 20)]
    assert scores["Hidden Markov model alone"] == pytest.approx(steps[later].mean())
    share = np.array([TEXT.count(text[i]) / len(TEXT) for i in later])
    frequency = scores["Frequencies of the symbols"]
    assert frequency == pytest.approx(np.log(share).mean(), abs=0.02)


def test_the_epoch_that_is_kept_is_the_best_held_out_one(fitted):
    held_out = [epoch.validation for epoch in fitted.history_]
    best = int(np.argmax(held_out))
    facts = dict(section(fitted)["facts"])
    assert (facts["Epochs"], facts["Epoch kept"]) == ("3", str(best + 1))
    assert float(facts["Held-out perplexity"]) == pytest.approx(
        np.exp(-held_out[best]), rel=0.01
    )


@pytest.mark.parametrize("kind", ["text", "loaded", "alone", "series", "one epoch"])
def test_every_kind_has_a_page(kind, fitted, tmp_path):
    X, y, result = TEXT[:60], None, fitted
    if kind == "loaded":
        cw.save(fitted, tmp_path / "hybrid.zip")
        result = cw.load(tmp_path / "hybrid.zip")
    elif kind != "text":
        result = cw.HMMLSTM(n_hidden=2, hybrid=None, n_epochs=2, random_state=0)
        if kind == "one epoch":
            result.set_params(n_epochs=1)
        if kind == "series":
            X = np.random.default_rng(0).integers(2, size=(300, 2))
            y = X[:, 0]
            result.fit(X, y)
        else:
            result.fit(TEXT)
    cw.report(result, tmp_path / "page.html", X=X, y=y)
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert ("<svg" in page) == (kind != "one epoch")
    assert ('id="states"' in page) == (kind == "text")
    score = result.score(X, y) if kind == "series" else result.score(X)
    assert f"{score:.4g}" in page


def test_an_unfitted_one_has_no_page(tmp_path):
    with pytest.raises(NotFittedError):
        cw.report(cw.HMMLSTM(), tmp_path / "page.html")


def test_a_very_bad_fit_and_one_without_epochs_have_pages(fitted, tmp_path):
    result = cw.HMMLSTM(n_hidden=2, hybrid=None, n_epochs=2, random_state=0).fit(TEXT)
    result.history_ = [epoch._replace(validation=-1e6) for epoch in result.history_]
    assert dict(section(result)["facts"])["Held-out perplexity"] == "inf"
    result.history_ = []
    assert dict(section(result)["facts"])["Epochs"] == "0"
    cw.report(result, tmp_path / "page.html")
