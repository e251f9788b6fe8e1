"""Which classes of a room are records: for a test in each of them."""

import dataclasses
import importlib
import pkgutil

from clearwood.charts.display import Display


def changeable(room):
    """Public records of a room whose fields can be set."""
    package = importlib.import_module(f"clearwood.{room}")
    modules = [
        importlib.import_module(found.name)
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    ]
    return [
        record.__qualname__
        for module in modules
        for name, record in vars(module).items()
        if isinstance(record, type)
        and dataclasses.is_dataclass(record)
        and record.__module__ == module.__name__
        and not name.startswith("_")
        and not record.__dataclass_params__.frozen
        # A display knows the figure that it is drawn in.
        and not issubclass(record, Display)
    ]
