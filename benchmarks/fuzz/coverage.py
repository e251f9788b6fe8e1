"""Fuzzing of the readers of model files, guided by coverage (atheris, libFuzzer).

    pip install atheris
    python -m benchmarks.fuzz.coverage --format "lightgbm text" --seconds 900 \
        --corpus corpus/lightgbm

Atheris needs Linux or macOS, Python up to 3.13, and is no dependency of the tests. It
records the branches of ``clearwood.ensembles`` that a file reaches, and adds files that
reach new ones to the corpus. Half of the new files come from libFuzzer, half from the
mutators of the tests. A file must be refused with ModelFormatError or predict; every
other exception is saved under ``results/fuzz_failures``, once per place in the code.
The time is for each run; its results are added to ``results/fuzz_coverage.csv``.
"""

import argparse
import os
import re
import subprocess
import sys
import time
import traceback
import warnings
import zlib
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks._study import RESULTS

FAILURES = RESULTS / "fuzz_failures"
MOST_BYTES = 30_000


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--format", required=True)
    parser.add_argument("--seconds", type=int, default=900)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        fuzz(options.format, options.corpus, options.seconds)
    options.corpus.mkdir(parents=True, exist_ok=True)
    write_seeds(options.format, options.corpus)
    FAILURES.mkdir(exist_ok=True)
    report(options, run(options))


def write_seeds(format, corpus):
    from tests.ensembles.seeds import seeds

    for i, data in enumerate(seeds(format).values()):
        (corpus / f"seed{i}").write_bytes(data)


def run(options):
    """Final statistics of the child process; its output is logged next to the
    corpus."""
    log = options.corpus.with_suffix(".log")
    command = [
        sys.executable,
        "-m",
        __spec__.name,
        "--child",
        "--format",
        options.format,
    ]
    command += ["--seconds", str(options.seconds), "--corpus", str(options.corpus)]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    begin = time.time()
    with log.open("w") as file:
        code = subprocess.run(command, stderr=file, env=environment).returncode
    text = log.read_text(errors="replace")
    covered = re.findall(r"cov: (\d+) ft: (\d+)", text) or [("0", "0")]
    executions = re.findall(r"number_of_executed_units: (\d+)", text) or ["0"]
    return {
        "seconds": round(time.time() - begin),
        "executions": int(executions[-1]),
        "covered at the start": int(covered[0][0]),
        "covered at the end": int(covered[-1][0]),
        "corpus": len(list(options.corpus.iterdir())),
        "other exceptions": len(set(re.findall(r"^NEW: (.*)$", text, re.MULTILINE))),
        "exit code": code,
    }


def report(options, measures):
    path = RESULTS / "fuzz_coverage.csv"
    row = {"format": options.format, "atheris": version("atheris"), **measures}
    frame = pd.DataFrame([row])
    if path.exists():
        frame = pd.concat([pd.read_csv(path), frame])
    frame.to_csv(path, index=False)
    print(row)


def fuzz(format, corpus, seconds):
    """Never returns: libFuzzer ends the process."""
    import atheris

    with atheris.instrument_imports(include=["clearwood.ensembles"]):
        from clearwood.ensembles import read
    from tests.ensembles import mutants

    from clearwood.exceptions import InputError, ModelFormatError

    warnings.simplefilter("error")
    places = set()

    def handles(data):
        try:
            ensemble = read.read_document(data, "mutant")
        except ModelFormatError:
            return
        X = np.array([[0.0] * ensemble.n_features, [1.5] * ensemble.n_features])
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                scores = ensemble.raw_scores(X)
        except InputError:
            # Numbers in a column of codes that were labels.
            return
        summed_up = np.abs(ensemble.value).sum() * abs(ensemble.scale)
        assert np.isfinite(scores).all() or summed_up > 1e30, scores

    def one(data):
        try:
            handles(data)
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{type(error).__name__} at {last.filename}:{last.lineno}"
            if place not in places:
                places.add(place)
                name = f"{format.replace(' ', '_')}-{zlib.crc32(data):08x}"
                (FAILURES / name).write_bytes(data)
                (FAILURES / f"{name}.why").write_text(traceback.format_exc())
                print(f"NEW: {place}: {name}", file=sys.stderr, flush=True)

    def changed(data, most, seed):
        rng = np.random.default_rng(seed)
        if rng.random() < 0.5:
            try:
                kinds = mutants.KINDS[format]
                kind = list(kinds)[rng.integers(len(kinds))]
                new = kinds[kind](data, rng)
                if len(new) <= most:
                    return new
            except mutants.CANNOT_DAMAGE:
                pass
        return atheris.Mutate(data, most)

    # A first call loads libraries, which takes longer than the limit per file.
    for file in corpus.glob("seed*"):
        one(file.read_bytes())
    limits = [f"-max_total_time={seconds}", f"-max_len={MOST_BYTES}", "-timeout=10"]
    limits += ["-rss_limit_mb=6000", "-print_final_stats=1", "-len_control=0"]
    limits += [f"-artifact_prefix={FAILURES}/"]
    atheris.Setup([sys.argv[0], *limits, str(corpus)], one, custom_mutator=changed)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
