"""Which columns hold numbers, and which labels or times."""

import datetime
import re
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.wording import refuses

from clearwood.columns.info import ColumnInfo, info_of_more
from clearwood.columns.schema import MOST_TEXTS, features_of
from clearwood.exceptions import InputError


def of(cells, **how):
    return features_of(pd.DataFrame({"it": pd.Series(cells, **how)}))


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        ([datetime.date(2020, 1, 1), None], "date"),
        ([datetime.datetime(2020, 1, 1), datetime.datetime(2020, 1, 2)], "date"),
        ([datetime.datetime(2020, 1, 1), datetime.datetime(2020, 1, 2, 5)], "datetime"),
        ([datetime.timedelta(1), None], "duration"),
    ],
)
def test_objects_that_are_times_are_read_as_times(cells, kind):
    space = of(cells, dtype=object)
    assert space.info[0].kind == kind and space.info[0].is_time
    assert space.categories == (None,)


def test_zones_are_told():
    noon = datetime.datetime(2020, 1, 1, 12)
    aware = noon.replace(tzinfo=datetime.UTC)
    assert of([noon], dtype=object).info[0].unit == ""
    assert of([aware], dtype=object).info[0].unit == "UTC"
    assert of([pd.Timestamp(aware)]).info[0].unit == "UTC"
    column = pl.Series("it", [noon]).dt.replace_time_zone("Europe/Rome")
    assert features_of(pl.DataFrame([column])).info[0].unit == "UTC"


def test_times_with_and_without_a_zone_are_no_one_column():
    noon = datetime.datetime(2020, 1, 1, 12)
    aware = noon.replace(tzinfo=datetime.UTC)
    for cells in ([aware, noon], [noon, aware], [aware, noon.date()]):
        with refuses(InputError, match="'it'"):
            of(cells, dtype=object)


def test_what_is_said_of_dates_keeps_their_zone():
    frame = pd.DataFrame({"it": pd.to_datetime(["2020-01-01"], utc=True)})
    frame.attrs["column_info"] = {"it": {"name": "start", "unit": "hours"}}
    with refuses(InputError, match="'it'.*'hours'"):
        features_of(frame)
    frame.attrs["column_info"] = {"it": {"name": "start"}}
    assert features_of(frame).info[0].is_zoned


WRITTEN = {
    "per cent": "{}.5%",
    "per cent and a blank": "{} %",
    "currency": "$1,{:03}",
    "unit": "{} kg",
    "decimal comma": "{},5",
    "thousands": "1'{:03}",
    "less than": "<{}",
}


@pytest.mark.parametrize("form", WRITTEN)
@pytest.mark.parametrize("library", [pd, pl])
def test_numbers_written_as_text_are_refused(form, library):
    texts = [WRITTEN[form].format(n % 100) for n in range(400)]
    with refuses(InputError, match=f"(?s)'it'.*{re.escape(texts[0])}.*to_numeric"):
        features_of(library.DataFrame({"it": texts}))
    declared = features_of(pd.DataFrame({"it": texts}, dtype="category"))
    assert len(declared.categories[0]) == 100
    # A model that is fitted encodes them in its own way.
    learned = features_of(library.DataFrame({"it": texts}), learned=True)
    assert len(learned.categories[0]) == 100
    # Few of them may be categories, and so may whole numbers and names.
    few = [text for text in texts if text in set(texts[:20])]
    assert len(features_of(library.DataFrame({"it": few})).categories[0]) == 20


@pytest.mark.parametrize("form", ["{}", "A{}", "2020-{}", "{0}-{0}", "v1.{}.2"])
def test_names_with_numbers_are_categories(form):
    texts = [form.format(80_000 + n % 100) for n in range(400)]
    assert len(of(texts).categories[0]) == 100


@pytest.mark.parametrize(
    "cells",
    [
        ["a", 1.0],
        [b"a", b"b"],
        [1.0, None, "a"],
        [datetime.time(3), datetime.time(4)],
        ["a", datetime.date(2020, 1, 1)],
        [1.0, datetime.timedelta(1)],
    ],
)
def test_cells_of_other_kinds_are_refused(cells):
    with refuses(InputError):
        of(cells, dtype=object)


@pytest.mark.parametrize(
    "cells", [[1, 2.5, None], [Decimal("1.5"), 2], [True, np.bool_(False)]]
)
def test_numbers_as_objects_are_numbers(cells):
    space = of(cells, dtype=object)
    assert space.categories == (None,)
    assert space.info[0].kind != "date"


def test_so_many_texts_are_categories_and_one_more_is_free_text():
    texts = [f"t{i}" for i in range(MOST_TEXTS)]
    assert len(of(texts).categories[0]) == MOST_TEXTS
    more = [*texts, "more"]
    with refuses(InputError, match="256.*256"):
        of(more)
    assert len(of([*texts, None]).categories[0]) == MOST_TEXTS
    # Each of them twice: names of something.
    assert len(of(more * 2).categories[0]) == MOST_TEXTS + 1
    assert len(of(more, dtype="category").categories[0]) == MOST_TEXTS + 1
    # A gap is no row that holds a text.
    with refuses(InputError, match="300.*'t0'"):
        of([None, *more, *more[:44], *([None] * 300)])


def test_labels_are_those_of_the_rows_that_count_in_the_order_of_their_texts():
    frame = pd.DataFrame({"it": ["b", "a", None, "c"]})
    counted = np.array([True, True, True, False])
    assert features_of(frame, counted).categories == (("a", "b"),)
    mixed = pd.Series([10, "9", 9, "1"], dtype=object).astype("category")
    assert features_of(pd.DataFrame({"it": mixed})).categories == (("1", 10, 9, "9"),)


def test_further_rows_widen_the_kind_of_a_column():
    kinds = [ColumnInfo(kind=kind) for kind in ("binary", "binary", "integer", "date")]
    rows = np.array([[0.0, 2.0, 0.5, 0.5], [1.0, np.nan, 1.0, 1.0]])
    found = [info.kind for info in info_of_more(kinds, rows)]
    assert found == ["binary", "integer", "number", "date"]
