"""Conditional distributions of missing cells, to be read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clearwood.circuits.circuit import Circuit
from clearwood.circuits.queries.shares import LevelShares
from clearwood.circuits.queries.table_cells import CellShares
from clearwood.circuits.reading.anomalies import facts_by_row
from clearwood.circuits.reading.profiles import column_words
from clearwood.columns.dates import DATES, as_times
from clearwood.results import Result

if TYPE_CHECKING:
    import pandas as pd

LEVELS = (0.05, 0.5, 0.95)
"""Quantiles of numbers and dates in the frame."""


class Conditionals(Result, dict[str, LevelShares | CellShares]):
    """Conditional distributions by column: a dict that prints, and is a frame.

    Examples
    --------
    >>> import pandas as pd
    >>> from clearwood import MiniSPN
    >>> table = pd.DataFrame({"hue": ["red", "blue"] * 40, "size": [1.0, 2, 3, 4] * 20})
    >>> MiniSPN(random_state=0).fit(table).conditional({"size": 3.0})
    hue = red in >99 %
    """

    def __init__(
        self, circuit: Circuit, found: dict[int, LevelShares | CellShares]
    ) -> None:
        self._features = circuit.table.columns
        self._by_position = dict(sorted(found.items()))
        names = self._features.names
        super().__init__({names[j]: own for j, own in self._by_position.items()})

    def __str__(self) -> str:
        by_row: dict[int, list[str]] = {}
        for j, own in self._by_position.items():
            for row, facts in facts_by_row(own).items():
                by_row.setdefault(row, []).append(
                    column_words(self._features, j, facts)
                )
        if len(by_row) == 1:
            return "\n".join(*by_row.values())
        return "\n".join(
            f"row {row}: {'; '.join(texts)}" for row, texts in sorted(by_row.items())
        )

    def to_frame(self) -> pd.DataFrame:
        """Levels with their probabilities; of numbers mean, sd and quantiles."""
        import pandas as pd

        parts = [pd.DataFrame(columns=["row", "column"])]
        for j, own in self._by_position.items():
            part: dict[str, Any] = {"row": own.rows, "column": self._features.names[j]}
            labels, kind = self._features.categories[j], self._features.info[j].kind
            if isinstance(own, LevelShares):
                parts += [
                    pd.DataFrame(part | {"level": label, "probability": p})
                    for label, p in zip(labels or (), own.probabilities.T)
                ]
                continue
            values = {"mean": own.mean}
            values |= {f"{100 * p:.0f}%": own.quantile(p) for p in LEVELS}
            if kind in DATES:
                values = {name: as_times(days) for name, days in values.items()}
            parts.append(pd.DataFrame(part | values | {"sd": own.sd}))
        table = pd.concat([part for part in parts if len(part)] or parts)
        return table.sort_values("row", kind="stable", ignore_index=True)
