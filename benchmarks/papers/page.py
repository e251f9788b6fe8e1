"""The page of the documentation that sets the papers' numbers next to ours.

Usage: python -m benchmarks.papers.page

It reads the CSV files in benchmarks/results and runs nothing: run it again after a
study has been rerun.
"""

from benchmarks._study import ROOT
from benchmarks.papers import of_afrabandpey, of_hara, of_krakovna, of_nakahara
from benchmarks.papers.cells import counts, csv_table, section

PAGE = ROOT / "docs" / "paper_results.rst"

PAPERS = {
    "Hara and Hayashi 2018": of_hara.items_2018,
    "Hara and Hayashi 2016": of_hara.items_2016,
    "Afrabandpey and others 2020": of_afrabandpey.items,
    "Krakovna 2016": of_krakovna.items,
    "Nakahara and Matsushima 2023": of_nakahara.items,
}

INTRODUCTION = """\
Results of the papers, and ours
===============================

Every table and figure of the five papers whose code :doc:`papers` lists, with the
papers' numbers next to those of this library. Entries are *paper / ours*. An entry is
*reproduced* if the difference is within the larger of both standard deviations, or
within the margin stated with the table; ``(+)`` marks one that is better than printed,
``(*)`` one that differs otherwise. Where a paper has a picture without numbers, the
statements of its text are compared. Causes of differences were measured on the pages
named, unless they are listed as not explained.

Written by ``python -m benchmarks.papers.page`` from the files in
``benchmarks/results``; each page there names the machine, the versions and the commit
of its run."""


def text():
    """The page."""
    found = {paper: items() for paper, items in PAPERS.items()}
    header = ["Paper", "tables and figures", "cells compared", "reproduced", "better",
              "differ", "impossible here"]  # fmt: skip
    body = [[paper, len(items), *counts(items)] for paper, items in found.items()]
    parts = [INTRODUCTION, csv_table([header, *body])]
    for paper, items in found.items():
        parts += [f"{paper}\n{'-' * len(paper)}", without_cells(items)]
        parts += [section(item) for item in items if item.cells]
    return "\n\n".join(part for part in parts if part) + "\n"


def without_cells(items):
    """Pictures and descriptions, in a table; nothing if there are none."""
    own = [item for item in items if not item.cells]
    if not own:
        return ""
    body = [["Place", "What", "Here", "Study"]]
    for item in own:
        why = f" Impossible: {item.lacking} cells ({item.why})." * bool(item.lacking)
        study = f"``benchmarks.{item.study}``" * bool(item.study)
        body.append([item.place, item.subject, item.protocol + why, study])
    return csv_table(body, "14, 20, 50, 16")


def write():
    """Write the page into the documentation."""
    PAGE.write_text(text(), encoding="utf-8")


if __name__ == "__main__":
    write()
