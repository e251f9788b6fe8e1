"""HTML of results between the styles of notebooks, opened in a browser."""

import html
import json
import re

import pytest
from tests.test_result_contract import RESULTS

STYLES = {
    # packages/rendermime/style/base.css of JupyterLab 4
    "jp-RenderedHTMLCommon": """
.jp-RenderedHTMLCommon { font: 14px sans-serif; padding-right: 20px; }
.jp-RenderedHTMLCommon pre { white-space: pre-wrap; font-size: inherit; }
.jp-RenderedHTMLCommon table {
  border-collapse: collapse; border: none; font-size: 13px; table-layout: fixed;
  margin-left: auto; margin-bottom: 1em; margin-right: auto; }
.jp-RenderedHTMLCommon td, .jp-RenderedHTMLCommon th, .jp-RenderedHTMLCommon tr {
  vertical-align: middle; padding: 0.5em; line-height: normal; white-space: normal;
  max-width: none; border: none; }
:not(.jp-RenderedMarkdown).jp-RenderedHTMLCommon td,
:not(.jp-RenderedMarkdown).jp-RenderedHTMLCommon th,
:not(.jp-RenderedMarkdown).jp-RenderedHTMLCommon tr { text-align: right; }
.jp-RenderedHTMLCommon th { font-weight: bold; }
.jp-RenderedHTMLCommon tbody tr:nth-child(odd) { background: white; }
.jp-RenderedHTMLCommon tbody tr:nth-child(even) { background: #f5f5f5; }
.jp-RenderedHTMLCommon p { text-align: left; margin: 0; margin-bottom: 1em; }""",
    # static/notebook/less/renderedhtml.less of Notebook 6 and nbclassic
    "rendered_html": """
.rendered_html { font: 14px sans-serif; }
.rendered_html table {
  margin-left: auto; margin-right: auto; border: none; border-collapse: collapse;
  border-spacing: 0; font-size: 12px; table-layout: fixed; }
.rendered_html tr, .rendered_html th, .rendered_html td {
  text-align: right; vertical-align: middle; padding: 0.5em 0.5em;
  line-height: normal; white-space: normal; max-width: none; border: none; }
.rendered_html tbody tr:nth-child(odd) { background: #f5f5f5; }
.rendered_html pre { white-space: pre-wrap; padding: 10px; font-size: 100%; }""",
}

MEASURE = """<script>
const found = {};
const all = (e, tags) => [...e.querySelectorAll(tags)].filter(
  one => one.getClientRects().length);
for (const e of document.querySelectorAll("[data-name]")) {
  const style = one => getComputedStyle(one), wrong = [];
  for (const one of all(e, "p, li, dd, pre, caption, th, td")) {
    const is_number = one.classList.contains("cw-number");
    const {textAlign} = style(one), right = textAlign === "right";
    if (right !== is_number) wrong.push(`${textAlign}: ${one.textContent.trim()}`);
  }
  for (const one of all(e, "table, pre")) {
    const missing = one.parentElement.clientWidth - one.getBoundingClientRect().width;
    if (missing > 1) wrong.push(`${one.tagName} leaves ${missing} pixels`);
  }
  for (const one of all(e, "table")) if (style(one).tableLayout !== "auto")
    wrong.push("columns have one width");
  for (const one of all(e, "tbody tr"))
    if (style(one).backgroundColor !== "rgba(0, 0, 0, 0)") wrong.push("striped");
  for (const one of all(e, "pre"))
    if (!/mono/.test(style(one).fontFamily) || style(one).whiteSpace !== "pre")
      wrong.push("text without columns");
  const indents = all(e, ".cw-node").map(one => parseFloat(style(one).paddingLeft));
  found[e.dataset.name] = {wrong, indents: [...new Set(indents)].length};
}
document.body.innerHTML = "<pre>" + JSON.stringify(found).replace(/</g, "&lt;")
  + "END</pre>";
</script>"""


@pytest.fixture(scope="module")
def shown():
    return {name: make()._repr_html_() for name, make in RESULTS.items()}


@pytest.mark.parametrize("kind", STYLES)
def test_results_are_left_aligned_and_fill_the_width(chromium, shown, kind, tmp_path):
    outputs = "".join(
        f'<div class="{kind}"><div data-name="{name}">{text}</div></div>'
        for name, text in shown.items()
    )
    page = tmp_path / "notebook.html"
    style = f"<!DOCTYPE html><meta charset=utf-8><style>{STYLES[kind]}</style>"
    page.write_text(f"{style}<body>{outputs}{MEASURE}", "utf-8")
    done = chromium("--window-size=1280,900", "--dump-dom", page.as_uri())
    found = re.search(r"<pre>(.*)END</pre>", done.stdout, re.S)
    assert found, done.stderr[-2000:]
    found = json.loads(html.unescape(found.group(1)))
    assert list(found) == list(shown)
    assert not any(one["wrong"] for one in found.values()), found
    # Levels of the tree.
    assert found["AnnotatedTree"]["indents"] > 2
