"""Rules as a fitted scikit-learn decision tree, after an encoder of text.

An ordered list of boxes is a tree: test the first rule's bounds one after the other;
where one fails, go on with the next rule. Bounds implied by the path to a node are not
tested again, and rules excluded by it are omitted.

scikit-learn casts the data to float32 and compares the result with thresholds in
float64. Bounds become thresholds unchanged, so that for all finite numbers the tree's
predictions for ``X`` are those of the rules for ``X.astype(float32)``. Numeric
categories are tested as numbers. Text categories are replaced by an OrdinalEncoder's
codes: -1 for an unknown one, NaN for a missing one, and the next code after the last
for None, which scikit-learn treats as a category.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from clearwood.columns.feature_space import FeatureSpace
from clearwood.exceptions import InputError
from clearwood.rules.exports.questions import (
    LabelQuestion,
    NumberQuestion,
    Piece,
    finite_number,
    questions_of,
    refuse_times,
)

if TYPE_CHECKING:
    from clearwood.rules.rule_set import RuleSet

MOST_LEAVES = 10_000
LEAF, NO_FEATURE = -1, -2
"""Child and feature of a leaf in scikit-learn's trees."""
UNKNOWN = -1
"""Code of a text that is no known category."""


@dataclass(frozen=True)
class _Known:
    """Values of one feature that reach a node.

    Attributes
    ----------
    low, high : float
        Bounds of the number; no number where ``low`` is infinite.
    missing : bool
        Whether it may be missing.
    """

    low: float = -math.inf
    high: float = math.inf
    missing: bool = True


@dataclass
class _Nodes:
    """Columns of a tree, node by node, parents first."""

    left: list[int]
    right: list[int]
    feature: list[int]
    threshold: list[float]
    missing_left: list[bool]
    rule: list[int]

    def add(self) -> int:
        """Add a node, for now a leaf."""
        self.left.append(LEAF)
        self.right.append(LEAF)
        self.feature.append(NO_FEATURE)
        self.threshold.append(float(NO_FEATURE))
        self.missing_left.append(False)
        self.rule.append(-1)
        return len(self.left) - 1


def rules_to_sklearn(rule_set: RuleSet) -> Any:
    """See :meth:`clearwood.RuleSet.to_sklearn`."""
    if not rule_set.one_rule_predicts:
        raise InputError(
            "Rules that add up, or of which an average is taken, are not one tree; "
            "export them as Python or SQL (to_python, to_sql)."
        )
    values = _values(rule_set)
    questions = _numeric_questions(rule_set)
    texts = {
        d: list(rule_set.features.categories[d] or ())
        for d in sorted(rule_set.used_features)
        if _is_text(rule_set.features, d)
    }
    if not texts:
        return _tree(rule_set, questions, values, rule_set.features)
    numbers = sorted(rule_set.used_features - set(texts))
    place = {d: i for i, d in enumerate([*texts, *numbers])}
    moved = [[replace(q, feature=place[q.feature]) for q in of] for of in questions]
    columns = FeatureSpace.numeric(len(place))
    return _encoding_pipeline(
        rule_set.features, texts, numbers, _tree(rule_set, moved, values, columns)
    )


def _encoding_pipeline(
    features: FeatureSpace, texts: dict[int, list[Any]], numbers: list[int], tree: Any
) -> Any:
    """Pipeline of an encoder of text and a tree."""
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import OrdinalEncoder

    encoder = OrdinalEncoder(
        categories=[[*labels, None, np.nan] for labels in texts.values()],
        handle_unknown="use_encoded_value",
        unknown_value=UNKNOWN,
        encoded_missing_value=np.nan,
    )
    names: Any = features.names if features.named else range(features.n_features)
    steps = [
        ("texts", encoder, [names[d] for d in texts]),
        ("numbers", "passthrough", [names[d] for d in numbers]),
    ]
    transformer = ColumnTransformer(steps if numbers else steps[:1])
    blank = pd.DataFrame(blank_table(features, 1)).astype(
        {names[d]: object for d in texts}
    )
    transformer.fit(blank if features.named else blank.to_numpy(dtype=object))
    return Pipeline([("columns", transformer), ("tree", tree)])


def _tree(
    rule_set: RuleSet,
    questions: list[list[NumberQuestion]],
    values: np.ndarray,
    features: FeatureSpace,
) -> Any:
    """The fitted tree of these questions on these columns."""
    nodes = _nodes(rule_set, questions)
    # An estimator fitted by scikit-learn, so that all attributes exist.
    estimator = rule_set.outcome.tree_class()()
    n_rows = max(len(rule_set.classes), 1)
    estimator.fit(blank_table(features, n_rows), np.arange(n_rows))
    if rule_set.classes:
        estimator.classes_ = np.array(rule_set.classes)
    estimator.tree_ = tree_like(
        estimator.tree_,
        left_child=np.array(nodes.left),
        right_child=np.array(nodes.right),
        feature=np.array(nodes.feature),
        threshold=np.array(nodes.threshold),
        missing_go_to_left=np.array(nodes.missing_left),
        value=values[np.maximum(nodes.rule, 0)],
    )
    return estimator


def blank_table(features: FeatureSpace, n_rows: int) -> Any:
    """Table of zeros with the names of the features, to fit an estimator to."""
    blank = np.zeros((n_rows, features.n_features))
    if not features.named:
        return blank
    return pd.DataFrame(blank, columns=list(features.names))


def _values(rule_set: RuleSet) -> np.ndarray:
    """Leaf values of each rule."""
    values = np.array([list(map(finite_number, rule.numbers)) for rule in rule_set])
    for number, (rule, numbers) in enumerate(zip(rule_set, values), start=1):
        if (
            rule_set.outcome.rule_fields(numbers, float)["prediction"]
            != rule.prediction
        ):
            raise InputError(
                f"Rule {number} says {rule.prediction!r}, which is not its most "
                "probable class; a tree of scikit-learn predicts the most probable."
            )
    return values


def _numeric_questions(rule_set: RuleSet) -> list[list[NumberQuestion]]:
    """The questions of each rule, on numbers or on codes of text."""
    features = rule_set.features
    refuse_times(rule_set, "a tree of scikit-learn")
    result = []
    for rule in rule_set:
        questions = []
        for question in questions_of(rule.conditions, features):
            if isinstance(question, LabelQuestion):
                question = _question_of_codes(question, features)
            questions.append(question)
        result.append(questions)
    return result


def _is_text(features: FeatureSpace, d: int) -> bool:
    """Whether a feature has text categories."""
    labels = features.categories[d] or ()
    return any(isinstance(label, str) for label in labels)


def _question_of_codes(question: LabelQuestion, features: FeatureSpace) -> Any:
    """A question on labels as one on codes, or on numbers if they are numeric."""
    d = question.feature
    labels: list[Any] = list(features.categories[d] or ())
    if _is_text(features, d):
        is_plain = all(isinstance(label, str) for label in labels)
        points = [float(labels.index(label)) for label in question.labels]
        # None is a category of its own.
        if question.missing == question.inside:
            points.append(float(len(labels)))
    else:
        is_plain = all(float(np.float32(label)) == label for label in labels)
        points = [float(label) for label in question.labels]
    if not is_plain or features.lookup[d] == "hash":
        raise InputError(
            f"The rules use the categories {features.names[d]!r}, which are neither "
            "all texts nor all numbers that trees of scikit-learn can distinguish; "
            "export them as Python or SQL (to_python, to_sql)."
        )
    return question.on_numbers(points)


def _nodes(rule_set: RuleSet, questions: list[list[NumberQuestion]]) -> _Nodes:
    """Split until every leaf is determined."""
    nodes = _Nodes([], [], [], [], [], [])
    # A node, the values that reach it, and the first rule that may predict.
    open_nodes: list[tuple[int, dict[int, _Known], int]] = [(nodes.add(), {}, 0)]
    while open_nodes:
        node, known, first = open_nodes.pop()
        first, question = _first_open(questions, known, first)
        if question is None:
            nodes.rule[node] = first
            continue
        if len(nodes.left) + 2 > 2 * MOST_LEAVES - 1:
            raise InputError(
                f"As one tree these {rule_set.n_rules} rules need more than "
                f"{MOST_LEAVES} leaves; export them as Python or SQL (to_python, "
                "to_sql), or fit fewer rules."
            )
        cut, missing_left = _split(question, known.get(question.feature, _Known()))
        nodes.feature[node], nodes.threshold[node] = question.feature, cut
        nodes.missing_left[node] = missing_left
        nodes.left[node], nodes.right[node] = nodes.add(), nodes.add()
        sides = _sides(known.get(question.feature, _Known()), cut, missing_left)
        for child, side in zip((nodes.left[node], nodes.right[node]), sides):
            open_nodes.append((child, {**known, question.feature: side}, first))
    return nodes


def _first_open(
    questions: list[list[NumberQuestion]], known: dict[int, _Known], first: int
) -> tuple[int, NumberQuestion | None]:
    """The first rule that may predict, with an undetermined question of it, if any."""
    for i in range(first, len(questions)):
        answers = [_answer(q, known.get(q.feature, _Known())) for q in questions[i]]
        if False not in answers:
            unclear = [q for q, answer in zip(questions[i], answers) if answer is None]
            return i, unclear[0] if unclear else None
    raise AssertionError("The default rule has no conditions.")


def _answer(question: NumberQuestion, known: _Known) -> bool | None:
    """Answer to a question for all possible values; None if they differ."""
    answers = {question.missing} if known.missing else set()
    if known.low < known.high:
        inside = [_common(piece, known) for piece in question.pieces]
        if (known.low, known.high) in inside:
            answers.add(True)
        else:
            answers |= {True, False} if any(a < b for a, b in inside) else {False}
    return answers.pop() if len(answers) == 1 else None


def _common(piece: Piece, known: _Known) -> Piece:
    return max(piece[0], known.low), min(piece[1], known.high)


def _split(question: NumberQuestion, known: _Known) -> tuple[float, bool]:
    """Threshold at which the answer changes, and whether missing goes left."""
    for low, high in question.pieces:
        # Missing values go to the side with the same answer.
        if known.low < low < known.high:
            return low, not question.missing
        if known.low < high < known.high:
            return high, question.missing
    # scikit-learn's split of missing values from all others.
    return math.inf, False


def _sides(known: _Known, cut: float, missing_left: bool) -> tuple[_Known, _Known]:
    left = replace(
        known, high=min(known.high, cut), missing=known.missing and missing_left
    )
    low = max(known.low, cut)
    right = _Known(low, known.high, known.missing and not missing_left)
    return left, right


def tree_like(blank: Any, *, value: np.ndarray, **columns: np.ndarray) -> Any:
    """Copy of a scikit-learn tree with other nodes.

    Parameters
    ----------
    blank : sklearn.tree._tree.Tree
    value : ndarray of shape (n_nodes, n_outputs)
        Predictions of leaves; inner nodes hold the mean of the leaves below.
    **columns : ndarray of shape (n_nodes,)
        ``left_child``, ``right_child``, ``feature``, ``threshold`` and
        ``missing_go_to_left``, parents first.
    """
    n = len(value)
    state = blank.__getstate__()
    table = np.zeros(n, dtype=state["nodes"].dtype)
    for name, column in columns.items():
        table[name] = column
    # Rows per leaf are unknown: every leaf counts as one row.
    rows, depth = np.ones(n), np.zeros(n, dtype=int)
    value = value.copy()
    for node in np.flatnonzero(table["left_child"] != LEAF)[::-1]:
        below = [table["left_child"][node], table["right_child"][node]]
        rows[node] = rows[below].sum()
        value[node] = np.average(value[below], axis=0, weights=rows[below])
        depth[node] = 1 + depth[below].max()
    table["n_node_samples"], table["weighted_n_node_samples"] = rows, rows
    n_classes = np.array([value.shape[1]], dtype=np.intp)
    tree = type(blank)(blank.n_features, n_classes, 1)
    tree.__setstate__(
        {
            **state,
            "max_depth": int(depth[0]),
            "node_count": n,
            "nodes": table,
            "values": np.ascontiguousarray(value[:, np.newaxis, :]),
        }
    )
    return tree
