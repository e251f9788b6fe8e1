"""Charts of rule sets."""

from clearwood.rules.displays.path import PathDisplay
from clearwood.rules.displays.regions import RegionsDisplay

__all__ = ["PathDisplay", "RegionsDisplay"]
