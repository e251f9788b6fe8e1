"""Features of an XGBoost model document: names and known categories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from clearwood.codec.documents import Place, refuse_repeated, shown
from clearwood.columns.feature_space import FeatureSpace, Lookup
from clearwood.ensembles.nodes import MOST_UNNAMED_FEATURES, fill_category_sets
from clearwood.ensembles.xgboost.trees import ParsedTree

# Categories of a feature in the order of their codes; None: not known.
Labels = tuple[str | int, ...] | None

LABELS_NOTE = (
    "The model stores the labels of its categories: pass labels, not codes. A label "
    "that was not in the training data goes left, as a category does that no split "
    "names; XGBoost refuses some such labels and takes others for the next one in "
    "order."
)


def feature_names(learner: Place, n_features: int) -> list[str] | None:
    """Column names, or None where the model was fitted on bare numbers.

    Parameters
    ----------
    learner : Place
    n_features : int

    Returns
    -------
    list of str, or None

    Examples
    --------
    >>> learner = Place({"feature_names": ["age", "sex"]}, "model.json: learner")
    >>> feature_names(learner, 2)
    ['age', 'sex']
    """
    names = learner.get("feature_names")
    if names is None or names.size() == 0:
        if n_features > MOST_UNNAMED_FEATURES:
            learner.fail(
                f"{n_features:,} features without names",
                f"at most {MOST_UNNAMED_FEATURES:,}",
            )
        return None
    if names.size() != n_features:
        names.fail(f"{names.size():,} names", f"{n_features:,}, one per feature")
    texts = [name.text() for name in names.entries()]
    refuse_repeated(texts, names, "the name")
    return texts


def read_features(
    learner: Place,
    cats: Place | None,
    trees: Sequence[ParsedTree],
    n_features: int,
    names: list[str] | None,
    missing: float | None = None,
) -> tuple[FeatureSpace, list[str]]:
    """Build the feature space, and fill in the category sets of the trees.

    Parameters
    ----------
    learner, cats : Place
        The learner, and the category labels that XGBoost keeps since version 3.1.
    trees : sequence of ParsedTree
        Their ``nodes.categories_left`` is filled in.
    n_features : int
    names : list of str or None
        As ``feature_names`` gives them.
    missing : float, optional
        Number that an estimator treats as missing, besides NaN.

    Returns
    -------
    features : FeatureSpace
    notes : list of str
        Notes for the user on the categories.
    """
    space = FeatureSpace.numeric(n_features, names)
    categorical = _categorical_features(learner, trees, n_features)
    labels = _labels(cats, categorical)
    codes = _codes_in_splits(trees)
    known: list[Labels] = [None] * n_features
    lookup: list[Lookup] = ["exact"] * n_features
    for d in np.flatnonzero(categorical).tolist():
        named = codes.get(d, np.zeros(0, np.int64))
        stored = labels[d]
        if stored is None:
            known[d], lookup[d] = tuple(named.tolist()), "integer"
            continue
        if named.size and named[-1] >= len(stored):
            found = f"a split of feature {d} by category {named[-1]}"
            learner.fail(found, f"one of its {len(stored)} categories")
        known[d], codes[d] = stored, np.arange(len(stored))
    fill_category_sets(trees, codes, _goes_left, learner.where)
    missing_at = None if missing is None or np.isnan(missing) else missing
    features = replace(
        space,
        categories=tuple(known),
        lookup=tuple(lookup),
        missing_at=(missing_at,) * n_features,
        float32=True,
    )
    return features, _notes(features)


def _categorical_features(
    learner: Place, trees: Sequence[ParsedTree], n_features: int
) -> np.ndarray:
    """Which features are categorical, by their types, else by the splits of trees."""
    by_order, by_category = np.zeros((2, n_features), bool)
    for nodes, goes_right in trees:
        is_set = np.zeros(nodes.feature.size, bool)
        is_set[list(goes_right)] = True
        by_category[nodes.feature[is_set]] = True
        by_order[nodes.feature[~is_set & (nodes.feature >= 0)]] = True
    categorical = by_category
    types = learner.get("feature_types")
    if types is not None and types.size():
        if types.size() != n_features:
            types.fail(f"{types.size():,} types", f"{n_features:,}, one per feature")
        categorical = np.array([kind.text() == "c" for kind in types.entries()])
    for d in np.flatnonzero(np.where(categorical, by_order, by_category))[:1]:
        kind = "categorical" if categorical[d] else "numeric"
        learner.fail(f"splits of the other kind on feature {d}", f"{kind} splits")
    return categorical


def _notes(features: FeatureSpace) -> list[str]:
    notes = []
    columns = list(zip(features.names, features.categories, features.lookup))
    by_code = [name for name, _, lookup in columns if lookup == "integer"]
    if by_code:
        more = f" and {len(by_code) - 5} more" if len(by_code) > 5 else ""
        notes.append(
            "The model knows the categories of "
            f"{', '.join(map(shown, by_code[:5]))}{more} only as codes: pass the "
            "integers it was fitted on."
        )
    if any(known is not None and how == "exact" for _, known, how in columns):
        notes.append(LABELS_NOTE)
    return notes


def _labels(cats: Place | None, categorical: np.ndarray) -> list[Labels]:
    """Stored labels per feature; None where there are no reliable ones."""
    if cats is None or cats["enc"].size() == 0:
        return [None] * categorical.size
    encodings = cats["enc"]
    if encodings.size() != categorical.size:
        expected = f"{categorical.size:,}, one per feature"
        encodings.fail(f"{encodings.size():,} entries", expected)
    labels = [
        _labels_of_feature(entry) if is_categorical else None
        for entry, is_categorical in zip(encodings.entries(), categorical)
    ]
    if any(labels):
        _check_order(cats, labels)
    return labels


def _check_order(cats: Place, labels: list[Labels]) -> None:
    """Refuse labels that XGBoost would confuse.

    It looks them up by bisection in ``sorted_idx``, which lists the codes of every
    feature in the order of their labels, one feature after the other.
    """
    sizes = [_n_labels(entry) for entry in cats["enc"].entries()]
    ends = np.cumsum([0, *sizes])
    order = cats["sorted_idx"].integers(length=int(ends[-1]))
    for d, known in enumerate(labels):
        if known is not None:
            found = order[ends[d] : ends[d + 1]].tolist()
            if found != sorted(range(len(known)), key=known.__getitem__):
                other = f"another order than that of the labels of feature {d}"
                cats["sorted_idx"].fail(other, "the order of its labels")


def _n_labels(entry: Place) -> int:
    if "offsets" in entry:
        return max(entry["offsets"].size() - 1, 0)
    return entry["values"].size()


def _labels_of_feature(entry: Place) -> Labels:
    if "offsets" not in entry:
        labels: Labels = tuple(entry["values"].integers().tolist())
    else:
        labels = _texts(entry)
    refuse_repeated(labels or (), entry, "the label")
    # Features whose categories were passed as numbers have an empty list.
    return labels or None


def _texts(entry: Place) -> Labels:
    """Text labels, joined in UTF-8 and separated by their offsets.

    Beyond ASCII they are unreliable: XGBoost 3.2 counts the offsets in characters
    when it stores the bytes of pandas' labels.
    """
    joined = entry["values"].integers(low=-128, high=255)
    offsets = entry["offsets"].integers(low=0, high=joined.size)
    if (np.diff(offsets) < 0).any() or (offsets[:1] != 0).any():
        entry["offsets"].fail("offsets out of order", "0, then rising numbers")
    if ((joined < 0) | (joined > 127)).any():
        return None
    text = joined.astype(np.uint8).tobytes().decode("ascii")
    ends = offsets.tolist()
    return tuple(text[start:end] for start, end in zip(ends, ends[1:]))


def _codes_in_splits(trees: Sequence[ParsedTree]) -> dict[int, np.ndarray]:
    """Per feature the category codes that occur in its splits, ascending."""
    found: dict[int, list[np.ndarray]] = {}
    for nodes, goes_right in trees:
        for node, codes in goes_right.items():
            found.setdefault(int(nodes.feature[node]), []).append(codes)
    return {d: np.unique(np.concatenate(parts)) for d, parts in found.items()}


def _goes_left(right: np.ndarray, codes: np.ndarray) -> np.ndarray:
    goes_left = np.ones(codes.size, bool)
    goes_left[np.searchsorted(codes, right)] = False
    return goes_left
