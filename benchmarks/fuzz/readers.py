"""Damaged model files: outcomes of our readers for 10,000 mutants of each format.

Every mutant must be refused with ModelFormatError, or be read and predict exactly what
its own tree arithmetic gives, within 1 s and 64 MiB + 10 times the file. The mutants
run in a child process, so that crashes and hangs are counted. Failing mutants are saved
under ``results/fuzz_failures``.

``--native`` reads the same files, 400 per format, with the libraries' own loaders, each
in a separate process: the results are the reason for our own parsers.

Needs Linux, and xgboost, lightgbm and catboost to write valid files.
"""

import multiprocessing
import time
import tracemalloc
import warnings
import zlib
from collections import Counter
from itertools import islice

import numpy as np
import pandas as pd
from tests.ensembles import mutants
from tests.ensembles.judge import judged
from tests.ensembles.seeds import large, seeds

from benchmarks._study import RESULTS, Study, arguments, markdown_table
from benchmarks.fuzz.bombs import bombs
from benchmarks.fuzz.native_loaders import outcomes as native_outcomes

BLOCK = 500
"""Mutants per case, which are lost if the run is stopped."""
FULL, QUICK = (10_000, 250, 400, 2500), (500, 50, 50, 500)
"""Numbers of mutants of small files, of a large one, for the libraries' own loaders,
and of formats with stored files."""
MOST_SECONDS = 1.0
PATIENCE = 300.0
"""Seconds without output after which a child process counts as hanging."""
MEMORY, MEMORY_PER_BYTE = 2**26, 10
FAILURES = RESULTS / "fuzz_failures"
LARGE, BOMBS = "large", "bombs"


def main():
    options = arguments(__doc__, native="the libraries' own loaders, 400 files each")
    n_mutants, n_large, n_native, n_stored = QUICK if options.quick else FULL
    study = Study("fuzz_readers", ("format", "file", "block"), options)
    cases = {}
    for format in mutants.FORMATS:
        names = [*seeds(format)]
        for block in range(-(-n_mutants // BLOCK)):
            name = names[block % len(names)]
            cases[format, name, block] = case(run_block, format, name, block, BLOCK)
        for block in range(-(-n_large // BLOCK)):
            n = min(BLOCK, n_large)
            cases[format, LARGE, block] = case(run_block, format, LARGE, block, n)
        cases[format, BOMBS, 0] = case(run_bombs, format)
        cases[format, "harmless", 0] = case(run_harmless, format, n_mutants // 20)
    for format in mutants.STORED:
        names = [*seeds(format)]
        for name in names:
            n = n_stored // len(names)
            cases[format, name, 0] = case(run_block, format, name, 0, n)
    study.run(cases)
    if options.native:
        native = Study("fuzz_native", ("format",), options)
        native.run({(f,): case(run_native, f, n_native) for f in mutants.FORMATS})
    study.write_markdown("Fuzzing of the model file readers", *page(study, options))


def case(function, *given):
    return lambda: function(*given)


# Our readers


def made(format, name, block):
    """The mutants of a block, determined by the version of the native library."""
    data = large(format) if name == LARGE else seeds(format)[name]
    number = zlib.crc32(f"{format}, {name}".encode())
    return mutants.mutants(format, data, np.random.default_rng([number, block]))


def made_harmless(format, n):
    files = seeds(format)
    for number, data in enumerate(files.values()):
        rng = np.random.default_rng(number)
        yield from islice(mutants.harmless(format, data, rng), -(-n // len(files)))


def run_block(format, name, block, n):
    pairs = islice(made(format, name, block), n)
    return summed(watched(format, pairs), format)


def run_bombs(format):
    return summed(watched(format, bombs(format)), format)


def run_harmless(format, n):
    outcomes = watched(format, made_harmless(format, n))
    refused = {"verdict": "failure", "reason": "refused"}
    for outcome in outcomes:
        if outcome["verdict"] == "refused":
            keep(format, outcome["data"], "harmless, refused")
            outcome.update(refused)
        outcome["kind"] = f"harmless: {outcome['kind']}"
    return summed(outcomes, format)


def watched(format, pairs):
    """An outcome per mutant; the child is restarted after a crash or hang."""
    context = multiprocessing.get_context("spawn")
    outcomes, child, pipe = [], None, None
    for kind, data in pairs:
        if child is None or not child.is_alive():
            pipe, end = context.Pipe()
            child = context.Process(target=serve, args=(format, end), daemon=True)
            child.start()
            pipe.send(next(iter(seeds(format).values())))
            pipe.recv()
        pipe.send(data)
        outcome = {"seconds": 0.0, "memory": 0, "reason": ""}
        try:
            if pipe.poll(PATIENCE):
                outcome |= pipe.recv()
            else:
                child.kill()
                child.join()
                outcome |= {"verdict": "failure", "reason": "hangs"}
                outcome["seconds"] = PATIENCE
        except (EOFError, ConnectionError):
            child.join()
            reason = f"process died with {child.exitcode}"
            outcome |= {"verdict": "failure", "reason": reason}
        if outcome["verdict"] == "failure":
            keep(format, data, f"{kind}: {outcome['reason']}")
        outcomes.append(outcome | {"kind": kind, "size": len(data), "data": data})
    if child is not None:
        pipe.send(None)
        child.join()
    return outcomes


def serve(format, pipe):
    """In the child: one outcome per received file."""
    warnings.simplefilter("error")
    judged(format, pipe.recv())  # loads
    pipe.send("ready")
    while (data := pipe.recv()) is not None:
        try:
            begin = time.perf_counter()
            read_only(data)
            seconds = time.perf_counter() - begin
            outcome = {"verdict": judged(format, data), "seconds": seconds}
            outcome["memory"] = peak_of(data)
            if seconds > MOST_SECONDS * max(1, len(data) / 1e6):
                outcome |= {"verdict": "failure", "reason": f"took {seconds:.2f} s"}
            if outcome["memory"] > MEMORY + MEMORY_PER_BYTE * len(data):
                reason = f"took {outcome['memory'] / 1e6:.0f} MB"
                outcome |= {"verdict": "failure", "reason": reason}
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            outcome = {"verdict": "failure", "reason": reason[:300]}
        pipe.send(outcome)


def read_only(data):
    from clearwood.ensembles.read import read_document
    from clearwood.exceptions import InputError, ModelFormatError

    try:
        read_document(data, "mutant")
    except (ModelFormatError, InputError):
        pass


def peak_of(data):
    """Peak memory of the reader in bytes."""
    tracemalloc.start()
    try:
        read_only(data)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def keep(format, data, reason):
    FAILURES.mkdir(exist_ok=True)
    stem = f"{format.replace(' ', '_')}-{zlib.crc32(data):08x}"
    (FAILURES / stem).write_bytes(data)
    (FAILURES / f"{stem}.why").write_text(reason + "\n")
    print("FAILURE", stem, reason[:300], flush=True)


def summed(outcomes, format):
    """One row per kind of mutant."""
    rows = []
    for kind in dict.fromkeys(o["kind"] for o in outcomes):
        own = [o for o in outcomes if o["kind"] == kind]
        verdicts = Counter(o["verdict"] for o in own)
        limits = [MEMORY + MEMORY_PER_BYTE * o["size"] for o in own]
        rows.append(
            {
                "kind": kind,
                "mutants": len(own),
                "refused": verdicts["refused"],
                "accepted": verdicts["accepted"],
                "failures": verdicts["failure"],
                "slowest": max(o["seconds"] for o in own),
                "memory": max(o["memory"] for o in own),
                "of limit": max(o["memory"] / m for o, m in zip(own, limits)),
                "largest": max(o["size"] for o in own),
            }
        )
    return rows


# The libraries' own loaders


def run_native(format, n):
    names = [*seeds(format)]
    each = -(-n // len(names))
    pairs = [p for name in names for p in islice(made(format, name, 0), each)]
    counts, crashing, slowest, memory = native_outcomes(format, pairs[:n])
    worst = Counter({f"{how}: {kind}": k for (how, kind), k in crashing.items()})
    row = {
        "mutants": n,
        **{what: counts[what] for what in ("refused", "accepted", "crash", "hang")},
        "slowest": slowest,
        "memory": memory,
        "kinds": "; ".join(f"{what} ({k})" for what, k in worst.most_common(6)),
    }
    return [row]


# The page


def page(study, options):
    frame = study.frame()
    sets = {LARGE: "1 MB files", BOMBS: "10 MB bombs", "harmless": "harmless changes"}
    frame["set"] = frame["file"].map(sets).fillna("small files")
    parts = [
        "Mutants of valid files written by the libraries. Refused: with "
        "`ModelFormatError`. Accepted: read, and the raw scores of 20 rows equal, bit "
        "for bit, those of a plain interpreter that shares no code with the readers. "
        "Failure: any other exception, other scores, more than "
        f"{MOST_SECONDS:.0f} s per file (and MB, for larger files), "
        f"more memory than {MEMORY / 1e6:.0f} MB + {MEMORY_PER_BYTE} times the file, "
        "a crash; for harmless changes (white space, order, one finite threshold or "
        "leaf value) also a refusal. PMML and tables of R: files of the tests; "
        "accepted mutants are not compared with an interpreter. Memory: maximum of "
        "`tracemalloc` while reading.",
        summary(frame, ["format", "set"]),
        "## By kind of damage",
        summary(frame[frame["file"] != "harmless"], ["format", "kind"]),
    ]
    stem = "-quick" if options.quick else ""
    natives, coverage = (
        RESULTS / f"{name}{stem}.csv" for name in ("fuzz_native", "fuzz_coverage")
    )
    if natives.exists():
        parts += ["## The libraries' own loaders", native_table(natives)]
    if coverage.exists():
        parts += ["## Guided by coverage", coverage_table(coverage)]
    return parts


def summary(frame, keys):
    counts = ["mutants", "refused", "accepted", "failures"]
    peaks = ["slowest", "memory", "of limit"]
    groups = frame.groupby(keys, sort=False)
    table = groups[counts].sum().join(groups[peaks].max()).reset_index()
    table["slowest"] *= 1000
    table["memory"] /= 1e6
    table["of limit"] = [f"{share:.0%}" for share in table["of limit"]]
    header = [*keys, *counts, "slowest (ms)", "peak memory (MB)", "of the limit"]
    return markdown_table(header, table.to_numpy(dtype=object).tolist())


def native_table(path):
    table = pd.read_csv(path, keep_default_na=False)
    table["memory"] /= 1e6
    note = (
        "Loading and predicting three rows, in a separate process per file, with "
        "4 GiB of address space; a hang is more than 10 s.\n\n"
    )
    header = [*table.columns[:-3], "slowest (s)", "peak memory (MB)", "most frequent"]
    return note + markdown_table(header, table.to_numpy(dtype=object).tolist())


def coverage_table(path):
    table = pd.read_csv(path, keep_default_na=False)
    note = (
        "`fuzz/coverage.py`: atheris, with the mutators above and its own. Covered: "
        "branches of `clearwood.ensembles`. Exit code 71: the fuzzer itself reached "
        "its memory limit.\n\n"
    )
    return note + markdown_table(
        list(table.columns), table.to_numpy(dtype=object).tolist()
    )


if __name__ == "__main__":
    main()
