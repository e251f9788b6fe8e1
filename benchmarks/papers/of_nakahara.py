"""Table of Nakahara and Matsushima (2023)."""

from benchmarks.papers.cells import Item, cell, ratio, results

PRINTED = {
    "previous": ("1.67 ± 0.20", "3.29 ± 0.27", "6.72 ± 0.85"),
    "proposal": ("1.78 ± 0.41", "1.89 ± 0.23", "1.90 ± 0.22"),
}
SAMPLES = (50, 100, 200)
OURS = {
    "previous": ("ours_rows", "row by row (Proposition 1)"),
    "proposal": ("ours", "one batch (Theorem 1)"),
}


def items():
    """Its only table: times, and how they grow with the sample."""
    rows = results("metatree_speed", part="table 1")
    ms = rows.assign(a=rows["a"].astype(int)).set_index(["what", "a"])["ms"]
    batch, part = ms["bayesml"], (ms["ours"] / ms["bayesml"]).mean()
    by_row = (ms["ours_rows"] / ms["bayesml_rows"]).mean()
    printed = [float(text.split()[0]) for text in PRINTED["proposal"]]
    slower = (batch.loc[list(SAMPLES)] / printed).mean()
    cells = []
    for method, times in PRINTED.items():
        name, words = OURS[method]
        for n, stated in zip(SAMPLES, times):
            cells.append(
                cell(f"{words}, ms", f"n = {n}", stated, ms[name, n], better="lower")
            )
        for n, stated in zip(SAMPLES[1:], times[1:]):
            own = ms[name, n] / ms[name, SAMPLES[0]]
            row = f"{words}, relative to n = 50"
            cells.append(cell(row, f"n = {n}", ratio(stated, times[0]), own))
    return [
        Item(
            "Table 1", "CPU time of sequential and batch updating",
            "metatree.speed", "metatree_speed",
            "Same setting (M = 2, K = 5, depth 5, Bernoulli leaves, 100 repetitions), "
            "on a different machine: only the growth with n can be compared.",
            tuple(cells),
            "Both procedures are compiled here. On this machine BayesML 0.5.1, the "
            f"authors' package, takes {batch.min():.2f} to {batch.max():.2f} ms for a "
            f"batch, {slower:.1f} times the printed time: machine and version of the "
            f"package, which are not separated. Ours takes {part:.0%} of that for a "
            f"batch, and {by_row:.0%} of the time of BayesML row by row.",
        )
    ]  # fmt: skip
