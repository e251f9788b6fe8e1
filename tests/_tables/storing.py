"""The same table in every form in which tables are read block by block."""

from functools import partial

import numpy as np
import pandas as pd

from clearwood._numeric import BLOCK_ROWS

N = 2 * BLOCK_ROWS + 901
CUTS = [0, 0, 3, 700, 700, BLOCK_ROWS + 5, 2 * BLOCK_ROWS - 1, N]
"""Parts of odd sizes, two of them empty."""

KINDS = ("file", "folder", "frames", "dask array", "dask frame")
FAR = ("file", "dask array", "dask frame")
"""Those with rows on disk, without names, and on a cluster: of each family, whose rows
come as in ``test_blocks.py``."""


def two_classes():
    """Two columns of numbers, some cells missing; a class, and weights."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, N))
    b[rng.random(N) < 0.1] = np.nan
    y = np.where(rng.random(N) < 0.2, rng.random(N) < 0.5, a > 0.3).astype(int)
    weight = rng.random(N) * (rng.random(N) < 0.9)
    return pd.DataFrame({"a": a, "b": b, "y": y, "w": weight})


def in_parts(frame):
    return [frame.iloc[i:j] for i, j in zip(CUTS, CUTS[1:])]


def stored(kind, frame, folder):
    """The table in one of the forms, as arguments X, y and weight."""
    named = {"y": "y", "sample_weight": "w"}
    if kind in ("file", "folder"):
        path = folder / "rows.parquet"
        if kind == "file":
            frame.to_parquet(path, row_group_size=7001)
            return path, named
        path = folder / "many"
        path.mkdir()
        for number, part in enumerate(in_parts(frame)):
            part.to_parquet(path / f"{number}.parquet")
        return str(path), named
    if kind == "frames":
        return partial(in_parts, frame), named
    apart = {"y": frame["y"].to_numpy(), "sample_weight": frame["w"].to_numpy()}
    values = frame[["a", "b"]].to_numpy()
    if kind == "memmap":
        mapped = np.memmap(folder / "m", dtype="f8", mode="w+", shape=values.shape)
        mapped[:] = values
        return mapped, apart
    if kind == "dask array":
        import dask.array as da

        chunks = tuple(np.diff(CUTS)[np.diff(CUTS) > 0].tolist())
        y, weight = (da.from_array(v, chunks=(chunks,)) for v in apart.values())
        X = da.from_array(values, chunks=(chunks, (1, 1)))
        return X, {"y": y, "sample_weight": weight}
    return of_dask(in_parts(frame)), named


def of_dask(parts):
    import dask.dataframe as dd
    from dask import delayed

    parts = [delayed(part) for part in parts]
    return dd.from_delayed(parts, verify_meta=False)
