"""The families of methods: one record each, by which the rest of the library finds it.

The estimators at the top of ``clearwood``, ``save`` and ``load``, ``report`` and the
command line know a family by its :class:`Family` alone. A package of your own registers
one under the entry-point group ``clearwood.families``::

    [project.entry-points."clearwood.families"]
    toy = "toy.family:FAMILY"

Records name modules and are cheap: nothing of a family is imported before it is used.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

from clearwood._lazy import names_in
from clearwood._words.labels import type_text
from clearwood.exceptions import InputError

GROUP = "clearwood.families"


class PageSection(NamedTuple):
    """The section of a page on which a result of a family is described.

    Attributes
    ----------
    name, title : str
        Of the section: for links and its template, and for readers.
    module : str
        Module with ``section(result, X, y)``, which returns what the template shows,
        and, where results have rules, ``model_of(result, X)``: the model that the
        rules describe.
    template : str
        Reads the dictionary under ``name``, in which ``clearwood._html.disclosure``
        marks single rows and statistics of few rows: a file of clearwood's, or
        ``"package:folder/file.html"``.
    has_rules : bool
        Whether results have ``rules_``, so that the section follows those of rules;
        otherwise it is the whole page.
    lead : str
        First paragraph of a page of its own.
    parts : tuple of (str, str)
        Its parts: identifiers, which the template defines, and titles.
    """

    name: str
    title: str
    module: str
    template: str
    has_rules: bool = True
    lead: str = ""
    parts: tuple[tuple[str, str], ...] = ()

    def content(self, result: Any, X: Any, y: Any) -> dict[str, Any]:
        """What the template shows of a result."""
        return import_module(self.module).section(result, X, y)

    def model_of(self, result: Any, X: Any) -> Any:
        """The model that the rules of a result approximate."""
        return import_module(self.module).model_of(result, X)


class Family(NamedTuple):
    """A family of methods, by the names of its parts.

    Attributes
    ----------
    name : str
    public : mapping of str to str
        Names at the top of ``clearwood`` and the modules that define them. Those of
        other packages' families are not added there.
    saved : mapping of str to str
        Classes whose instances :func:`clearwood.save` writes, and the modules whose
        ``SAVED`` declares what files hold of them, by their names (see
        :class:`clearwood.codec.Saved`). A class that was renamed keeps its old name
        here and in ``SAVED``.
    sections : mapping of str to PageSection
        Per class of results, and its subclasses, its section of a page.
    commands : mapping of str to str
        Commands of ``clearwood`` on the command line: ``"module:function"`` of each, a
        command of click.

    Examples
    --------
    >>> Family("toy", saved={"Toy": "toy.saving"}, commands={"toy": "toy.cli:toy"}).name
    'toy'
    """

    name: str
    public: Mapping[str, str] = {}
    saved: Mapping[str, str] = {}
    sections: Mapping[str, PageSection] = {}
    commands: Mapping[str, str] = {}


def _names(module: str, names: str) -> dict[str, str]:
    return names_in({module: names})


_SIMPLIFIERS = _names(
    "simplifiers",
    "AdditiveRulesClassifier AdditiveRulesRegressor BornAgainTreeClassifier "
    "BornAgainTreeRegressor DistilledTreeClassifier DistilledTreeRegressor "
    "FABRulesClassifier FABRulesRegressor InTreesClassifier InTreesRegressor "
    "NodeHarvestClassifier NodeHarvestRegressor RuleListClassifier RuleListRegressor "
    "DistilledTreeSurvival RuleListSurvival",
)
_META_TREES = _names("metatree", "MetaTreeClassifier MetaTreeRegressor")
_META_FORESTS = _names("metatree", "MetaForestClassifier MetaForestRegressor")
_PROJECTED_RULES = _names(
    "projection",
    "ProjectedRuleListClassifier ProjectedRuleListRegressor ProjectedTreeClassifier "
    "ProjectedTreeRegressor ProjectedTreeSurvival",
)
_PROJECTED_LINES = _names(
    "projection", "ProjectedLinearRegression ProjectedLogisticRegression"
)
_CIRCUITS = _names(
    "circuits",
    "HybridSPN LatentTreeSPN LearnSPN MiniSPN ParetoSPN SPNClassifier SPNImputer",
)
_BINNINGS = _names("discretize", "BinaryBinner MDLPDiscretizer")


OWN = (
    Family(
        "simplifiers",
        public=_SIMPLIFIERS | _names("simplifiers", "simplify"),
        saved=dict.fromkeys(_SIMPLIFIERS, "clearwood.simplifiers.saving"),
        sections={
            "Alternatives": PageSection(
                "alternatives",
                "Alternative rule lists",
                "clearwood.simplifiers.alternatives",
                "simplifiers/alternatives.html",
                has_rules=False,
                lead="The best short rule lists on some rows, a bound on the fidelity "
                "of all, and the features that they need.",
                parts=(("best", "Best list"), ("sets", "Sets of features")),
            )
        },
        commands={
            "simplify": "clearwood.cli.verbs.simplify:simplify",
            "alternatives": "clearwood.cli.verbs.alternatives:alternatives",
        },
    ),
    Family(
        "metatree",
        public=_META_TREES | _META_FORESTS,
        saved=dict.fromkeys(
            [*_META_TREES, *_META_FORESTS], "clearwood.metatree.saving"
        ),
        sections=dict.fromkeys(
            _META_TREES,
            PageSection(
                "trees",
                "Posterior over prunings",
                "clearwood.metatree.reading.section",
                "metatree/reading/section.html",
            ),
        )
        | dict.fromkeys(
            _META_FORESTS,
            PageSection(
                "forest",
                "Forest of meta-trees",
                "clearwood.metatree.reading.forest_section",
                "metatree/reading/forest_section.html",
                has_rules=False,
                lead="A forest each tree of which is averaged over all its prunings, "
                "weighted by their posterior probability.",
                parts=(
                    ("trees", "Trees"),
                    ("features", "Features"),
                    ("scores", "Scores"),
                ),
            ),
        ),
        commands={"metatree": "clearwood.cli.verbs.metatree:metatree"},
    ),
    Family(
        "projection",
        public=_PROJECTED_RULES
        | _PROJECTED_LINES
        | _names(
            "projection",
            "compare_methods explain_local",
        ),
        saved=dict.fromkeys(
            [*_PROJECTED_RULES, *_PROJECTED_LINES], "clearwood.projection.saving"
        ),
        sections=dict.fromkeys(
            _PROJECTED_RULES,
            PageSection(
                "projection",
                "Reference and uncertainty",
                "clearwood.projection.reading.section",
                "projection/reading/section.html",
            ),
        )
        | dict.fromkeys(
            _PROJECTED_LINES,
            PageSection(
                "coefficients",
                "Coefficients",
                "clearwood.projection.reading.coefficients",
                "projection/reading/coefficients.html",
                has_rules=False,
            ),
        )
        | {
            "LocalExplanation": PageSection(
                "local",
                "Local explanation",
                "clearwood.projection.reading.local",
                "projection/reading/local.html",
                has_rules=False,
            )
        },
        commands={"project": "clearwood.cli.verbs.project:project"},
    ),
    Family(
        "sbfc",
        public=_names("sbfc", "SelectiveBayesianForestClassifier"),
        saved={"SelectiveBayesianForestClassifier": "clearwood.sbfc.saving"},
        sections={
            "SelectiveBayesianForestClassifier": PageSection(
                "graph",
                "Feature graph",
                "clearwood.sbfc.reading.section",
                "sbfc/reading/section.html",
                has_rules=False,
                lead="Features associated with the class, and their dependences.",
                parts=(
                    ("graph", "Feature graph"),
                    ("ranking", "Features"),
                    ("odds", "How each feature matters"),
                    ("scores", "Accuracy and calibration"),
                    ("sampling", "Sampling"),
                ),
            )
        },
        commands={"sbfc": "clearwood.cli.verbs.sbfc:sbfc"},
    ),
    Family(
        "circuits",
        public=_CIRCUITS,
        saved=dict.fromkeys(["Circuit", *_CIRCUITS], "clearwood.circuits.saving"),
        sections=dict.fromkeys(
            _CIRCUITS,
            PageSection(
                "circuit",
                "Clusters",
                "clearwood.circuits.reading.section",
                "circuits/reading/section.html",
                has_rules=False,
                lead="Clusters of rows, dependent columns, and anomalies.",
                parts=(
                    ("anomalies", "Anomalies"),
                    ("clusters", "Clusters"),
                    ("dependences", "Dependent columns"),
                    ("density", "Held-out likelihood"),
                ),
            ),
        ),
        commands={"density": "clearwood.cli.verbs.density:density"},
    ),
    Family(
        "sequences",
        public=_names(
            "sequences",
            "HMMLSTM HiddenMarkovModel explain_rnn state_trees",
        ),
        saved={
            "HiddenMarkovModel": "clearwood.sequences.saving",
            "HMMLSTM": "clearwood.sequences.networks.saving",
        },
        sections={
            "RecurrentExplanation": PageSection(
                "states",
                "States of a network",
                "clearwood.sequences.reading.section",
                "sequences/reading/section.html",
                has_rules=False,
                lead="Approximation of a recurrent network by an automaton of few "
                "states, and its fidelity.",
                parts=(
                    ("states", "States along the text"),
                    ("fidelity", "Fidelity"),
                    ("automaton", "Automaton"),
                    ("failures", "Largest errors"),
                ),
            ),
            "HiddenMarkovModel": PageSection(
                "hmm",
                "Hidden states",
                "clearwood.sequences.reading.markov_section",
                "sequences/reading/markov_section.html",
                has_rules=False,
                lead="Hidden states of the sequences, what is observed in each, and "
                "which state follows.",
                parts=(
                    ("time", "States over time"),
                    ("states", "States"),
                    ("moves", "Transitions"),
                    ("score", "Held-out likelihood"),
                ),
            ),
            "HMMLSTM": PageSection(
                "hybrid",
                "Recurrent network and hidden Markov model",
                "clearwood.sequences.reading.hybrid_section",
                "sequences/reading/hybrid_section.html",
                has_rules=False,
                lead="A recurrent network combined with a hidden Markov model: "
                "likelihood of both, and of each alone.",
                parts=(("score", "Scores"), ("training", "Training")),
            ),
        },
        commands={"states": "clearwood.cli.verbs.states:states"},
    ),
    Family(
        "exploration",
        public=_names("exploration", "explore"),
        sections={
            "Exploration": PageSection(
                "explored",
                "Exploration",
                "clearwood.exploration.section",
                "exploration/section.html",
                has_rules=False,
                lead="A table at first sight: its columns, readable models on held-out "
                "rows, clusters and anomalies.",
                parts=(
                    ("recommended", "Recommended model"),
                    ("columns", "Columns"),
                    ("rows", "Clusters and anomalies"),
                    ("repeat", "Code"),
                ),
            )
        },
        commands={"explore": "clearwood.cli.verbs.explore:explore"},
    ),
    Family(
        "monitoring",
        sections={
            "Monitoring": PageSection(
                "monitoring",
                "Monitoring",
                "clearwood.rules.monitoring.section",
                "rules/monitoring/section.html",
                has_rules=False,
                lead="Comparison of new rows with those that the rules come from.",
                parts=(("checks", "Checks"), ("rules", "Rules")),
            ),
            "Difference": PageSection(
                "difference",
                "Difference between two models",
                "clearwood.comparison.difference",
                "comparison/difference.html",
                has_rules=False,
                lead="How often the predictions of an old and a new model differ, "
                "for which rows, and which model is more accurate.",
            ),
        },
    ),
    Family(
        "discretize",
        public=_BINNINGS,
        saved=dict.fromkeys(_BINNINGS, "clearwood.discretize.saving"),
    ),
)
"""The families of this package."""


def families() -> tuple[Family, ...]:
    """All families: those of this package, then those that others register."""
    return tuple(_in_order())


def saving_module(name: str) -> str | None:
    """The module that declares what files hold of a class, or None."""
    return _first("saved", (name,))


def section_of(result: Any) -> PageSection | None:
    """Record in ``Family.sections`` of a result's class, or of one that it inherits.

    None if the page shows its rules alone.
    """
    return _first("sections", tuple(kind.__name__ for kind in type(result).__mro__))


def command_of(name: str) -> Any | None:
    """A family's command by its name, or None."""
    place = _first("commands", (name,))
    if place is None:
        return None
    module, _, attribute = place.partition(":")
    return getattr(import_module(module), attribute)


def _first(part: str, names: tuple[str, ...]) -> Any | None:
    """The entry of the first of some names; other packages come last."""
    for name in names:
        for family in _in_order():
            if name in getattr(family, part):
                return getattr(family, part)[name]
    return None


def _in_order() -> Iterator[Family]:
    """Own families, then those of other packages, which load only when reached."""
    yield from OWN
    yield from _registered()


@cache
def _registered() -> tuple[Family, ...]:
    """The families of other packages; warns of those that cannot be used."""
    from importlib.metadata import entry_points

    found: list[Family] = []
    for point in entry_points(group=GROUP):
        try:
            found.append(_loaded(point, (*OWN, *found)))
        except InputError as error:
            warnings.warn(str(error), stacklevel=2)
    return tuple(found)


def _loaded(point: Any, others: tuple[Family, ...]) -> Family:
    """The family of an entry point, checked."""
    where = f"The entry point {point.name!r} ({point.value}) in {GROUP!r}"
    try:
        family = point.load()
    except Exception as error:
        raise InputError(
            f"{where} cannot be loaded: {type(error).__name__}: {error}. Update or "
            "uninstall the package that registers it."
        ) from error
    if not isinstance(family, Family):
        raise InputError(
            f"{where} is {type_text(family)}, expected a clearwood.families.Family."
        )
    for part in ("saved", "sections", "commands"):
        taken = {name for other in others for name in getattr(other, part)}
        twice = sorted(taken & set(getattr(family, part)))
        if twice:
            raise InputError(
                f"{where} has {part} that another family has, {twice}; rename them."
            )
    return family
