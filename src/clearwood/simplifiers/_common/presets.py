"""Settings of the papers."""

from __future__ import annotations

from inspect import signature
from typing import Any


def use_preset(method: Any) -> dict[str, Any]:
    """Give parameters at their defaults the preset's values; return those before.

    They are set back after a fit; ``fit_context`` does so after an error.

    Examples
    --------
    >>> from clearwood import FABRulesClassifier
    >>> fab = FABRulesClassifier(preset="paper", max_rules=4)
    >>> use_preset(fab)["rules"], fab.rules, fab.max_rules
    ('refined', 'regions', 4)
    """
    values = {} if method.preset is None else method._paper
    given = {name: getattr(method, name) for name in values}
    defaults = signature(type(method)).parameters
    for name, value in values.items():
        if given[name] == defaults[name].default:
            setattr(method, name, value)
    return given


def preset_in_words(method: Any) -> dict[str, str]:
    """The preset, if any, and the values in effect, for ``about``.

    Examples
    --------
    >>> from clearwood import NodeHarvestClassifier
    >>> preset_in_words(NodeHarvestClassifier(preset="paper"))
    {'preset': "paper: max_rules=10, learn_from='model'"}
    """
    if method.preset is None:
        return {}
    values = (f"{name}={getattr(method, name)!r}" for name in method._paper)
    return {"preset": f"{method.preset}: {', '.join(values)}"}
