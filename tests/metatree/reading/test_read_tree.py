import json
import re
from collections import Counter

import numpy as np
import pytest
from scipy import stats
from sklearn.tree import DecisionTreeClassifier
from tests._html.hostile import HOSTILE, tags_of
from tests.metatree.reading.cases import (
    Reader,
    all_rows,
    cart,
    end_in,
    lightgbm_categories,
    log_weight,
    many_values,
    prunings,
    values,
)
from tests.wording import same_lines, same_text

import clearwood as cw
from clearwood import RuleSet
from clearwood.exceptions import InputError
from clearwood.metatree import (
    BernoulliBeta,
    CategoricalDirichlet,
    LinearRegressionNormalGamma,
    MetaTree,
    NormalNormalGamma,
    from_sklearn_tree,
    given,
)
from clearwood.metatree.reading.annotated_tree import shown_nodes
from clearwood.metatree.reading.read_tree import read_tree
from clearwood.rules import FeatureSpace

CASES = {
    "values stop": lambda: many_values("stop"),
    "values branch": lambda: many_values("branch"),
    "two classes": lambda: many_values("stop", classes=2),
    "cart": cart,
    "regression": values,
    "counts": lambda: values("counts"),
    "category sets": lightgbm_categories,
}


@pytest.fixture(scope="module", params=CASES)
def case(request):
    tree, X, classes = CASES[request.param]()
    return tree, X, classes, Reader(tree, classes)


def probe(tree, X):
    """Rows of all kinds: those learned, and with missing and strange values."""
    features = tree.structure.coder.features
    if features.n_features == 3 and features.names[2] == "hue":
        return all_rows()
    rows = np.asarray(X, dtype=object)[:60].copy()
    rng = np.random.default_rng(0)
    for d, labels in enumerate(features.categories):
        rows[rng.integers(0, 60, 15), d] = None
        if labels is not None:
            rows[rng.integers(0, 60, 9), d] = "never seen"
        else:
            cuts = tree.structure.coder.bins.cuts[d]
            # Decimals on both sides, and at the bound itself where it is one.
            for cut in cuts:
                for digits in range(1, 7):
                    for beside in (-1, 0, 1):
                        rows = np.vstack([rows, rows[:1]])
                        rows[-1, d] = round(cut + beside * 10**-digits, digits)
    return rows


def said_by_nodes(tree, nodes, classes):
    total = tree.posterior().total[nodes]
    if len(classes):
        return np.array(classes)[tree.model.probabilities(total).argmax(axis=1)]
    return tree.model.mean(total)


def test_probabilities_at_the_nodes_are_those_of_all_prunings(case):
    tree, *_, reader = case
    trees = prunings(tree.structure)
    if len(trees) > 5000:
        pytest.skip("too many to count")
    weight = np.array([log_weight(tree, asks) for asks in trees])
    p = np.exp(weight - weight.max())
    p /= p.sum()
    parent = tree.structure.parent

    def share(has):
        return sum(q for q, asks in zip(p, trees) if has(asks))

    for read in (reader.map_tree_, *reader.top_trees(4)):
        for node in read.nodes:
            s, above = node.number, int(parent[node.number])
            reach = share(lambda asks, a=above: a < 0 or a in asks)
            leaf = share(
                lambda asks, s=s, a=above: (a < 0 or a in asks) and s not in asks
            )
            assert node.reach == pytest.approx(reach, abs=1e-10)
            assert node.leaf == pytest.approx(leaf, abs=1e-10)
    found = [read.probability for read in reader.top_trees(10)]
    assert found == pytest.approx(sorted(p, reverse=True)[:10], rel=1e-9)
    assert reader.map_tree_.probability == pytest.approx(p.max(), rel=1e-9)


@pytest.mark.filterwarnings("ignore::clearwood.exceptions.UnknownCategoriesWarning")
def test_rules_say_what_the_tree_says_row_by_row(case):
    tree, X, classes, reader = case
    rows = probe(tree, X)
    for read in (reader.map_tree_, *reader.top_trees(6), *reader.sample_trees(8, 0)):
        asks = {node.number for node in read.nodes if node.feature is not None}
        nodes = end_in(tree, asks, rows)
        ends = np.array([end.number for end in read.ends])[read.apply(rows)]
        assert np.array_equal(ends, nodes)
        expected = said_by_nodes(tree, nodes, classes)
        if len(classes):
            assert read.predict(rows).tolist() == expected.tolist()
            proba = tree.model.probabilities(tree.posterior().total[nodes])
            assert np.array_equal(read.predict_proba(rows), proba)
        else:
            step = 0.005 * tree.model.variance(tree.posterior().total[0]) ** 0.5
            assert np.abs(read.predict(rows) - expected).max() <= step
        assert read.rules.predict(rows).tolist() == read.predict(rows).tolist()
    assert reader.rules_ == reader.map_tree_.rules


@pytest.mark.filterwarnings("ignore::clearwood.exceptions.UnknownCategoriesWarning")
def test_each_row_satisfies_one_end_only(case):
    tree, X, _, reader = case
    rows = probe(tree, X)
    for read in (reader.map_tree_, *reader.top_trees(4)):
        encoded = read.features.encode(rows)
        held = sum(end.rule.matches(encoded).astype(int) for end in read.ends)
        assert (held == 1).all()


def test_supports_are_the_rows(case):
    tree, X, classes, reader = case
    read = reader.map_tree_
    where = np.bincount(read.apply(X), minlength=len(read.ends))
    assert [end.rule.support for end in read.ends] == where.tolist()
    assert sum(rule.assigned for rule in reader.rules_) == len(np.asarray(X))
    if len(classes):
        for end in read.ends:
            if end.rule.support and not end.stopped:
                counts = tree.posterior().total[end.number]
                label = classes.index(end.rule.prediction)
                assert end.rule.precision == counts[label] / counts.sum()


def test_rules_are_kept_in_json(case):
    *_, reader = case
    assert RuleSet.from_json(reader.rules_.to_json()) == reader.rules_


def test_text_shows_every_leaf_and_its_probabilities(case):
    *_, reader = case
    read = reader.map_tree_
    text = str(read)
    numbers = re.findall(r"^ *(\d+)\. then ", text, re.MULTILINE)
    lines = [read.number_of(leaf) for leaf in read.leaves]
    assert numbers == list(map(str, lines))
    rules = list(read.rules)
    assert [rules[i - 1].support for i in lines] == [
        leaf.rule.support for leaf in read.leaves
    ]
    one_line = " ".join(text.split())
    for _, words in shown_nodes(read):
        assert " ".join(words.split()) in one_line
    assert one_line.count("[reached ") == sum(not n.stopped for n in read.nodes)


def test_what_is_not_said_of_missing_values_is_so():
    tree, X, classes = cart(depth=5)
    read = Reader(tree, classes).map_tree_
    text = str(read)
    same_lines(text)
    shown = dict(shown_nodes(read))
    quiet = 0
    for position, node in enumerate(read.nodes):
        if node.feature is None:
            continue
        below = [read.nodes[c] for c in read.children[position]]
        told = [child for child in below if "missing" in shown[child]]
        taker = next((child for child in below if child.condition.missing), None)
        if taker is None:
            continue
        if not told:
            quiet += 1
            assert taker.rule.support == max(child.rule.support for child in below)
        else:
            assert told == [taker]
    assert quiet
    assert "missing" in " ".join(shown.values())


def test_where_both_sides_have_as_many_rows_missing_is_said():
    X, y = np.array([[0.0], [1.0]] * 10), np.array([0, 1] * 10)
    structure = from_sklearn_tree(DecisionTreeClassifier(random_state=0).fit(X, y))
    tree = MetaTree(structure, BernoulliBeta()).update(structure.encode(X), y)
    text = str(read_tree(tree, classes=("a", "b")))
    same_text(text)


def test_sampled_trees_come_as_often_as_they_are_probable(case):
    tree, *_, reader = case
    drawn = reader.sample_trees(4000, 1)
    best = reader.map_tree_
    asks = {n.number for n in best.nodes if n.feature is not None}
    # Equal draws are one object, and most of the time goes into reading each.
    count = Counter(map(id, drawn))
    trees = {id(tree): tree for tree in drawn}.values()
    hits = sum(
        count[id(tree)]
        for tree in trees
        if {n.number for n in tree.nodes if n.feature is not None} == asks
    )
    assert hits / 4000 == pytest.approx(best.probability, abs=0.035)
    assert len({str(tree) for tree in trees}) == len(trees)


def test_ties_give_the_smaller_tree():
    # One row and g = 1/2: to ask changes nothing about its probability.
    structure = given([0], n_values=2)
    tree = MetaTree(structure, BernoulliBeta(1.0, 1.0), 0.5).update([[0]], [1])
    assert tree.posterior().g[0] == 0.5
    reader = Reader(tree, ["no", "yes"])
    assert reader.map_tree_.n_leaves == 1
    assert [t.n_leaves for t in reader.top_trees(5)] == [1, 2]
    assert reader.rules_.n_rules == 1
    assert reader.rules_.predict([[0], [1], [None]]).tolist() == ["yes"] * 3


def test_values_that_are_none_of_the_given_stop():
    tree, _, classes = many_values("stop")
    text = str(read_tree(tree, tree.posterior().top_trees(1)[0], classes=classes))
    same_lines(text)
    assert "hue" not in text or "hue is 'red'" in text
    # 12 rows stopped at a question about the flag or the hue.
    assert re.search(r"^ *- then ", text, re.MULTILINE)


def test_otherwise_is_what_the_root_says_where_rows_can_stop_there():
    tree, _, classes = many_values("stop")
    read = read_tree(tree, classes=classes)
    last = read.ends[-1]
    assert last.stopped
    assert last.number == 0
    assert read.rules.otherwise.prediction == read.nodes[0].rule.prediction


def test_lines_without_rows_are_left_out_where_otherwise_says_the_same_class():
    tree = MetaTree(given([0], n_values=3), CategoricalDirichlet.symmetric(2), 0.9)
    tree.update([[0]] * 9 + [[1]] * 8 + [[2]] * 9, [0] * 16 + [1] * 10)
    read = read_tree(tree, classes=("good", "bad"))
    assert read.ends[-1].stopped
    assert [rule.rows for rule in read.rules] == [9, 9, 8]
    # Of both that say good, the second is nearer to what is said at the root.
    otherwise = read.rules.otherwise
    assert otherwise.probabilities == read.nodes[2].rule.probabilities
    assert "2. then good" not in str(read)
    same_lines(str(read))
    assert read.rules.predict([[0], [1], [2], [7], [None]]).tolist() == [
        "good", "good", "bad", "good", "good",
    ]  # fmt: skip
    root = tree.model.probabilities(tree.posterior().total[0])
    assert np.array_equal(read.predict_proba([[7]])[0], root)


def test_a_feature_asked_twice_leaves_no_empty_rules():
    structure = given([0, 0, 0], n_values=[2])
    tree = MetaTree(structure, CategoricalDirichlet.symmetric(2), 0.99)
    tree.update([[0]] * 30 + [[1]] * 30, [0] * 30 + [1] * 30)
    asks = np.zeros(structure.n_nodes, dtype=bool)
    asks[:3] = True
    read = read_tree(tree, tree.posterior().pruned(asks), classes=("a", "b"))
    assert read.n_leaves == 2
    assert read.predict([[0], [1], [5]]).tolist() == ["a", "b", "a"]
    assert str(read).count("then") == 2


def test_cuts_print_short_and_part_learned_rows_as_before():
    tree, X, classes = cart(depth=5)
    read = Reader(tree, classes).map_tree_
    nodes = end_in(tree, {n.number for n in read.nodes if n.feature is not None}, X)
    ends = np.array([end.number for end in read.ends])[read.apply(X)]
    assert np.array_equal(ends, nodes)
    cuts = re.findall(r"(?:<=|>) (\S+)", str(read))
    assert cuts
    assert np.median([len(cut) for cut in cuts]) <= 5


def test_wide_and_deep_trees_are_read():
    wide = given([0], n_values=[3000])
    tree = MetaTree(wide, CategoricalDirichlet.symmetric(2), 0.999)
    codes = np.arange(3000)[:, None]
    tree.update(np.repeat(codes, 9, axis=0), np.repeat(codes[:, 0] % 2, 9))
    read = Reader(tree, ["a", "b"]).map_tree_
    assert read.n_leaves == 3000
    assert read.predict(codes[:4]).tolist() == ["a", "b", "a", "b"]
    n = 1500  # node 2i asks, its right child asks the next feature
    first = np.full(2 * n + 1, -1)
    first[0 : 2 * n : 2] = np.arange(1, 2 * n + 1, 2)
    feature = np.where(first >= 0, np.arange(2 * n + 1) // 2, -1)
    deep = given(feature, n_values=2, n_features=n, first_child=first)
    tree = MetaTree(deep, BernoulliBeta(), 0.5)
    asks = first >= 0
    read = read_tree(tree, tree.posterior().pruned(asks), classes=("a", "b"))
    assert read.n_leaves == n + 1
    assert len(str(read).splitlines()) > n


def test_a_line_in_a_leaf_is_refused():
    structure = given([0], n_values=2)
    tree = MetaTree(structure, LinearRegressionNormalGamma((0.0, 0.0)))
    with pytest.raises(InputError, match="NormalNormalGamma"):
        read_tree(tree)


def test_hostile_names_and_labels_are_escaped():
    plain = _page([f"f{i}" for i in range(len(HOSTILE))], ["a", "b"], "y")
    for i in range(0, len(HOSTILE), 10):
        name, names = HOSTILE[i], [*HOSTILE[i:], *HOSTILE[:i]]
        page = _page(names, [name, f"{name} 2"], name)
        assert tags_of(page) == tags_of(plain)


def _page(names, classes, target):
    n = len(names)
    structure = given(
        [0, 1, 1], n_values=2, features=FeatureSpace(tuple(names), (None,) * n)
    )
    tree = MetaTree(structure, BernoulliBeta(), 0.9)
    rows = np.array([[i // 2 % 2, i % 2] + [0] * (n - 2) for i in range(40)])
    tree.update(structure.encode(rows), rows[:, 0] ^ rows[:, 1])
    return read_tree(tree, classes=classes, target=target)._repr_html_()


def test_html_and_text_hold_the_same_numbers(case):
    *_, reader = case
    html = reader.map_tree_._repr_html_()
    for reached in re.findall(r"\[reached ([^,]*),", str(reader.map_tree_)):
        assert reached.replace("<", "&lt;").replace(">", "&gt;") in html
    assert json.loads(reader.rules_.to_json())


def test_rows_are_counted_whatever_they_weigh(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.where(X[:, 0] > 0, "a", "b")
    weight = rng.choice([0.0, 0.5, 28.0], 60)
    n = int((weight > 0).sum())
    model = cw.MetaTreeClassifier(random_state=0).fit(X, y, weight)
    parts = model.rules_.contributing(model.rules_.matches(X))
    for rule, part in zip(model.rules_, parts.T):
        assert rule.rows == rule.rows_assigned == part[weight > 0].sum()
        assert rule.support == weight[part].sum()
    first = model.rules_.rules[0]
    words = f"({first.rows:.0f} rows, weight {first.support:g}, precision"
    assert words in str(model.map_tree_) and words in str(model.rules_)
    assert f">weight {first.support:g}</span>" in model.map_tree_._repr_html_()
    cw.save(model, tmp_path / "model.zip")
    assert cw.load(tmp_path / "model.zip").rules_ == model.rules_
    before, quarter = str(model.rules_), {"sample_weight": np.full(9, 0.25)}
    assert model.partial_fit(X[:9], y[:9], **quarter).rules_.n_rows == n + 9
    assert str(model.unlearn(X[:9], y[:9], **quarter).rules_) == before
    tree = model.meta_tree_
    shard = cw.MetaTreeClassifier(
        tree.structure, leaf_model=model.leaf_model_, split_prior=tree.g
    )
    shard.fit(X, y)
    assert shard.rules_.n_rows == shard.rules_.total_weight == 60
    assert model.merge(shard).rules_.n_rows == n + 60
    tree.update_stream(tree.structure.encode(X[:5]), [0] * 5)
    assert tree.rows.sum() == n + 65


def test_the_spread_of_a_node_is_that_of_its_rows():
    rng = np.random.default_rng(0)
    codes, y = rng.integers(0, 2, (40, 1)), rng.normal(3.0, 2.0, 40)
    learned = MetaTree(given([0], n_values=2), NormalNormalGamma())
    for node, _ in shown_nodes(read_tree(learned.update(codes, y))):
        rows = codes[:, 0] == node.number - 1 if node.number else codes[:, 0] >= 0
        assert node.rule.rows == rows.sum()
        assert node.rule.std == pytest.approx(np.std(y[rows]))
        # The credible interval of the printed mean, which is between prior and rows.
        own, n = y[rows], rows.sum()
        mean = own.sum() / (n + 1)
        beta = 1 + (n * own.var() + n / (n + 1) * own.mean() ** 2) / 2
        scale = np.sqrt(beta / ((1 + n / 2) * (n + 1)))
        ends = stats.t.interval(0.95, 2 + n, mean, scale)
        assert (node.rule.low, node.rule.high) == pytest.approx(ends)
        assert node.rule.low < node.rule.prediction < node.rule.high


def test_one_row_has_no_standard_deviation():
    fit = cw.MetaTreeRegressor(random_state=0).fit
    assert "then 3  (1 row)" in str(fit([[0.0]], [3.0]).map_tree_)
    tree = fit([[0], [0], [0], [5]], [0.5, 0.6, 0.7, 9]).map_tree_
    three, one = (line for line in str(tree).splitlines() if "then" in line)
    assert "SD" in three
    assert "1 row, mean in" in one
    assert "SD" not in one
    rules = cw.RuleListRegressor().fit([[0.0]], [3.0]).rules_
    assert str(rules) == "1. otherwise 3  (1 row, agreement 1)"
