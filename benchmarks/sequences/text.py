"""How well do HMMs, LSTMs and hybrids of both predict the next character of a text, in
comparison with the thesis?

python -m benchmarks.sequences.text [--quick] [--fresh] [--tables] [--texts shakespeare]

Tables 14 to 16 and the convergence of Krakovna (2016), on texts of the shared data.
Needs torch (``pip install clearwood[torch]``).
"""

import time
from functools import cache, partial

import numpy as np

from benchmarks._study import Study, arguments, markdown_table, mean_and_sd
from benchmarks.papers.figures import save
from benchmarks.sequences import networks
from benchmarks.sequences.cases import (
    AIMS,
    CONTINUOUS,
    HMM,
    JOINT,
    LSTM,
    PAPER,
    PRINTED,
    SEQUENTIAL,
    TABLES,
    TEXTS,
    parts_of,
)

SEEDS = 3
EPOCHS = {"shakespeare": 10, "ptb": 2, "linux": 2}
"""Epochs, without early stopping: ten as in the thesis; for the longer texts as many as
give the same number of updates."""

LONGER = 20
"""Epochs of a second budget, for the results with a target."""

QUICK_CHARACTERS = 100_000
KEYS = ["text", "method", "units", "states", "epochs", "seed"]
HYBRIDS = {LSTM: None, PAPER: None, SEQUENTIAL: "sequential", JOINT: "joint"}
SETTING = (
    "Mean log-likelihood of the next character given all before it, in nats. Tiny "
    "Shakespeare: the first 90 % for training, the last 10 % for testing; Penn "
    "Treebank: parts as published; Linux: a random tenth of 258 files for testing. "
    "**The Linux text differs from the thesis'** (97 characters, files of `kernel/` "
    "of Linux 6.12; the thesis' has 100, and was not found): its columns are "
    "comparable only in the order of methods. HMMs are fitted by EM, from the best "
    "of 32 starts. Networks of a table have the same budget: Adam with a rate of "
    "0.01, halved after every epoch in which held-out perplexity increases, up to 16 "
    f"streams of windows of 64 characters, and {EPOCHS['shakespeare']} epochs of Tiny "
    f"Shakespeare, as in the thesis (16,000 updates), {EPOCHS['ptb']} of the others. "
    "There is no early stopping; the epoch with the best result on a held-out "
    "twentieth of the training text is kept. The sequential hybrid has the HMM of "
    "the row with the same seed, whose seconds and parameters are not counted again. "
    "Gates have no peepholes, so that parameters differ slightly from the thesis', "
    "except in the row *trained as in the thesis*: SGD with a rate of 1, halved if "
    "perplexity increases by more than 1, gradients clipped at a norm of 5, "
    "peepholes, the same streams and epochs; it is compared with the thesis' LSTM "
    "with ten units. The continuous HMM has 20 normal states on the vectors of a "
    "two-layer LSTM with 20 units, and the table of characters by state at the same "
    "step (section 5.2.2); it is fitted by EM to 20,000 characters and tested on "
    "111,540; seconds are those of the HMM."
)
WORDS = """## Summary

- **Of the 18 rows of HMMs and networks in table 15, 13 are better than in the thesis**,
  two equal at its two digits, three worse by .01 to .02 (sequential hybrid 15+20, joint
  hybrids 15+10 and 20+10): means of three seeds, with standard deviations of .004 to
  .042. The two other rows are worse, see below.
- **The joint hybrid is better than the LSTM with as many units in all pairs**, by .08
  on average. It also has more parameters, and fits its HMM to the prediction only.
  **The sequential hybrid** is better in most pairs, by .02 with ten states and .05 with
  twenty.
- **Trained as in the thesis, the LSTM with ten units is worse than the thesis'** on
  Tiny Shakespeare (-2.29, not -2.23; on training text -2.28, not -2.12), and by .09
  worse than with Adam. The thesis does not give the number of characters per update, on
  which this schedule depends: in a separate trial, on 400,000 characters, one epoch of
  two streams (3,700 updates) reaches -2.353 on held-out text, three epochs of 16
  streams (2,000 updates) -2.404.
- **The continuous HMM is worse than the thesis'** (-2.82 on average, not -2.74), and
  depends on the network and on the start of EM: in a separate trial, four starts on the
  vectors of one network gave -2.72, -2.75, -2.79 and -2.84, of which the first has the
  highest likelihood of the vectors. It is worse than the discrete one with as many
  states, as there. `sequences_explain.md` has the reason: with characters counted by
  the state one step before, it improves by .2.
- **Targets.** The HMM with 10 states and the joint hybrid reach theirs with all seeds.
  With the thesis' ten epochs, the LSTM and the sequential hybrid do so with one seed of
  three. **With 20 epochs, all networks reach their targets but for one seed of the
  sequential hybrid, which misses by .001, and both hybrids are better than the LSTM
  with the same seed in all.**
- **The HMM with 20 states misses -2.44 with every seed**, by .001 to .009. More work
  helps little: in a separate trial, of 128 starts a quarter were continued on four
  times as many characters, at three times the cost: -2.434, -2.447 and -2.453. Eight
  starts on 100,000 characters gave -2.450 to -2.476, 16 on 50,000 -2.450 to -2.453,
  and 120 sweeps of Gibbs sampling instead of EM change less than .002.
- **The test text is harder for networks than held-out pieces** of the training text, by
  .09 on average; for HMMs it is as easy as the training text.
- **Penn Treebank** (table 16), one seed, two epochs: networks with five and ten units
  (with Adam) are better than the thesis', or equal within .002, sequential hybrids with
  15 units equal (to .006), LSTMs with 15 and 20 and hybrids with 20 worse (by .01 to
  .07): two epochs are too few for them, held-out pieces still improve in the second,
  and the thesis has ten. The continuous HMM is better by .14.
- **Penn Treebank and Linux**: for equal numbers of units and states, the joint hybrid
  is better than the sequential one, and that than the LSTM, in all pairs. On Linux
  (table 14) all differ greatly from the thesis, hidden Markov models by .3: it is
  another text, and files of other parts of the kernel are hard to predict.
"""

COLOURS = {LSTM: "#7F7F7F", SEQUENTIAL: "#0072B2", JOINT: "#D55E00"}


def parts(name, quick):
    """Training and test text."""
    train, valid = parts_of(name)
    if quick:
        return train[:QUICK_CHARACTERS], valid[: QUICK_CHARACTERS // 5]
    return train, valid


@cache
def fitted_hmm(name, n_states, seed, quick):
    """The HMM of a separate row and of the sequential hybrids, saved in a file; with
    the seconds of the fit, unless it was loaded."""
    import clearwood as cw

    path = networks.kept_at(f"{name}-HMM {n_states}", seed, quick, "zip")
    if path.exists():
        return cw.load(path), np.nan
    hmm = cw.HiddenMarkovModel(n_states, algorithm="em", random_state=seed)
    begin = time.process_time()
    hmm.fit(parts(name, quick)[0])
    seconds = time.process_time() - begin
    cw.save(hmm, path)
    return hmm, seconds


def hmm_row(name, n_states, seed, quick):
    """A row of an HMM."""
    hmm, seconds = fitted_hmm(name, n_states, seed, quick)
    train, valid = parts(name, quick)
    learned = (hmm.startprob_, hmm.transmat_, hmm.emissionprob_)
    yield {
        "valid": float(hmm.step_log_likelihood(valid)[1:].mean()),
        "train": hmm.log_likelihood_ / len(train),
        "parameters": sum(part.size for part in learned),
        "seconds": seconds,
        "held_out": "",
    }


def trained(method, name, n_hidden, n_states, n_epochs, seed, quick):
    """An LSTM or a hybrid, with the parameters of its best epoch, saved in a file; with
    the seconds of the fit, unless it was loaded."""
    import clearwood as cw

    stem = f"{name}-{method} {n_hidden} {n_states} {n_epochs}"
    path = networks.kept_at(stem, seed, quick, "zip")
    if path.exists():
        return cw.load(path), np.nan
    hmm = None
    if method == SEQUENTIAL:
        hmm, _ = fitted_hmm(name, n_states, seed, quick)
    network = cw.HMMLSTM(
        n_hidden, n_states or 1, hybrid=HYBRIDS[method], hmm=hmm, n_epochs=n_epochs,
        patience=n_epochs, preset="paper" if method == PAPER else None,
        random_state=seed,
    )  # fmt: skip
    begin = time.process_time()
    network.fit(parts(name, quick)[0])
    seconds = time.process_time() - begin
    cw.save(network, path)
    return network, seconds


def network_row(method, name, n_hidden, n_states, n_epochs, seed, quick):
    """A row of an LSTM or a hybrid."""
    train, valid = parts(name, quick)
    network, seconds = trained(method, name, n_hidden, n_states, n_epochs, seed, quick)
    yield {
        "valid": network.score(valid),
        "train": network.score(train),
        "parameters": network.n_parameters_,
        "seconds": seconds,
        "held_out": " ".join(f"{e.validation:.4f}" for e in network.history_),
    }


def continuous_row(name, n_states, seed, quick):
    """An HMM with normal states on the vectors of a two-layer LSTM (section 5.2.2)."""
    from benchmarks.sequences.explain import SAME, continuous

    rows = continuous("two-layer LSTM 20", "em", seed, quick, name)
    found = next(row for row in rows if row.pop("table") == SAME)
    n_symbols = len(networks.symbols_of(quick, name))
    yield {
        "valid": found["judged"],
        "train": found["train"],
        "parameters": n_states * (n_states + n_symbols),
        "seconds": found["seconds"],
        "held_out": "",
    }


def cases(texts, quick):
    """Cases with a target, then table 15, all with three seeds but the row of the
    thesis' schedule; and tables 16 and 14 with one."""
    named, own = list(AIMS), "shakespeare"
    wanted = [(own, row, EPOCHS[own], seed) for seed in range(SEEDS) for row in named]
    wanted += [(own, row, LONGER, seed) for seed in range(SEEDS) for row in named]
    wanted += [
        (own, row, EPOCHS[own], seed)
        for seed in range(SEEDS)
        for row in PRINTED[own]
        if seed == 0 or row[0] != PAPER
    ]
    wanted += [
        (name, row, EPOCHS[name], 0)
        for name in ("ptb", "linux")
        for row in PRINTED[name]
    ]
    if quick:
        wanted = [(own, row, 3, 0) for row in [*named, (PAPER, 10, 0)]]
    found = {}
    for name, (method, units, states), n_epochs, seed in wanted:
        if name not in texts:
            continue
        if method == HMM:
            n_epochs, run = 0, partial(hmm_row, name, states, seed, quick)
        elif method == CONTINUOUS:
            n_epochs, run = 0, partial(continuous_row, name, states, seed, quick)
        else:
            run = partial(
                network_row, method, name, units, states, n_epochs, seed, quick
            )
        found[name, method, units, states, n_epochs, seed] = run
    return found


def forget(quick):
    """Delete the saved models of this study, so that they are trained again."""
    for name in TEXTS:
        for path in networks.KEPT.glob(f"{name}-*"):
            if path.stem.endswith("-quick") == quick:
                path.unlink()


def rows_like(frame, name, row, n_epochs=None):
    """All seeds of a row of a table, in order; by default with the first budget."""
    method, units, states = row
    own = (frame["text"] == name) & (frame["method"] == method)
    own &= (frame["units"] == str(units)) & (frame["states"] == str(states))
    if method != HMM:
        longest = frame["epochs"] == str(LONGER)
        own &= longest if n_epochs == LONGER else ~longest
    return frame[own].sort_values("seed")


def aims(frame):
    """Target results, by seed."""
    lines = []
    for n_epochs in (EPOCHS["shakespeare"], LONGER):
        for row, aim in AIMS.items():
            own = rows_like(frame, "shakespeare", row, n_epochs)["valid"].to_numpy()
            if row[0] == HMM and n_epochs == LONGER:
                continue
            seeds = [f"{v:.4f}" for v in own] + ["not run"] * (SEEDS - len(own))
            lines.append([
                named(row), "" if row[0] == HMM else n_epochs,
                f"{PRINTED['shakespeare'][row][0]:.2f}", f"{aim:.2f}", *seeds,
                f"{(own >= aim).sum()} of {len(own)}" if len(own) else "",
            ])  # fmt: skip
    seeds = [f"seed {seed}" for seed in range(SEEDS)]
    header = ["", "epochs", "thesis", "target", *seeds, "reached by"]
    return markdown_table(header, lines)


def named(row):
    """Method and sizes as text."""
    method, units, states = row
    sizes = [str(size) for size in (units, states) if size]
    return f"{method} {'+'.join(sizes)}"


def table(frame, name):
    """A table of the thesis, in its order, with our results."""
    lines = []
    for row in sorted(PRINTED[name], key=PRINTED[name].get):
        own = rows_like(frame, name, row)
        valid, train = (f"{v:.2f}" for v in PRINTED[name][row])
        if not len(own):
            lines.append([named(row), valid, "not run", train, *[""] * 4])
            continue
        ours = [mean_and_sd(own[column], 3) for column in ("valid", "train")]
        size, seconds = int(own["parameters"].iloc[0]), own["seconds"].mean()
        lines.append([
            named(row), valid, ours[0], train, ours[1], len(own), size, seconds,
        ])  # fmt: skip
    header = ["", "thesis: test", "ours", "thesis: training", "ours",
              "seeds", "parameters", "CPU seconds"]  # fmt: skip
    return markdown_table(header, lines)


def wins(frame):
    """Number of pairs of equal size, budget and seed in which a hybrid is better."""
    lines, pair = [], ["text", "epochs", "units", "seed"]
    networks = frame[frame["method"] != HMM]
    alone = networks[networks["method"] == LSTM].set_index(pair)["valid"]
    for method in (SEQUENTIAL, JOINT):
        own = networks[networks["method"] == method]
        own = own.set_index([*pair, "states"])["valid"]
        gains = (own - alone).dropna()
        for group, some in gains.groupby(["text", "epochs", "states"], sort=False):
            name, n_epochs, states = group
            won = f"{(some > 0).sum()} of {len(some)}"
            ten = some[some.index.get_level_values("units") == "10"]
            lines.append([
                TEXTS[name], f"{method}, {states} states", n_epochs, won,
                f"{some.mean():+.3f}", f"{(ten > 0).sum()} of {len(ten)}",
            ])  # fmt: skip
    header = ["", "", "epochs", "better than the LSTM in", "mean difference",
              "of these with 10 units"]  # fmt: skip
    return markdown_table(header, lines)


def epochs(frame):
    """Held-out log-likelihoods of networks with ten units, epoch by epoch."""
    rows, most = [], 0
    for row in AIMS:
        own = rows_like(frame, "shakespeare", row)
        if row[0] != HMM and len(own):
            curves = np.array([held.split() for held in own["held_out"]], dtype=float)
            rows.append([named(row), *(mean_and_sd(c, 3) for c in curves.T)])
            most = curves.shape[1]
    return markdown_table(["epoch", *map(str, range(1, most + 1))], rows)


def picture(frame, path):
    """The same as lines, one for each seed, with the levels of HMMs."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(6.2, 3.8), layout="constrained")
    for row in AIMS:
        own = rows_like(frame, "shakespeare", row)
        if row[0] == HMM:
            level = own["valid"].mean()
            ax.axhline(level, color="black", linestyle=":", linewidth=1)
            ax.annotate(named(row), (1, level), va="bottom", fontsize=8)
            continue
        for i, held in enumerate(own["held_out"]):
            curve = np.array(held.split(), dtype=float)
            label = named(row) if i == 0 else None
            ax.plot(
                1 + np.arange(len(curve)), curve, color=COLOURS[row[0]], label=label
            )
    ax.set_xlabel("epoch")
    ax.set_ylabel("log-likelihood, nats per character")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, loc="center right", fontsize=9)
    save(figure, path)


def main():
    texts = {"texts": "only these, such as shakespeare,ptb"}
    options = arguments(__doc__, texts, tables="only write the page")
    study = Study("sequences_text", KEYS, options)
    if options.fresh:
        forget(options.quick)
    if not options.tables:
        wanted = options.texts.split(",") if options.texts else TEXTS
        study.run(cases(wanted, options.quick), warm=warm)
    frame = study.frame()
    path = study.csv.with_suffix(".png")
    picture(frame, path)
    others = [name for name in ("ptb", "linux") if name in set(frame["text"])]
    parts = []
    for name in ["shakespeare", *others]:
        another = ", **not the thesis' text**" * (name == "linux")
        title = f"## {TEXTS[name]} (table {TABLES[name]}){another}"
        parts += [title, table(frame, name)]
    study.write_markdown(
        "The next character of a text",
        SETTING,
        *([] if options.quick else [WORDS]),
        "## Targets: Tiny Shakespeare",
        aims(frame),
        wins(frame),
        *parts,
        "## Convergence (figures 20 and 29)",
        "Log-likelihood of held-out pieces of the training text (a twentieth) "
        "after every epoch, Tiny Shakespeare; means ± standard deviations over seeds. "
        "Dotted lines in the figure are the fitted HMMs.",
        f"![convergence]({path.name})",
        epochs(frame),
    )


def warm():
    """Load modules, so that imports are not timed."""
    import clearwood as cw

    text = "to be or not to be " * 50
    hmm = cw.HiddenMarkovModel(2, algorithm="em", n_init=2).fit(text)
    hmm.step_log_likelihood(text)
    cw.HMMLSTM(2, hybrid="sequential", hmm=hmm, n_epochs=1).fit(text)


if __name__ == "__main__":
    main()
