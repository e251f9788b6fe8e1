"""The study of densities takes a folder of train, validation and test files."""

import numpy as np
import pytest

cases = pytest.importorskip("benchmarks.circuits.cases")


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    rows = {part: rng.integers(2, size=(30, 4)) for part in cases.PARTS}
    for name, delimiter in (("toys", ","), ("abc", " ")):
        for part, values in rows.items():
            path = tmp_path / f"{name}.{part}.data"
            np.savetxt(path, values, fmt="%d", delimiter=delimiter)
    (tmp_path / "notes.txt").write_text("no set", "utf-8")
    return tmp_path, rows


def test_sets_of_a_folder_are_read_in_parts(folder):
    path, rows = folder
    assert cases.sets_in(path) == ("abc", "toys")
    for name in cases.sets_in(path):
        for part, values in zip(cases.parts_of(name, path), rows.values()):
            assert part.tolist() == values.tolist()


def test_an_empty_folder_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"NAME\.train\.data"):
        cases.sets_in(tmp_path)


def test_a_set_of_a_folder_is_scored_on_its_test_rows(folder):
    import clearwood as cw

    learner = cw.MiniSPN(random_state=0)
    found = cases.fitted(learner, "toys", folder[0])
    test = cases.parts_of("toys", folder[0])[2]
    assert found["test"] == learner.score(test) < 0
