"""Configuration of the documentation; `make docs` builds it."""

import tomllib
from pathlib import Path

project = "Clearwood"
author = "Clearwood developers"
copyright = f"2026, {author}"
pyproject = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())
release = version = pyproject["project"]["version"]

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "dependencies.md"]
default_role = "code"

html_theme = "pydata_sphinx_theme"
html_title = "Clearwood"
html_show_sourcelink = False
html_theme_options = {"navigation_with_keys": False, "show_toc_level": 2}
# Pages without subpages have nothing to show in a sidebar.
html_sidebars = {
    page: []
    for page in (
        "install",
        "quickstart",
        "choosing",
        "how_it_works",
        "command_line",
        "changelog",
        "references",
    )
}

# Members are listed by our own class template, not a second time by numpydoc.
numpydoc_show_class_members = False
autosummary_generate = True
# The docstrings say it better than the annotations.
autodoc_typehints = "none"

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    # demo.py writes files where it is told to; it is run by `make demo`.
    "ignore_pattern": r"demo\.py",
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
}
