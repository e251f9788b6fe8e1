"""Predictions of models as read, compared with those of their libraries, by kind.

The random models are those of the tests: small, with rows at and next to thresholds,
missing values and unknown categories. Every model is read from memory; the tests also
read each from its file. PMML documents are written by sklearn2pmml, with the
Python of the variable PMML_PYTHON, and forests of R by R, if it is installed.
"""

import importlib
import json
import os
import subprocess
import warnings
from functools import cache
from importlib.metadata import version
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory

import numpy as np
from tests.ensembles.files import make_pmml_files, r_cases

from benchmarks._study import Study, arguments, markdown_table
from clearwood import read_ensemble

LIBRARIES = ("xgboost", "lightgbm", "catboost")

PMML_PYTHON = "PMML_PYTHON"
"""Environment variable: a Python with sklearn2pmml and these libraries."""


def case(library, kind, seeds):
    """Largest differences over the models of one kind."""
    models = importlib.import_module(f"tests.ensembles.{library}.models")
    rows, raw_worst, link_worst, other_labels = 0, [], [], 0
    for seed in range(seeds):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = models.make(kind, seed)
            ensemble = read_ensemble(made.model)
            raw = ensemble.raw_scores(made.X)
            ours = ensemble.predict(made.X)
        rows += len(raw)
        ulp32 = ensemble.sum_dtype == "float32"
        raw_worst.append(difference(raw, made.raw, ulp32))
        predicted = np.ravel(made.predicted)
        if ensemble.classes is None:
            link_worst.append(difference(ours, predicted, ulp32))
        else:
            other_labels += int(np.sum(ours.astype(str) != predicted.astype(str)))
        if made.probabilities is not None:
            found = ensemble.predict_proba(made.X)
            if np.ndim(made.probabilities) == 1:
                found = found[:, -1]
            link_worst.append(difference(found, made.probabilities, ulp32))
    return [
        {
            "models": seeds,
            "rows": rows,
            "raw": max(raw_worst),
            "link": max(link_worst, default=np.nan),
            "other_labels": other_labels,
        }
    ]


@cache
def forests_of_r(seed):
    """Folder with a forest of every kind, written once."""
    folder = TemporaryDirectory()
    r_cases.make(seed, folder.name)
    return folder


def case_of_r(kind, seeds):
    """Largest differences over the forests of R of one kind."""
    worst, n_rows = [], 0
    for seed in range(1, seeds + 1):
        folder = forests_of_r(seed).name
        worst.append(r_cases.worst_difference(folder, kind))
        n_rows += len(r_cases.rows(folder))
    return [
        {
            "models": seeds,
            "rows": n_rows,
            "raw": max(worst),
            "link": np.nan,
            "other_labels": 0,
        }
    ]


@cache
def documents_of_jpmml(seed):
    """Folder with a PMML document of every kind, written once."""
    folder = TemporaryDirectory()
    script = [os.environ[PMML_PYTHON], make_pmml_files.__file__]
    subprocess.run([*script, str(seed), folder.name], check=True, timeout=600)
    return folder


def case_of_pmml(kind, seeds):
    """Largest differences over the PMML documents of one kind of models."""
    worst, n_rows = [], 0
    for seed in range(1, seeds + 1):
        folder = Path(documents_of_jpmml(seed).name)
        expected = np.array(
            json.loads((folder / "pmml-answers.json").read_text())[kind]
        )
        ensemble = read_ensemble(folder / f"pmml-{kind}.pmml")
        X = make_pmml_files.rows(kind.startswith(make_pmml_files.MISSING), seed)
        is_class = ensemble.classes is not None
        found = ensemble.predict_proba(X) if is_class else ensemble.predict(X)
        # Relative to the largest value: sums may be near 0.
        worst.append(np.abs(found - expected).max() / np.abs(expected).max())
        n_rows += len(X)
    return [
        {
            "models": seeds,
            "rows": n_rows,
            "raw": np.nan,
            "link": max(worst),
            "other_labels": 0,
        }
    ]


def difference(ours, native, in_float32):
    """Largest difference, in float32 steps or relative to the value in float64."""
    ours = np.asarray(ours, np.float64).reshape(np.shape(native))
    native = np.asarray(native, np.float64)
    differ = ~((ours == native) | (np.isnan(ours) & np.isnan(native)))
    if not differ.any():
        return 0.0
    ours, native = ours[differ], native[differ]
    if in_float32:
        step = np.spacing(np.abs(native.astype(np.float32))).astype(np.float64)
        return float(np.max(np.abs(ours - native) / step))
    return float(np.max(np.abs(ours - native) / np.abs(native)))


def main():
    """Run missing cases and write the page."""
    options = arguments(__doc__)
    seeds = 2 if options.quick else 20
    kinds = {
        library: importlib.import_module(f"tests.ensembles.{library}.models").KINDS
        for library in LIBRARIES
    }
    study = Study("readers_exact", ["library", "kind"], options)
    study.run(
        {
            (library, kind): lambda library=library, kind=kind: case(
                library, kind, seeds
            )
            for library in LIBRARIES
            for kind in kinds[library]
        }
        | {
            ("r", kind): lambda kind=kind: case_of_r(kind, max(1, seeds // 2))
            for kind in r_cases.CASES
            if which("Rscript")
        }
        | {
            ("pmml", kind): lambda kind=kind: case_of_pmml(kind, max(1, seeds // 4))
            for kind in [name for name, *_ in make_pmml_files.models()]
            if PMML_PYTHON in os.environ
        }
    )
    frame = study.frame()
    parts = []
    for library in frame.library.unique():
        part = frame[frame.library == library]
        unit = "float32 steps" if library == "xgboost" else "relative"
        header = ["kind", "models", "rows", f"raw sums ({unit})",
                  f"after the link ({unit})", "other labels"]  # fmt: skip
        columns = ["kind", "models", "rows", "raw", "link", "other_labels"]
        total = ["all", part.models.sum(), part.rows.sum(), part.raw.max(),
                 part.link.max(), part.other_labels.sum()]  # fmt: skip
        name = "xgboost-cpu" if library == "xgboost" else library
        others = {"r": "R", "pmml": "PMML, written by sklearn2pmml"}
        title = others.get(library) or f"{library} {version(name)}"
        parts += [
            f"## {title}",
            markdown_table(header, [*part[columns].to_numpy().tolist(), total]),
        ]
    study.write_markdown(
        "Predictions against the native libraries",
        "Largest differences over random models of every kind; 0 is bitwise equality.",
        *parts,
    )


if __name__ == "__main__":
    main()
