"""Tables and figures of both papers of Hara and Hayashi."""

from benchmarks._data import SIZES_2018
from benchmarks.papers import printed
from benchmarks.papers.cases import SETS_2016
from benchmarks.papers.cells import Item, cell, claim, ratio, results

SETS = tuple(printed.DATA)
SPLITS_2018 = (
    "Same data and sizes; five random splits (Higgs two, of 25,970 rows that are "
    "public) where the paper has ten; forests of scikit-learn in place of R's."
)
SPLITS_2016 = (
    "Same data and sizes; three splits (Higgs one) where the paper has one; forests of "
    "scikit-learn in place of R's."
)
NO_MINIBOONE = "MiniBooNE is not available"
EM_CAUSE = (
    "FAB is not best on Energy and Synthetic2: it drops components that would still "
    "reduce the test error, of which EM is best with nine and ten. At the number that "
    "it keeps, it is as good as EM on all six sets (second column). The best K is "
    "selected by the test errors themselves, which a user does not have."
)
RULES_STATED = {
    "FAB, as in the paper": ("3 to 10", 3, 10),
    "inTrees, R's settings": ("30 to 100", 30, 100),
    "Node Harvest, all nodes": ("30 to 100", 30, 100),
    "born-again tree": ("tens, or over 100", 10, 200),
    "decision tree, depth 2": ("4", 4, 4),
}
"""Numbers of rules that the text next to figure 5 states."""
HAS_OTHERWISE = ("FAB, as in the paper", "inTrees, R's settings")
"""Methods whose lines include the default rule, which the papers do not count."""


def items_2018():
    """Tables and figures of 2018, in order."""
    return [
        Item("Figure 1", "data, regions of five trees, rules of FAB",
             "papers.run", "papers",
             "Drawn anew (``papers_figure1.png``): the first trees make hundreds of "
             "regions, FAB a few boxes that follow the boundary, as in the paper."),
        Item("Figures 2 and 3", "binary vectors of a region",
             protocol="Illustrations of the notation, without data."),
        Item("Table 1", "data sets", "papers.run", "papers",
             "Rows, features and sizes of the splits are the same, Higgs and "
             "MiniBooNE apart."),
        runtimes(),
        against_em(),
        rules_of_figure_5(),
        errors_of_figure_5(),
        overlaps(),
        rules_on_energy(),
        Item("Figures 6 to 9", "rules on Synthetic1 and Synthetic2", "papers.run",
             "papers",
             "Drawn anew (``papers_figure6.png`` to ``papers_figure9.png``): FAB needs "
             "the fewest boxes; those of inTrees and Node Harvest overlap most."),
    ]  # fmt: skip


def runtimes():
    """Table 2: the ratio, which does not depend on the machine."""
    cells = []
    for name, (fab, _, em, _) in printed.RUNTIMES.items():
        rows = results("papers_runtimes", data=name)
        by_split = rows.groupby(["split", "method"])["seconds"].sum().unstack()
        ours = by_split["em"] / by_split["fab"]
        cells.append(cell(name, "seconds of EM / FAB", ratio(em, fab), ours))
    return Item(
        "Table 2", "runtime of FAB and of EM over K = 1 to 10", "papers.run", "papers",
        f"{SPLITS_2018} Seconds depend on the machine; compared is the ratio, which "
        "the paper rounds to 5 to 20. The standard deviation of the printed ratio "
        "follows from those of both times.",
        tuple(cells),
        "Spambase and Higgs: within the 5 to 20 of the paper's text, and farther from "
        "the printed ratios than their standard deviations. The ratio depends on the "
        "start: over three starts on Higgs, that of CPU seconds is 5.7 to 8.0, that of "
        "iterations times components 3.6 to 12 (``papers_causes.md``), as the paper's "
        "seconds of a start have a standard deviation of 40 %.",
        2, NO_MINIBOONE,
    )  # fmt: skip


def against_em():
    """Figure 4: FAB against EM with the best K, and with its own."""
    cells = []
    for name in SIZES_2018:
        rows = results("fab_vs_em_paper", data=name)
        fab = rows[rows["method"] == "fab"].set_index("split")
        em = rows[rows["method"] == "em"]
        by_k = em.pivot_table(index="split", columns="k_start", values="soft_error")
        best, own = by_k.mean().idxmin(), round(fab["k"].mean())
        row = f"{name}, best K {best}, own {own}"
        for k, word in ((best, "the best"), (own, "FAB's own")):
            gap = fab["soft_error"] - by_k[k]
            mean, se = gap.mean(), gap.std(ddof=1) / len(gap) ** 0.5
            percent = 100 / by_k[k].mean()
            ours = f"{percent * mean:+.0f} % ± {percent * se:.0f} %"
            column = f"error of FAB over EM at {word} K"
            cells.append(claim(row, column, "not larger", ours, mean <= 2 * se))
    return Item(
        "Figure 4", "FAB and EM at each K", "fab.vs_em --paper", "fab_vs_em_paper",
        "Protocol of the paper: labels, 20 starts, the start with the smallest "
        "training error of the soft prediction (eq. 11), ten splits (Higgs two); "
        "the regression exclusive-or is from the 2016 paper. The picture has no "
        "numbers; compared is whether FAB's test error exceeds that of EM, at the K "
        "that is best in hindsight and at the number of components that FAB keeps, by "
        "more than two standard errors of the paired difference.",
        tuple(cells),
        EM_CAUSE, 2, NO_MINIBOONE,
    )  # fmt: skip


def own_lines(rows, method):
    """Numbers of rules as the papers count them."""
    return rows["lines"] - (method in HAS_OTHERWISE)


def rules_of_figure_5():
    """Numbers of rules, next to the ranges that the text states."""
    cells = []
    for name in SETS:
        rows = results("papers", paper=2018, data=name, size="all")
        for method, (stated, least, most) in RULES_STATED.items():
            lines = own_lines(rows[rows["method"] == method], method).mean()
            holds = least <= round(lines) <= most
            cells.append(claim(name, method, stated, f"{lines:.1f}", holds))
    return Item(
        "Figure 5", "numbers of rules", "papers.run", "papers",
        f"{SPLITS_2018} Born-again trees: size by validation, the paper by depth. The "
        "picture has no numbers; the text states ranges, without the default rule. A "
        "mean is reproduced if it rounds to a number of the range (*tens*: 10 to 200).",
        tuple(cells),
        "inTrees on Energy: the range of the text is one over all sets, and Table 4 "
        "has 23 rules. Born-again trees have their size selected by validation here: "
        "the trees of 16 to 128 leaves of the same fits err less on Spambase and "
        "Higgs (``papers.md``), but not on the synthetic data.",
        5, NO_MINIBOONE,
    )  # fmt: skip


def errors_of_figure_5():
    """What the text states on errors: FAB below the tree of depth two."""
    cells = []
    for name in SETS:
        rows = results("papers", paper=2018, data=name, size="all")
        by = rows.groupby("method")[["error", "soft_error"]].mean()
        tree = by.loc["decision tree, depth 2", "error"]
        for column, word in (("soft_error", "mixture"), ("error", "printed rules")):
            fab = by.loc["FAB, as in the paper", column]
            ours = f"{fab:.3g} against {tree:.3g}"
            stated = "below depth-2 tree"
            cells.append(claim(name, f"FAB, {word}", stated, ours, fab < tree))
    return Item(
        "Figure 5", "test errors", "papers.run", "papers",
        "As above; errors are in the picture only, and the text states the order of "
        "FAB and of the decision tree of depth two for most sets. The authors' "
        "program evaluates the mixture (eq. 10 and 11), not its rules.",
        tuple(cells),
        "On the same fits, rules cut from the mixture err more than the "
        "mixture (the two columns).",
        1, NO_MINIBOONE,
    )  # fmt: skip


def overlaps():
    """Table 3."""
    cells = []
    for method, by_set in printed.OVERLAPS.items():
        for name, stated in by_set.items():
            rows = results("papers", paper=2018, data=name, method=method, size="all")
            ours = rows["overlap"] + (method == "inTrees, R's settings")
            cells.append(cell(name, method, stated, ours, 0.1))
    return Item(
        "Table 3", "rules that hold for a test row", "papers.run", "papers",
        f"{SPLITS_2018} One is added to inTrees here, whose last rule holds for every "
        "row and is counted in the paper.",
        tuple(cells),
        "Node Harvest: the R package grows a forest of shallow trees for itself, where "
        "nodes of the explained forest are selected here. With such a forest its "
        "overlap on Higgs rises from 5.6 to 8.2, on Synthetic1 it stays; there nodes "
        "of a small weight make the difference: those over 0.05 have an overlap of "
        "3.3 in place of 5.0. inTrees depends on the leaves of the forest's trees: on "
        "Energy its overlap is 3.2 with at most 16 leaves and 3.8 with 64, on "
        "Synthetic1 4.1 with 8 and 4.5 with 64. On Synthetic2 the printed 3.73 is not "
        "explained by them (4.3 to 4.7). FAB on Energy: overlap is 1.00 with a limit "
        "of five rules and 1.05 with ten; a mean below 1 needs rows that no rule "
        "covers, of which there are hardly any here (``papers_causes.md``).",
        3, NO_MINIBOONE,
    )  # fmt: skip


def rules_on_energy():
    """Table 4: numbers of rules, on the first split."""
    cells = []
    rows = results("papers", paper=2018, data="energy", split=0, size="all")
    for method, stated in printed.ENERGY_RULES.items():
        lines = own_lines(rows[rows["method"] == method], method).mean()
        cells.append(
            cell(method, "rules on Energy", stated, lines, max(1, 0.2 * stated))
        )
    return Item(
        "Table 4", "rules on Energy", "papers.run", "papers",
        "First split; the split and the forest of the paper are not published. "
        "``papers.md`` prints our rules below the paper's values.",
        tuple(cells),
        "FAB: with a penalty for every occurrence of a statement, as in the text of "
        "the paper, in place of distinct ones, as in the authors' program, it keeps "
        "4.6 rules on average of five splits in place of 7.2, at twice the error "
        "(``papers_causes.md``, ``statement_counts=\"all\"``). The four rules "
        "of the paper have an error of 12.4 on the test rows of these splits, our "
        "rules 12.5: twice as many are not better. Node Harvest: with a "
        "forest of shallow trees, as the R package grows, it keeps 24 nodes in place "
        "of 43. The rest is neither due to nodes of a small weight (39 of 43 have more "
        "than 0.05) nor to nodes of one feature, of which it keeps 12: the paper "
        "prints nodes of two. Born-again tree: size by validated number of leaves; "
        "with the depth selected as in the paper, ``preset=\"paper\"``, 37 and 40 "
        "leaves on two splits.",
    )  # fmt: skip


def items_2016():
    """Tables and figures of 2016, in order."""
    return [
        regions(),
        Item("Figure 2", "binary features of a region",
             protocol="Illustration of the notation, without data."),
        Item("Figure 3", "rules of inTrees and of a decision tree",
             "papers.run", "papers",
             "The coverage of inTrees that it shows, 15 %, is in Table 2 below."),
        runtimes_2016(),
        Item("Figure 4", "test errors of FAB and EM", "fab.vs_em --paper",
             "fab_vs_em_paper", "With Figure 4 of 2018 above: xor, energy, higgs."),
        table_2(),
        rules_2016(),
    ]  # fmt: skip


def regions():
    """Figure 1: into how many regions trees divide the space."""
    rows = results("papers_causes", method="forest")
    n = rows.set_index(["data", "setting"])["rules"]
    cells = [cell("xor", "regions of 3 trees", 1297, n["xor", "3 trees"], 130)]
    for name in SETS_2016:
        own = rows[rows["data"] == name].iloc[-1]
        least = "at least " * ("counted" in own["setting"])
        ours = f"{least}{own['rules']:,.0f} ({own['setting']})"
        words = "regions of the forest (Table 2)"
        cells.append(claim(name, words, "> 1000", ours, own["rules"] > 1000))
    return Item(
        "Figure 1", "data, regions of the trees, rules", "papers.causes",
        "papers_causes",
        "Forests of scikit-learn, chosen out of bag; ``clearwood.check`` counts their "
        "regions, or a bound where counting takes longer than about a second.",
        tuple(cells),
        "The number depends on the leaves of the trees, which the text does not state: "
        "those here have 32 on xor, where the number of rows under which no node is "
        "split and the most leaves are selected out of bag. Forests with 64 leaves "
        "make 867 regions and with 128 leaves 2,099 (``papers_causes.md``): the "
        "printed 1,297 is between them.",
    )  # fmt: skip


def runtimes_2016():
    """Table 1, without its placeholders."""
    cells = []
    rows = results("papers_runtimes", data="energy")
    by_split = rows.groupby(["split", "method"])["seconds"].sum().unstack()
    ours = by_split["em"] / by_split["fab"]
    cells.append(cell("energy", "seconds of EM / FAB", f"{0.63 / 0.02:.1f}", ours, 5))
    rows = results("fab_vs_em", data="xor")
    by_split = rows.groupby(["split", "method"])["seconds_per_restart"].sum().unstack()
    ours = by_split["em"] / by_split["fab"]
    cells.append(cell("xor", "seconds of EM / FAB", f"{33.17 / 0.85:.1f}", ours, 5))
    return Item(
        "Table 1", "runtime of FAB and EM", "papers.run", "papers",
        "Forests of 100 trees where the paper has ten, so that only the ratio can be "
        "compared; xor is of ``fab_vs_em.md``.",
        tuple(cells),
        "The 2018 paper, with the same program, prints a ratio of 16 for Energy; 0.02 "
        "seconds are at the resolution of the printed time. EM shares the compiled "
        "E-step here, as in Table 2 of 2018.",
        2, "the paper has placeholders for Higgs",
    )  # fmt: skip


def table_2():
    """Rules, coverage and error."""
    cells = []
    for (name, method), (rules, covered, error) in printed.TABLE_2016.items():
        rows = results("papers", paper=2016, data=name)
        if method == "forest":
            ours = rows.groupby("split")["forest_error"].first()
            cells.append(error_cell(f"{name}, forest", error, ours))
            continue
        own = rows[(rows["method"] == method) & rows["size"].isin(["all", "11"])]
        row = f"{name}, {method}"
        lines = own_lines(own, method)
        cells.append(cell(row, "rules", rules, lines, 1))
        cells.append(cell(row, "coverage", covered, own["coverage"], 0.05))
        alike = own["early_error"].fillna(own["error"])
        cells.append(error_cell(row, error, alike))
    return Item(
        "Table 2", "rules, coverage and error", "papers.run", "papers",
        f"{SPLITS_2016} Errors of rule sets are counted as in the authors' early "
        "program, which divides the error of overlapping rules by their number twice.",
        tuple(cells),
        "The authors' decision tree of Energy and Higgs is applied to columns shifted "
        "by one: its 158.79 exceeds the variance of the target, about 100, which a "
        "constant has as its error. FAB keeps one to three rules more; its 20 starts "
        "end with 1 to 9 components, and with the penalty as in the text of 2018 "
        "there are 5.6 rules on Energy, but with a larger error "
        "(``papers_causes.md``). inTrees of the paper is "
        "fitted to the test rows. The validated tree on Higgs: 16 leaves are those of "
        "depth 4, whose validated error, 0.344, exceeds that of depth 6 (61 leaves), "
        "0.336, by twice its standard error of 0.004; on test rows depth 6 is better, "
        "too (0.331 and 0.340).",
    )  # fmt: skip


def error_cell(row, printed_error, ours):
    """An error with two digits after the point: ten percent are no difference."""
    margin = max(0.1 * printed_error, 0.0051)
    return cell(row, "error", printed_error, ours, margin, "lower")


def rules_2016():
    """Numbers of rules of tables 3 and 4."""
    cells = []
    for name, of in (("energy", "Table 3"), ("higgs", "Table 4")):
        rows = results("papers", paper=2016, data=name, split=0)
        for method, stated in printed.RULES_2016[name].items():
            own = rows[(rows["method"] == method) & (rows["size"] == "all")]
            lines = own_lines(own, method).mean()
            row, margin = f"{of}, {name}", max(1, 0.2 * stated)
            cells.append(cell(row, method, stated, lines, margin))
    return Item(
        "Tables 3 and 4", "rules on Energy and Higgs", "papers.run", "papers",
        "First split; the split and the forest of the paper are not published. The "
        "decision tree's conditions in Table 3 bound a compactness, which is below 1, "
        "by 624.75: the columns are shifted.",
        tuple(cells),
        "As in Table 2. The number of FAB depends on which start is kept: on these "
        "splits the 20 starts end with 1 to 9 components (``papers_causes.md``).",
    )  # fmt: skip
