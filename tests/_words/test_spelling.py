"""Suggestions for misspelt parameters, of every public function and estimator."""

import inspect

import pytest
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestRegressor
from sklearn.tree import DecisionTreeRegressor

import clearwood as cw
from clearwood._words.spelling import suggests_parameters
from clearwood.exceptions import InputError

X, Y = [[0.0], [1.0], [2.0]], [0.0, 1.0, 1.0]


def has_parameters(estimator):
    return estimator is cw.HiddenMarkovModel or bool(estimator().get_params())


PUBLIC = [getattr(cw, name) for name in cw.__all__]
CALLED = [
    one
    for one in PUBLIC
    if inspect.isfunction(one)
    and one not in (cw.simplify, cw.reference)
    or (inspect.isclass(one) and issubclass(one, BaseEstimator) and has_parameters(one))
]


@pytest.mark.parametrize("called", CALLED, ids=lambda called: called.__name__)
def test_a_misspelt_parameter_gets_a_suggestion(called):
    inner = called.__init__ if inspect.isclass(called) else called
    parameters = list(inspect.signature(inner).parameters.values())
    if inspect.isclass(called):
        parameters = parameters[1:]
    if not parameters:
        pytest.skip("no parameters")
    required = [
        p for p in parameters if p.default is p.empty and p.kind < p.VAR_KEYWORD
    ]
    name = parameters[-1].name
    message = f"^{called.__name__}.*'{name}x'. Did you mean '{name}'"
    with pytest.raises(TypeError, match=message):
        called(*[None] * len(required), **{f"{name}x": 1})


@pytest.mark.parametrize(
    "estimator",
    [one for one in CALLED if inspect.isclass(one)],
    ids=lambda e: e.__name__,
)
def test_set_params_suggests(estimator):
    made = cw.HiddenMarkovModel(2) if estimator is cw.HiddenMarkovModel else estimator()
    name = list(made.get_params(deep=False))[-1]
    assert made.set_params(**{name: getattr(made, name)}) is made
    with pytest.raises(ValueError, match=f"'{name}x' .*Did you mean '{name}'"):
        made.set_params(**{f"{name}x": 1})


def test_settings_of_other_functions_get_one():
    model = DecisionTreeRegressor().fit(X, Y)
    with pytest.raises(InputError, match="Did you mean 'scoring'"):
        cw.simplify(model, X, score=5)
    with pytest.raises(InputError, match="Did you mean 'noise_variance'"):
        cw.reference(RandomForestRegressor(2), X, Y, noise_varience=1)


def test_other_errors_are_those_of_python():
    @suggests_parameters
    def outer(rules, nested=False):
        return inner(rule=1) if nested else len(rules)

    def inner(rules):
        return rules

    with pytest.raises(TypeError, match="argument 'rule'$|Did you mean 'rules'"):
        outer([], nested=True)
    with pytest.raises(TypeError, match="argument 'zzz'$"):
        outer([], zzz=1)
    with pytest.raises(TypeError, match=r"has no len\(\)$"):
        outer(1)
