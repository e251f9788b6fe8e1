"""Which learner of circuits is best on which data set, and at what cost?

python -m benchmarks.circuits.learners [--quick] [--fresh] [--tables]

MiniSPN, LearnSPN, ParetoSPN and HybridSPN on the sets of ``density``, with their
defaults and with the thesis' settings, compared with its tables 12 and 13.
"""

from functools import partial

from benchmarks._study import Study, arguments, markdown_table
from benchmarks.circuits.cases import PRINTED, SETS, fitted, warm

LEARNERS = {
    "ParetoSPN": "pareto",
    "HybridSPN": "hybrid",
    "MiniSPN": "mini",
    "LearnSPN": "learn",
}
"""Learners, and their columns in the thesis."""

WAYS = {"default": None, "thesis": "paper"}


def learned(name, learner, way):
    """One learner, seed 0."""
    import clearwood as cw

    make = getattr(cw, learner)
    yield fitted(make(preset=WAYS[way], random_state=0), name)


def cases(quick):
    """Small data sets first, and LearnSPN last, which fits eight networks."""
    names = ("nltcs", "dna", *(() if quick else ("nips", *SETS[1:5], "voting")))
    return {
        (name, learner, way): partial(learned, name, learner, way)
        for name in names
        for way in WAYS
        for learner in LEARNERS
    }


def table(frame, column, digits, printed=None):
    """A row per data set: with our defaults, with the thesis' settings, and printed."""
    header, rows = ["set"], [[name] for name in SETS]
    for learner, theirs in LEARNERS.items():
        own = frame[frame["learner"] == learner]
        found = {(row["set"], row["way"]): row[column] for _, row in own.iterrows()}
        header += [f"{learner}: default", "as in the thesis"]
        for row, name in zip(rows, SETS):
            for way in WAYS:
                known = (name, way) in found
                row.append(f"{found[name, way]:.{digits}f}" if known else "not run")
        if printed is None:
            continue
        header.append("printed")
        for row, name in zip(rows, SETS):
            known = name in PRINTED
            row.append(f"{getattr(PRINTED[name], theirs)[printed]:g}" if known else "")
    return markdown_table(header, rows)


def best(frame):
    """The learner of the highest likelihood for each data set, as text."""
    own = frame[frame["way"] == "default"]
    words = []
    for name in SETS:
        found = own[own["set"] == name].sort_values("test", ascending=False)
        if len(found) == len(LEARNERS):
            first, second = found.iloc[0], found.iloc[1]
            words.append(
                f"{name} {first.learner} ({first.test - second.test:+.2f} over "
                f"{second.learner})"
            )
    return f"Highest likelihood with defaults: {', '.join(words) or 'not run yet'}."


def main():
    options = arguments(__doc__, tables="only write the page")
    study = Study("circuits_learners", ["set", "learner", "way"], options)
    if not options.tables:
        study.run(cases(options.quick), warm=warm)
    frame = study.frame()
    study.write_markdown(
        "Learners of sum-product networks",
        "Mean test log-likelihood in nats, one seed. *Default*: with the corrections "
        "of this library; searches of 500 iterations, LearnSPN the best of its grid of "
        'eight. *As in the thesis*: `preset="paper"`. *Printed*: its table 12.',
        table(frame, "test", 2, printed=0),
        best(frame),
        "CPU seconds, and those of the thesis' table 13, whose machine it does not "
        "name.",
        table(frame, "seconds", 1, printed=1),
        "Numbers of parameters; the thesis prints none.",
        table(frame, "parameters", 0),
    )


if __name__ == "__main__":
    main()
