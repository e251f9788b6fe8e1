"""What is the log-likelihood of MiniSPN on the benchmark sets, compared with the thesis
and with deeprob-kit's ensemble of 20 circuits?

python -m benchmarks.circuits.density [--quick] [--fresh] [--tables] [--sets nltcs,dna]
    [--folder DIR]

Binary data sets of the density literature (shared data) with their usual parts; or
those of a folder, each with files NAME.train.data, NAME.valid.data and NAME.test.data,
one row of 0 and 1 per line. Without deeprob-kit its rows are omitted.
"""

from functools import partial
from pathlib import Path

import numpy as np

from benchmarks._study import Study, arguments, markdown_table, mean_and_sd
from benchmarks.circuits import peer
from benchmarks.circuits.cases import (
    PRINTED,
    SETS,
    fitted,
    parts_of,
    sets_in,
    timed,
    warm,
)

SEEDS = 5
CHEAP_FIRST = sorted(SETS, key=("nltcs", "dna", "nips", "voting", *SETS).index)
THESIS, SINGLE, FIVE, XPC = "as the thesis", "one network", "five networks", "20 XPC"
SETTINGS = {THESIS: {"preset": "paper"}, SINGLE: {}, FIVE: {"n_networks": 5}}
SEEDED = {THESIS: SEEDS, SINGLE: 1, FIVE: SEEDS, XPC: 2}
"""Numbers of seeds; one for single networks, to save time."""


ABOUT = (
    "Mean test log-likelihood per row in nats, mean ± standard deviation over seeds. "
    "`MiniSPN` exactly as in the thesis; with the corrections of this library, which "
    "are the default (ten initial splits; trees in place of parts whose growth did not "
    "help, leaves and smoothing chosen on validation rows; EM on all parameters; a "
    "latent tree where its validation likelihood is higher); a "
    "mixture of five, each chosen among three; and deeprob-kit's "
    "mixture of 20 extremely randomized circuits (not deterministic, without a "
    "common structure, two columns at a time, parts of at least "
    "128 or 256 rows, for nips 32 or 64, chosen on validation rows)."
)


def ours(method, name, seed, folder):
    """MiniSPN, chosen on the validation rows of the set."""
    import clearwood as cw

    yield fitted(cw.MiniSPN(random_state=seed, **SETTINGS[method]), name, folder)


def theirs(name, seed, folder):
    """The ensemble with the setting of the highest validation likelihood.

    Seconds are those of this setting only.
    """
    train, valid, test = parts_of(name, folder)
    best = None
    for least_rows in peer.least_rows(len(train)):
        root, seconds = timed(partial(peer.ensemble, train, seed, least_rows))
        score = float(peer.log_likelihood(root, valid).mean())
        if best is None or score > best[0]:
            best = score, root, seconds
    score, root, seconds = best
    yield {
        "valid": score,
        "test": float(peer.log_likelihood(root, test).mean()),
        "parameters": peer.n_parameters(root),
        "seconds": seconds,
    }


def cases(sets, quick, folder):
    """All methods with the first seed, then other seeds, cheap methods first."""
    found = {}
    for later in range(1 if quick else 2):
        for method in (THESIS, SINGLE, XPC, FIVE):
            if method == XPC and not peer.INSTALLED:
                continue
            for seed in range(1, SEEDED[method]) if later else [0]:
                for name in sets[: 2 if quick else None]:
                    run = theirs if method == XPC else partial(ours, method)
                    found[name, method, seed] = partial(run, name, seed, folder)
    return found


def measured(frame, name, method, column, digits=None):
    """Mean and standard deviation over seeds, and their number if some are missing."""
    own = frame[(frame["set"] == name) & (frame["method"] == method)]
    if not len(own):
        return "not run"
    text = mean_and_sd(own[column], digits)
    missing = SEEDED[method] - len(own)
    return f"{text} ({len(own)} of {SEEDED[method]} seeds)" if missing > 0 else text


def likelihoods(frame, sets):
    """Test log-likelihood per row."""
    methods = (THESIS, SINGLE, FIVE, XPC)
    rows = []
    for name in sets:
        printed = PRINTED.get(name)
        mini = f"{printed.mini[0]:.4g}" if printed else ""
        rows.append(
            [name, mini, *(measured(frame, name, m, "test", 3) for m in methods)]
        )
    return markdown_table(["set", "thesis, table 12", *methods], rows)


def costs(frame, sets):
    """Parameters and seconds."""
    rows = []
    for name in sets:
        row = [name, str(PRINTED[name].mini[1]) if name in PRINTED else ""]
        for method in (THESIS, SINGLE, FIVE, XPC):
            own = frame[(frame["set"] == name) & (frame["method"] == method)]
            row += [own["seconds"].mean(), own["parameters"].mean()]
        rows.append(row)
    header = ["set", "thesis, table 13"]
    for method in (THESIS, SINGLE, FIVE, XPC):
        header += [f"{method}: seconds", "parameters"]
    return markdown_table(header, rows)


def sizes(sets, folder):
    """Sizes of the data sets, as in table 11."""
    rows = []
    for name in sets:
        parts = parts_of(name, folder)
        density = np.vstack(parts).mean()
        rows.append(
            [name, str(parts[0].shape[1]), *(str(len(p)) for p in parts), density]
        )
    header = ["set", "columns", "training", "validation", "test", "ones"]
    return markdown_table(header, rows)


def differences(frame, sets):
    """Differences to the thesis and to the ensemble, as text."""
    mean = frame.groupby(["set", "method"])["test"].mean()
    over = [
        f"{name} {mean[name, SINGLE] - printed.mini[0]:+.2f}"
        for name, printed in PRINTED.items()
        if (name, SINGLE) in mean
    ]
    five = [
        f"{name} {mean[name, FIVE] - mean[name, XPC]:+.3f}"
        for name in sets
        if (name, FIVE) in mean and (name, XPC) in mean
    ]
    return (
        "Difference of one network to the thesis' MiniSPN: "
        f"{', '.join(over) or 'not run'}. Difference of five networks to the ensemble "
        f"of 20: {', '.join(five) or 'not run'}."
    )


def main():
    texts = {
        "sets": "names of data sets, such as nltcs,dna",
        "folder": "folder of train, valid and test files",
    }
    options = arguments(__doc__, texts, tables="only write the page")
    folder = Path(options.folder) if options.folder else None
    sets, order = SETS, CHEAP_FIRST
    if folder:
        sets = order = sets_in(folder)
    name = "circuits_density" + "_folder" * bool(folder)
    study = Study(name, ["set", "method", "seed"], options)
    if not options.tables:
        wanted = options.sets.split(",") if options.sets else sets
        found = cases(order, options.quick, folder)
        study.run({key: found[key] for key in found if key[0] in wanted}, warm=warm)
    frame = study.frame()
    study.write_markdown(
        "Sum-product networks on the benchmark sets",
        ABOUT,
        likelihoods(frame, sets),
        differences(frame, sets),
        "CPU seconds and numbers of parameters. The thesis does not name the machine "
        "of its seconds; those of an ensemble are for the chosen setting.",
        costs(frame, sets),
        "Data sets." + " The last two are not in the thesis; the other fourteen of its "
        "table 11 are not available with all their parts." * (not folder),
        sizes(sets, folder),
        *([] if peer.INSTALLED else [peer.ABSENT]),
    )


if __name__ == "__main__":
    main()
