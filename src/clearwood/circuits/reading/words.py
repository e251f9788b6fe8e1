"""Text of a circuit: nested components, and groups of columns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from clearwood._words.numbers import share_text
from clearwood.charts.style import wrapped
from clearwood.circuits.nodes import Node, Product, Sum, walk
from clearwood.circuits.reading.outline import CircuitPart, is_independent, outline
from clearwood.circuits.reading.profiles import column_words
from clearwood.circuits.reading.strengths import (
    gain_over_independent,
    is_weak_gain,
    strengths,
)
from clearwood.columns.feature_space import FeatureSpace
from clearwood.columns.info import shown_names
from clearwood.columns.table_variables import OTHERWISE
from clearwood.distributions import ChowLiuTree
from clearwood.exceptions import InputError
from clearwood.rules.conditions import name_text

if TYPE_CHECKING:
    from clearwood.circuits.circuit import Circuit

WIDTH, STEP = 88, 3
"""Characters per line, and per level of indentation."""

MOST_MARKS, MOST_NAMES, MOST_PAIRS, MOST_GROUPS = 4, 6, 5, 8
"""Columns that mark a component, names of a group, pairs and groups of columns."""

FEW_LINES, DEEPEST = 50, 4
"""Limits of the default depth: lines of parts, and nested components."""

MOST_COMPARED = 300
"""Maximum number of columns for which all pairs are compared."""

LEAST_STRENGTH = 0.05


def describe(circuit: Circuit, depth: int | None) -> str:
    """Text of a circuit; see ``Circuit.text``."""
    if depth is not None and depth < 1:
        raise InputError(f"depth is {depth!r}; expected at least 1.")
    head = [_size(circuit), *_pairs(circuit)]
    inside = _lines(circuit, 1 if depth is None else depth)
    while depth is None and inside.n_hidden and inside.depth < DEEPEST:
        further = _lines(circuit, inside.depth + 1)
        if len(further.lines) > FEW_LINES:
            break
        inside = further
    if inside.n_hidden:
        splits = _many(inside.n_hidden, "more split")
        how = f"to see them, print(circuit.text(depth={inside.depth + 1}))"
        inside.lines.append(f"... and {splits} into clusters; {how}")
    return "\n".join(head + inside.lines)


def _lines(circuit: Circuit, depth: int) -> _Writer:
    writer = _Writer(circuit, depth)
    writer.write(outline(circuit.root, depth, circuit.table.numbers), "", "")
    return writer


def _size(circuit: Circuit) -> str:
    n_sums, n_leaves = counts(circuit.root)
    return (
        f"{_many(circuit.n_columns, 'column')}; "
        f"{_many(n_sums, 'split')} of rows into clusters; "
        f"{_many(n_leaves, 'leaf', 'leaves')}."
    )


def counts(node: Node) -> tuple[int, int]:
    """Numbers of mixtures and leaves below a node."""
    nodes = list(walk(node))
    n_sums = sum(isinstance(one, Sum) for one in nodes)
    return n_sums, sum(not isinstance(one, Sum | Product) for one in nodes)


def _pairs(circuit: Circuit) -> list[str]:
    """Pairs of columns with the strongest dependence."""
    if circuit.features.n_features > MOST_COMPARED:
        return []
    found = strongest_pairs(strengths(circuit))
    texts = pairs_texts(circuit.features, found)
    if is_independent(circuit.root, circuit.table.numbers):
        return ["All columns are independent."]
    if not texts:
        text = f"No two columns have a dependence of at least {LEAST_STRENGTH:g}."
        return [text, *_weakness(circuit)]
    more = len(found) - len(texts)
    texts += [f"{_many(more, 'more pair')} from {LEAST_STRENGTH:g} on"] if more else []
    return _wrapped("Strongest dependences: ", texts, "", 0) + _weakness(circuit)


def _weakness(circuit: Circuit) -> list[str]:
    """A sentence if the columns are nearly independent."""
    gain = gain_over_independent(circuit)
    if not is_weak_gain(circuit, gain):
        return []
    times = f"{math.exp(gain):.2f}"
    much = "hardly more probable than"
    if gain > 0.0 and times != "1.00":
        much = f"{times} times as probable (geometric mean) as"
    text = (
        f"The dependence is weak: rows drawn from the network are {much} with "
        "independent columns."
    )
    return _wrapped(text, (), "", 0)


def strongest_pairs(strength: np.ndarray) -> list[tuple[int, int, float]]:
    """Pairs of dependent columns, the strongest first."""
    j, k = np.nonzero(np.triu(strength >= LEAST_STRENGTH, 1))
    order = np.argsort(-strength[j, k], kind="stable")
    places = np.stack([j, k])[:, order].tolist()
    return list(zip(*places, strength[j, k][order].tolist()))


class _Writer:
    """Lines of a text, and how much of the circuit they omit."""

    def __init__(self, circuit: Circuit, depth: int) -> None:
        self.circuit, self.features = circuit, circuit.features
        self.depth = depth
        self.lines: list[str] = []
        self.n_hidden = 0

    def write(self, part: CircuitPart, number: str, indent: str) -> None:
        """Write the components or groups of a part."""
        if part.clusters:
            if not number:
                self.add(f"{len(part.clusters)} clusters of rows:", indent)
            self.write_clusters(part, number, indent)
        elif part.groups:
            if not number:
                self.add("Independent groups of columns:", indent)
            self.write_groups(part, number, indent)
        elif not number:
            self.add(f"- {self.inside(part)}", indent)

    def write_clusters(self, part: CircuitPart, number: str, indent: str) -> None:
        for i, cluster in enumerate(part.clusters, 1):
            own = f"{number}{i}."
            marks = marks_texts(cluster, part, self.features)
            head = f"{own} {share_text(cluster.share)}: "
            self.add(head, indent, marks, len(own) + 1)
            inner = indent + " " * STEP
            if len(cluster.columns) > 1 and not (cluster.clusters or cluster.groups):
                self.add(f"- {self.inside(cluster)}", inner)
            self.write(cluster, own, inner)

    def write_groups(self, part: CircuitPart, number: str, indent: str) -> None:
        together = [group for group in part.groups if len(group.columns) > 1]
        for i, group in enumerate(together[:MOST_GROUPS]):
            names = names_text(self.features, group.columns)
            if group.clusters:
                self.add(f"- {names}: {len(group.clusters)} clusters:", indent)
                letter = f"{number}{chr(97 + i)}." if i < 26 else f"{number}z{i}."
                self.write_clusters(group, letter, indent + " " * STEP)
            else:
                self.add(f"- {names}: {self.inside(group)}", indent)
        hidden = together[MOST_GROUPS:]
        if hidden:
            self.n_hidden += sum(counts(group.node)[0] for group in hidden)
            many = _many(len(hidden), "more group")
            self.add(f"- {many} of 2 to {len(hidden[0].columns)} columns", indent)
        self.write_independent(part, indent)

    def write_independent(self, part: CircuitPart, indent: str) -> None:
        """Write columns that are independent of all others here and not shown above."""
        marked = set(part.marks[:MOST_MARKS])
        single = [g.columns[0] for g in part.groups if len(g.columns) == 1]
        alone = [j for j in single if j not in marked]
        texts = [column_words(self.features, j, part.profile[j]) for j in alone]
        if not texts:
            return
        more = len(texts) - MOST_NAMES
        texts = [*texts[:MOST_NAMES], *([f"{more:,} more"] if more > 0 else [])]
        self.add("- independent: ", indent, texts)

    def inside(self, part: CircuitPart) -> str:
        """Text of a part that is not expanded: a leaf, or at the maximum depth."""
        if part.n_hidden_clusters:
            self.n_hidden += counts(part.node)[0]
            return f"{part.n_hidden_clusters} clusters (not shown)"
        if len(part.columns) == 1:
            (j,) = part.columns
            return column_words(self.features, j, part.profile[j])
        strength = strengths(replace(self.circuit, root=part.node))
        pairs = pairs_texts(self.features, strongest_pairs(strength))
        if not pairs:
            return f"nearly independent: all dependences below {LEAST_STRENGTH:g}"
        how = hidden_states(part.node) or "directly dependent"
        return f"{how}: {'; '.join(pairs)}"

    def add(
        self, text: str, indent: str, listed: Sequence[str] = (), hanging: int = 2
    ) -> None:
        self.lines += _wrapped(text, listed, indent, hanging)


def marks_texts(
    cluster: CircuitPart, among: CircuitPart, features: FeatureSpace
) -> list[str]:
    """Columns that mark a component, in brackets the same in the parent's rows."""
    marks = cluster.columns if len(cluster.columns) == 1 else cluster.marks
    texts = [
        column_words(features, j, cluster.profile[j], among.profile[j])
        for j in marks[:MOST_MARKS]
    ]
    if not texts:
        return ["no single column differs, but their dependence does"]
    more = len(marks) - len(texts)
    return [*texts, *([f"{more:,} more"] if more else [])]


def pairs_texts(
    features: FeatureSpace, pairs: Sequence[tuple[int, int, float]]
) -> list[str]:
    """First few pairs of columns, with the strength of their dependence."""
    names = names_in_pairs(features)
    return [
        f"{name_text(names[j])} and {name_text(names[k])} {strength:.2f}"
        for j, k, strength in pairs[:MOST_PAIRS]
    ]


def names_in_pairs(features: FeatureSpace) -> list[str]:
    """Names of variables; of a point mass "income is 0", say."""
    return [
        f"{name} is {levels[1]}" if levels and levels[:-1] == (OTHERWISE,) else name
        for name, levels in zip(shown_names(features), features.categories)
    ]


def names_text(features: FeatureSpace, columns: Sequence[int]) -> str:
    """First few names of a group of columns."""
    shown = columns if len(columns) <= MOST_NAMES + 1 else columns[:MOST_NAMES]
    texts = [name_text(features.shown(j)) for j in shown]
    more = len(columns) - len(shown)
    return ", ".join(texts) + (f" and {more:,} more" if more else "")


def hidden_states(node: Node) -> str:
    """How columns of a leaf depend on each other, if by hidden variables."""
    if not isinstance(node, ChowLiuTree) or not node.n_hidden:
        return ""
    return f"dependent through hidden variables of {node.tables[0].shape[1]} states"


def _many(n: int, word: str, words: str | None = None) -> str:
    return f"{n:,} {word if n == 1 else words or word + 's'}"


def _wrapped(text: str, listed: Sequence[str], indent: str, hanging: int) -> list[str]:
    """Lines broken between the listed items, where possible."""
    width = max(WIDTH - len(indent) - hanging, 40)
    pieces = [*text.split(), *(f"{one};" for one in listed[:-1]), *listed[-1:]]
    first, *others = wrapped(pieces, width, len)
    return [indent + first, *(indent + " " * hanging + line for line in others)]
