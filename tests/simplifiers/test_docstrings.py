"""What the docstrings of all simplifiers say of the parameters that they share."""

import ast
import inspect
import re

import pytest

import clearwood as cw
from clearwood.simplifiers import METHODS

CLASSIFIERS = [f"{name}Classifier" for name in dict.fromkeys(METHODS.values())]

CORE = {
    "estimator": "The ensemble to explain. A fitted one is used as it is and never "
    "refitted (wrap it in ``sklearn.frozen.FrozenEstimator`` where it must survive "
    "``clone``); an unfitted one is fitted on ``X, y``; None means histogram gradient "
    "boosting.",
    "n_rules": "Maximum number of rules",
    "max_rules": "Maximum number of rules",
    "min_samples_leaf": "Minimum number of training rows that a rule covers, "
    "regardless of weights",
    "learn_from": "Target of the fit: the predictions of the ensemble (probabilities, "
    "or values), so that the rules explain the model; or the labels",
    "exclude_features": "Names, or column indices, of features that no rule may use. "
    "The ensemble may use them.",
    "round_thresholds": "Print, and predict with, the shortest thresholds that "
    "separate the same training values, ",
    "n_jobs": "Number of threads",
    "verbose": "Show a progress bar on stderr",
    "cv": "How rows are held out: None for random folds",
    "random_state": "Seed of",
}
"""How the paragraph of each begins; a method may add what is special to it."""


def paragraphs(docstring):
    """Type and text per parameter."""
    section = re.search(r"Parameters\n-+\n(.*?)\n\n\w+\n-+\n", docstring, re.S)[1]
    parts = re.split(r"^(\w+) : (.*)\n", section, flags=re.M)[1:]
    return {
        name: (kind, " ".join(text.split()))
        for name, kind, text in zip(parts[::3], parts[1::3], parts[2::3])
    }


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_core_parameters_come_first_and_read_the_same(name):
    make = getattr(cw, name)
    told = paragraphs(inspect.getdoc(make))
    taken = list(inspect.signature(make).parameters)
    assert list(told) == taken
    core = list(CORE)
    assert taken[:7] == core[:7]
    assert taken[-4:] == core[7:]
    assert len(taken) - len(core) <= 10
    others = [p for p in core if not told[p][1].startswith(CORE[p])]
    assert others == []


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_types_and_defaults_are_those_of_the_constructor(name):
    make = getattr(cw, name)
    told = paragraphs(inspect.getdoc(make))
    for parameter in inspect.signature(make).parameters.values():
        kind = told[parameter.name][0]
        default = re.search(r"default=(.*)$", kind)
        assert default is not None, parameter.name
        assert ast.literal_eval(default[1]) == parameter.default


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_regressors_take_the_same_and_point_to_their_classifiers(name):
    classifier = getattr(cw, name)
    regressor = getattr(cw, name.replace("Classifier", "Regressor"))
    ours, theirs = (
        {p.name: p.default for p in inspect.signature(make).parameters.values()}
        for make in (regressor, classifier)
    )
    assert ours == theirs
    told = " ".join(inspect.getdoc(regressor).split())
    assert f":class:`{name}`" in told
    assert "Examples" in told and "Parameters ---" not in told
