"""What results of each family have on their page, beside rules or alone."""

from __future__ import annotations

from typing import Any, NamedTuple


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
    has_rules: bool = True
    lead: str = ""
    parts: tuple[tuple[str, str], ...] = ()


META_TREES = Family(
    "trees", "All prunings", "clearwood.metatree.reading.section",
    "metatree/reading/section.html",
)  # fmt: skip
PROJECTED_RULES = Family(
    "projection", "How sure it is", "clearwood.projection.reading.section",
    "projection/reading/section.html",
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


def family_of(result: Any) -> Family | None:
    """The family whose section the page of a result has."""
    names = (kind.__name__ for kind in type(result).__mro__)
    return next((FAMILIES[name] for name in names if name in FAMILIES), None)
