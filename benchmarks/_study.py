"""Common parts of all studies: resumable tables, pages, the machine's description."""

import argparse
import csv
import json
import os
import platform
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks._data import gaussian_rows, make_model
from benchmarks._sources import ROOT, is_of_today, source_tree

RESULTS = ROOT / "benchmarks" / "results"
BEGUN = RESULTS / ".begun.json"
"""Not committed. File of results -> the sources with which its run began."""
PACKAGES = ("numpy", "scipy", "scikit-learn")


def arguments(description, texts=None, **flags):
    """The common options of all benchmarks, and texts and flags of one: name and
    help."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="smaller, in minutes")
    parser.add_argument("--fresh", action="store_true", help="measure all again")
    for name, text in (texts or {}).items():
        parser.add_argument(f"--{name}", default="", help=text)
    for name, text in flags.items():
        parser.add_argument(f"--{name}", action="store_true", help=text)
    return parser.parse_args()


def _short(value):
    """Round a number to six digits, more than any table shows."""
    return f"{value:.6g}" if isinstance(value, float) else value


class Study:
    """Rows in a CSV file; cases that it contains are not run again.

    ``keys`` are the columns that identify a case. A quick run has its own file.
    """

    def __init__(self, name, keys, options):
        stem = f"{name}-quick" if options.quick else name
        self.name, self.keys = name, keys
        self.csv, self.markdown = RESULTS / f"{stem}.csv", RESULTS / f"{stem}.md"
        module = sys.modules["__main__"].__spec__.name
        self.study = module.removeprefix("benchmarks.")
        self.command = f"python -m {module}" + " --quick" * options.quick
        RESULTS.mkdir(exist_ok=True)
        if options.fresh:
            self.csv.unlink(missing_ok=True)
        if not self.csv.exists():
            mark_begun(self.csv.name)
        # True as well after an interrupted run with the same sources.
        self.is_new = is_begun(self.csv.name, self.study)

    def rows(self):
        """Existing rows, as dicts of str."""
        if not self.csv.exists():
            return []
        with self.csv.open(newline="") as file:
            return list(csv.DictReader(file))

    def frame(self):
        """Existing rows."""
        return pd.read_csv(self.csv, dtype=dict.fromkeys(self.keys, str))

    def run(self, cases, warm=None):
        """Run missing cases. ``cases``: key tuple -> function giving rows; ``warm``
        runs once before, by default ``warm_up``."""
        done = {tuple(row[key] for key in self.keys) for row in self.rows()}
        missing = [key for key in cases if tuple(map(str, key)) not in done]
        print(f"{self.name}: {len(cases) - len(missing)} of {len(cases)} cases done")
        for key in missing:
            print("missing:", *key)
        if missing:
            (warm or warm_up)()
        for key in missing:
            print("running:", *key, flush=True)
            rows = [dict(zip(self.keys, key)) | row for row in cases[key]()]
            self._append(rows)
            for row in rows:
                print("   ", *(shown(v) for v in row.values()), flush=True)

    def drop(self, **values):
        """Remove the rows with these values, so that they are measured again."""
        rows = self.rows()
        kept = [r for r in rows if any(r[k] != v for k, v in values.items())]
        if len(kept) < len(rows):
            self.csv.unlink()
            if kept:
                self._append(kept)

    def _append(self, rows):
        new = not self.csv.exists()
        with self.csv.open("a", newline="") as file:
            writer = csv.DictWriter(file, fieldnames=list(rows[0]))
            if new:
                writer.writeheader()
            writer.writerows({k: _short(v) for k, v in row.items()} for row in rows)

    def write_markdown(self, title, *parts):
        """Write the page of results; parts are paragraphs and tables."""
        from benchmarks.stale import origin_of_page

        command, older = f"Command: `{self.command}`", ""
        if not self.markdown.stem.endswith("-quick"):
            commit, older = origin_of_page(self.markdown.stem, self.study, self.is_new)
            command += f", at commit `{commit}`"
        page = [f"# {title}", *([f"**{older}**"] if older else []), command]
        page += [machine(), *parts]
        self.markdown.write_text("\n\n".join(page) + "\n", encoding="utf-8")
        print(self.markdown.read_text(encoding="utf-8"))


def is_begun(name, study):
    """Whether a file of results was begun with the sources of today."""
    begun = json.loads(BEGUN.read_text()) if BEGUN.exists() else {}
    return name in begun and is_of_today(begun[name], study)


def mark_begun(name):
    """Record that a file of results is begun now."""
    begun = json.loads(BEGUN.read_text()) if BEGUN.exists() else {}
    begun[name] = source_tree()
    BEGUN.write_text(json.dumps(begun, indent=1, sort_keys=True) + "\n")


def warm_up():
    """Load all modules, so that no case includes their time."""
    import clearwood as cw

    for size in (50, 2000):  # codes of one byte and of two
        X, labels = gaussian_rows(size, 8, seed=0)
        X = X[:, :1]
        for task, y in (("Regressor", X[:, 0]), ("Classifier", labels)):
            model = make_model("forest", task == "Classifier", 0)
            model.set_params(n_estimators=2)
            make = getattr(cw, f"FABRules{task}")
            make(model, n_init=1, random_state=0).fit(X, y).predict(X)
            getattr(cw, f"RuleList{task}")(model, n_rules=3).fit(X, y)


def simplifier(name, is_class, model, **settings):
    """An estimator of the library, by the first part of its name.

    Settings that begin with an underscore are attributes of its class, which only
    comparisons with papers and programs use.
    """
    import clearwood as cw

    make = getattr(cw, name + ("Classifier" if is_class else "Regressor"))
    own = {key: settings.pop(key) for key in list(settings) if key.startswith("_")}
    if own:
        make = type(make.__name__, (make,), own)
    return make(model, **settings)


def seconds(function, least=3, enough=2.0):
    """Median of several runs, after one that is not timed."""
    function()
    times = []
    while len(times) < least or (sum(times) < enough and len(times) < 50):
        begin = time.perf_counter()
        function()
        times.append(time.perf_counter() - begin)
    return float(np.median(times))


def in_fresh_process(function, *args):
    """Result of a study's function in a fresh process, in which its memory can be
    measured. Arguments and result are passed as JSON."""
    module = sys.modules[function.__module__].__spec__.name
    program = (
        f"import json, sys; from {module} import {function.__name__} as measure; "
        "print(json.dumps(measure(*json.loads(sys.argv[1]))))"
    )
    command = [sys.executable, "-W", "ignore", "-c", program, json.dumps(args)]
    output = subprocess.check_output(command, cwd=ROOT, text=True)
    return json.loads(output.splitlines()[-1])


def memory(field):
    """Memory of this process in MB: now (``VmRSS``) or its peak (``VmHWM``). Linux.

    ``ru_maxrss`` would begin with the memory of the process that started this one.
    """
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(x for x in lines if x.startswith(field)).split()[1]) * 1024 / 1e6


def reset_peak():
    """Let the peak of :func:`memory` begin with the memory now."""
    Path("/proc/self/clear_refs").write_text("5")


def machine():
    """The machine and the versions in one line."""
    model, memory = platform.processor() or "unknown processor", ""
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next(x for x in lines if x.startswith("model name")).split(": ")[1]
        kilobytes = int(Path("/proc/meminfo").read_text().split()[1])
        memory = f"{kilobytes / 2**20:.0f} GiB, "
    import clearwood

    packages = f"clearwood {clearwood.__version__}, " + ", ".join(
        f"{name} {version(name)}" for name in PACKAGES
    )
    return (
        f"Machine: {model}, {os.cpu_count()} cores, {memory}{platform.system()} "
        f"{platform.machine()}; Python {platform.python_version()}, {packages}. "
        "One thread."
    )


def markdown_table(header, rows):
    """A table, numbers to three digits."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(map(shown, line)) + " |" for line in lines)


def shown(value):
    """Format a value for a table."""
    if isinstance(value, float | np.floating):
        if np.isnan(value):
            return ""
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    if isinstance(value, int | np.integer):
        return f"{value:,}"
    return str(value)


def mean_and_sd(values, digits=None):
    """``mean ± standard deviation``; about three digits by default."""
    values = np.asarray(values, dtype=float)
    if digits is None:
        digits = int(
            np.clip(2 - np.floor(np.log10(max(abs(values.mean()), 0.1))), 0, 3)
        )
    if len(values) < 2:
        return f"{values.mean():.{digits}f}"
    return f"{values.mean():.{digits}f} ± {values.std(ddof=1):.{digits}f}"
