"""Binary series with an output: hidden Markov models, networks and hybrids, in
comparison with tables 18 and 19 of the thesis and with the true model.

python -m benchmarks.sequences.series [--quick] [--fresh] [--tables]

Synthetic series of five hidden states, and heart beats of five patients (shared data).
Needs torch (``pip install clearwood[torch]``).
"""

import time
from functools import lru_cache, partial
from math import gcd
from typing import NamedTuple

import numpy as np
from scipy.signal import butter, find_peaks, resample_poly, sosfiltfilt

import clearwood as cw
from benchmarks._data import SHARED
from benchmarks._study import Study, arguments, markdown_table, mean_and_sd
from benchmarks.papers.figures import save
from clearwood.datasets import _series as truth

N_TRAIN, N_TEST = 20_000, 100_000
"""Steps of a synthetic series; the thesis does not give its length."""

SERIES = {"D_s": "state", "D_sx": "both", "D_x": "flags"}
CEILINGS = {"D_s": "-0.4704", "D_sx": "-0.5201", "D_x": "-0.5292"}
"""Log-likelihoods with the true parameters, given the flags up to a step, for infinite
series."""

HMM, ONE_START, AFTERWARDS = "HMM", "HMM, one random start", "HMM of flags alone"
LSTM = "LSTM"
HYBRID, WITH_OUTPUTS, JOINT = "hybrid", "hybrid, its HMM sees outputs", "joint hybrid"
BEST, ENDLESS, CONSTANT = "the truth", "the truth, an endless series", "constant"
BY_STATES = "the true states alone"

PRINTED = {
    "D_s": {LSTM: -0.51, JOINT: -0.50, HYBRID: -0.48, HMM: -0.47},
    "D_sx": {LSTM: -0.56, HMM: -0.56, JOINT: -0.54, HYBRID: -0.53},
    "D_x": {HMM: -0.59, LSTM: -0.53, JOINT: -0.53, HYBRID: -0.53},
}
"""Table 18: test log-likelihoods."""

PRINTED_BEATS = {
    (HMM, 0, 10): (-0.675, -0.575, -0.57, -0.6),
    (LSTM, 5, 0): (-0.37, -0.28, -0.42, -0.56),
    (LSTM, 10, 0): (-0.33, -0.27, -0.337, -0.58),
    (LSTM, 20, 0): (-0.343, -0.157, -0.333, None),
    (HYBRID, 5, 10): (-0.39, -0.29, -0.365, -0.57),
    (HYBRID, 10, 10): (-0.39, -0.29, -0.36, -0.61),
    (HYBRID, 20, 10): (-0.36, -0.28, -0.36, None),
    (JOINT, 5, 10): (-0.40, -0.30, -0.44, None),
    (JOINT, 10, 10): (-0.41, -0.30, -0.44, None),
}
"""Table 19: patients 1009, 1020 and 1022, and five others, with the better of two
printed rows of the same model."""


class Record(NamedTuple):
    """An electrocardiogram: its file, the leads in use, the name of its beats in the
    file (None: to be detected), and steps per second (None: as recorded)."""

    file: str
    leads: tuple[int, ...]
    beats: str | None = None
    rate: int | None = 125


PATIENTS = {
    "100": Record("mitdb_100", (0,), "beats"),
    "mimic": Record("mimic_03700181", (0,), "detector_beats_gqrsh"),
    "208": Record("mitdb_208_5min_scipy", (0,)),
    "v102s": Record("challenge2015_v102s", (1,)),
    "a103l": Record("challenge2015_a103l", (0,)),
}
SEVERAL = "several"
RECORDS = {
    "100": PATIENTS["100"]._replace(leads=(0, 1), rate=None),
    "mimic": PATIENTS["mimic"]._replace(leads=(0, 1, 2)),
    "208": PATIENTS["208"],
}
NAMES = {
    "100": "Record 100 of the MIT-BIH arrhythmia database, two leads, reference beats",
    "mimic": "Record 03700181 of MIMIC, a lead, blood pressure and breathing, beats of "
    "the detector gqrs",
    "208": "Record 208 of the MIT-BIH arrhythmia database, five minutes of one lead, "
    "beats detected here: the most irregular",
    SEVERAL: "Three of five patients, at random for each seed; tested on the other two",
}
N_LEARNED, SHORT = 3, 300
"""Number of training patients, drawn at random, and seconds of each."""

SECONDS_OF_BEAT = 0.15
"""Maximum distance of a step from a reference beat, in seconds."""

SECONDS, LEARNED = 600, 0.75
"""Length of a record (the thesis' 216,000 steps), and the share of training steps at
its beginning."""

RISE = 0.02
"""Seconds over which the slope of a lead is taken."""

BAND, WAVE, REFRACTORY, LEAST = (5, 15), 0.15, 0.3, 0.4
"""Detector: hertz, seconds of a wave and between two beats, and the minimum height of a
beat, relative to the typical height."""

MANY, N_EPOCHS = 50_000, (100, 40)
"""Epochs for up to so many steps, and for more steps, with more updates per epoch."""


class Part(NamedTuple):
    """Flags and output of every step, and numbers of steps of each patient, if any."""

    X: np.ndarray
    y: np.ndarray
    lengths: list[int] | None = None


# Data


@lru_cache(maxsize=1)
def synthetic(name, seed, quick):
    """Training series, test series, and the true probabilities of the latter."""
    sizes = (N_TRAIN // 10, N_TEST // 10) if quick else (N_TRAIN, N_TEST)
    seeds = np.random.default_rng(seed).spawn(2)
    made = [
        truth.make_hidden_series(n, output=SERIES[name], random_state=rng)
        for n, rng in zip(sizes, seeds)
    ]
    train, test = (Part(X, y) for X, y, _ in made)
    return train, test, _by_truth(name, test.X)


def _by_truth(name, X):
    """P(output) given the flags up to each step, with the true parameters."""
    of_state = truth.OF_STATE * (name != "D_x")
    of_flags = X @ truth.OF_COLUMNS * (name != "D_s")
    logits = truth.BIAS + of_state + of_flags[:, None]
    return (_true_states().filter_proba(X) / (1 + np.exp(-logits))).sum(axis=1)


def _true_states():
    """The hidden Markov model that generates the flags."""
    hmm = cw.HiddenMarkovModel(5, emission="bernoulli")
    hmm.startprob_, hmm.transmat_ = truth.STATIONARY, truth.CHANGES
    hmm.emissionprob_ = truth.EMISSION
    return hmm


def by_true_states(name, quick):
    """Log-likelihood per step of outputs that depend on the true states only: the
    maximum for a hidden Markov model with these states."""
    _, apart, _ = synthetic(name, 0, quick)
    _, y, states = truth.make_hidden_series(
        len(apart.y), output=SERIES[name], random_state=0
    )
    table = np.bincount(states, weights=y) / np.bincount(states)
    return log_likelihood(_true_states().filter_proba(apart.X) @ table, apart.y)


@lru_cache(maxsize=1)
def heart_beats(name, seed, quick):
    """Training and test parts: of a record, or of different patients."""
    seconds = SECONDS // 10 if quick else SECONDS
    if name == SEVERAL:
        rng = np.random.default_rng(0)
        order = [rng.permutation(list(PATIENTS)) for _ in range(seed + 1)][-1]
        parts = [flags_of(PATIENTS[who], min(seconds, SHORT)) for who in order]
        return joined(parts[:N_LEARNED]), joined(parts[N_LEARNED:])
    X, y, _ = flags_of(RECORDS[name], seconds)
    n_learned = round(LEARNED * len(y))
    return Part(X[:n_learned], y[:n_learned]), Part(X[n_learned:], y[n_learned:])


def joined(parts):
    """Concatenated patients."""
    X, y = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
    return Part(X, y, [len(part.y) for part in parts])


def flags_of(record, seconds):
    """A record in the form of table 19.

    Of each lead three flags: above its mean, more than a standard deviation above it,
    rising. Output: whether a beat is within the tolerance of the challenge.
    """
    signal, beats, rate = read(record, seconds)
    n_learned = round(LEARNED * len(signal))
    mean, spread = signal[:n_learned].mean(axis=0), signal[:n_learned].std(axis=0)
    rise = round(RISE * rate)
    before = np.vstack([signal[:1].repeat(rise, axis=0), signal[:-rise]])
    flags = np.hstack([signal > mean, signal > mean + spread, signal > before])
    reach = int(SECONDS_OF_BEAT * rate)
    y = np.zeros(len(signal), dtype=int)
    for beat in beats[beats < len(signal) + reach]:
        y[max(beat - reach, 0) : beat + reach + 1] = 1
    return Part(flags.astype(int), y)


def read(record, seconds):
    """Leads, steps of beats, and steps per second."""
    file = np.load(SHARED / "ecg" / f"{record.file}.npz")
    own = int(file["fs"])
    signal = file["signal"].astype(float).reshape(len(file["signal"]), -1)
    signal = signal[: seconds * own, record.leads]
    beats = file[record.beats] if record.beats else detected(signal[:, 0], own)
    if record.rate is None:
        return signal, beats, own
    shared = gcd(record.rate, own)
    signal = resample_poly(signal, record.rate // shared, own // shared)
    return signal, beats * record.rate // own, record.rate


def detected(signal, rate):
    """Peaks of typical height of the mean slope of a lead, in the band of ventricular
    waves."""
    band = butter(2, BAND, "bandpass", fs=rate, output="sos")
    slope = np.abs(np.gradient(sosfiltfilt(band, signal)))
    n_steps = round(WAVE * rate)
    moved = np.convolve(slope, np.full(n_steps, 1 / n_steps), "same")
    peaks, _ = find_peaks(moved, distance=round(REFRACTORY * rate))
    high = moved[peaks]
    usual = np.median(high[high > np.median(moved)])
    return peaks[high > LEAST * usual]


# Models: each predicts P(output = 1) of every step from the flags up to it


def hmm_of(X, lengths, n_states, seed, n_init=32):
    """A hidden Markov model of flags, fitted by EM for its speed."""
    hmm = cw.HiddenMarkovModel(
        n_states, emission="bernoulli", algorithm="em", n_init=n_init,
        random_state=seed,
    )  # fmt: skip
    return hmm.fit(X, lengths)


def by_hmm(train, n_hidden, n_states, seed, *, n_init=32):
    """Trained on flags and outputs; outputs are missing when it predicts."""
    rows = np.column_stack([train.X, train.y])
    hmm = hmm_of(rows, train.lengths, n_states, seed, n_init)

    def predict(part):
        rows = np.column_stack([part.X, np.full(len(part.X), np.nan)])
        return hmm.filter_proba(rows, part.lengths) @ hmm.emissionprob_[:, -1]

    return predict, n_states**2 + hmm.emissionprob_.size


def by_hmm_of_flags(train, n_hidden, n_states, seed):
    """Trained on flags alone; a table of outputs by state is counted afterwards."""
    hmm = hmm_of(train.X, train.lengths, n_states, seed)
    filtered = hmm.filter_proba(train.X, train.lengths)
    table = filtered.T @ train.y / filtered.sum(axis=0)

    def predict(part):
        return hmm.filter_proba(part.X, part.lengths) @ table

    return predict, n_states**2 + hmm.emissionprob_.size


def by_network(train, n_hidden, n_states, seed, *, hybrid=None, with_outputs=False):
    """An LSTM, or a hybrid of it and a hidden Markov model."""
    hmm = None
    if with_outputs:
        rows = np.column_stack([train.X, train.y])
        both = hmm_of(rows, train.lengths, n_states, seed)
        hmm = cw.HiddenMarkovModel(n_states, emission="bernoulli")
        hmm.startprob_, hmm.transmat_ = both.startprob_, both.transmat_
        hmm.emissionprob_ = both.emissionprob_[:, :-1]
    elif hybrid == "sequential":
        hmm = hmm_of(train.X, train.lengths, n_states, seed)
    network = cw.HMMLSTM(
        n_hidden, max(n_states, 1), hybrid=hybrid, hmm=hmm, random_state=seed,
        n_epochs=N_EPOCHS[len(train.X) > MANY],
    ).fit(train.X, train.y, train.lengths)  # fmt: skip

    def predict(part):
        return network.predict_next(part.X, part.lengths)[:, 1]

    return predict, network.n_parameters_


METHODS = {
    HMM: by_hmm,
    ONE_START: partial(by_hmm, n_init=1),
    AFTERWARDS: by_hmm_of_flags,
    LSTM: by_network,
    HYBRID: partial(by_network, hybrid="sequential"),
    WITH_OUTPUTS: partial(by_network, hybrid="sequential", with_outputs=True),
    JOINT: partial(by_network, hybrid="joint"),
}


def log_likelihood(probability, y):
    """Mean log-likelihood over the steps."""
    return float(np.log(np.where(y == 1, probability, 1 - probability)).mean())


def evaluated(parts, method, n_hidden, n_states, seed):
    """A row of a study: training and test log-likelihood of one model."""
    train, apart = parts
    begin = time.process_time()
    predict, n_parameters = METHODS[method](train, n_hidden, n_states, seed)
    seconds = time.process_time() - begin
    return {
        "judged": log_likelihood(predict(apart), apart.y),
        "train": log_likelihood(predict(train), train.y),
        "parameters": n_parameters,
        "seconds": seconds,
    }


def on_synthetic(name, method, seed, quick):
    """A method on a synthetic series, with the true model and a constant."""
    train, apart, best = synthetic(name, seed, quick)
    n_states = 0 if method == LSTM else 5
    yield evaluated((train, apart), method, 5, n_states, seed) | {
        "best": log_likelihood(best, apart.y),
        "constant": log_likelihood(np.full(len(apart.y), train.y.mean()), apart.y),
    }


def on_heart_beats(record, method, n_hidden, n_states, seed, quick):
    """A method on heart beats, with a constant."""
    train, apart = heart_beats(record, seed, quick)
    yield evaluated((train, apart), method, n_hidden, n_states, seed) | {
        "constant": log_likelihood(np.full(len(apart.y), train.y.mean()), apart.y)
    }


def sizes_of(record):
    """Models for a record, and their sizes."""
    if record == SEVERAL:
        return [key for key, printed in PRINTED_BEATS.items() if key[1] < 20]
    own = [(ONE_START, 0, 10), (AFTERWARDS, 0, 10), (WITH_OUTPUTS, 10, 10)]
    return [*PRINTED_BEATS, *(own if record == "100" else [])]


# The page

ABOUT = """\
Log-likelihood of an output given the flags up to its step, in nats per step: mean ±
standard deviation over seeds, on test and training series. No model is given earlier
outputs. Hidden Markov models are fitted by EM; all networks have the library's default
schedule."""

IN_WORDS = """\
- **Synthetic series: the order of table 18 is reproduced.** Where outputs depend on the
  state (D_s), the hidden Markov model is at the truth (.0003 below), the LSTM .005
  below, the hybrid .002; where on both (D_sx), the hybrid is best, .004 below the
  truth, the LSTM .008, the hidden Markov model .054; where on flags (D_x), all networks
  are within .003, and the hidden Markov model is .077 below.
- **The LSTM is better than the thesis'** on D_s (-.477, not -.51) and on D_sx (-.529,
  not -.56), so that the hidden Markov model improves a hybrid less.
- **The rows of the hidden Markov model are reproduced with a single random start**, as
  in the thesis: -.474, -.559, -.579, printed -.47, -.56, -.59. The most probable of 32
  starts predicts outputs worse on D_sx (-.575) and D_x (-.606), because its states
  describe the flags; the true states alone would be worse still. **The likelihood of
  flags and outputs is not the criterion here**: for predictions of outputs a network or
  a hybrid is preferable.
- **For a hybrid it makes no difference whether its hidden Markov model was fitted to
  outputs.** One that was not, without a network, is far worse.
- **The joint hybrid** is no better than the LSTM on the three series; in the thesis it
  lies between the LSTM and the hybrid.
- **Heart beats of record 100: as in table 19**, networks (-.05 to -.14) are far better
  than the hidden Markov model, which, fitted to flags and outputs, is no better than a
  constant (-.67): its state probabilities are overconfident, possibly since it treats
  360 dependent steps per second as independent evidence. Networks with 10 or 20 units
  are better than those with 5; hybrids differ from LSTMs within the variation of seeds.
- **MIMIC and record 208**: on MIMIC networks (-.10 to -.12) are better than the hidden
  Markov model (-.34), and hybrids as good as LSTMs. On 208, the most irregular, seeds
  of one network differ by more than networks do (-.23 to -.63); the worst seeds are as
  bad on training data, so that their training ends too early: the learning rate is
  halved after every epoch with a worse loss on a noisy held-out twentieth of the steps.
  The thesis' patients, chosen for irregular beats, have -.16 to -.44.
- **Several patients: no generalization.** Networks are about as good on their three
  training patients as the thesis' networks on single ones (-.27 to -.41), and on the
  other two worse than a constant, with larger differences for more units. The thesis
  has -.56 to -.61, with 15 training patients. The lead of MIMIC (MCL1) has the opposite
  polarity, and three patients may not include both."""

OF_SYNTHETIC = """\
Series of section 5.3.2 with a bias of -2 (with the printed +2 a constant would be
better than all its results): 20,000 training and 100,000 test steps, five states or
units. *Minus the truth* is the difference, on the same series, to the log-likelihood
with the true parameters. *HMM* is fitted to flags and outputs and predicts from flags
only; *HMM of flags alone* is fitted without outputs, which are counted by state
afterwards; *the true states alone* omit the dependence of outputs on flags. Parameters
are those learned by a network (without those of a hidden Markov model fitted before);
the thesis counts them differently."""

OF_BEATS = """\
The thesis used records of the PhysioNet challenge of 2014 (patients 1009, 1020, 1022
and 20 others), whose signals were not available. These are other records in the same
form: at most the first ten minutes; flags; an output of 1 within 150 ms of a beat. Each
lead gives three flags (above its mean, a standard deviation above it, rising over 20
ms), whereas the thesis has five or six signals with one flag each. The first three
quarters of a record are for training. Record 100 has its own 360 steps per second,
others 125; for several patients there are one lead and five minutes each. The thesis'
columns are therefore comparable only in the order of models. Without reference beats,
beats are the peaks of the mean absolute slope over 150 ms, between 5 and 15 Hz: on
record 100 this finds all reference beats, and no others; on MIMIC all beats of gqrs,
and 6 % more."""

OF_DISTANCES = """\
Mean ± standard deviation. For record 1003 of the challenge (the thesis' data set) there
are reference beats, but no signals. The thesis' patients were chosen for irregular
beats, as in 208 and a103l here. In MIMIC the distances of 1 second and more are
multiples of the typical one: beats missed by gqrs."""


def table_18(frame, quick):
    """Log-likelihood per step, with the thesis' results and the true model."""
    rows = []
    for name in SERIES:
        own = frame[frame["data"] == name]
        for method in METHODS:
            found = own[own["method"] == method]
            if not len(found):
                continue
            rows.append(
                [name, method, PRINTED[name].get(method, ""),
                 mean_and_sd(found["judged"], 4), mean_and_sd(found["train"], 4),
                 mean_and_sd(found["judged"] - found["best"], 4),
                 found["parameters"].mean(), found["seconds"].mean()]
            )  # fmt: skip
        once = own.drop_duplicates("seed")
        states = f"{by_true_states(name, quick):.4f}"
        rows.append([name, BY_STATES, "", states])
        rows.append([name, BEST, "", mean_and_sd(once["best"], 4)])
        rows.append([name, ENDLESS, "", CEILINGS[name]])
        rows.append([name, CONSTANT, "", mean_and_sd(once["constant"], 4)])
    header = ["series", "model", "thesis", "test", "training", "minus the truth"]
    header += ["parameters", "seconds"]
    return markdown_table(header, [row + [""] * (8 - len(row)) for row in rows])


def table_19(frame, record):
    """Log-likelihood per step on a record, and in the thesis for other patients."""
    frame = frame[frame["record"] == record]
    if not len(frame):
        return f"*{NAMES[record]}*: not run."
    rows = []
    keys = ["method", "units", "states"]
    for key, found in frame.groupby(keys, sort=False):
        method, units, states = key[0], int(key[1]), int(key[2])
        printed = PRINTED_BEATS.get((method, units, states), ())
        printed = printed[3:] if record == SEVERAL else printed[:3]
        rows.append(
            [method, units or "", states or "",
             mean_and_sd(found["judged"], 3), mean_and_sd(found["train"], 3),
             ", ".join(f"{value:.3g}" for value in printed if value is not None),
             len(found), found["seconds"].mean()]
        )  # fmt: skip
    order = {name: place for place, name in enumerate(METHODS)}
    rows.sort(key=lambda row: (order[row[0]], row[1] or 0))
    once = frame.drop_duplicates("seed")
    rows.append([CONSTANT, "", "", mean_and_sd(once["constant"], 3), *[""] * 4])
    of_thesis = (
        "thesis: five others" if record == SEVERAL else "thesis: patients 1, 2, 3"
    )
    header = ["model", "units", "states", "test", "training", of_thesis]
    table = markdown_table([*header, "seeds", "seconds"], rows)
    return f"*{NAMES[record]}*\n\n{table}"


def picture(path):
    """Seconds from each beat to the next."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(
        2, 3, figsize=(9, 4.2), layout="constrained", sharey=True
    )
    for ax, (name, (beats, rate)) in zip(axes.flat, all_beats().items()):
        apart = np.diff(beats) / rate
        ax.plot(apart, color="#0072B2", linewidth=0.6)
        ax.set_title(f"{name} ({apart.mean():.2f} ± {apart.std():.2f})", fontsize=9)
        ax.spines[["top", "right"]].set_visible(False)
        ax.tick_params(labelsize=8)
        ax.set_ylim(0, 1.6)
    figure.supxlabel("beat", fontsize=9)
    figure.supylabel("seconds to the next beat", fontsize=9)
    save(figure, path)


def all_beats():
    """Name -> steps of beats in the first ten minutes, and steps per second."""
    file = np.load(SHARED / "ecg" / "challenge2014_1003_beats.npz")
    found = {"1003, reference": (file["beats"], int(file["fs"]))}
    for name, record in PATIENTS.items():
        _, beats, rate = read(record._replace(rate=None), SECONDS)
        origin = {None: "detected", "beats": "reference"}.get(record.beats, "gqrs")
        found[f"{name}, {origin}"] = beats[beats < SECONDS * rate], rate
    return found


def main():
    options = arguments(__doc__, tables="only write the page")
    quick = options.quick
    made = Study("sequences_series", ["data", "method", "seed"], options)
    keys = ["record", "method", "units", "states", "seed"]
    beats = Study("sequences_series_beats", keys, options)
    if not options.tables:
        made.run(
            {
                (name, method, seed): partial(on_synthetic, name, method, seed, quick)
                for seed in range(1 if quick else 3)
                for name in SERIES
                for method in METHODS
            },
            warm=lambda: None,
        )
        beats.run(
            {
                (record, *size, seed): partial(
                    on_heart_beats, record, *size, seed, quick
                )
                for seed in range(1 if quick else 3)
                for record in (SEVERAL, *RECORDS)
                for size in sizes_of(record)
            },
            warm=lambda: None,
        )
    frame = beats.frame()
    path = beats.csv.with_name(f"{made.csv.stem}_beats.png")
    picture(path)
    made.write_markdown(
        "Binary series: hidden Markov models, networks and hybrids",
        ABOUT,
        "## Summary" + " (of the full study)" * quick,
        IN_WORDS,
        "## Synthetic series (table 18)",
        OF_SYNTHETIC,
        table_18(made.frame(), quick),
        "## Heart beats (table 19)",
        OF_BEATS,
        *(table_19(frame, record) for record in (*RECORDS, SEVERAL)),
        "## Distances between heart beats (figure 28)",
        OF_DISTANCES,
        f"![distances]({path.name})",
    )


if __name__ == "__main__":
    main()
