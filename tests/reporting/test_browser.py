"""The page in a real browser: what the user sees is what the rules say."""

import re

import matplotlib.image
import numpy as np
import pytest
from tests.reporting.results import ROWS, Result, Step, Teacher, classes_rules

from clearwood.reporting import report

FRAME = """<!DOCTYPE html><pre></pre><iframe src="PAGE"></iframe><style>
iframe { width: 390px; height: 90000px; border: 0; }</style><script>
const frame = document.querySelector("iframe");
frame.onload = () => {
  const page = frame.contentDocument;
  const scrolls = ".scroll, .clearwood-drawn, .skip, thead, thead *, details *";
  const wide = [...page.querySelectorAll("body *")].filter(
    e => !e.closest(scrolls) && e.getBoundingClientRect().right > 390);
  document.querySelector("pre").textContent =
    [page.documentElement.scrollWidth, ...wide.map(e => e.tagName)].join(" ");
};</script>"""
"""Measures a page on a telephone; the page itself runs no script."""
HOSTILE = "</script><img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    rules = classes_rules(names=("temperature", HOSTILE), target=HOSTILE)
    history = tuple(Step(-100.0 / (i + 1), 9 - i // 3) for i in range(20))
    teacher = Teacher(["ill", "well", "ill", "ill"])
    report(Result(rules, history, max_rules=4), path, X=ROWS, model=teacher)
    return path


def test_the_rules_are_on_the_page_and_nothing_runs(chromium, page):
    done = chromium("--dump-dom", page.as_uri())
    assert "37.5 &lt; temperature &lt;= 40" in done.stdout
    assert "otherwise" in done.stdout
    assert "<polyline" in done.stdout
    assert "<img" not in done.stdout
    # Console messages, refusals by the content security policy among them.
    assert "CONSOLE" not in done.stderr


def test_light_and_dark_are_drawn_in_more_than_one_colour(chromium, page, tmp_path):
    paper = {}
    # Each at one width: neither says anything of the other.
    for scheme, setting, size in (("dark", 0, "400,1600"), ("light", 1, "1100,1600")):
        picture = tmp_path / f"{scheme}.png"
        chromium(
            f"--blink-settings=preferredColorScheme={setting}",
            f"--screenshot={picture}",
            f"--window-size={size}",
            page.as_uri(),
        )
        pixels = matplotlib.image.imread(picture)[:, :, :3]
        assert pixels.shape[0] > 1000
        assert len(np.unique(pixels.reshape(-1, 3) @ (1, 1e3, 1e6))) > 20
        paper[scheme] = pixels[2, 2].mean()
    assert paper["dark"] < 0.25 < 0.75 < paper["light"]


def test_nothing_but_pictures_and_tables_is_wider_than_a_phone(chromium, tmp_path):
    page, frame = tmp_path / "page.html", tmp_path / "frame.html"
    rules = classes_rules(names=("w" * 60, HOSTILE), labels=("well", "w" * 30))
    rows = [[38.0, "r"], [36.5, "g"]] * 500 + [[37.0, "r"]]
    model = rules.change(1, "w" * 60, low=36.9)
    report(rules, page, X=rows, y=rules.predict(rows), model=model)
    frame.write_text(FRAME.replace("PAGE", page.as_uri()))
    done = chromium("--allow-file-access-from-files", "--dump-dom", frame.as_uri())
    found = re.search(r"<pre>(.*?)</pre>", done.stdout, re.S).group(1).split()
    assert found[0] == "390" and found[1:] == []


def test_it_prints(chromium, page, tmp_path):
    target = tmp_path / "report.pdf"
    chromium(f"--print-to-pdf={target}", page.as_uri())
    assert target.read_bytes().startswith(b"%PDF")
    assert target.stat().st_size > 10_000
