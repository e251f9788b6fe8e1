"""The page of a comparison in a real browser: clicks, and names that want to run."""

import html
import json
import re
from html.parser import HTMLParser

import pytest
from tests._html.hostile import HOSTILE, tags_of
from tests.reporting.frontiers import named_frontier, small_frontier

from clearwood._words.labels import printable
from clearwood.reporting import report

MARK = "console.error(4711)"
"""What a name would do if it ran."""
POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy".*?>')
CLICKS = """
<script>
const shown = () => [...document.querySelectorAll(".point")].filter(
  one => getComputedStyle(one).display != "none");
addEventListener("load", async () => {
  const told = {before: shown().map(one => one.id), after: {}};
  const chart = [...document.querySelectorAll("svg.frontier")].find(
    one => getComputedStyle(one).display != "none");
  for (const link of chart.querySelectorAll("a")) {
    chart.scrollIntoView();
    const dot = link.querySelector(".dot").getBoundingClientRect();
    const hit = document.elementFromPoint(
      dot.x + dot.width / 2, dot.y + dot.height / 2);
    hit.dispatchEvent(new MouseEvent("click", {bubbles: true, cancelable: true}));
    await new Promise(done => setTimeout(done));
    told.after[link.getAttribute("href")] = shown().map(one => [one.id, one.innerText]);
    const rings = [...document.querySelectorAll(".ring")].filter(
      one => one.getBoundingClientRect().width > 0 &&
             getComputedStyle(one).stroke != "none");
    const place = link.querySelector(".dot").getBoundingClientRect();
    const off = rings.map(one => one.getBoundingClientRect()).map(ring => Math.hypot(
      ring.x + ring.width / 2 - place.x - place.width / 2,
      ring.y + ring.height / 2 - place.y - place.height / 2));
    told.off = [...(told.off || []), off];
  }
  const answer = document.createElement("pre");
  answer.id = "answer";
  answer.textContent = JSON.stringify(told);
  document.body.append(answer);
});
</script>
"""
READ = """
<style>.point { display: block !important; }</style>
<script>
addEventListener("load", () => {
  const answer = document.createElement("pre");
  answer.id = "answer";
  answer.textContent = JSON.stringify(
    [...document.querySelectorAll(".point")].map(one => one.innerText));
  document.body.append(answer);
});
</script>
"""
PROVOKE = """
<script>
addEventListener("load", () => {
  const kinds = ["mouseover", "pointerover", "focus", "click", "error", "toggle",
                 "animationstart", "load"];
  for (const one of document.querySelectorAll("body *"))
    for (const kind of kinds) one.dispatchEvent(new Event(kind));
});
</script>
"""


def written(folder, names):
    path = folder / "compare.html"
    report(named_frontier(names), path)
    return path


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    names = [name.replace("alert(1)", MARK) for name in HOSTILE]
    with pytest.MonkeyPatch.context() as patch:
        # Long names take more room; all shall be shown the same way here.
        patch.setattr("clearwood.reporting.frontier.LARGEST_TABLES", 1e9)
        folders = [tmp_path_factory.mktemp(word) for word in ("hostile", "harmless")]
        harmless = [f"name {k}" for k in range(len(names))]
        return names, written(folders[0], names), written(folders[1], harmless)


def freed(path):
    """The page without the policy that forbids scripts."""
    page, n = POLICY.subn("", path.read_text(encoding="utf-8"))
    assert n == 1
    return page


def answer_of(chromium, path, script, *options):
    """What a script finds on a copy of the page that lets it run, and the log."""
    page = freed(path)
    copy = path.with_name("scripted.html")
    copy.write_text(page.replace("</body>", f"{script}</body>"), encoding="utf-8")
    done = chromium(
        "--virtual-time-budget=20000", *options, "--dump-dom", copy.as_uri()
    )
    answer = re.search(r'<pre id="answer">(.*?)</pre>', done.stdout, re.S).group(1)
    return json.loads(html.unescape(answer)), done.stderr


@pytest.mark.parametrize("size", ["1280,900", "500,900"])
def test_a_click_on_a_point_shows_its_rules_and_no_others(chromium, tmp_path, size):
    path = tmp_path / "compare.html"
    found = small_frontier()
    report(found, path)
    told, _ = answer_of(chromium, path, CLICKS, f"--window-size={size}")
    assert told["before"] == [f"p{found.points.index(found.enough())}"]
    assert len(told["after"]) == len(told["off"]) == len(found.points)
    # One ring, around the dot; triangles are not quite symmetric.
    assert all(len(off) == 1 and off[0] < 2 for off in told["off"])
    for number, one in enumerate(found.points):
        ((identifier, text),) = told["after"][f"#p{number}"]
        assert identifier == f"p{number}"
        assert text.startswith(f"{one.method}, {one.n_rules} rule")


def test_no_hostile_name_runs_or_makes_markup(chromium, hostile):
    _, path, harmless = hostile
    done = chromium("--dump-dom", path.as_uri())
    # Console messages, refusals by the content security policy among them.
    assert "CONSOLE" not in done.stderr
    expected = chromium("--dump-dom", harmless.as_uri()).stdout
    assert tags_of(done.stdout) == tags_of(expected)


def test_that_one_runs_would_be_noticed(chromium, hostile):
    """The page without its escapes."""
    _, path, _ = hostile
    copy = path.with_name("free.html")
    copy.write_text(html.unescape(freed(path)), encoding="utf-8")
    done = chromium("--virtual-time-budget=5000", "--dump-dom", copy.as_uri())
    assert "CONSOLE" in done.stderr and "4711" in done.stderr


def test_each_hostile_name_is_read_as_it_is_and_none_runs(chromium, hostile):
    names, path, _ = hostile
    script = READ + PROVOKE
    sections, log = answer_of(chromium, path, script, "--window-size=1280,900")
    assert "CONSOLE" not in log
    assert len(names) >= 100
    points = named_frontier(names).points
    for number, name in enumerate(names):
        seen, wanted = plain(sections[number]), plain(printable(name))
        # As method, feature, class, category, target; as the rules print them.
        assert seen.startswith(f"{wanted}, ")
        assert f"then {wanted}" in seen
        rules = points[number].rules
        for condition in rules.rules[0].conditions:
            assert plain(condition.text(rules.features)) in seen
        assert f"{wanted} probability " in seen
        text = sections[len(names) + number]
        said = [printable(line) for line in name.expandtabs(4).splitlines()]
        assert text.endswith(" ".join(said)) or text.endswith("\n".join(said))
    # A class may be named like what is shown of it; the page lists them all.
    words = text_of(path.read_text(encoding="utf-8"))
    for name in names:
        assert words.count(plain(printable(name))) >= 8


class _Text(HTMLParser):
    def __init__(self):
        super().__init__()
        self.parts = []

    def handle_data(self, data):
        self.parts.append(data)


def text_of(page):
    parser = _Text()
    parser.feed(page)
    return plain("".join(parser.parts))


def plain(text):
    """White space as a browser shows it."""
    return " ".join(text.split())
