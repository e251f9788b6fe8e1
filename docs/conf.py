"""Configuration of the documentation; `make docs` builds it."""

import sys
import tomllib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

project = "Clearwood"
author = "Clearwood developers"
copyright = f"2026, {author}"
pyproject = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())
release = version = pyproject["project"]["version"]

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
    "numpydoc",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "dependencies.md", "inventories"]

# `simplify` and `RuleSet.to_sql` on any page are links to the reference; what is no
# name of ours stays as it is.
default_role = "py:obj"
rst_prolog = ".. currentmodule:: clearwood"
# What pages and examples name of other libraries. The lists are here, not fetched, so
# that the documentation is built without a network.
intersphinx_mapping = {
    library: (url, f"inventories/{library}.txt")
    for library, url in {
        "lightgbm": "https://lightgbm.readthedocs.io/en/stable/",
        "matplotlib": "https://matplotlib.org/stable/",
        "numpy": "https://numpy.org/doc/stable/",
        "pandas": "https://pandas.pydata.org/docs/",
        "sklearn": "https://scikit-learn.org/stable/",
    }.items()
}

html_theme = "pydata_sphinx_theme"
html_title = "Clearwood"
html_show_sourcelink = False
html_theme_options = {
    "header_links_before_dropdown": 6,
    "navigation_with_keys": False,
    "show_toc_level": 2,
}
# Pages without siblings have nothing to show in a sidebar.
html_sidebars = {
    page: []
    for page in ("index", "changelog", "faq", "glossary", "papers", "paper_results")
}

# Members are listed by our own class template, not a second time by numpydoc.
numpydoc_show_class_members = False
autosummary_generate = True
# The docstrings are clearer than the annotations.
autodoc_typehints = "none"

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    # demo.py writes files; it is run by `make demo`.
    "ignore_pattern": r"demo\.py",
    "within_subsection_order": "reading_order.place_of",
    "minigallery_sort_order": "reading_order.place_of",
    # Names in the code are links, and pages of names show the examples that use them.
    "doc_module": ("clearwood",),
    "backreferences_dir": "generated/backreferences",
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
}
