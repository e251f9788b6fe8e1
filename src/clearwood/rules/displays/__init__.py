"""Pictures of printed rules."""

from clearwood.rules.displays.path import PathDisplay
from clearwood.rules.displays.regions import RegionsDisplay
from clearwood.rules.displays.rule_table import RulesDisplay

__all__ = ["PathDisplay", "RegionsDisplay", "RulesDisplay"]
