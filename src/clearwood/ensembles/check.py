"""Description and validation of a model, with notes on anything unusual."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from clearwood._words.labels import printable
from clearwood._words.numbers import short_text
from clearwood.ensembles.flat_trees import FlatTrees
from clearwood.ensembles.read import read_ensemble
from clearwood.ensembles.tree_ensemble import TreeEnsemble
from clearwood.exceptions import ModelFormatError, UnsupportedModelError
from clearwood.results import Result

if TYPE_CHECKING:
    import pandas as pd

OUTLYING = 10_000.0
"""Multiple of the typical leaf value above which a leaf value is unusual."""
HUGE = 1e30
"""Threshold beyond which no measured data are split."""
MOST_NAMED = 5
MOST_CELLS = 2**26
"""Bounds of regions that are copied, at most: half a second."""
CELLS_OF_NODE = 2**12
"""Bounds that are copied while a node is looked up."""


@dataclass(frozen=True, repr=False)
class ModelCheck(Result):
    """Result of :func:`~clearwood.check`; prints as a page of text.

    Parameters
    ----------
    name : str
        The file, or the class of the model.
    problem : str or None
        What is wrong with it; None if it is sound.
    facts : dict of str to (str, int or float)
        Library, objective, trees, leaves ... in the order in which they are printed.
    features : tuple of dict
        Per feature its ``name``, the number of its ``categories`` (None if it is
        numeric) and the number of ``splits`` on it.
    classes : tuple
        Class labels; empty for regression.
    notes : tuple of str
        Anything unusual, one sentence each.
    ensemble : TreeEnsemble or None
        The model itself, if it is sound.
    supported : bool
        False if the file may be sound but is of a kind that is not read; ``problem``
        then contains the remedy.
    """

    name: str
    problem: str | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    features: tuple[dict[str, Any], ...] = ()
    classes: tuple[Any, ...] = ()
    notes: tuple[str, ...] = ()
    ensemble: TreeEnsemble | None = field(default=None, compare=False)
    supported: bool = True

    @property
    def sound(self) -> bool:
        """Whether the model can be read, and predicts as its trees do."""
        return self.problem is None

    def to_frame(self) -> pd.DataFrame:
        """Categories and splits, one feature per row."""
        import pandas as pd

        return pd.DataFrame(self.features)

    def as_dict(self) -> dict[str, Any]:
        """All fields but the ensemble, as values for JSON."""
        return {
            "name": self.name,
            "sound": self.sound,
            "supported": self.supported,
            "problem": self.problem,
            "facts": self.facts,
            "classes": list(self.classes),
            "features": list(self.features),
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        """Facts, one per line, and anything unusual."""
        name = printable(self.name)
        if self.problem is not None:
            verdict = "NOT SOUND" if self.supported else "not supported"
            return f"{name}: {verdict}\n{_wrapped(self.problem, '  ')}"
        width = max(map(len, self.facts))
        lines = [f"{name}: sound"]
        lines += [f"  {key:{width}}  {_words(v)}" for key, v in self.facts.items()]
        lines += ["unusual:"] if self.notes else ["nothing unusual"]
        return "\n".join(lines + [_wrapped(note, "  - ") for note in self.notes])


def check(model: Any, *, max_memory: int | None = None) -> ModelCheck:
    """Describe a model or a model file, and check whether it is sound.

    Parameters
    ----------
    model : path, fitted estimator or TreeEnsemble
        See :func:`read_ensemble`. Damaged files are safe to check.
    max_memory : int, optional
        As for :func:`read_ensemble`.

    Returns
    -------
    ModelCheck

    Raises
    ------
    InputError
        The file cannot be opened.
    ModelError
        A model in memory is of a kind that cannot be read.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import GradientBoostingClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = GradientBoostingClassifier(n_estimators=5, max_depth=1).fit(X, y)
    >>> print(check(model))
    sklearn.ensemble.GradientBoostingClassifier: sound
      library    scikit-learn
      objective  log_loss
      predicts   classes 0, 1, 2 (link softmax)
      trees      15, depth at most 1
      leaves     30, from -0.1 to 0.2
      splits     15
      regions    12
      features   4, 2 of them in splits
      missing    refused
    unusual:
      - 2 of 4 features are in no split: sepal length (cm), sepal width (cm).

    A file that is not what it should be:

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "model.json")
    ...     _ = path.write_text('{"learner": {}}')
    ...     found = check(path)
    >>> found.sound
    False
    """
    name = str(model) if isinstance(model, str | Path) else ""
    try:
        ensemble = read_ensemble(model, max_memory=max_memory)
    except ModelFormatError as error:
        return ModelCheck(
            name or type(model).__qualname__,
            problem=str(error),
            supported=not isinstance(error, UnsupportedModelError),
        )
    n_splits = np.bincount(
        ensemble.feature[ensemble.feature >= 0], minlength=ensemble.n_features
    )
    return ModelCheck(
        name or ensemble.source,
        facts=_facts(ensemble, n_splits),
        features=tuple(_features(ensemble, n_splits)),
        classes=() if ensemble.classes is None else tuple(ensemble.classes.tolist()),
        notes=(*ensemble.notes, *_unusual(ensemble, n_splits)),
        ensemble=ensemble,
    )


def _facts(e: TreeEnsemble, n_splits: np.ndarray) -> dict[str, Any]:
    leaf = e.value[e.feature < 0]
    low, high = leaf.min(initial=np.inf), leaf.max(initial=-np.inf)
    n_categorical = sum(labels is not None for labels in e.features.categories)
    categorical = f", {n_categorical} categorical" if n_categorical else ""
    return {
        **e.details,
        "predicts": _predicts(e),
        "trees": f"{e.n_trees:,}, depth at most {e.max_depth:,}",
        "leaves": f"{e.n_leaves:,}, from {short_text(low)} to {short_text(high)}",
        "splits": e.n_splits,
        "regions": _regions(e),
        "features": f"{e.n_features:,}, {np.count_nonzero(n_splits):,} of them in "
        f"splits{categorical}",
        "missing": _missing(e),
    }


def _regions(e: TreeEnsemble) -> int | str:
    """Their number, or two bounds where counting all would take long."""
    found = count_regions(e)
    if found.n_trees == e.n_trees:
        return found.n
    trees = f"{found.n_trees:,} tree{'s' * (found.n_trees > 1)}"
    return f"at least {found.n:,} (of {trees}), at most 10^{found.log10_bound:.1f}"


def _predicts(e: TreeEnsemble) -> str:
    if e.classes is None:
        return f"{e.statistic or 'values'} (link {e.link})"
    return f"classes {_listed(e.classes.tolist(), 10)} (link {e.link})"


def _missing(e: TreeEnsemble) -> str:
    refused = np.flatnonzero(~np.broadcast_to(e.allows_missing, e.n_features))
    names = [e.features.names[d] for d in refused]
    if len(refused) == e.n_features:
        answer = "refused"
    elif names:
        answer = f"accepted, but not in {_listed(names)}"
    else:
        answer = "accepted"
    numbers = sorted({at for at in e.features.missing_at if at is not None})
    if numbers:
        answer += f"; {_listed([f'{at:g}' for at in numbers])} counts as missing"
    return answer


def _features(e: TreeEnsemble, n_splits: np.ndarray) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "categories": None if labels is None else len(labels),
            "splits": int(n),
        }
        for name, labels, n in zip(e.features.names, e.features.categories, n_splits)
    ]


def _unusual(e: TreeEnsemble, n_splits: np.ndarray) -> list[str]:
    notes = []
    if e.statistic:
        notes.append(
            f"It predicts {e.statistic} of the target, not the mean "
            f"({e.details['objective']})."
        )
    if not e.n_splits:
        notes.append("No tree has a split: the prediction is constant.")
    unused = [e.features.names[d] for d in np.flatnonzero(n_splits == 0)]
    if unused and e.n_splits:
        notes.append(
            f"{len(unused):,} of {e.n_features:,} features are in no split: "
            f"{_listed(unused)}."
        )
    if not e.features.named:
        notes.append("It names no features: columns go by position.")
    n_stumps = int(np.count_nonzero(e.feature[e.roots] < 0))
    if n_stumps and e.n_splits:
        notes.append(f"{n_stumps:,} of {e.n_trees:,} trees are a single leaf.")
    numeric = (e.feature >= 0) & (e.category_set < 0)
    huge = np.flatnonzero(numeric & (np.abs(e.cut) > HUGE))
    if huge.size:
        notes.append(
            f"{huge.size:,} cuts lie beyond {HUGE:g}, as at {_at(e, huge[0])}."
        )
    return notes + _outlying_leaves(e)


def _outlying_leaves(e: TreeEnsemble) -> list[str]:
    """Note on leaf values that outweigh all others, by a fault or by intent."""
    size = np.abs(e.value).max(axis=1, initial=0.0)
    typical = np.median(size[size > 0]) if size.any() else 0.0
    with np.errstate(over="ignore"):
        far = np.flatnonzero(size > OUTLYING * typical)
    if not far.size:
        return []
    worst = far[size[far].argmax()]
    return [
        f"{far.size:,} leaf values are more than {OUTLYING:,.0f} times the typical "
        f"{short_text(typical)}; the largest, {short_text(size[worst])}, is at "
        f"{_at(e, worst)}."
    ]


def _at(e: TreeEnsemble, node: int) -> str:
    tree = int(np.searchsorted(e.roots, node, side="right")) - 1
    return f"node {node - e.roots[tree]} of tree {tree}"


def _listed(names: list[Any], most: int = MOST_NAMED) -> str:
    listed = ", ".join(printable(str(name)) for name in names[:most])
    return listed + (f" and {len(names) - most:,} more" if len(names) > most else "")


def _wrapped(text: str, start: str) -> str:
    """Wrap text at 88 characters without breaking words, so that paths stay whole."""
    return textwrap.fill(
        text,
        88,
        initial_indent=start,
        subsequent_indent=" " * len(start),
        break_long_words=False,
        break_on_hyphens=False,
    )


def _words(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else printable(str(value))


class Regions(NamedTuple):
    """Number of regions, G in Hara and Hayashi (2016).

    Attributes
    ----------
    n : int
        Regions of the first ``n_trees`` trees, hence a lower bound for all.
    n_trees : int
    log10_bound : float
        Logarithm of an upper bound: of all combinations of bins, or of leaves.
    """

    n: int
    n_trees: int
    log10_bound: float


def count_regions(trees: FlatTrees) -> Regions:
    """Count the regions in which no tree changes its leaf.

    They are the intersections of a leaf of every tree that contain some value of each
    feature. Missing values and unknown categories are not regions of their own.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from clearwood.ensembles import read_ensemble
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(3, max_depth=2, random_state=0).fit(X, y)
    >>> count_regions(read_ensemble(forest))[:2]
    (18, 3)
    """
    space = _Space(trees)
    regions, left = space.whole, MOST_CELLS
    for n_trees, root in enumerate(trees.roots.tolist()):
        waiting, found = [(root, regions)], []
        while waiting and left >= 0:
            node, own = waiting.pop()
            left -= own.size + CELLS_OF_NODE
            if trees.feature[node] < 0:
                found.append(own)
                continue
            children = int(trees.left[node]), int(trees.right[node])
            halves = zip(children, space.halves(node, own))
            waiting += [(child, half) for child, half in halves if len(half)]
        if left < 0:
            return Regions(len(regions), n_trees, _upper_bound(trees, space))
        regions = np.concatenate(found)
    return Regions(len(regions), trees.n_trees, _upper_bound(trees, space))


def _upper_bound(trees: FlatTrees, space: _Space) -> float:
    """Logarithm of the number of combinations of bins, or of leaves."""
    tree = np.searchsorted(trees.roots, np.flatnonzero(trees.feature < 0), "right")
    by_leaf = np.log10(np.bincount(tree)[1:]).sum()
    return float(min(by_leaf, np.log10(list(space.n_bins.values())).sum()))


class _Space:
    """Regions as rows: first and last bin of a number, a flag for each category.

    Attributes
    ----------
    whole : ndarray of int32 of shape (1, n_columns)
        The region of all values.
    n_bins : dict of int to int
        Intervals or categories of each feature that is split.
    """

    def __init__(self, trees: FlatTrees) -> None:
        self.trees = trees
        self.n_bins: dict[int, int] = {}
        self._cuts: dict[int, np.ndarray] = {}
        self._column: dict[int, slice] = {}
        whole: list[int] = []
        for d in trees.used_features.tolist():
            labels = trees.features.categories[d]
            if labels is None:
                cuts = np.unique(trees.cut[trees.feature == d])
                # No number is beyond an infinite cut.
                cuts = self._cuts[d] = cuts[cuts < np.inf]
                bounds, n = [0, len(cuts)], len(cuts) + 1
            else:
                n = max(len(labels), 1)
                bounds = [1] * n
            self._column[d] = slice(len(whole), len(whole) + len(bounds))
            self.n_bins[d] = n
            whole += bounds
        self.whole = np.array([whole], dtype=np.int32)

    def halves(self, node: int, regions: np.ndarray) -> Iterator[np.ndarray]:
        """The parts of regions on both sides of a split."""
        d = int(self.trees.feature[node])
        column, cuts = self._column[d], self._cuts.get(d)
        own = regions[:, column]
        for is_left in (True, False):
            if cuts is None:
                goes_left = np.zeros(own.shape[1], dtype=bool)
                codes = self.trees.goes_left(node)[: len(goes_left)]
                goes_left[: len(codes)] = codes
                inside = own * (goes_left == is_left)
                some = inside.any(axis=1)
            else:
                at, inside = np.searchsorted(cuts, self.trees.cut[node]), own.copy()
                if is_left:
                    inside[:, 1] = np.minimum(own[:, 1], at)
                else:
                    inside[:, 0] = np.maximum(own[:, 0], at + 1)
                some = inside[:, 0] <= inside[:, 1]
            half = regions[some]
            half[:, column] = inside[some]
            yield half
