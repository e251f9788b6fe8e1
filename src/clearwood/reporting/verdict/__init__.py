"""May some rules stand in for their model? The answer in a few plain sentences.

Nothing here is called good by a number that somebody chose. What is better than what is
told where a comparison on the very same rows says so, as sure as a 95 % interval is;
the weakest rival is whoever says one and the same of all rows.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from clearwood._words.labels import printable
from clearwood.reporting.table import Table
from clearwood.reporting.verdict import of_classes, of_values
from clearwood.reporting.verdict.rivals import best_question
from clearwood.reporting.verdict.saying import (
    DOUBTED,
    ONLY_IF_NEW,
    WhatAllSay,
    listed,
)
from clearwood.rules import RuleList, RuleSet
from clearwood.rules.decisions.in_words import rows_in_words
from clearwood.rules.evaluation.statistics import FEW_ROWS, count_text

SENTENCES: dict[bool, Any] = {True: of_classes, False: of_values}
"""Of outcomes whose errors are shares of rows, and of others."""


def summarize_verdict(
    rules: RuleSet, shown: RuleSet, table: Table | None, new_to: str | None
) -> list[str]:
    """What a reader may do with some rules, and what not.

    Parameters
    ----------
    rules : RuleSet
        With the numbers that they came with.
    shown : RuleSet
        The same with the numbers that the page shows.
    table : Table or None
        Rows handed in.
    new_to : {"rules", "model"}, optional
        To whom these rows are new.

    Returns
    -------
    list of str
        Sentences. The first says whether the rules may stand in for the model.

    Examples
    --------
    >>> from clearwood import FeatureSpace, Interval, Rule
    >>> rules = RuleList((Rule((Interval(0, low=37.5),), "ill", (0.1, 0.9)),),
    ...     Rule((), "well", (0.8, 0.2)), FeatureSpace.numeric(1), ("well", "ill"))
    >>> X, said = np.array([[36.0], [39.0]] * 8), ["well", "ill"] * 8
    >>> table = Table(X, X, X, None, np.array(said), None)
    >>> print(*summarize_verdict(rules, rules, table, "model"), sep=chr(10))
    These rules may stand in for the model: they say the same as the model of all \
    16 new rows (100 %; of many more rows like these most likely 81 to 100 %).
    How often they are right is not known: the true classes were not handed in.
    """
    if table is None:
        return _as_learnt(rules)
    encoded = rules.encode(table.rows)
    said = np.asarray(rules.predict_encoded(encoded))
    answers = WhatAllSay(said, table.taught, table.y)
    doubted = "warning" in rules.about
    say = SENTENCES[rules.outcome.is_share]
    first = say.near_the_model(answers, new_to, doubted)
    second = say.near_the_truth(answers, new_to)
    limits = say.never_said(rules, answers)
    model = " and the model" * (table.taught is not None)
    seen = [] if new_to else [ONLY_IF_NEW.format(model)]
    alone = [] if doubted else _one_question(rules, encoded, answers)
    few = _hardly_known(shown, " of these rows")
    return [first, *second, *seen, *alone, *limits, *few]


# One question alone


def _one_question(
    rules: RuleSet, encoded: np.ndarray, answers: WhatAllSay
) -> list[str]:
    """Whether one question says as much of the model as all of the rules do.

    The question is the best for these very rows, among the features that rules ask.
    """
    said, model = answers.rules, answers.model
    if model is None or rules.n_literals < 2 or (model == model[0]).all():
        return []
    asked = sorted(rules.asked)
    say = SENTENCES[rules.outcome.is_share]
    said, model = (say.numbers_of(rules, points) for points in (said, model))
    feature, alone = best_question(encoded[:, asked], model, rules.outcome)
    name = rules.features.shown(asked[feature])
    beaten, told = say.beside_one_question(said, alone, model)
    if beaten > 0 or (alone == alone[0]).all():
        return []
    behind = "better than they" if beaten < 0 else "nothing shows that they do better"
    return [
        f"One question alone, about {printable(name)} and picked for these rows, would "
        f"{told}: {behind}."
    ]


# Without rows, and of single rules


def _as_learnt(rules: RuleSet) -> list[str]:
    """What is known where no rows were handed in."""
    agreement = _on_average(rules, "agreement_caught")
    if math.isnan(agreement):
        return [
            "How far these rules say what a model says is not known: no rows were "
            "handed in."
        ]
    doubted = f"{DOUBTED}. " if "warning" in rules.about else ""
    rows = rows_in_words(int(rules.n_rows))
    say = SENTENCES[rules.outcome.is_share]
    first = (
        f"{doubted}How far these rules may stand in for the model on new rows is not "
        f"known: of the {rows} that they were learnt from {say.as_learnt(agreement)}."
    )
    second = say.on_new_rows(_on_average(rules, "expected"))
    few = _hardly_known(rules, " of the rows that they were learnt from")
    return [first, *second, *few]


def _on_average(rules: RuleSet, name: str) -> float:
    """A statistic of the rows that lines decide, over all rows; NaN where unknown."""
    if not isinstance(rules, RuleList):
        return math.nan
    known = [rule.statistics for rule in rules]
    lines = [(own.caught, getattr(own, name)) for own in known if not own.caught == 0]
    return sum(caught * value for caught, value in lines) / max(
        sum(caught for caught, _ in lines), 1e-300
    )


def _hardly_known(rules: RuleSet, of_what: str) -> list[str]:
    """Rules of so few rows that next to nothing is known of them."""
    if not isinstance(rules, RuleList):
        return []
    rows = [(k, rule.statistics.rows_caught) for k, rule in rules.lines()]
    few = [(k, n) for k, n in rows if n <= FEW_ROWS]
    if not few:
        return []
    most = max(n for _, n in few)
    number = count_text(most) if most else "none"
    if len(few) == 1:
        return [
            f"Little is known of rule {few[0][0]}, which decides {number}{of_what}."
        ]
    names = listed([str(k) for k, _ in few], "and")
    each = f"at most {number}{of_what} each" if most else f"none{of_what}"
    return [f"Little is known of rules {names}, which decide {each}."]
