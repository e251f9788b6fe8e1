"""The feature graph in a real browser: what is pointed at is told, without a script."""

import pytest
from tests.reporting.test_frontier_browser import answer_of
from tests.sbfc.reading.cases import many

from clearwood.reporting import report
from clearwood.sbfc.reading.feature_graph import average_graph

FOCUS = """
<script>
addEventListener("load", async () => {
  const shown = () => [...document.querySelectorAll(".cw-about")].filter(
    one => getComputedStyle(one).display != "none").map(
    one => one.querySelector("h3").textContent);
  const lit = () => [...document.querySelectorAll(".cw-edge")].filter(
    one => getComputedStyle(one).opacity == 1).length;
  const told = {before: shown(), focus: {}};
  for (const link of document.querySelectorAll("a.cw-box")) {
    link.focus();
    told.focus[link.getAttribute("aria-label")] = [shown(), lit()];
  }
  document.activeElement.blur();
  await new Promise(done => {
    addEventListener("hashchange", done);
    location.hash = "#f1";
  });
  told.chosen = shown();
  const answer = document.createElement("pre");
  answer.id = "answer";
  answer.textContent = JSON.stringify(told);
  document.body.append(answer);
});
</script>
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "graph.html"
    report(many(40), path)
    return path


def test_what_has_the_focus_is_told_with_its_edges(chromium, page):
    told, _ = answer_of(chromium, page, FOCUS)
    assert told["before"] == []
    for label, (names, _) in told["focus"].items():
        assert names == [label.partition(":")[0]]
    edges = {label.partition(":")[0]: n for label, (_, n) in told["focus"].items()}
    assert edges["feature number 1"] == 2
    assert edges["feature number 0"] == 1
    assert edges["feature number 3"] == 0
    assert told["chosen"] == ["feature number 1"]


def test_it_opens_without_a_complaint(chromium, page):
    done = chromium("--dump-dom", f"{page.as_uri()}#f0")
    assert "CONSOLE" not in done.stderr
    assert done.stdout.count('class="cw-shade') == len(average_graph(many(40)).shown)
