"""What the command makes of the cells of a table."""

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.cli.test_cli import failed, run
from tests.wording import refuses, same_lines, same_text, warns

from clearwood._tables.csv_file import CsvFile, CsvForm
from clearwood.cli.tables.reading import read_table, read_table_of
from clearwood.columns.info import ColumnInfo
from clearwood.columns.schema import features_of
from clearwood.exceptions import InputError
from clearwood.rules import CategorySet, FeatureSpace, Interval, Rule, RuleList


@pytest.fixture
def written(tmp_path):
    def write(text, name="data.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)

    return write


@pytest.fixture
def measured(written):
    """Numbers, some cells of which are replaced; the number of cells does not matter
    as that of different ones does."""

    def write(odd, numbers=None):
        cells = [f"{x:.3f}" for x in np.random.default_rng(0).normal(size=120)]
        cells = list(map(str, numbers)) if numbers is not None else cells
        for row, cell in odd.items():
            cells[row] = cell
        rows = [f"{cell},{row / 7:.3f},{row % 2}" for row, cell in enumerate(cells)]
        return written("\n".join(["dose,age,y", *rows, ""]))

    return write


# Numbers and texts in one column


@pytest.mark.parametrize("odd", ["-", "n.d.", "12,5", "5 mg", "\x1b[2J"])
def test_one_bad_cell_among_numbers_is_named(measured, odd):
    path = measured({70: f'"{odd}"'})
    with pytest.raises(InputError) as refused:
        read_table(path)
    for word in ("'dose'", "119 cells", repr(odd), "line 72", "--categories dose"):
        assert word in str(refused.value)
    assert "\x1b" not in str(refused.value)
    frame = read_table(path, form=CsvForm(missing=[odd]))
    assert frame["dose"].dtype == float
    assert np.flatnonzero(frame["dose"].isna()).tolist() == [70]


def test_the_command_refuses_a_bad_cell_and_says_what_mends_it(measured):
    path = measured({70: "-"})
    train = ("--target", "y", "--train", "hist-gradient-boosting", "--max-rules", 2)
    said = failed(run("simplify", path, *train), "'-'", "72", "--na -")
    assert said
    assert run("simplify", path, *train, "--na", "-").exit_code == 0
    texts = run("simplify", path, *train, "--categories", "dose", "--json")
    assert texts.exit_code == 0
    # A column that is left out may hold anything.
    assert run("simplify", path, *train, "--drop", "dose").exit_code == 0
    assert failed(run("metatree", path, "--target", "y"), "'-'", "72")
    assert failed(run("simplify", path, *train, "--categories", "size"), "['size']")


def test_many_bad_cells_are_counted_and_some_shown(measured):
    odd = dict(zip(range(10, 30, 2), ["?", "-"] * 5))
    with refuses(InputError, match=r"'\?'.*'-'.*12.*14.*16.*18.*20"):
        read_table(measured(odd))
    # They need not be few: it is the numbers that no category is named after.
    most = dict.fromkeys(range(5, 90), "-")
    with refuses(InputError, match="35"):
        read_table(measured(most))


def test_lines_are_those_of_an_editor(written):
    cells = [*range(30), "?"]
    rows = [f'{cell},"two\nlines"\n' for cell in cells]
    path = written("\n\na,b\n" + "\n".join(rows).replace("\n5,", "\r\n5,"))
    with refuses(InputError) as refused:
        read_table(path)
    lines = Path(path).read_text().splitlines()
    line = lines.index('?,"two') + 1
    assert f" {line}." in str(refused.value)


@pytest.mark.parametrize(
    "start, line",
    [('a\n""\n1\n', 4), ('a\n" "\n1\n', 4), ("a\n \t\n1\n", 4), ("a\n\f\n1\n", 4)],
)
def test_an_empty_cell_in_quotes_is_a_row_and_a_blank_line_is_none(
    written, start, line
):
    path = written(start + "x\n" + "".join(f"{k}\n" for k in range(2, 40)))
    with refuses(InputError, match=f"'x'.*{line}"):
        read_table(path)
    file = CsvFile.from_path(path)
    row = file.read()["a"].tolist().index("x")
    assert file.lines(np.array([row, row + 37])) == f"lines {line}, {line + 37}"


def test_a_cell_may_be_too_long_to_count_lines(measured):
    path = measured({60: "x" * 200_000, 70: "-"})
    with refuses(InputError, match="61.*71"):
        read_table(path)


def test_codes_of_categories_may_be_numbers_and_texts(measured):
    codes = [1, 2, 3, 4] * 30
    path = measured(dict.fromkeys(range(0, 120, 9), "other"), codes)
    with warns(UserWarning, match="'dose'.*'other'"):
        frame = read_table(path)
    assert set(frame["dose"]) == {"1", "2", "3", "4", "other"}
    # Whoever says that they are categories need not be told.
    declared = frame.astype({"dose": "category"})
    pd.testing.assert_frame_equal(read_table(path, categories=["dose"]), declared)
    # Names of which a few look like numbers are names.
    few = measured({row: f"B{row % 20}" for row in range(110)})
    assert read_table(few)["dose"].dtype != float


def test_as_many_texts_as_rows_are_spoken_of(measured):
    for n in (60, 120):
        path = measured({row: f"2020-{row}" for row in range(n)})
        with warns(UserWarning, match="'dose'.*120.*--drop dose"):
            frame = read_table(path)
        assert frame["dose"].nunique() == 120
        read_table(path, categories=["dose"])
    read_table(measured({row: f"2020-{row % 60}" for row in range(120)}))


@pytest.mark.parametrize("odd", ['"1,5{:02}"', "{}.2%", "{} mg", "$ {}", '"7,{}"'])
def test_numbers_written_as_text_are_no_categories(measured, odd):
    path = measured({row: odd.format(row % 60) for row in range(120)})
    with refuses(InputError, match="'dose'.*60"):
        read_table(path)
    # What is declared is taken as it is, and fitted to.
    frame = read_table(path, categories=["dose"])
    assert features_of(frame[["dose"]]).categories[0] is not None
    few = measured({row: odd.format(row % 20) for row in range(120)})
    assert read_table(few)["dose"].nunique() == 20


def test_numbers_may_be_declared_categories(written):
    path = written("zip,y\n01,0\n1,1\nNA,0\n,1\n")
    assert read_table(path)["zip"].tolist()[:2] == [1.0, 1.0]
    texts = read_table(path, categories=["zip"])["zip"]
    assert texts.tolist()[:3] == ["01", "1", "NA"]
    assert texts.isna().tolist() == [False, False, False, True]


def test_whole_numbers_without_end_are_numbers_or_said_to_collapse(written):
    ids = [2**70 + k for k in range(40)]
    path = written("id,y\n" + "".join(f"{x},{x % 2}\n" for x in ids))
    with warns(UserWarning, match="--categories id"):
        frame = read_table(path)
    assert frame["id"].dtype == float
    assert read_table(path, categories=["id"])["id"].nunique() == 40
    apart = written("n,y\n" + "".join(f"{10**k},{k % 2}\n" for k in range(30)))
    assert read_table(apart)["n"].tolist() == [float(10**k) for k in range(30)]


# What is missing

TEXTS = "ward,y\nnorth,0\nNA,1\n,0\nNone,1\nnull,0\nnan,1\n"


def test_in_a_column_of_text_only_the_empty_cell_is_missing(written):
    path, words = written(TEXTS), ["NA", "None", "nan", "null"]
    with pytest.warns(UserWarning) as told:
        frame = read_table(path)
    assert frame["ward"].isna().tolist() == [False, False, True, False, False, False]
    assert [str(w.message).split()[0] for w in told] == [
        "'NA'",
        "'None'",
        "'nan'",
        "'null'",
    ]
    assert "column 'ward'" in str(told[0].message)
    assert "--na NA" in str(told[0].message)
    assert read_table(path, form=CsvForm(missing=words))["ward"].notna().sum() == 1


def test_the_command_and_python_say_the_same_of_a_word(written, tmp_path):
    rules = RuleList(
        (Rule((CategorySet(0, (1,)),), 1.0),), Rule((), 0.0),
        FeatureSpace(("ward",), (("north", "NA"),)),
    )  # fmt: skip
    rules.save(tmp_path / "rules.json")
    path = written(TEXTS + 10 * "north,0\n")
    frame = pd.read_csv(path, keep_default_na=False)
    result = run("predict", tmp_path / "rules.json", path)
    said = [float(line.split(",")[1]) for line in result.stdout.splitlines()[1:]]
    assert said == rules.predict(frame).tolist() == [0.0, 1.0, *[0.0] * 14]
    # NA is a name that the rules know; null is not.
    same_text(result.stderr)
    assert "'NA' is a value" not in result.stderr


@pytest.mark.parametrize(
    "word", ["NA", "nan", "NaN", "null", "None", "n/a", "#N/A", " "]
)
def test_in_a_column_of_numbers_words_are_missing(written, word):
    frame = read_table(
        written(f"dose,flag,y\n1,True,0\n{word},{word},1\n2.5,False,0\n")
    )
    assert frame["dose"].dtype == float
    np.testing.assert_array_equal(frame["dose"], [1, np.nan, 2.5])
    if word.strip():
        assert frame["flag"].tolist()[::2] == [True, False]
        assert frame["flag"].isna().tolist() == [False, True, False]


def test_infinite_numbers_are_numbers(written):
    frame = read_table(written("dose,y\ninf,0\n-Infinity,1\n1,0\n"))
    assert frame["dose"].tolist() == [np.inf, -np.inf, 1.0]


def test_numbers_may_stand_for_missing_ones(written):
    frame = read_table(written("dose,y\n-999,0\n2,1\n"), form=CsvForm(missing=["-999"]))
    np.testing.assert_array_equal(frame["dose"], [np.nan, 2.0])


# As a model reads them


def test_where_the_model_reads_numbers_a_text_is_named(written, tmp_path):
    space = FeatureSpace(("dose", "ward"), (None, ("1", "x")))
    rules = RuleList((Rule((Interval(0, low=1.5),), 1.0),), Rule((), 0.0), space)
    rules.save(tmp_path / "rules.json")
    path = written("dose,ward,note\n1,1,5\n?,x,b\nNA,1,7\n")
    for verb in ("predict", "explain"):
        done = run(verb, tmp_path / "rules.json", path)
        assert failed(done, "'dose'", "'?'", "--na '?'")
        assert run(verb, tmp_path / "rules.json", path, "--na", "?").exit_code == 0
    frame = read_table_of(space, path, form=CsvForm(missing=["?"]))
    assert frame["ward"].tolist() == ["1", "x", "1"]
    assert frame["note"].tolist() == ["5", "b", "7"]
    with refuses(InputError, match="'note'.*'b'"):
        read_table_of(
            space, path, form=CsvForm(missing=["?"]), target="note", task="regression"
        )


def test_a_model_without_names_reads_what_is_not_the_target(written):
    space = FeatureSpace(("x0", "x1"), (None, (1, 2)), named=False)
    path = written("dose,y,ward\n1,a,2\nNA,b,1\n2,-,1\n")
    frame = read_table_of(space, path, target="y")
    np.testing.assert_array_equal(frame["dose"], [1.0, np.nan, 2.0])
    assert frame["ward"].tolist() == [2, 1, 1]
    assert frame["y"].tolist() == ["a", "b", "-"]


def test_whole_numbers_that_name_categories_stay_exact(written):
    ids = (2**53, 2**53 + 1)
    space = FeatureSpace(("id",), (ids,))
    path = written(f"id,n\n{ids[0]},1\n{ids[1]},2\n,3\n")
    frame = read_table_of(space, path)
    assert frame["id"].tolist()[:2] == list(ids)
    np.testing.assert_array_equal(space.encode(frame).ravel(), [0, 1, np.nan])


# Files


def test_rows_with_more_cells_than_names_are_refused(written):
    assert read_table(written("a,y\n1,2,\n3,4,\n")).to_dict("list") == {
        "a": [1, 3],
        "y": [2, 4],
    }
    with refuses(InputError):
        read_table(written("a,y\n1,2,3\n4,5,6\n"))


def test_bytes_that_no_csv_has_are_named(written):
    with refuses(InputError, match="16"):
        read_table(written(b"a,y\n1,2\n\x003,4\n"))
    with pytest.raises(InputError, match="UTF-16"):
        read_table(written("a,y\n1,2\n".encode("utf-16-le")))


@pytest.mark.parametrize("sep", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_separators_and_marked_encodings_are_found(written, sep, encoding):
    text = f'"città, o ; paese"{sep}y\nRoma{sep}2\n'
    frame = read_table(written(text.encode(encoding)))
    assert frame.to_dict("list") == {"città, o ; paese": ["Roma"], "y": [2]}


def test_other_encodings_are_said(written):
    path = written("città,y\nRoma,2\n".encode("cp1252"))
    with refuses(InputError):
        read_table(path)
    assert list(read_table(path, form=CsvForm(encoding="cp1252"))) == ["città", "y"]
    with refuses(InputError, match="'cp12'"):
        read_table(path, form=CsvForm(encoding="cp12"))


def test_dates_are_dates(written):
    path = written(
        "day,at,mixed,y\n2019-04-01,2019-04-01T12:00+02:00,2019-04-01,1\n"
        "NA,2019-04-02T12:00Z,01.04.2019,2\n,,,3\n"
    )
    frame = read_table(path)
    days = features_of(frame[["day", "at"]])
    assert [(info.kind, info.unit) for info in days.info] == [
        ("date", ""),
        ("datetime", "UTC"),
    ]
    encoded = days.encode(frame)
    np.testing.assert_array_equal(encoded[0], [17987, 17987 + 10 / 24])
    assert np.isnan(encoded[1:, 0]).all() and encoded[1, 1] == 17988.5
    assert frame["mixed"].tolist()[:2] == ["2019-04-01", "01.04.2019"]
    again = read_table_of(days, path)
    np.testing.assert_array_equal(days.encode(again), encoded)
    odd = written("day,at\n2019-04-01,\nlately,2019-04-01\n")
    with refuses(InputError, match="'day'.*'lately'"):
        read_table_of(days, odd)


def test_dates_with_and_without_a_zone_are_not_compared(written):
    cells = "at,y\n2019-04-01,1\n2019-04-02 12:00Z,2\n2019-04-03,1\n"
    both = written(cells, "both.csv")
    with refuses(InputError, match="'at'.*12"):
        read_table(both)
    naive = written("at\n2019-04-01 12:00\n")
    zoned = written("at\n2019-04-01 12:00+02:00\n", "zoned.csv")
    for first, second in ((naive, zoned), (zoned, naive)):
        space = features_of(read_table(first))
        assert space.encode(read_table_of(space, first)).size == 1
        with refuses(InputError, match="2019-04-01.12:30"):
            space.encode(read_table_of(space, second))
        with refuses(InputError, match="'at'"):
            read_table_of(space, both)
        nothing = space.encode(read_table_of(space, written("at,b\n,1\n", "n")))
        assert np.isnan(nothing).all()
    mostly = written("at\n2019-04-01 12:00Z\n2019-04-02 12:00Z\n2019-04-03\n")
    with refuses(InputError, match="2019-04-03"):
        read_table(mostly)


def test_only_columns_that_rules_ask_are_read(written):
    info = (ColumnInfo(kind="date"), ColumnInfo(), ColumnInfo(kind="datetime"))
    space = FeatureSpace(("day", "dose", "at"), (None,) * 3, info=info)
    rules = RuleList((Rule((Interval(0, 17987.0),), 2.0),), Rule((), 1.0), space)
    path = written("day,dose,at\n2019-04-03,much,lately\n,1,2019-04-01\n")
    table = read_table_of(space, path, required=rules.used_features)
    assert rules.predict(table).tolist() == [2.0, 1.0]
    with refuses(InputError, match="'dose'.*'much'"):
        read_table_of(space, path)


def test_a_name_may_be_long(written):
    long = "a" * 200_000
    assert list(read_table(written(f"{long},y\n1,2\n"))) == [long, "y"]
    with refuses(InputError):
        read_table(written(f"{long},{long}\n1,2\n"))


def test_compressed_tables_are_read(written):
    path = written(gzip.compress(b"a,y\n1,2\n"), "data.csv.gz")
    assert read_table(path).to_dict("list") == {"a": [1], "y": [2]}
    with refuses(InputError):
        read_table(written(b"no gzip", "bad.csv.gz"))


def test_devices_are_no_tables():
    with refuses(InputError):
        read_table("/dev/zero")


def test_parquet_says_itself_what_is_missing(tmp_path):
    path = str(tmp_path / "data.parquet")
    pd.DataFrame({"zip": [1, 2], "y": [0, 1]}).to_parquet(path)
    assert read_table(path, categories=["zip"])["zip"].dtype == "category"
    with refuses(InputError, match="--na"):
        read_table(path, form=CsvForm(missing=["-"]))


def test_lines_are_found_beyond_the_first_ones(written):
    file = CsvFile.from_path(written("a\n" + "1\n" * 50))
    assert file.lines(np.array([0, 48])) == "lines 2, 50"


def test_what_was_warned_of_is_said_before_an_error(written):
    rows = "".join(f"{k % 3},{k / 7:.3f},{k % 2}\n" for k in range(40))
    path = written(f"code,dose,y\nx,1,1\n1,?,0\n{rows}")
    done = run("simplify", path, "--target", "y", "--train", "decision-tree")
    assert failed(done, "'?'")
    same_lines(done.stderr)


def test_names_of_rows_keep_all_their_digits(written):
    ids = [2**60 + 1, 2**60 + 2]
    assert read_table_of(
        FeatureSpace(("dose",), (None,)), written(f"id,dose\n{ids[0]},1\n,3\n")
    )["id"].tolist() == [ids[0], None]
    path = written(f"id,dose\n{ids[0]},1\n{ids[1]},2\n,3\n")
    table = read_table_of(FeatureSpace(("dose",), (None,)), path)
    assert table["id"].tolist() == [*ids, None]
    # A model would take them for one number.
    with refuses(InputError, match=f"'id'.*{ids[0]}.*{ids[1]}"):
        features_of(read_table(path)[["id"]])
    assert read_table(path, categories=["id"])["id"].nunique() == 2


def test_booleans_with_empty_cells_stay_booleans(written):
    rows = "".join(f"{['true', 'False', ''][i % 3]},{i % 3 == 0}\n" for i in range(90))
    path = written(f"flag,y\n{rows}")
    table = read_table(path)
    assert features_of(table[["flag"]]).info[0].kind == "boolean"
    for model in ("random-forest", "hist-gradient-boosting"):
        result = run("simplify", path, "--target", "y", "--train", model, "--quiet")
        same_lines(result.output)
