"""How likely are rows of the benchmark sets under MiniSPN, beside what the thesis
prints and deeprob-kit's ensemble of 20 circuits?

python -m benchmarks.circuits.density [--quick] [--fresh] [--tables] [--sets nltcs,dna]
    [--folder DIR]

Binary sets of the density literature (shared data), with the parts that all papers
have; or those of a folder, each of files NAME.train.data, NAME.valid.data and
NAME.test.data, with a row of 0 and 1 in a line. Without deeprob-kit its rows are left
out.
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
"""Seeds; of single networks one, for the sake of time."""


ABOUT = (
    "Mean log-likelihood of the rows to judge by, in nats: mean ± standard "
    "deviation over seeds. `MiniSPN` exactly as in the thesis; with its repairs, "
    "the default (ten first starts; trees in place of parts that grew in vain, "
    "leaves and smoothing chosen on validation rows; EM on all parameters; a latent "
    "tree where validation rows are likelier under it); a "
    "mixture of five, each chosen among three; and deeprob-kit's "
    "mixture of 20 extremely randomized circuits (neither deterministic nor of one "
    "structure, two columns at a time, parts of at least "
    "128 or 256 rows, of nips 32 or 64, as validation rows choose)."
)


def ours(method, name, seed, folder):
    """MiniSPN, chosen on the validation rows of the set."""
    import clearwood as cw

    yield fitted(cw.MiniSPN(random_state=seed, **SETTINGS[method]), name, folder)


def theirs(name, seed, folder):
    """The ensemble of the setting that makes validation rows likeliest.

    The seconds are those of this setting alone.
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
    """Mean and standard deviation over seeds, and how many, if any are missing."""
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
    """The sets, as table 11 has them."""
    rows = []
    for name in sets:
        parts = parts_of(name, folder)
        density = np.vstack(parts).mean()
        rows.append(
            [name, str(parts[0].shape[1]), *(str(len(p)) for p in parts), density]
        )
    header = ["set", "columns", "to learn from", "to choose by", "to judge by", "ones"]
    return markdown_table(header, rows)


def gaps(frame, sets):
    """What single networks have over the thesis, five over the ensemble; in words."""
    mean = frame.groupby(["set", "method"])["test"].mean()
    over = [
        f"{name} {mean[name, SINGLE] - printed.mini[0]:+.2f}"
        for name, printed in PRINTED.items()
        if (name, SINGLE) in mean
    ]
    beside = [
        f"{name} {mean[name, FIVE] - mean[name, XPC]:+.3f}"
        for name in sets
        if (name, FIVE) in mean and (name, XPC) in mean
    ]
    return (
        f"One network over the thesis' MiniSPN: {', '.join(over) or 'not run'}. "
        f"Five networks over the ensemble of 20: {', '.join(beside) or 'not run'}."
    )


def main():
    texts = {
        "sets": "only these, such as nltcs,dna",
        "folder": "of train, valid and test files",
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
        gaps(frame, sets),
        "Seconds of one processor (CPU time) and parameters. The thesis' seconds are "
        "of a machine that it does not name; an ensemble's are of the chosen setting.",
        costs(frame, sets),
        "The sets." + " The last two are not in the thesis; the other fourteen of its "
        "table 11 are not here with all their parts." * (not folder),
        sizes(sets, folder),
        *([] if peer.INSTALLED else [peer.ABSENT]),
    )


if __name__ == "__main__":
    main()
