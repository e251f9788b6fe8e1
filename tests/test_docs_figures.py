"""Figures that pages of text cite come from the tables of ``benchmarks/results``.

Under the text stands a comment with one line per figure: what the page prints, and the
heading, the row (its first cells) and the column of the table where it is found::

    .. Figures of benchmarks/results/sbfc_accuracy.md:
       81.9: Accuracy, % | heart | thesis
"""

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs").rglob("*.rst"))
COMMENT = re.compile(
    r"^\.\. Figures of (benchmarks/results/\w+\.md):\n((?:   .+\n)+)", re.MULTILINE
)
FIGURE = re.compile(r"(?<![\d.])\d+\.\d+(?![\d.])")


@cache
def cells(path: Path) -> dict[tuple[str, ...], float]:
    """Every number of the tables of a page, by heading, first cells and column."""
    found, heading, header = {}, "", None
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            heading = line.lstrip("# ")
        if not line.startswith("|"):
            header = None
            continue
        row = [cell.strip(" *") for cell in line.strip().strip("|").split("|")]
        if header is None:
            header = row
        for n_key in (1, 2):
            for column, cell in zip(header[n_key:], row[n_key:]):
                if number := re.match(r"[-+]?[\d,]*\.?\d+", cell):
                    key = heading, *row[:n_key], column
                    found[key] = float(number[0].replace(",", ""))
    return found


def figures_of(text: str) -> list[tuple[str, str, tuple[str, ...]]]:
    """File, figure and place of all comments of a page."""
    return [
        (file, figure, tuple(part.strip() for part in place.split("|")))
        for file, lines in COMMENT.findall(text)
        for figure, place in re.findall(r"^ *([-\d.]+): (.*)$", lines, re.MULTILINE)
    ]


def says(figure: str, number: float) -> bool:
    """Whether a number is a figure, to the digits of the figure."""
    digits = len(figure.partition(".")[2])
    return abs(float(figure) - number) <= 0.5001 * 10.0**-digits


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_figures_are_those_of_the_study(page):
    text = page.read_text(encoding="utf-8")
    printed = set(FIGURE.findall(COMMENT.sub("", text)))
    for file, figure, place in figures_of(text):
        assert place in cells(ROOT / file), (place, file)
        assert says(figure, cells(ROOT / file)[place]), (figure, place, file)
        assert figure in printed, f"{figure} is no longer on the page"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_paragraphs_that_name_a_study_have_their_figures_from_it(page):
    text = page.read_text(encoding="utf-8")
    placed = {figure for _, figure, _ in figures_of(text)}
    for paragraph in COMMENT.sub("", text).split("\n\n"):
        files = re.findall(r"benchmarks/results/(\w+)\.md", paragraph)
        known = [
            float(number.replace(",", ""))
            for file in files
            for number in re.findall(
                r"\d[\d,]*\.?\d*",
                (ROOT / f"benchmarks/results/{file}.md").read_text(encoding="utf-8"),
            )
        ]
        for figure in FIGURE.findall(paragraph) if files else []:
            assert figure in placed or any(says(figure, one) for one in known), (
                f"{figure} is not in {files}"
            )
