import re
from html.parser import HTMLParser

import numpy as np
import pytest
from tests._html.hostile import HOSTILE, tags_of
from tests.charts.drawn import elements, lines, texts
from tests.sequences.reading.markov import (
    TEXT,
    of_flags,
    of_patients,
    of_text,
    patients,
)
from tests.sequences.reading.pages import runs_of
from tests.wording import refuses, same_lines

import clearwood as cw
from clearwood._html import render
from clearwood.exceptions import InputError
from clearwood.reporting import summarize
from clearwood.sampling import Diagnosis
from clearwood.sequences import HiddenMarkovModel
from clearwood.sequences.reading.markov_section import section
from clearwood.sequences.reading.markov_states import step_surprisal


def page_of(model, folder, *given):
    X, lengths = (*given, None, None)[:2]
    path = folder / "page.html"
    cw.report(model, path, X=X, y=lengths, overwrite=True)
    return path.read_text(encoding="utf-8")


def test_the_text_and_its_states_are_on_the_page(tmp_path):
    page = page_of(of_text(), tmp_path, TEXT)
    (text,) = re.findall(r"<pre [^>]*>(.*?)</pre>", page, re.DOTALL)
    runs = runs_of(text)
    assert "".join(run for run, _ in runs) == TEXT
    states = [state for run, state in runs for _ in run]
    proba = of_text().predict_proba(TEXT)
    assert states == proba.argmax(axis=1).tolist()


def test_convergence_is_shown_with_its_limit(monkeypatch):
    for rhat, verdict in ((1.0098, "reached"), (1.0102, "not reached")):
        found = {"stay": Diagnosis(0.5, 0.1, 0.01, rhat, 400.0)}
        monkeypatch.setattr(HiddenMarkovModel, "diagnose", lambda self, f=found: f)
        monkeypatch.setattr(of_text(), "history_", None)
        tile = next(t for t in section(of_text())["tiles"] if t[0] == "Convergence")
        assert tile[1] == verdict and f" {rhat}," in tile[2]


def test_steps_without_a_symbol_are_a_box_among_letters(tmp_path):
    page = page_of(of_text(), tmp_path, ["a", None, float("nan"), "b"])
    (text,) = re.findall(r"<pre [^>]*>(.*?)</pre>", page, re.DOTALL)
    assert "".join(run for run, _ in runs_of(text)) == "a▯▯b"
    same_lines(page)
    assert "▯" not in page_of(of_text(), tmp_path, "ab")


def test_the_page_states_whether_its_steps_are_held_out(tmp_path):
    both = []
    for held_out_from in (None, "model"):
        path = tmp_path / f"{held_out_from}.html"
        cw.report(of_text(), path, X=TEXT, held_out_from=held_out_from)
        both.append(path.read_text(encoding="utf-8"))
    unknown, new = both
    same_lines(new)
    same_lines(unknown)


class _Labels(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found, self.wanted = [], []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.found += [given["id"]] if "id" in given else []
        self.wanted += given.get("aria-labelledby", "").split()
        if given.get("href", "").startswith("#"):
            self.wanted.append(given["href"][1:])


@pytest.mark.parametrize("given", [(), patients()], ids=["alone", "on rows"])
def test_the_page_is_whole_and_the_same_each_time(tmp_path, given):
    page = page_of(of_patients(), tmp_path, *given)
    assert page == page_of(of_patients(), tmp_path, *given)
    assert "<script" not in page and "http://" not in page
    labels = _Labels()
    labels.feed(page)
    assert len(labels.found) == len(set(labels.found))
    assert labels.wanted and set(labels.wanted) <= set(labels.found)
    if given:
        alone = page_of(of_patients(), tmp_path)
        same_lines(alone, without=page)


def test_numbers_are_those_of_the_model():
    hmm, (X, lengths) = of_patients(), patients()
    found = section(hmm, X, lengths)
    own = hmm.step_log_likelihood(X, lengths)
    assert found["scores"]["own"] == pytest.approx(own.mean())
    proba = hmm.predict_proba(X, lengths)
    shares = {line["number"]: line["share"] for line in found["states"]}
    assert shares == pytest.approx(dict(enumerate(proba.mean(axis=0))))
    # One state in any order is what the mixture says.
    free = cw.HiddenMarkovModel(2, emission="mixed")
    vars(free).update(vars(hmm))
    free.startprob_ = np.array([shares[0], shares[1]])
    free.transmat_ = np.tile(free.startprob_, (2, 1))
    any_order = free.step_log_likelihood(X, lengths, average=False).mean()
    assert found["scores"]["any_order"] == pytest.approx(any_order)
    assert found["scores"]["own"] > any_order


@pytest.mark.parametrize("kind", ["text", "patients"])
def test_surprise_along_the_steps(kind):
    hmm, (X, lengths) = (of_text(), (TEXT, None))
    if kind == "patients":
        hmm, (X, lengths) = of_patients(), patients()
    share = hmm.predict_proba(X, lengths).mean(axis=0)
    own, any_order = step_surprisal(hmm, X, lengths, share)
    assert -own.sum() == pytest.approx(hmm.score(X, lengths))
    assert own.mean() < any_order.mean()
    drawn = section(hmm, X, lengths)["scores"]["surprisal"]
    # Of no more steps than points, each is one; above stands what surprises more.
    for style, values in (("first", own), ("second", any_order)):
        (points,) = lines(drawn, style)
        height = points[:, 1]
        assert len(height) == len(own)
        slope = np.polyfit(values, height, 1)
        assert slope[0] < 0
        np.testing.assert_allclose(np.polyval(slope, values), height, atol=0.1)
        assert np.all((height >= 30) & (height <= 180))


def test_a_list_of_texts_is_read_as_sequences():
    parts = [TEXT[:50], TEXT[50:]]
    of_list, end_to_end = section(of_text(), parts), section(of_text(), TEXT, [50, 58])
    assert of_list["over_time"]["text"] == end_to_end["over_time"]["text"]
    assert of_list["scores"] == end_to_end["scores"]
    assert of_list["scores"]["n_sequences"] == 2
    # A sequence begins on a line of its own.
    text = "".join(run for run, _ in runs_of(of_list["over_time"]["text"]))
    assert text == f"{parts[0]}\n{parts[1]}"


def test_runs_and_lines_are_where_steps_are():
    hmm, (X, lengths) = of_patients(), patients()
    drawn = section(hmm, X, lengths)["over_time"]["svg"]
    states = hmm.predict_proba(X, lengths).argmax(axis=1)
    runs = elements(drawn, "rect", "cw-run")
    first = float(runs[0].get("x"))
    step = sum(float(run.get("width")) for run in runs) / 100
    found = [
        int(run.get("class").split()[1][1:])
        for run in runs
        for _ in range(round(float(run.get("width")) / step))
    ]
    assert found == states.tolist()
    (begin,) = elements(drawn, "line", "ink")
    assert float(begin.get("x1")) == pytest.approx(first + 60 * step, abs=0.1)
    assert {"temperature", "ward", "pulse", "intensive", "normal"} <= set(texts(drawn))
    # A gap breaks the line.
    ends = [len(line) for line in lines(drawn)]
    assert ends[0] == 100 and ends[-2:] == [40, 55]


def test_states_without_end_and_impossible_steps_are_told():
    found = section(of_flags(((1.0, 0.1), (0.2, 0.7))), np.array([[0, 1], [1, 1]]))
    last = next(line for line in found["states"] if line["number"] == 1)
    assert last["stay"] is None and last["transitions"] == []
    assert found["scores"]["n_impossible"] == 1
    assert section(of_flags())["scores"] is None
    one = cw.HiddenMarkovModel(1, algorithm="em", n_init=1).fit("aab")
    assert section(one, "ab")["graph"] is None


def test_no_tag_of_a_hostile_name_or_label_survives():
    def tags(names, labels):
        X, lengths = patients(names[0], labels)
        X = X.rename(columns={"pulse": names[1]})
        hmm = cw.HiddenMarkovModel(2, emission="mixed")
        vars(hmm).update(vars(cw.HiddenMarkovModel(
            2, emission="mixed", algorithm="em", n_init=1, n_iter=2, random_state=0
        ).fit(X, lengths)))  # fmt: skip
        summary = summarize(hmm, X=X, y=lengths)
        return tags_of(render("reporting/section.html", **summary))

    plain = tags(("a", "b"), ("l", "m"))
    hostile = [text for text in HOSTILE if text.strip()]
    for i in range(0, len(hostile) - 3, 32):
        names, labels = hostile[i : i + 2], hostile[i + 2 : i + 4]
        assert tags(names, tuple(sorted(labels))) == plain


def test_a_teacher_and_rows_of_another_shape_are_refused(tmp_path):
    with refuses(InputError):
        cw.report(of_text(), tmp_path / "page.html", X=TEXT, model=of_text())
    with refuses(InputError):
        section(of_text(), TEXT, [3])


def test_a_state_does_not_last_longer_than_what_was_seen(tmp_path):
    model = cw.HiddenMarkovModel(2, random_state=0).fit("a" * 30 + "b" * 30)
    model.transmat_ = np.array([[0.999, 0.001], [0.001, 0.999]])
    same_lines(page_of(model, tmp_path))
    model.transmat_ = np.array([[0.9, 0.1], [0.1, 0.9]])
    assert "10 steps" in page_of(model, tmp_path)
