"""What the page says, as plain data."""

from __future__ import annotations

import math
import re
from importlib import import_module
from typing import Any, NamedTuple

from clearwood._features import printable
from clearwood.ensembles import TreeEnsemble, read_ensemble
from clearwood.ensembles.read import as_predictor
from clearwood.exceptions import InputError, ModelError
from clearwood.reporting.failures import summarize_failures
from clearwood.reporting.history import summarize_history
from clearwood.reporting.path import summarize_path
from clearwood.reporting.table import Table, table_of
from clearwood.rules import RuleAverage, RuleList, RuleSet, RuleSum
from clearwood.rules.displays.html_table import summarize_rules
from clearwood.rules.drawn.nodes import draw_tree, tree_of
from clearwood.rules.drawn.page import summarize_tree
from clearwood.rules.importances.page import summarize_importances
from clearwood.rules.importances.permuted import measure_importances
from clearwood.rules.rule_set import rules_of
from clearwood.rules.scores import prediction_error

LONGEST = 300
"""Letters of a setting, at most."""

FEWEST_SHUFFLED, MOST_SHUFFLED = 20, 1000
"""Rows on which a page measures what matters."""


IN_WORDS: dict[type[RuleSet], tuple[str, str]] = {
    RuleList: (
        "“otherwise”",
        "{} that the rule decides; below it and in grey, all that satisfy "
        "it where earlier rules take some of them",
    ),
    RuleSum: ("the constant", "{} that satisfy the rule"),
    RuleAverage: ("the last line", "{} that satisfy the rule"),
}
"""What the line without conditions is called, and what the number of rows means."""

TRAINING, HANDED_IN = "training rows", "rows handed in for this report"
"""What the statistics of rules are of."""


class Family(NamedTuple):
    """What results of a family have on their page.

    Beside rules, which are of one of many models and speak for the result as a whole;
    or alone, where a family has no rules.

    Attributes
    ----------
    name, title : str
        Of the section: for links and its template, and for readers.
    home : str
        Module with ``section(result, X, y)``, which gives what the template shows, and
        ``teacher_of(result, X)``: what the rules speak for, where it can say it of
        these rows.
    template : str
        Shows what is under ``name`` in the summary.
    on_rows : bool
        Whether the statistics of the rules are of the rows handed in, if there are any.
    has_rules : bool
        Whether there are rules; else the section is the page.
    lead : str
        What the page is about, where a family has no rules.
    parts : tuple of (str, str)
        There, the parts of the section for links: their identifiers and names.
    """

    name: str
    title: str
    home: str
    template: str
    on_rows: bool = False
    has_rules: bool = True
    lead: str = ""
    parts: tuple[tuple[str, str], ...] = ()


META_TREES = Family(
    "trees", "All prunings", "clearwood.metatree.reading.section",
    "metatree/reading/section.html",
)  # fmt: skip
PROJECTED_RULES = Family(
    "projection", "How sure it is", "clearwood.projection.reading.section",
    "projection/reading/section.html", on_rows=True,
)  # fmt: skip
PROJECTED_LINES = Family(
    "coefficients", "A linear model", "clearwood.projection.reading.coefficients",
    "projection/reading/coefficients.html", has_rules=False,
)  # fmt: skip
LOCAL = Family(
    "around", "One row", "clearwood.projection.reading.around",
    "projection/reading/around.html", has_rules=False,
)  # fmt: skip
FEATURE_GRAPHS = Family(
    "graph", "Feature graph", "clearwood.sbfc.reading.section",
    "sbfc/reading/section.html",
    has_rules=False,
    lead="Which features tell the class, and which of them depend on each other.",
    parts=(("graph", "Feature graph"), ("ranking", "Features"),
           ("scores", "How good predictions are"), ("sampling", "How it was found")),
)  # fmt: skip
RECURRENT_STATES = Family(
    "states", "States of a network", "clearwood.sequences.reading.section",
    "sequences/reading/section.html",
    has_rules=False,
    lead="A recurrent network as an automaton of few states, and what that explains.",
    parts=(("states", "The text"), ("fidelity", "How much it explains"),
           ("automaton", "The states"), ("failures", "Where it fails")),
)  # fmt: skip
MARKOV_STATES = Family(
    "hmm", "Hidden states", "clearwood.sequences.reading.markov_section",
    "sequences/reading/markov_section.html",
    has_rules=False,
    lead="Between which states sequences move, what each emits, and where it leads.",
    parts=(("time", "States over time"), ("states", "What they are"),
           ("moves", "Where they lead"), ("score", "How good it is")),
)  # fmt: skip
CIRCUITS = Family(
    "circuit", "Kinds of rows", "clearwood.circuits.reading.section",
    "circuits/reading/section.html",
    has_rules=False,
    lead="Which kinds of rows there are, which columns go together, and which rows "
    "are surprising.",
    parts=(("kinds", "Kinds of rows"), ("together", "Columns that go together"),
           ("density", "How good it is"), ("surprising", "Surprising rows")),
)  # fmt: skip
FAMILIES = {
    "HiddenMarkovModel": MARKOV_STATES,
    "HybridSPN": CIRCUITS,
    "LearnSPN": CIRCUITS,
    "LocalExplanation": LOCAL,
    "MetaTreeClassifier": META_TREES,
    "MetaTreeRegressor": META_TREES,
    "MiniSPN": CIRCUITS,
    "ParetoSPN": CIRCUITS,
    "ProjectedRuleListClassifier": PROJECTED_RULES,
    "ProjectedRuleListRegressor": PROJECTED_RULES,
    "ProjectedTreeClassifier": PROJECTED_RULES,
    "ProjectedTreeRegressor": PROJECTED_RULES,
    "ProjectedLinearRegression": PROJECTED_LINES,
    "ProjectedLogisticRegression": PROJECTED_LINES,
    "RecurrentExplanation": RECURRENT_STATES,
    "SPNClassifier": CIRCUITS,
    "SPNImputer": CIRCUITS,
    "SelectiveBayesianForestClassifier": FEATURE_GRAPHS,
}
"""By the name of a class; one that inherits from it has the same."""


def summarize(
    result: Any,
    *,
    X: Any = None,
    y: Any = None,
    teacher: Any = None,
    title: str | None = None,
) -> dict[str, Any]:
    """Everything that the report shows, as a dictionary of plain data.

    Parameters
    ----------
    result : fitted estimator with ``rules_``, RuleSet, or of a family without rules
        What to report.
    X, y, teacher, title
        As in :func:`report`.

    Returns
    -------
    dict
        Keys ``title``, ``version``, ``target``, ``facts``, ``warning``, ``rules``,
        ``scores``, ``failures``, ``path``, ``history``, ``settings``, and the name of
        every family's section; ``scores`` and ``failures`` are None where no rows (or
        no teacher) were given, the others where ``result`` holds none. Without rules:
        ``title``, ``version``, ``settings`` and the section.

    Examples
    --------
    >>> from clearwood import FeatureSpace
    >>> from clearwood.rules import Interval, Rule, RuleList
    >>> rules = RuleList(
    ...     (Rule((Interval(0, low=37.5),), 1.0),),
    ...     Rule((), 0.0),
    ...     FeatureSpace.numeric(1, ["temperature"]))
    >>> page = summarize(rules, X=[[36.9], [39.0]], y=[0.0, 2.0])
    >>> page["scores"]["lines"][0]["rules"]
    0.5
    """
    from clearwood import __version__

    if X is None and y is not None:
        raise InputError("y was given without X; give the rows that it belongs to.")
    family = family_of(result)
    if family is not None and not family.has_rules:
        return _summarize_alone(family, result, X, y, teacher, title)
    rules = rules_of(result, "result")
    if teacher is None and family is not None:
        teacher = import_module(family.home).teacher_of(result, X)
    elif teacher is None:
        teacher = getattr(result, "ensemble_", None)
    teacher = as_predictor(teacher)
    ensemble = _ensemble_of(teacher)
    table = None if X is None else table_of(rules, X, y, teacher)
    failures = None
    if table is not None and table.taught is not None:
        failures = summarize_failures(rules, table, table.taught)
    shown, counted = rules, TRAINING
    if table is not None and family is not None and family.on_rows:
        shown = rules.described_on(table.X, table.y, teacher=table.taught)
        counted = HANDED_IN
    return {
        # As text, even where it claims to be HTML.
        "title": printable(str(title or f"Rules for {rules.target}")),
        "version": __version__,
        "target": printable(rules.target),
        "facts": _facts(rules, teacher, ensemble),
        "warning": rules.about.get("warning"),
        "rules": summarize_rules(shown),
        "last_line": IN_WORDS[type(rules)][0],
        "counted": counted,
        "rows_note": IN_WORDS[type(rules)][1].format(counted),
        "family": family,
        **_family_section(family, result, X, y),
        "scores": None if table is None else _scores(rules, table, ensemble),
        "failures": failures,
        # A family tells of its sizes itself.
        "path": None if family is not None else summarize_path(result, table),
        "history": summarize_history(getattr(result, "history_", ())),
        "started": getattr(result, "n_start_components_", 0),
        "tree": _tree(result, table),
        "importances": None
        if family is not None
        else _importances(rules, table, teacher),
        "settings": _settings(result),
    }


def family_of(result: Any) -> Family | None:
    """The family whose section the page of a result has."""
    names = (kind.__name__ for kind in type(result).__mro__)
    return next((FAMILIES[name] for name in names if name in FAMILIES), None)


def _summarize_alone(
    family: Family, result: Any, X: Any, y: Any, teacher: Any, title: str | None
) -> dict[str, Any]:
    """What a page shows of a result without rules."""
    from clearwood import __version__

    if teacher is not None:
        raise InputError(
            f"A {type(result).__name__} speaks for itself alone; leave teacher out."
        )
    shown = import_module(family.home).section(result, X, y)
    return {
        "title": printable(str(title or shown.get("title", family.title))),
        "version": __version__,
        "family": family,
        family.name: shown,
        "settings": _settings(result),
    }


def _no_params(deep: bool) -> dict[str, Any]:
    return {}


def _family_section(
    family: Family | None, result: Any, X: Any, y: Any
) -> dict[str, Any]:
    """What the templates of all families read: None but for the one of this result."""
    with_rules = [known for known in FAMILIES.values() if known.has_rules]
    sections: dict[str, Any] = dict.fromkeys(known.name for known in with_rules)
    if family is not None:
        sections[family.name] = import_module(family.home).section(result, X, y)
    return sections


def _ensemble_of(teacher: Any) -> TreeEnsemble | None:
    try:
        return None if teacher is None else read_ensemble(teacher)
    except ModelError:
        # Any model, and plain predictions, may teach; only an ensemble has trees.
        return None


def _facts(
    rules: RuleSet, teacher: Any, ensemble: TreeEnsemble | None
) -> list[tuple[str, str]]:
    if ensemble is not None:
        facts = [
            ("Model", ensemble.source),
            ("Its size", f"{ensemble.n_trees:,} trees, {ensemble.n_leaves:,} leaves"),
        ]
    elif hasattr(teacher, "predict"):
        # A reference says more of itself than what it is made by.
        name = getattr(teacher, "description", type(teacher).__name__)
        facts = [("Model", printable(str(name)))]
    else:
        facts = []
    names = rules.features.names
    used = {c.feature for rule in rules for c in rule.conditions}
    facts.append(("Features", f"{len(names)}, of which the rules ask {len(used)}"))
    if rules.classes:
        labels = ", ".join(printable(str(label)) for label in rules.classes)
        task = f"classification into {len(rules.classes)} classes: {labels}"
    else:
        task = "regression"
    facts.append(("Task", task))
    if not math.isnan(rules.n_rows):
        weight = f", weight {rules.total_weight:,.6g}"
        weighing = weight if rules.total_weight != rules.n_rows else ""
        facts.append(("Rules learnt from", f"{rules.n_rows:,.0f} rows{weighing}"))
    return facts


def _tree(result: Any, table: Table | None) -> dict[str, Any] | None:
    """The picture of a tree or list; None of rules that are neither."""
    if tree_of(result) is None:
        return None
    if table is None:
        return summarize_tree(draw_tree(result))
    known = table.taught if table.y is None else table.y
    return summarize_tree(draw_tree(result, table.X, known))


def _importances(
    rules: RuleSet, table: Table | None, teacher: Any
) -> dict[str, Any] | None:
    """What matters to both; None where the model cannot be asked of shuffled rows."""
    if table is None or table.taught is None or not hasattr(teacher, "predict"):
        return None
    if len(table.taught) < FEWEST_SHUFFLED:
        return None
    found = measure_importances(
        rules, table.X, teacher=teacher, n_repeats=3, max_rows=MOST_SHUFFLED
    )
    return summarize_importances(found)


def _scores(
    rules: RuleSet, table: Table, ensemble: TreeEnsemble | None
) -> dict[str, Any]:
    """The rules beside the model; ``unit`` says how a template shows the numbers."""
    scores = rules.evaluate(table.X, table.y, teacher=table.taught)
    lines = []
    if table.y is not None:
        lines += _error_lines(rules.task, scores.error, model_error(rules, table))
    if table.taught is not None:
        lines.append(_nearness(rules.task, scores.fidelity, len(table.taught)))
    lines += [
        _line("Rows that satisfy a rule", "percent", scores.coverage),
        _line("Rules that a row satisfies, on average", "number", scores.overlap),
        _line("Rules, or trees", "count", scores.n_rules, _size(ensemble, "n_trees")),
        _line(
            "Questions asked in all of them",
            "count",
            scores.n_literals,
            _size(ensemble, "n_splits"),
        ),
    ]
    return {"n_rows": len(rules.predict(table.X)), "lines": lines}


def _nearness(task: str, fidelity: float, n_rows: int) -> dict:
    if task == "classification":
        return _line("Same class as the model", "percent", fidelity)
    # A single row has no variance to follow.
    r2 = None if n_rows < 2 else fidelity
    return _line("Fidelity to the model (R²)", "number", r2)


def model_error(rules: RuleSet, table: Table) -> float | None:
    """The teacher's own error on the rows handed in."""
    if table.y is None or table.taught is None:
        return None
    return prediction_error(table.y, table.taught, rules.task)


def _error_lines(task: str, error: float, of_model: float | None) -> list[dict]:
    if task == "classification":
        return [_line("Wrong class (error)", "percent", error, of_model)]
    root = None if of_model is None else math.sqrt(of_model)
    return [
        _line("Mean squared error", "number", error, of_model),
        _line("Its square root, in units of the target", "number", error**0.5, root),
    ]


def _line(
    name: str, unit: str, of_rules: float | None, of_model: float | None = None
) -> dict:
    return {"name": name, "unit": unit, "rules": of_rules, "model": of_model}


def _size(ensemble: TreeEnsemble | None, name: str) -> int | None:
    return None if ensemble is None else getattr(ensemble, name)


def _settings(result: Any) -> list[tuple[str, str]]:
    if isinstance(result, RuleSet):
        about = {k: str(v) for k, v in result.about.items() if k != "warning"}
        return list(about.items())
    settings = getattr(result, "get_params", _no_params)(deep=False)
    return [(name, setting_text(settings[name])) for name in sorted(settings)]


def setting_text(value: Any) -> str:
    """A setting in words that are the same in every run.

    Examples
    --------
    >>> setting_text(10), setting_text("fab")
    ('10', "'fab'")
    """
    # An object's address differs from run to run and tells a reader nothing.
    text = re.sub(r" at 0x[0-9A-Fa-f]+", "", repr(value))
    # A setting may be a whole tree in arrays.
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
