"""Small experiments, each with one setting changed, on causes of differences.

``EXPERIMENTS`` names them by paper, table and data; each gives rows of setting,
quantity, the number that the paper prints and ours, one for each repetition.
"""

import time

import numpy as np

from benchmarks._data import SIZES_2018, is_classes, load
from benchmarks._study import simplifier
from benchmarks.papers.cases import Case, forest, make_case
from benchmarks.papers.methods import FAB_PAPER, cart, timed_fit, wrong
from benchmarks.papers.printed import ENERGY_RULES, OVERLAPS, RUNTIMES
from benchmarks.sbfc import rivals, simulations
from benchmarks.sbfc.cases import FIGURE_3, Fold, binned, folds, ours

FAB_NAME, IN_TREES_NAME = "FAB, as in the paper", "inTrees, R's settings"
HARVEST_NAME = "Node Harvest, all nodes"
NO_ROWS = 1e-12
"""Added to a cell in place of one row: as counted, but a cell without rows is
uniform."""
SHARES = {
    "1/3, 1/3, 1/3": (1 / 3, 1 / 3, 1 / 3),
    "0.5, 0.3, 0.2": (0.5, 0.3, 0.2),
    "0.6, 0.2, 0.2": (0.6, 0.2, 0.2),
    "0.7, 0.2, 0.1": (0.7, 0.2, 0.1),
}


def row(setting, quantity, printed, value):
    return {
        "setting": setting, "quantity": quantity, "printed": printed,
        "ours": float(value),
    }  # fmt: skip


def regions():
    """Figure 1 of 2016: regions of three trees by their number of leaves."""
    X, y, _, _ = load("xor", 0, (1000, 1000))
    for leaves in (32, 64, 128, 256):
        model = forest(False, 3, 0, 10, leaves).set_params(oob_score=False).fit(X, y)
        yield row(f"at most {leaves} leaves", "regions of 3 trees", 1297, n_of(model))


def n_of(model):
    from clearwood.ensembles import read_ensemble
    from clearwood.ensembles.check import count_regions

    return count_regions(read_ensemble(model)).n


def depth_of_tree():
    """Table 2 of 2016: the depth that cross-validation selects on Higgs."""
    from sklearn.model_selection import cross_val_score

    X, y, X_test, y_test = load("higgs", 0, (10_000, 10_000))
    case = Case(X, y, X_test, y_test, None, True, 0)
    for depth in (4, 6):
        tree = cart(case, max_depth=depth, min_samples_leaf=20)
        scores = 1 - cross_val_score(tree, X, y, cv=5)
        tree.fit(X, y)
        setting = f"depth {depth}"
        yield row(setting, "leaves", 16, tree.get_n_leaves())
        yield row(setting, "validated error", "", scores.mean())
        yield row(setting, "its standard error", "", scores.std(ddof=1) / 5**0.5)
        yield row(setting, "test error", "", wrong(case, tree.predict(X_test)))


def work_of_em():
    """Table 2 of 2018: iterations times components of EM over those of FAB."""
    case = make_case("2018", "higgs", 0)
    stated = RUNTIMES["higgs"][3] / RUNTIMES["higgs"][1]
    for seed in range(3):
        seconds, work = {}, {}
        for method, sizes in (("fab", (10,)), ("em", range(1, 11))):
            begin, done = time.process_time(), []
            for k in sizes:
                settings = FAB_PAPER | {"n_rules": k + 1, "n_init": 1}
                own = case._replace(seed=seed)
                fit, _ = timed_fit(own, "FABRules", method=method, **settings)
                done.append(fit.restarts_[0])
            seconds[method] = time.process_time() - begin
            work[method] = sum(x["n_iterations"] * x["n_components"] for x in done)
            n = sum(x["n_iterations"] for x in done)
            yield row("one start", f"iterations of {method}", "", n)
        for word, of in (("CPU seconds", seconds), ("iterations x components", work)):
            ratio = of["em"] / of["fab"]
            yield row("one start", f"{word}, EM / FAB", round(stated, 1), ratio)


def fewer_rules():
    """Table 3 of 2018: overlap of FAB on Energy with at most so many rules."""
    stated = OVERLAPS[FAB_NAME]["energy"]
    for split in range(3):
        case = make_case("2018", "energy", split)
        for most in (4, 5, 10):
            fit, _ = timed_fit(case, "FABRules", preset="paper", n_rules=most + 1)
            found = fit.rules_.evaluate(case.X_test, case.y_test)
            yield row(f"at most {most} rules", "overlap", stated, found.overlap)


def leaves_of_forest(name):
    """Table 3 of 2018: overlap of inTrees by the leaves of the forest's trees."""
    stated = OVERLAPS[IN_TREES_NAME][name]
    for leaves in (8, 16, 64):
        for split in range(2):
            X, y, X_test, y_test = load(name, split, SIZES_2018[name])
            is_class = is_classes(name)
            model = forest(is_class, 100, split, 10, leaves)
            model.set_params(oob_score=False).fit(X, y)
            case = Case(X, y, X_test, y_test, model, is_class, split)
            fit, _ = timed_fit(case, "InTrees", preset="paper")
            found = fit.rules_.evaluate(X_test, y_test)
            setting = f"at most {leaves} leaves a tree"
            yield row(setting, "overlap", stated, found.overlap + 1)


def nodes_that_count(name):
    """Tables 3 and 4 of 2018: nodes by their features, and by their weights."""
    n_stated = ENERGY_RULES[HARVEST_NAME] if name == "energy" else ""
    stated = OVERLAPS[HARVEST_NAME][name]
    for split in range(3):
        case = make_case("2018", name, split)
        for most in (1, 2):
            fit, _ = timed_fit(
                case, "NodeHarvest", preset="paper", max_interaction=most
            )
            weight = np.array([rule.weight for rule in fit.rules_.rules])
            held = fit.rules_.matches(case.X_test)[:, : len(weight)]
            for least in (0.0, 0.05, 0.1):
                setting = f"features of a node: {most}, weight over {least:g}"
                kept = weight > least
                yield row(setting, "nodes", n_stated, kept.sum())
                yield row(setting, "overlap", stated, held[:, kept].sum(axis=1).mean())


def born_again_by_depth(name):
    """Table 4 and Figure 5 of 2018: the depth selected, as in the paper."""
    stated = ENERGY_RULES["born-again tree"] if name == "energy" else "10 to 200"
    for split in range(2):
        fit, _ = timed_fit(make_case("2018", name, split), "BornAgainTree",
                           preset="paper")  # fmt: skip
        yield row("best depth", "leaves", stated, fit.rules_.n_rules)


def born_again_on_baseball():
    """Table 2 of Afrabandpey and others: RMSE by leaves and by how rows are drawn."""
    from sklearn.ensemble import RandomForestRegressor

    from benchmarks.projection.cases import make_case as made

    for run in range(3):
        case = made("baseball", run)
        model = RandomForestRegressor(random_state=case.seed).fit(case.X, case.y)
        for share in (0.1, 0.5, 1.0):
            fit = simplifier(
                "BornAgainTree", False, model, random_state=run, n_rules=16,
                max_rules=16, p_alt=share,
            ).fit(case.X, case.y)  # fmt: skip
            for rules in fit.path_:
                if rules.n_rules in (1, 2, 4, 8, 15):
                    error = rules.predict(case.X_test) - case.y_test
                    setting = f"p_alt = {share:g}, leaves: {rules.n_rules}"
                    yield row(setting, "RMSE", "1020 ± 70", (error**2).mean() ** 0.5)


def right(fold, predicted):
    return 100 * np.mean(predicted == fold.y_test)


def accuracy(fold, probability):
    return right(fold, probability.argmax(axis=1))


def numbers_of(fold):
    return fold.X.to_numpy(np.float64), fold.X_test.to_numpy(np.float64)


def svm(name):
    """Figure 3 of the thesis: the numbers themselves in place of one-hot levels."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    stated = FIGURE_3.loc[name, "SVM"]
    fold = folds(name)[0]
    train, test = numbers_of(fold)
    yield row("one-hot levels, C = 1", "accuracy", stated,
              accuracy(fold, rivals.svm(fold, binned(fold))))  # fmt: skip
    for cost in (1, 10):
        model = make_pipeline(StandardScaler(), SVC(C=cost, gamma="auto"))
        found = model.fit(train, fold.y).predict(test)
        yield row(f"numbers, C = {cost}", "accuracy", stated, right(fold, found))


def forest_of_numbers():
    """Figure 3 of the thesis, waveform21."""
    fold = folds("waveform21")[0]
    stated = FIGURE_3.loc["waveform21", "random forest"]
    levels = binned(fold)
    for setting, parts in (("levels", levels), ("numbers", (*numbers_of(fold), None))):
        found = rivals.random_forest(fold, parts)
        yield row(setting, "accuracy", stated, accuracy(fold, found))


def tan(name):
    """Figure 3 of the thesis: cells as counted, as bnlearn has them."""
    stated = FIGURE_3.loc[name, "TAN"]
    for fold in folds(name):
        levels = binned(fold)
        for setting, added in (("a row added to a cell", 1.0), ("as counted", NO_ROWS)):
            found = rivals.tan(fold, levels, added)
            yield row(setting, "accuracy", stated, accuracy(fold, found))


def tan_of_pyagrum(name):
    """Figure 3 of the thesis: another program, on the same levels (package pyagrum)."""
    from pyagrum.lib.discreteTypeProcessor import DiscreteTypeProcessor
    from pyagrum.skbn import BNClassifier

    for fold in folds(name):
        train, test, _ = binned(fold)
        model = BNClassifier(
            type_processor=DiscreteTypeProcessor(discretizationThreshold=1000),
            learningMethod="TAN", prior="Smoothing", priorWeight=1.0,
        )  # fmt: skip
        # It knows the levels of the training rows only.
        found = model.fit(train, fold.y).predict_proba(np.minimum(test, train.max(0)))
        yield row("a row added to a cell", "accuracy", FIGURE_3.loc[name, "TAN"],
                  accuracy(fold, found))  # fmt: skip


def r_tree(name):
    """Figure 3 of the thesis: nodes are split while their deviance is a hundredth."""
    stated = FIGURE_3.loc[name, "CART"]
    for fold in folds(name):
        train, test, _ = binned(fold)
        kinds = {"levels": (train, test), "numbers": numbers_of(fold)}
        for kind, (a, b) in kinds.items():
            found = stopped_tree(a, fold.y, b)
            yield row(
                f"rule of R's tree, {kind}", "accuracy", stated, right(fold, found)
            )


def stopped_tree(train, y, test, least=0.01):
    """Classes by a tree in which a node with little deviance is a leaf."""
    from sklearn.tree import DecisionTreeClassifier

    tree = DecisionTreeClassifier(
        criterion="entropy", min_samples_leaf=5, min_samples_split=10, random_state=0
    ).fit(train, y).tree_  # fmt: skip
    deviance = tree.impurity * tree.n_node_samples
    is_leaf = (tree.children_left < 0) | (deviance < least * deviance[0])
    at, every = np.zeros(len(test), dtype=int), np.arange(len(test))
    for _ in range(tree.max_depth):
        # A leaf has no feature; what is compared there is not used.
        low = test[every, np.maximum(tree.feature[at], 0)] <= tree.threshold[at]
        below = np.where(low, tree.children_left[at], tree.children_right[at])
        at = np.where(is_leaf[at], at, below)
    return tree.value[at, 0].argmax(axis=1)


def shares_of_values():
    """Table 6 of the thesis: its generator does not state how frequent a value is."""
    stated = simulations.PRINTED["cluster"]["thesis"][0]
    for setting, shares in SHARES.items():
        for repeat in range(5):
            rng = np.random.default_rng(repeat)
            y = rng.integers(2, size=1500)
            X = rng.choice([1, 2, 3], p=shares, size=(1500, 100))
            half = rng.permutation(1500) < 750
            groups = (y == 0, [0, 1, 2]), (y == 1, [3, 4, 5, 6]), (half, [7, 8, 9])
            for rows, columns in groups:
                order = rng.permutation(np.flatnonzero(rows))
                for i, column in enumerate(columns):  # every second one descends
                    X[order, column] = np.sort(X[order, column])[:: -1 if i % 2 else 1]
            fold = Fold(X[:500], y[:500], X[500:], y[500:])
            found = accuracy(fold, ours(fold, "thesis")[1])
            yield row(f"shares of values {setting}", "accuracy of SBFC", stated, found)


def best_possible():
    """Table 7 of the thesis: accuracy of the true probabilities on the same rows."""
    stated = simulations.PRINTED["logistic"]["thesis"]
    for n, printed in zip((100, 1000, 10000), stated):
        for repeat in range(simulations.REPEATS[n]):
            fold = simulations.drawn("logistic", n, repeat)
            x1, x2, x3, x4, x5, x6 = fold.X_test[:, :6].T
            logit = x1 - x2 * x3 + x4 * x5 - x5 * x6
            setting = f"{n} features"
            # Rows with a logit of 0 have equal probabilities of both classes.
            yield row(f"{setting}, logit >= 0", "accuracy of the truth", printed,
                      right(fold, logit >= 0))  # fmt: skip
            yield row(f"{setting}, logit > 0", "accuracy of the truth", printed,
                      right(fold, logit > 0))  # fmt: skip


def columns_of_glm(name):
    """Tables 6 and 7 of the thesis: no more columns than R's glm can fit."""
    stated = simulations.PRINTED[name]["logistic"][1]
    for repeat in range(5):
        fold = simulations.drawn(name, 1000, repeat)
        n = len(fold.y)
        train, test = (
            np.hstack([np.ones((len(part), 1)), part[:, : n - 1]])
            for part in (fold.X, fold.X_test)
        )
        # Rows that are separated by as many coefficients: any fit is through them.
        slopes = np.linalg.lstsq(train, 2.0 * fold.y - 1, rcond=None)[0]
        setting = "linear, first 499 of 1,000 columns"
        yield row(setting, "accuracy", stated, right(fold, test @ slopes > 0))


def rows_of_naive_bayes():
    """Table 7 of the thesis: naive Bayes by the number of rows."""
    for d, stated in zip((100, 1000), simulations.PRINTED["logistic"]["naive Bayes"]):
        for repeat in range(5):
            fold = simulations.drawn("logistic", d, repeat)
            for n in (100, 200, 500):
                some = fold._replace(X=fold.X[:n], y=fold.y[:n])
                levels = some.X - 1, some.X_test - 1, np.full(d, 2)
                found = rivals.naive_bayes(some, levels)
                setting = f"{d} features, {n} rows"
                yield row(setting, "accuracy", stated, accuracy(some, found))


def penalty_of_clusters():
    """Table 12 of the thesis: LearnSPN with penalties beyond the grid."""
    import clearwood as cw
    from benchmarks.circuits.cases import PRINTED, fitted

    stated = PRINTED["pumsb_star"].learn[0]
    for penalty in (0.4, 0.8, 1.2, 2.0, 3.0):
        learner = cw.LearnSPN(
            preset="paper", random_state=0, penalty=penalty, significance_level=0.0001
        )
        found = fitted(learner, "pumsb_star")
        yield row(f"penalty {penalty:g} per column", "test log-likelihood", stated,
                  found["test"])  # fmt: skip


HARA_16, HARA = "Hara and Hayashi 2016", "Hara and Hayashi 2018"
FIGURE, LOGISTIC = ("Krakovna", "Figure 3"), ("Krakovna", "Table 7", "logistic")
EXPERIMENTS = {
    (HARA_16, "Figure 1", "xor", "forest"): (regions,),
    (HARA_16, "Table 2", "higgs", "decision tree"): (depth_of_tree,),
    **{
        (HARA, "Table 4", name, "born-again tree"): (born_again_by_depth, name)
        for name in ("energy", "synthetic1", "synthetic2")
    },
    (HARA, "Table 3", "energy", "FAB"): (fewer_rules,),
    **{
        (HARA, "Table 3", name, "Node Harvest"): (nodes_that_count, name)
        for name in ("energy", "synthetic1")
    },
    ("Afrabandpey", "Table 2", "baseball", "born-again tree"): (
        born_again_on_baseball,
    ),
    **{
        (*FIGURE, name, "TAN"): (tan, name)
        for name in ("waveform21", "lymphography", "satimage", "madelon_sbfc")
    },
    **{
        (*FIGURE, name, "TAN of pyAgrum"): (tan_of_pyagrum, name)
        for name in ("corral", "heart", "vote", "lymphography", "waveform21")
    },
    **{
        (*FIGURE, name, "CART"): (r_tree, name)
        for name in ("letter", "satimage", "waveform21", "madelon")
    },
    **{(*FIGURE, name, "SVM"): (svm, name) for name in ("letter", "waveform21")},
    (*FIGURE, "waveform21", "random forest"): (forest_of_numbers,),
    ("Krakovna", "Table 6", "cluster", "SBFC"): (shares_of_values,),
    (*LOGISTIC, "SBFC"): (best_possible,),
    (*LOGISTIC, "naive Bayes"): (rows_of_naive_bayes,),
    (*LOGISTIC, "logistic"): (columns_of_glm, "logistic"),
    ("Krakovna", "Table 12", "pumsb_star", "LearnSPN"): (penalty_of_clusters,),
    (HARA, "Table 2", "higgs", "FAB and EM"): (work_of_em,),
    **{
        (HARA, "Table 3", name, "inTrees"): (leaves_of_forest, name)
        for name in ("energy", "synthetic2", "synthetic1")
    },
}
"""Paper, table, data and method -> function and its arguments."""
