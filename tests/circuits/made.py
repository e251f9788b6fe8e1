"""Circuits for tests: at random, and those of the golden facts."""

import json
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

from clearwood.circuits.circuit import Circuit
from clearwood.circuits.nodes import Product, Sum
from clearwood.circuits.queries.conditioning import known
from clearwood.circuits.queries.covariances import Coordinates, coordinate_moments
from clearwood.distributions import (
    Bernoulli,
    Categorical,
    ChowLiuTree,
    Gaussian,
    Histogram,
    MultivariateGaussian,
)
from clearwood.rules import FeatureSpace

GOLDEN = json.loads(
    (Path(__file__).parents[1] / "golden" / "spn.json").read_text(encoding="utf-8")
)


# Golden facts


def golden_circuit(plain, n_levels):
    """A circuit of the golden facts; levels per column, None where continuous."""
    return Circuit(golden_node(plain), space(n_levels))


def golden_inference(name):
    """The facts about one circuit, and the circuit."""
    facts = GOLDEN["inference"][name]
    levels = levels_of(facts["spn"])
    return facts, golden_circuit(facts["spn"], [levels[j] for j in sorted(levels)])


def golden_node(plain):
    """A node of a circuit as the golden facts write it."""
    kind = plain["type"]
    if kind in ("sum", "product"):
        children = tuple(golden_node(child) for child in plain["children"])
        if kind == "product":
            return Product(children)
        return Sum(np.array(plain["weights"]), children)
    if kind == "leaves":
        block = [Bernoulli(j, p) for j, p in zip(plain["vars"], plain["theta"])]
        return block[0] if len(block) == 1 else Product(tuple(block))
    if kind == "bernoulli":
        return Bernoulli(plain["var"], plain["p"])
    if kind == "categorical":
        return Categorical(plain["var"], np.array(plain["probs"]))
    if kind == "gaussian":
        return Gaussian(plain["var"], plain["mean"], plain["variance"])
    mean, covariance = np.array(plain["mean"]), np.array(plain["cov"])
    return MultivariateGaussian(tuple(plain["vars"]), mean, covariance)


def levels_of(plain):
    """Number of levels of every column of a golden circuit, None where continuous."""
    if plain["type"] in ("sum", "product"):
        return {j: v for c in plain["children"] for j, v in levels_of(c).items()}
    if plain["type"] == "mvgaussian":
        return dict.fromkeys(plain["vars"])
    probs = plain.get("probs", [0, 0] if plain["type"] == "bernoulli" else None)
    return {plain["var"]: probs and len(probs)}


def space(n_levels):
    """Columns of so many levels each; None where continuous."""
    names = tuple(f"x{j}" for j in range(len(n_levels)))
    return FeatureSpace(names, tuple(v and tuple(range(v)) for v in n_levels))


# At random


@st.composite
def circuits(draw, kinds=("discrete", "continuous"), most_columns=5, zeros=False):
    """A circuit of all kinds of nodes; ``zeros``: with probabilities of 0, at times."""
    n_columns = draw(st.integers(1, most_columns))
    of = draw(st.lists(st.sampled_from(kinds), min_size=n_columns, max_size=n_columns))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_levels = [int(rng.integers(2, 5)) if k == "discrete" else None for k in of]
    return random_circuit(rng, n_levels, draw(st.integers(0, 3)), zeros)


def random_circuit(rng, n_levels, depth=3, zeros=False):
    """A circuit over columns of so many levels each; None where continuous."""
    return Circuit(
        _node(rng, tuple(range(len(n_levels))), n_levels, depth, zeros),
        space(n_levels),
    )


def random_rows(rng, circuit, n_rows, missing=0.3):
    """Encoded rows, whatever their probability; entries missing at random."""
    columns = [
        rng.integers(len(labels), size=n_rows) if labels else rng.normal(0, 2, n_rows)
        for labels in circuit.features.categories
    ]
    values = np.column_stack(columns).astype(float)
    values[rng.random(values.shape) < missing] = np.nan
    return values


def moments(circuit, values):
    """Means and covariances of all entries of rows; levels are their numbers."""
    coordinates = Coordinates.from_levels([
        None if labels is None else np.arange(float(len(labels)))[:, None]
        for labels in circuit.features.categories
    ])  # fmt: skip
    mean, covariance = coordinate_moments(circuit, values, coordinates)
    values = known(circuit, values)
    return np.where(np.isnan(values), mean, values), covariance


def shares(rng, n, zeros=False):
    """Probabilities, some of them 0 where that is allowed."""
    p = rng.dirichlet(np.ones(n))
    if zeros and n > 1 and rng.random() < 0.3:
        p[rng.integers(n)] = 0.0
    return p / p.sum()


def _node(rng, variables, n_levels, depth, zeros):
    how = rng.choice(["sum", "product"]) if depth else "leaf"
    if how == "sum":
        n = int(rng.integers(2, 4))
        children = [_node(rng, variables, n_levels, depth - 1, zeros) for _ in range(n)]
        return Sum(shares(rng, n, zeros), tuple(children))
    groups = _groups(rng, variables)
    if how == "leaf":
        groups = _leaf_groups(groups, n_levels)
        leaves = [_leaf(rng, group, n_levels, zeros) for group in groups]
        return leaves[0] if len(leaves) == 1 else Product(tuple(leaves))
    if len(groups) == 1:
        return _node(rng, variables, n_levels, depth - 1, zeros)
    parts = [_node(rng, group, n_levels, depth - 1, zeros) for group in groups]
    return Product(tuple(parts))


def _groups(rng, variables):
    label = rng.integers(len(variables), size=len(variables))
    shuffled = rng.permutation(variables).tolist()
    return [
        tuple(j for j, own in zip(shuffled, label) if own == k)
        for k in np.unique(label)
    ]


def _leaf_groups(groups, n_levels):
    """Discrete and continuous columns apart."""
    parts = [
        tuple(j for j in group if (n_levels[j] is None) == continuous)
        for group in groups
        for continuous in (False, True)
    ]
    return [part for part in parts if part]


def _leaf(rng, group, n_levels, zeros):
    first = group[0]
    if n_levels[first] is None:
        if len(group) > 1:
            half = rng.normal(size=(len(group), len(group) + 1))
            return MultivariateGaussian(
                group, rng.normal(size=len(group)), half @ half.T
            )
        if rng.random() < 0.5:
            return Gaussian(first, float(rng.normal()), float(rng.gamma(2.0)) + 0.1)
        edges = np.sort(rng.normal(0, 3, size=int(rng.integers(2, 6))))
        return Histogram(first, edges, shares(rng, len(edges) - 1, zeros))
    if len(group) == 1:
        p = shares(rng, n_levels[first], zeros)
        return Bernoulli(first, float(p[1])) if len(p) == 2 else Categorical(first, p)
    parents = [-1, *(int(rng.integers(i)) for i in range(1, len(group)))]
    tables = [
        np.array([
            shares(rng, n_levels[j], zeros)
            for _ in range(n_levels[group[p]] if p >= 0 else 1)
        ])
        for j, p in zip(group, parents)
    ]  # fmt: skip
    return ChowLiuTree(group, tuple(parents), tuple(tables))
