"""Pictures of printed rules and of the fit that found them."""

from clearwood.simplifiers.displays.fab_path import FABPathDisplay
from clearwood.simplifiers.displays.frontier import FrontierDisplay
from clearwood.simplifiers.displays.path import PathDisplay
from clearwood.simplifiers.displays.regions import RegionsDisplay
from clearwood.simplifiers.displays.rules import RulesDisplay

__all__ = [
    "FABPathDisplay",
    "FrontierDisplay",
    "PathDisplay",
    "RegionsDisplay",
    "RulesDisplay",
]
