"""Monitoring of rules on new rows: shares, rates, columns, and errors by group."""

from clearwood.rules.monitoring.groups import GroupErrors
from clearwood.rules.monitoring.monitor import Monitoring, monitor
from clearwood.rules.monitoring.quantities import Quantity

__all__ = ["Quantity", "GroupErrors", "Monitoring", "monitor"]
