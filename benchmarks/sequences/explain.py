"""How much of a network that predicts characters is explained by few states?

python -m benchmarks.sequences.explain [--quick] [--fresh] [--tables]

Networks of Tiny Shakespeare (shared data) are trained in the first run and saved (see
``networks.py``); needs torch (``pip install clearwood[torch]``).
"""

import time
import warnings
from functools import lru_cache, partial

import numpy as np

import clearwood as cw
from benchmarks._study import Study, arguments, markdown_table, mean_and_sd
from benchmarks.sequences import networks
from clearwood.exceptions import PoorFidelityWarning
from clearwood.sequences.next_symbols import symbol_table

N_CLUSTERS = 100
SIZES = (5, 10, 20, 50, 100, 200, 500)
"""Numbers of clusters, before equivalent states are merged."""

SIZES_OF_HMM = (5, 10, 20, 50, 100)
"""Number of values per step of its filter."""

SEEDS = {"LSTM 10": 3}
NETWORKS = ("LSTM 10", "hybrid 10+10", *networks.PLAIN)
CLUSTERS, GAUSSIAN, MORE = "k-means", "Gaussian HMM", "k-means, 200 clusters"
WAYS = {
    CLUSTERS: {},
    GAUSSIAN: {"quantizer": "hmm"},
    MORE: {"n_states": 200},
    "k-means, cells": {"lstm_state": "c"},
    "k-means, both": {"lstm_state": "both"},
}

CONTINUOUS_STATES, N_FITTED, N_DRAWS = 20, 20_000, 50
"""States of a continuous hidden Markov model (thesis), number of training characters,
and draws of each of four chains."""

SAME, DIRECT = "emission table", "next-step table"
PRINTED = -2.74
"""Table 15: test log-likelihoods of the continuous model."""

TARGET = 0.16, 0.77, 30
"""Targets for 100 states of the LSTM with ten units: divergence, agreement, seconds."""

LEAST = 1e-6
"""Probability of a character without occurrences in training."""


@lru_cache(maxsize=1)
def network_of(name, seed, quick, of=networks.SHAKESPEARE):
    """Arguments of ``explain_rnn``: a network, its texts, and further settings."""
    text, share = networks.to_read(quick, of)
    given = {"test_size": share}
    if name in networks.HYBRIDS:
        return networks.hybrid(name, seed, quick), text, given
    symbols = networks.symbols_of(quick, of)
    return networks.plain(name, seed, quick, of), text, given | {"symbols": symbols}


def explained(name, seed, way, n_clusters, quick, of=networks.SHAKESPEARE):
    """A network explained by an automaton, and the seconds of the explanation."""
    network, text, given = network_of(name, seed, quick, of)
    with warnings.catch_warnings():
        # The page itself shows that tables of symbols explain more.
        warnings.simplefilter("ignore", PoorFidelityWarning)
        begin = time.process_time()
        settings = {"n_states": n_clusters} | given | WAYS[way]
        found = cw.explain_rnn(network, text, random_state=seed, **settings)
    return found, time.process_time() - begin


def pictures(name, way, seed, quick):
    """All rows of the fidelity of one surrogate, and the network's log-likelihood."""
    found, seconds = explained(name, seed, way, N_CLUSTERS, quick)
    trace = found.trace
    held_out = np.flatnonzero(trace.is_held_out & (trace.following >= 0))
    own = trace.log_proba[held_out, trace.following[held_out]].mean()
    for picture, line in found.fidelity_.items():
        yield {
            "picture": picture,
            "kl": line.kl,
            "agreement": line.agreement,
            "gap": line.log_likelihood_loss,
            "lines": line.n_lines,
            "unseen": found.unseen_,
            "own": float(own),
            "seconds": seconds,
        }


def curve(name, way, seed, quick):
    """Fidelity by the number of clusters."""
    sizes = (SIZES_OF_HMM if way == GAUSSIAN else SIZES)[: 4 if quick else None]
    found, _ = explained(name, seed, way, sizes, quick)
    for size, tried in zip(sizes, found.curve_, strict=True):
        yield {
            "clusters": size,
            "states": tried.n_states,
            "kl read": tried.read.kl,
            "agreement read": tried.read.agreement,
            "kl alone": tried.alone.kl,
            "agreement alone": tried.alone.agreement,
        }


def continuous(name, algorithm, seed, quick, of=networks.SHAKESPEARE):
    """Predictions of characters by a Gaussian HMM of a network's vectors."""
    trace = explained(name, seed, CLUSTERS, 2, quick, of)[0].trace
    vectors, codes = trace.states.astype(float), trace.codes
    n_learned = int((~trace.is_held_out).sum())
    fitted = vectors[: min(n_learned, N_FITTED)]
    begin = time.process_time()
    hmm = cw.HiddenMarkovModel(
        CONTINUOUS_STATES, emission="gaussian", algorithm=algorithm,
        n_draws=N_DRAWS, random_state=seed,
    ).fit(fitted)  # fmt: skip
    seconds = time.process_time() - begin
    filtered = hmm.filter_proba(vectors)
    learned = filtered[:n_learned], codes[:n_learned], trace.n_symbols
    for table, by_state in (
        (SAME, hmm.transmat_ @ symbol_table(*learned)),
        (DIRECT, symbol_table(*learned, ahead=1)),
    ):
        probability = (filtered[:-1] * by_state.T[codes[1:]]).sum(axis=1)
        found = np.log(np.maximum(probability, LEAST))
        yield {
            "table": table,
            "judged": float(found[n_learned - 1 :].mean()),
            "train": float(found[: n_learned - 1].mean()),
            "seconds": seconds,
        }


# The page

ABOUT = """\
Networks that predict the next character of Tiny Shakespeare. Their training text is the
first nine tenths; surrogates are fitted to their predictions for the last 288,461
characters of these, and evaluated on the last tenth of the text, 111,539 characters.
*KL* is the divergence of a surrogate from the network, in nats per character;
*agreement* the share of characters with the same most probable prediction; *loss* the
decrease of the mean log-likelihood of the text relative to the network. Mean ± standard
deviation over seeds of network and surrogate, if there are several."""

IN_WORDS = """\
- **The automaton alone explains less.** Run by itself, on characters only, it is
  farther from the network (.19 with 103 states, .18 with 192) than a table of the last
  two characters (.15, 1,203 rows); `explain_rnn` warns of this. That table also has a
  higher agreement (.82) than the states read from the network.
- **The last three characters explain nearly all** of this small network: .07, with
  9,545 rows; 192 states read from it leave .12. The table even has a slightly higher
  log-likelihood than its network.
- **Thirteen states explain about as much as the last character** (.41 read from the
  network, .46 alone, and .44). Their coloured text shows little more than the text
  itself.
- **Larger networks need more states.** For the GRU and the two-layer LSTM, plain
  modules of torch, 116 and 135 states read from the network leave .27, a table of the
  last two characters .28 and .32. 220 and 241 states leave .22 and .25.
- **The hybrid needs no fewer states** (those of its LSTM and of its hidden Markov model
  combined): 103 leave .18. Nor does it predict better than the LSTM alone; its hidden
  Markov model was fitted by EM, and this is one seed.
- **k-means explains more than a Gaussian hidden Markov model** with as many states (63
  and 66: .19 and .25), and is faster: its distances are weighted by the effect on the
  network's output, and its clusters need not follow each other. Run alone, the model
  loses less.
- **Cells** of the LSTM leave more than twice as much if they replace its hidden states
  (.48, with 34 states); in addition to these they have almost no effect."""

IN_TABLES = """\
A hidden Markov model with 20 normal states on the network's vectors (section 5.2.2 of
the thesis) predicts a character through a table of characters by state: counted at the
same step, and propagated by the transitions, as in the thesis (*emission table*), or
counted at the next step (*next-step table*). Log-likelihood per character. The thesis
prints -2.74, for a two-layer LSTM, without a reason why its discrete model is better
(-2.50). **Most of it is due to this step**: with the same states the next-step table is
better by .2, and for the two-layer LSTM better than the thesis' discrete model. Fitted
to 20,000 characters, by Gibbs sampling as in the thesis (four chains of 100 sweeps and
50 more) or by EM, without a difference."""


def headline(frame):
    """Targets and results for the LSTM with ten units, as text."""
    own = frame[(frame["network"] == "LSTM 10") & (frame["way"] == MORE)]
    read = own[own["picture"] == "states read"].mean(numeric_only=True)
    found = read["kl"], read["agreement"], read["seconds"]
    met = found[0] <= TARGET[0] and found[1] >= TARGET[1] and found[2] < TARGET[2]
    return (
        f"- **{'Reached' if met else 'Missed'}**: {read['lines']:.0f} states of the "
        f"LSTM with ten units, read from it, diverge from it by {found[0]:.3f} nats "
        f"(target: at most {TARGET[0]}), and find the same character most probable at "
        f"{found[1]:.1%} of the steps (target: {TARGET[1]:.0%}), in {found[2]:.1f} "
        f"CPU seconds (target: {TARGET[2]}); means over "
        f"{own['seed'].nunique()} seeds."
    )


def mean(frame, column, digits, **values):
    """Mean and standard deviation over seeds of rows with these values."""
    for name, value in values.items():
        frame = frame[frame[name] == value]
    return mean_and_sd(frame[column], digits) if len(frame) else ""


def lines_of(frame, name, way=CLUSTERS):
    """A fidelity table, over seeds."""
    own = frame[(frame["network"] == name) & (frame["way"] == way)]
    rows = [
        [picture, *(mean(own, column, digits, picture=picture) for column, digits in
         (("kl", 3), ("agreement", 3), ("gap", 3))),
         round(own[own["picture"] == picture]["lines"].mean())]
        for picture in own["picture"].unique()
    ]  # fmt: skip
    return markdown_table(["surrogate", "KL", "agreement", "loss", "rows"], rows)


def ways(frame):
    """A row for each network and explanation."""
    rows = []
    for (name, way), own in frame.groupby(["network", "way"], sort=False):
        row = [name, mean(own, "own", 3, picture="constant"), way]
        row += [mean(own, "lines", 0, picture="states read")]
        for picture in ("states read", "automaton alone"):
            row += [mean(own, c, 3, picture=picture) for c in ("kl", "agreement")]
        row += [mean(own, "kl", 3, picture="last 2 symbols")]
        rows.append([*row, mean(own, "seconds", 1, picture="constant")])
    header = ["network", "its log-likelihood", "way", "states", "KL read", "agreement"]
    header += ["KL alone", "agreement", "KL of last 2 symbols", "seconds"]
    return markdown_table(header, rows)


def curves(frame):
    """Divergences by the number of clusters, with the mean number of states."""
    rows = []
    for (name, way), own in frame.groupby(["network", "way"], sort=False):
        states = own.groupby("clusters")["states"].mean().round().astype(int)
        for reading in ("read", "alone"):
            found = [
                f"{mean(own, f'kl {reading}', 3, clusters=size)} ({states[size]})"
                if size in states
                else ""
                for size in SIZES
            ]
            rows.append([name, way, reading, *found])
    return markdown_table(["network", "way", "states", *map(str, SIZES)], rows)


def tables(frame):
    """The two tables of 5.2.2."""
    rows = [
        [name, algorithm, *(mean(own, "judged", 3, table=t) for t in (SAME, DIRECT)),
         own["seconds"].mean()]
        for (name, algorithm), own in frame.groupby(
            ["network", "algorithm"], sort=False
        )
    ]  # fmt: skip
    return markdown_table(["network", "by", SAME, DIRECT, "seconds"], rows)


def cases(function, quick, ways_of):
    """All networks, ways and seeds; all networks with the first seed come first."""
    return {
        (name, way, seed): partial(function, name, way, seed, quick)
        for seed in range(1 if quick else max(SEEDS.values()))
        for name in NETWORKS[:: 2 if quick else 1]
        for way in ways_of(name, seed)
        if seed < SEEDS.get(name, 1)
    }


def ways_of_pictures(name, seed):
    """All are used for one network only; those with cells with one seed."""
    if name != "LSTM 10":
        return [CLUSTERS, GAUSSIAN]
    return list(WAYS) if seed == 0 else [CLUSTERS, GAUSSIAN, MORE]


def ways_of_curves(name, seed):
    """The slow method is run with one seed."""
    return [CLUSTERS, GAUSSIAN] if seed == 0 else [CLUSTERS]


def main():
    options = arguments(__doc__, tables="only write the page")
    quick = options.quick
    keys = ["network", "way", "seed"]
    fidelity = Study("sequences_explain", keys, options)
    by_size = Study("sequences_explain_curve", keys, options)
    predicted = Study(
        "sequences_explain_tables", ["network", "algorithm", "seed"], options
    )
    if not options.tables:
        fidelity.run(cases(pictures, quick, ways_of_pictures), warm=lambda: None)
        by_size.run(cases(curve, quick, ways_of_curves), warm=lambda: None)
        predicted.run(
            {
                (name, algorithm, seed): partial(
                    continuous, name, algorithm, seed, quick
                )
                for seed in range(1 if quick else 3)
                for name in ("LSTM 10", "two-layer LSTM 20")[: 1 if quick else None]
                for algorithm in ("em", "gibbs")
                if seed == 0 or (name in SEEDS and algorithm == "em" and not quick)
            },
            warm=lambda: None,
        )
    fidelity.write_markdown(
        "Recurrent networks explained by automata",
        ABOUT,
        "## Summary" + " (of the full study)" * quick,
        headline(fidelity.frame()) + "\n" + IN_WORDS,
        f"## {N_CLUSTERS} clusters of the LSTM with ten units",
        lines_of(fidelity.frame(), "LSTM 10"),
        "## Networks and explanations",
        f"{N_CLUSTERS} clusters, unless another number is given, merged into so many "
        "states. The first column is the mean log-likelihood of characters by the "
        "network itself; CPU seconds, reading the network included.",
        ways(fidelity.frame()),
        "## Divergence by the number of clusters",
        "In brackets the number of states after merging.",
        curves(by_size.frame()),
        "## Characters predicted from states",
        IN_TABLES,
        tables(predicted.frame()),
    )


if __name__ == "__main__":
    main()
