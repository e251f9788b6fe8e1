"""Saving and loading of results, without pickle."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from clearwood._memory import memory_allowed
from clearwood._words.labels import type_text
from clearwood._words.spelling import suggests_parameters
from clearwood.codec.documents import Place, parse_json
from clearwood.codec.fields import Saved
from clearwood.codec.files import open_plain, read_bytes
from clearwood.ensembles import ModelCheck
from clearwood.ensembles import check as check_model
from clearwood.exceptions import InputError, ModelFormatError
from clearwood.families import families, saving_module
from clearwood.rules import MultiOutputRules, RuleSet
from clearwood.rules.training import HASHES

HEAD = {"kind", "format", "version", "clearwood", "date"}
"""Fields of every archive."""

OURS = b"PK\x03\x04", b'"clearwood.rule_set"', b"model.json"
"""Signatures of a zip file, of saved rules, and of our archives."""

OF_SEVERAL = b'"clearwood.multi_output_rules"'
"""Signature of saved rules for several targets."""


def codec_of(kind: str) -> Saved | None:
    """Declaration of the saved fields of a class; None if it cannot be saved."""
    module = saving_module(kind)
    try:
        return None if module is None else import_module(module).SAVED[kind]
    except KeyError:
        return None


@suggests_parameters
def save(result: Any, path: str | Path, *, overwrite: bool = False) -> None:
    """Write a result to a file.

    Parameters
    ----------
    result : RuleSet, MultiOutputRules, Circuit or fitted estimator
        Rules are written as JSON; estimators as a zip of JSON and arrays: simplifiers
        (with rules and trees of all sizes, without the ensemble), meta-trees,
        projections, selective Bayesian forests, sum-product networks, hidden Markov
        models and their hybrids, and binnings.
    path : str or Path
        File to write.
    overwrite : bool, default=False
        Whether an existing file may be replaced.

    Examples
    --------
    >>> import clearwood as cw, tempfile, pathlib
    >>> from clearwood.rules import FeatureSpace
    >>> rules = cw.RuleList((), cw.Rule((), 3.5), FeatureSpace.numeric(2))
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "rules.json"
    >>> cw.save(rules, path)
    >>> print(cw.load(path))
    1. otherwise 3.5
    """
    if isinstance(result, RuleSet | MultiOutputRules):
        result.save(path, overwrite=overwrite)
    elif saved := codec_of(kind := type(result).__name__):
        from clearwood.codec.archive import write_archive

        document, arrays = saved.write(result)
        if taken := sorted(HEAD & document.keys()):
            raise InputError(
                f"{taken[0]!r} is a reserved field name; rename it in SAVED."
            )
        write_archive(path, {"kind": kind, **document}, arrays, overwrite=overwrite)
    else:
        raise InputError(
            f"Cannot save {type_text(result)}; save rules, a circuit or a fitted "
            "estimator. Of other results, report() writes a page, and to_frame() "
            "returns the numbers."
        )


@suggests_parameters
def load(path: str | Path, *, max_memory: int | None = None) -> Any:
    """Read a file written by :func:`save`.

    Parameters
    ----------
    path : str or Path
        File to read.
    max_memory : int, optional
        Maximum memory of its content in bytes; by default 64 MiB plus ten times the
        file size. Increase it only for trusted files.

    Raises
    ------
    InputError
        The path is not a regular file.
    ModelFormatError
        The file was not written by :func:`save`; the message names the field.
    """
    with memory_allowed(max_memory):
        return _load(path)


def _load(path: str | Path) -> Any:
    with open_plain(path) as file:
        start = file.read(200)
    if not start.startswith(OURS[0]):
        return (MultiOutputRules if OF_SEVERAL in start else RuleSet).load(path)
    from clearwood.codec.archive import read_archive

    try:
        top, arrays = read_archive(path)
        kind = top["kind"].text()
        saved = codec_of(kind)
        if saved is None:
            kinds = [name for family in families() for name in family.saved]
            raise ModelFormatError(f"kind: expected one of {sorted(kinds)}.")
        return saved.read(top, arrays)
    except ModelFormatError as error:
        raise ModelFormatError(f"{path}: {error}") from None


@suggests_parameters
def check(model: Any, *, max_memory: int | None = None) -> ModelCheck:
    """Describe and validate a model or a file.

    Parameters
    ----------
    model : path, fitted estimator or TreeEnsemble
        As for :func:`read_ensemble`, or the path of a file written by :func:`save`.
        Code in a file is never run.
    max_memory : int, optional
        As for :func:`read_ensemble`.

    Returns
    -------
    ModelCheck
        For a file written by :func:`save`, with few facts and no ensemble.

    Examples
    --------
    >>> import clearwood as cw, tempfile, pathlib
    >>> rules = cw.RuleList((), cw.Rule((), 3.5), cw.FeatureSpace.numeric(2))
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "rules.json"
    >>> cw.save(rules, path)
    >>> print(str(check(path)).partition(": ")[2])  # doctest: +ELLIPSIS
    sound
      kind      RuleList
      written   ... by Clearwood ...
      predicts  values of y
      rules     1, literals: 0
      features  2
    nothing unusual
    """
    if not isinstance(model, str | Path):
        return check_model(model)
    try:
        if not is_saved(model):
            return check_model(model, max_memory=max_memory)
        found = load(model, max_memory=max_memory)
    except ModelFormatError as error:
        return ModelCheck(str(model), problem=str(error))
    facts: dict[str, Any] = {"kind": type(found).__name__, "written": _written(model)}
    if isinstance(found, MultiOutputRules):
        facts["predicts"] = f"values of {', '.join(found.targets)}"
        facts["rules"] = f"{found.n_rules:,}"
        return ModelCheck(str(model), facts=facts)
    rules = getattr(found, "rules_", found)
    if not isinstance(rules, RuleSet):
        return ModelCheck(str(model), facts=facts)
    facts["predicts"] = f"values of {rules.target}"
    if rules.classes:
        facts["predicts"] = f"classes {', '.join(map(str, rules.classes))}"
    elif rules.outcome.horizons:
        facts["predicts"] = rules.outcome.in_words()
    facts["rules"] = f"{rules.n_rules:,}, literals: {rules.n_literals:,}"
    facts["features"] = rules.features.n_features
    facts |= {key: rules.about[key] for key in HASHES if key in rules.about}
    notes = (rules.statistic,) if rules.statistic else ()
    return ModelCheck(str(model), facts=facts, classes=rules.classes, notes=notes)


def _written(path: str | Path) -> str:
    """Date and version of Clearwood in a file, which are not part of its object."""
    from clearwood.codec.archive import read_archive

    data = read_bytes(path)
    if data.startswith(OURS[0]):
        top = read_archive(path)[0]
    else:
        top = Place(parse_json(data, str(path)), str(path))
    date = f"{top['date'].name()}, " if "date" in top else ""
    return f"{date}by Clearwood {top['clearwood'].name()}"


def is_saved(path: str | Path) -> bool:
    """Whether a file has a signature of :func:`save`."""
    with open_plain(path) as file:
        start = file.read(200)
    archive, rules, document = OURS
    if start.startswith(archive):
        return document in start
    return rules in start or OF_SEVERAL in start
