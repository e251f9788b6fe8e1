"""Every page by axe-core, and its width at 1280 and 390 pixels, in both schemes."""

import html
import json
import re
import warnings
from importlib.resources import files

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from tests.reporting.results import ROWS, classes_rules
from tests.test_result_contract import LABELS, RESULTS, iris, projected

import clearwood as cw

HARNESS = """<!DOCTYPE html><pre></pre>
<iframe style="height: 20000px; border: 0"></iframe><script>
const source = SOURCE, pages = PAGES, found = {};
const frame = document.querySelector("iframe");
const load = page => new Promise(done => { frame.onload = done; frame.src = page; });
const scrolls = e => e && e.nodeType === 1 && (
  getComputedStyle(e).overflowX === "auto" || scrolls(e.parentElement));
const wide = () => [...frame.contentDocument.querySelectorAll("body *")].filter(
  e => e.getBoundingClientRect().right > frame.clientWidth + 1 && !scrolls(e)
    && !e.closest(".skip, thead, details *, title, desc")
).map(e => `${e.tagName} ${e.textContent.trim().slice(0, 30)}`);
(async () => {
  for (const [name, page] of pages) {
    frame.style.width = "1280px";
    await load(page);
    frame.contentWindow.eval(source);
    // Describes no element that passes.
    const result = await frame.contentWindow.axe.run(
      {...RULES, resultTypes: ["violations"], preload: false});
    found[name] = result.violations.map(v => `${v.id}: ${v.nodes[0].html}`);
    for (const width of WIDTHS) {
      frame.style.width = `${width}px`;
      found[name].push(...wide().map(tag => `wider than ${width}: ${tag}`));
    }
  }
  document.querySelector("pre").textContent = JSON.stringify(found) + "END";
})();</script>"""


def estimator_pages():
    X, y = iris()
    names = X.columns.astype(str)
    X = X.set_axis(names, axis=1)
    forest = cw.SelectiveBayesianForestClassifier(
        random_state=0, n_graphs=20, n_draws=20, min_ess=None
    )
    steps = pd.DataFrame(
        np.random.default_rng(0).normal(size=(60, 2)), columns=["a", "b"]
    )
    markov = cw.HiddenMarkovModel(2, emission="gaussian", n_iter=5, random_state=0)
    linear = cw.ProjectedLogisticRegression(LogisticRegression(), random_state=0)
    rows = {"X": X, "y": y}
    return {
        "rules": (classes_rules(), {"X": ROWS, "y": LABELS}),
        "forest": (forest.fit(X, y), rows),
        "density": (cw.MiniSPN(random_state=0).fit(X), {"X": X}),
        "meta-tree": (cw.MetaTreeClassifier(max_depth=3).fit(X, y), rows),
        "linear": (linear.fit(X, y), rows),
        "markov": (markov.fit(steps), {"X": steps}),
        "projected": (projected(), {"X": iris()[0], "y": y}),
        "meta-forest": (cw.MetaForestClassifier(random_state=0).fit(X, y), rows),
    }


@pytest.fixture(scope="module")
def estimators():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # short chains
        return estimator_pages()


@pytest.mark.parametrize("held_out_from", [None, "model"])
def test_pages_state_whether_their_rows_are_held_out(
    estimators, held_out_from, tmp_path
):
    for name, (result, rows) in estimators.items():
        path = tmp_path / f"{name}.html"
        cw.report(result, path, **rows, held_out_from=held_out_from)
        page = path.read_text("utf-8")
        is_unknown = "passed to this report" in page or "given rows" in page
        assert is_unknown == (held_out_from is None), name


@pytest.fixture(scope="module")
def pages(estimators, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    made = {name: (make(), {}) for name, make in RESULTS.items()} | estimators
    for name, (result, rows) in made.items():
        path = folder / f"{name}.html"
        cw.report(result, path, **rows)
        # The page allows no script, so neither axe-core's.
        text = re.sub(r"<meta http-equiv=\"Content-Sec[^>]*>", "", path.read_text())
        path.write_text(text)
    return folder


# In the dark, only colours are others.
@pytest.mark.parametrize(
    ("scheme", "rules", "widths"),
    [("dark", {"runOnly": ["color-contrast"]}, []), ("light", {}, [1280, 390])],
)
def test_axe_finds_nothing_and_nothing_is_too_wide(
    chromium, pages, scheme, rules, widths
):
    pytest.importorskip("axe_core_python", reason="axe-core is not installed")
    axe = files("axe_core_python").joinpath("axe.min.js").read_text("utf-8")
    listed = [[path.stem, path.as_uri()] for path in sorted(pages.glob("*.html"))]
    text = HARNESS
    for name, value in (("RULES", rules), ("WIDTHS", widths), ("PAGES", listed)):
        text = text.replace(name, json.dumps(value))
    harness = pages / f"{scheme}.htm"
    source = json.dumps(axe).replace("</", "<\\/")
    harness.write_text(text.replace("SOURCE", source), "utf-8")
    done = chromium(
        "--allow-file-access-from-files",
        "--virtual-time-budget=600000",
        f"--blink-settings=preferredColorScheme={int(scheme == 'light')}",
        "--dump-dom",
        harness.as_uri(),
    )
    found = re.search(r"<pre>(.*)END</pre>", done.stdout, re.S)
    assert found, done.stderr[-2000:]
    found = json.loads(html.unescape(found.group(1)))
    assert len(found) == len(listed)
    assert not any(found.values()), "\n".join(
        f"{name}: {one}" for name in found for one in found[name]
    )
