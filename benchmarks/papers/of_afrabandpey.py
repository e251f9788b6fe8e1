"""Tables and figures of Afrabandpey and others (2020)."""

from benchmarks.papers.cells import REPRODUCED, Item, cell, claim, results
from benchmarks.projection import printed, stability, table4

SETS = tuple(printed.TABLE_2)
SIZES = (2, 3, 4, 5, 6, 8, 10, 12, 15, 20)
RUNS = (
    "Same data and sizes of the parts, 50 random splits; BART of stochtree in place of "
    "the R package."
)
NOT_HERE = "bike rental and wine quality are not available"
REFERENCES = ("bart_tuned", "gp", "bart_3")


def items():
    """Tables and figures, in order."""
    return [
        Item("Table 1", "approaches to interpretation",
             protocol="A survey, without numbers."),
        Item("Figure 1", "a tree of a Gaussian process, on a curve",
             protocol="An illustration of the principle on simulated data whose noise "
             "is not stated; Figure 4 examines the same claim on real data."),
        Item("Figure 2", "a network early in training and fully trained",
             "projection.networks", "projection_networks",
             "Digits of scikit-learn (8 x 8 pixels) in place of MNIST. Drawn anew: the "
             "explanations show the same strokes, but become neither smoother nor "
             "less variable by training, because the network is accurate after two "
             "passes (0.91) already."),
        effect_of_reference(),
        utility_against_prior(),
        differences(),
        table_2(),
        table_3(),
        table_4(),
        figure_6(),
    ]  # fmt: skip


def rmse(page, data, method):
    """RMSE by run (row) and size (column)."""
    rows = results(page, data=data, method=method, measure="rmse")
    return rows.set_index("run")


def effect_of_reference():
    """Figure 3: the best reference has the best trees, the worst the worst."""
    cells = [
        cell
        for data in ("bodyfat", "baseball", "autorisk")
        for cell in ends("projection_references", data)
    ]
    page = "projection_references_unseen"
    unseen = [
        cell for data in results(page)["data"].unique() for cell in ends(page, data)
    ]
    same = sum(cell.verdict == REPRODUCED for cell in unseen)
    return Item(
        "Figure 3", "effect of the reference", "projection.effect",
        "projection_references",
        f"{RUNS} The picture has no numbers; compared is whether the most accurate of "
        "the three references has the most accurate tree of each size, to 1 % of the "
        "RMSE, and the least accurate the least.",
        tuple(cells),
        "On baseball the smooth Gaussian process predicts better than the BART of "
        "three trees but is harder to follow by steps: its trees are worse from eleven "
        "leaves on, although the reference is not. On four other tables the claim "
        f"holds in {same} of {len(unseen)} such cells (``{page}.md``, ``--unseen``); "
        "in the others the trees differ by 1.1 to 1.5 %.",
    )  # fmt: skip


def ends(page, data):
    """Whether the best and the worst reference of a set have the trees to match."""
    own = {r: rmse(page, data, r) for r in REFERENCES}
    itself = {r: frame["own"].mean() for r, frame in own.items()}
    for end, choose in (("best", min), ("worst", max)):
        reference = choose(itself, key=itself.get)
        for size in (5, 10, 15, 20):
            tree = {r: frame[str(size)].mean() for r, frame in own.items()}
            of_end = choose(tree, key=tree.get)
            near = abs(tree[reference] - tree[of_end]) <= 0.01 * tree[of_end]
            ours = f"{reference} has the {end}" if near else f"{of_end} has it"
            column = f"tree of the {end} reference, {size} leaves"
            yield claim(data, column, f"{end} tree", ours, near)


def utility_against_prior():
    """Figure 4."""
    cells = []
    for data in SETS:
        ours, prior = (
            rmse("projection_prior", data, m) for m in ("plain", "cart_tuned")
        )
        for size in SIZES:
            a, b = ours[str(size)].mean(), prior[str(size)].mean()
            text = f"{100 * (a / b - 1):+.1f} %"
            cells.append(claim(data, str(size), "lower", text, a <= 1.01 * b))
    return Item(
        "Figure 4", "utility against prior, by number of leaves", "projection.prior",
        "projection_prior",
        f"{RUNS} The picture has no numbers; the text states that the projected tree "
        "has the lower RMSE at every size (auto risk with three leaves excepted). "
        "Below: RMSE of the tree projected as in the paper relative to the tuned CART. "
        "Within 1 % counts as reproduced.",
        tuple(cells),
        "",
        20, NOT_HERE,
    )  # fmt: skip


def differences():
    """Figure 5: intervals of the difference, for a small and a large tree."""
    cells = []
    for data in SETS:
        ours, prior = (
            rmse("projection_prior", data, m) for m in ("plain", "cart_tuned")
        )
        for size, stated in ((2, "contains 0"), (15, "above 0")):
            a, b = prior[str(size)], ours[str(size)]
            half = 1.96 * (a.var() / len(a) + b.var() / len(b)) ** 0.5
            low, high = a.mean() - b.mean() - half, a.mean() - b.mean() + half
            holds = (low > 0) == (stated == "above 0")
            text = f"{low:.3g} to {high:.3g}"
            cells.append(claim(data, f"{size} leaves", stated, text, holds))
    return Item(
        "Figure 5", "intervals of the gain in RMSE", "projection.prior",
        "projection_prior",
        f"{RUNS} Two groups of 50 runs as in the paper, by their normal approximation; "
        "``projection_prior.md`` has the Bayesian tests for paired and for correlated "
        "runs. The text states which intervals contain zero.",
        tuple(cells),
        "As groups, 50 runs with a gain smaller than their scatter are not enough; the "
        "paired test of the same runs finds the gain on all four.",
        4, NOT_HERE,
    )  # fmt: skip


def table_2():
    """RMSE and sizes, where they can be read."""
    ours = (
        ("node_harvest", "own", "Node Harvest"), ("born_again", "own", "BATrees"),
        ("plain", "10", "10 leaves"), ("plain", "15", "15 leaves"),
        ("forest", "own", "forest"), ("node_harvest", "lines", "Node Harvest, nodes"),
        ("born_again", "lines", "BATrees, leaves"),
    )  # fmt: skip
    cells, unread = [], 0
    for data, values in printed.TABLE_2.items():
        for stated, (method, column, words) in zip(values, ours):
            if stated == printed.BEST:
                unread += 1
                continue
            found = rmse("projection_prior", data, method)[column]
            cells.append(cell(data, words, stated, found, better="lower"))
    return Item(
        "Table 2", "RMSE and size next to Node Harvest and born-again trees",
        "projection.prior", "projection_prior",
        f"{RUNS} Born-again trees: size by validation up to 64 leaves, the paper by "
        "depth. Reproduced: within the larger standard deviation over runs.",
        tuple(cells),
        "Node Harvest selects from the forest that is explained, where the R package "
        "grows one of shallow trees: on Energy it keeps half as many nodes of such a "
        "forest (``papers_causes.md``). Born-again trees here stop at fewer leaves, "
        "since the size is the smallest within half a standard error of the best; of "
        "the same size they are as accurate as projected trees on baseball "
        "(``projection_prior.md``), where those of the paper are worse than their "
        "forest by 35 %. Their 1020 is not explained: with 8 leaves and more the RMSE "
        "here is at most 860, however the rows of a node are drawn (``p_alt`` of 0.1, "
        "0.5 and 1), and a tree of two leaves has 900 to 1,140 (``papers_causes.md``).",
        14 + unread,
        f"{NOT_HERE}, and {unread} best values cannot be read in the text",
    )  # fmt: skip


def table_3():
    """Dissimilarity of trees of bootstrap samples, by equation 12."""
    cells = []
    for data, both in stability.PRINTED.items():
        for stated, method in zip(both, ("tuned CART", "projected")):
            rows = results("projection_stability", set=data, method=method, leaves=10)
            ours = rows["paper_dissimilarity"].iloc[0]
            column = "prior" if method == "tuned CART" else "utility"
            cells.append(cell(data, column, stated, ours, better="lower"))
    return Item(
        "Table 3", "instability", "projection.stability", "projection_stability",
        "Same data and number of bootstrap samples; trees of at most ten leaves, "
        "where the paper does not state the size; equation 12 as printed.",
        tuple(cells),
        "The measure depends on the number of leaves: between trees of five and of ten "
        "it changes by 0.2 on body fat and by 0.1 on baseball "
        "(``projection_stability.md``), and the paper does not state its sizes.",
        4, NOT_HERE,
    )  # fmt: skip


def table_4():
    """Local fidelity: LIME and projected trees."""
    cells = []
    for data, both in table4.PRINTED.items():
        for stated, n in zip(both, (2, 3)):
            method = f"LIME, {n} features"
            rows = results(
                "projection_table4", set=data, method=method, units="of the data"
            )
            text = f"squared error, {method}"
            cells.append(cell(data, text, stated, rows["mean"], 0.1 * stated, "lower"))
        rows = results(
            "projection_table4", set=data, units="of the data",
            method="projected tree, 3 leaves",
        )  # fmt: skip
        stated = {"boston": 2.03, "autorisk": 2.4}[data]
        text = "features of a tree"
        cells.append(cell(data, text, stated, rows["features"], 0.5))
    tree, lime = (
        results("projection_table4", units="of the data", method=m).groupby("set")
        for m in ("projected tree, depth 3", "LIME, 2 features")
    )
    for data in table4.PRINTED:
        a, b = tree["mean"].mean()[data], lime["mean"].mean()[data]
        ours = f"{a:.3g} against {b:.3g}"
        cells.append(claim(data, "tree against LIME", "lower", ours, a < b))
    return Item(
        "Table 4", "local fidelity", "projection.table4", "projection_table4",
        "Same data, 10 % of the rows explained, 200 neighbours; three random splits; "
        "LIME of Python in place of R. The units of the neighbourhood and of the error "
        "are not stated: those of the data here.",
        tuple(cells),
        "At the row itself a linear model predicts about the mean over the "
        "neighbours, whatever its features: its error depends on the width of the "
        "neighbourhood (boston: 10.2 in units of the data, 6.5 with half a standard "
        "deviation, 16 with one). A third feature changes it by less than 1 % here, "
        "where the paper's halves, which no neighbourhood that was tried does. Of "
        "auto risk the variance of the predictions is 1.26 here, ninety times the "
        "printed error.",
        2, "the tree's own errors cannot be read in the text",
    )  # fmt: skip


def figure_6():
    """The explained row of Figure 6 is not stated."""
    return Item(
        "Figure 6", "a tree of three leaves for one row of boston",
        "projection.table4", "projection_table4",
        "The paper prints 10.76 for the tree, 14.06 and 13.18 for LIME with two and "
        "three features; neither the row nor the reference's value is in the text. "
        "``projection_table4.md`` has the tree for the test row whose prediction is "
        "nearest to 10.76: the reference predicts 11.28, the tree 15.96 from two "
        "features, with a fidelity of 0.54: three leaves are too few for its "
        "neighbourhood.",
        lacking=3, why="the row is not given",
    )  # fmt: skip
