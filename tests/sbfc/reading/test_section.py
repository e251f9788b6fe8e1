import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import log_loss
from tests._html.hostile import HOSTILE, tags_of
from tests.charts.drawn import elements
from tests.sbfc.reading.cases import chains_of, many, stand_in
from tests.wording import refuses, same_lines, same_text

import clearwood as cw
from clearwood._html.disclosure import disclosed
from clearwood.datasets import make_corral
from clearwood.exceptions import InputError
from clearwood.reporting import summarize
from clearwood.sbfc.reading.section import score_classes, section


@pytest.fixture(scope="module")
def corral():
    X, y = make_corral(n_noise=2, random_state=0)
    fitted = cw.SelectiveBayesianForestClassifier(
        prior="paper", n_graphs=40, random_state=0
    )
    return fitted.fit(X[:80], y[:80]), X[80:], y[80:]


def test_scores_are_those_of_the_average(corral):
    fitted, X, y = corral
    found = score_classes(fitted, X, y)
    p = fitted.predict_proba(X)
    assert found["log_loss"] == pytest.approx(log_loss(y, p, labels=fitted.classes_))
    assert found["error"] == (fitted.predict(X) != y).mean()
    assert found["monte_carlo_error"] == fitted.predict_proba_error(X).max()
    assert found["error_without"] in (np.mean(y == 0), np.mean(y == 1))
    assert found["log_loss_without"] > found["log_loss"]
    # A label never seen costs much, but not everything.
    strange = score_classes(fitted, X[:2], np.array([7, y[1]]))
    assert 10 < strange["log_loss"] < 40


def test_no_cut_is_not_said_to_be_no_effect(tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"idle": rng.normal(size=200), "signal": rng.normal(size=200)})
    y = X["signal"] > 0
    X["same"] = "x"
    model = cw.SelectiveBayesianForestClassifier(binning="mdlp", random_state=0)
    cw.report(model.fit(X, y), tmp_path / "page.html")
    same_lines((tmp_path / "page.html").read_text("utf-8"))


def test_the_prior_is_that_of_the_fit(corral):
    assert dict(section(corral[0])["facts"])["Prior"].startswith("paper,")
    assert dict(section(many())["facts"])["Prior"].startswith("balanced,")


def test_neighbours_are_listed_on_both_sides():
    found = section(many())
    lines = {line["name"]: line for line in found["features"]}
    second = lines["feature number 1"]
    assert [(name, p) for name, p, _ in second["neighbours"]] == [
        ("feature number 0", "0.9"),
        ("feature number 2", "0.4"),
    ]
    numbers = {line["number"]: line["name"] for line in found["features"]}
    assert all(numbers[n] == name for name, _, n in second["neighbours"])
    links = elements(found["picture"]["svg"], "a")
    (own,) = (a for a in links if a.get("href") == f"#f{second['number']}")
    near = {
        k
        for k, name in numbers.items()
        if name in ("feature number 0", "feature number 2")
    }
    assert {f"b{k}" for k in near} == {
        look for look in own.get("class").split() if look[0] == "b"
    }
    assert len(found["features"]) + found["n_hidden"] == 100
    shares = [line["share"] for line in found["features"]]
    assert shares == sorted(shares, reverse=True)


def test_features_left_out_of_the_table_may_beat_those_there_for_their_edge(tmp_path):
    p = np.linspace(0.09, 0.01, 100)
    estimator = stand_in([f"f{j}" for j in range(100)], p, {(98, 99): 0.9})
    found, path = section(estimator), tmp_path / "page.html"
    listed = [line["share"] for line in found["features"]]
    assert len(listed) == 52
    assert listed[found["n_sure"] - 1] > p[50] > listed[-1]
    cw.report(estimator, path)
    same_lines(path.read_text(encoding="utf-8"))


def test_how_sampling_went_is_said_in_words():
    rng = np.random.default_rng(0)
    heights = rng.normal(size=(4, 400))
    signal = rng.random((4, 400, 2)) < [0.5, 1.1]
    apart = signal.copy()
    apart[0, :, 0] = True
    for chains, good in (
        (None, True),
        (chains_of(signal, heights), True),
        (chains_of(apart, heights), False),
        (chains_of(signal[:, :60], heights[:, :60] * 0 - 1), False),
        (chains_of(signal[:, :3], heights[:, :3]), False),
    ):
        estimator = stand_in("ab", [0.5, 1.0], {}, chains=chains)
        found = section(estimator)["sampling"]
        same_text(found["words"])
        assert found["is_good"] == good
        if chains is not None:
            name = found["lines"][2]["name"]
            same_text(name)
    estimator = stand_in("ab", [0.5, 1.0], {}, chains=chains_of(signal, heights))
    for draws, good in ((signal[..., 0], True), (apart[..., 0], False)):
        estimator._edge_draws = {(0, 1): draws}
        found = section(estimator)["sampling"]
        same_text(found["lines"][3]["name"])
        assert found["is_good"] == good
    estimator.chains_ = None  # as from a file
    same_text(section(estimator)["sampling"]["words"])


def test_the_least_settled_feature_is_sought_among_those_listed():
    rng = np.random.default_rng(0)
    names = [f"f{j}" for j in range(60)]
    chains = chains_of(rng.random((2, 20, 60)) < 0.5, rng.normal(size=(2, 20)))
    found = section(stand_in(names, np.linspace(0.6, 0.4, 60), {}, chains=chains))
    same_lines(found["sampling"]["lines"][2]["name"])


def test_a_page_without_rules(corral, tmp_path):
    fitted, X, y = corral
    pages = []
    for name, given in {"with": {"X": X, "y": y}, "without": {}}.items():
        path = tmp_path / f"{name}.html"
        cw.report(fitted, path, title="What tells corral", **given)
        pages.append(path.read_text(encoding="utf-8"))
        assert "<h1>What tells corral</h1>" in pages[-1]
        assert "x0 and x1: " in pages[-1] and "<script" not in pages[-1]
        same_lines(pages[-1])
    same_lines(pages[0], without=pages[1])
    same_text(summarize(fitted)["title"])
    with refuses(InputError):
        cw.report(fitted, tmp_path / "x.html", model=fitted)
    with refuses(InputError):
        cw.report(fitted, tmp_path / "x.html", y=y)
    with pytest.raises(ValueError, match="not fitted"):
        cw.report(cw.SelectiveBayesianForestClassifier(), tmp_path / "x.html")


def test_a_page_tells_whether_its_rows_are_held_out(corral, tmp_path):
    fitted, X, y = corral
    pages = {}
    for given in (None, "rules", "model"):
        path = tmp_path / f"{given}.html"
        cw.report(fitted, path, X=X, y=y, held_out_from=given)
        pages[given] = path.read_text(encoding="utf-8")
        same_lines(pages[given])
    assert pages["rules"] == pages["model"] != pages[None]
    with refuses(InputError):
        cw.report(fitted, tmp_path / "x.html", X=X, y=y, held_out_from="me")


@pytest.mark.parametrize("calibration", ["auto", None])
def test_levels_and_calibration_of_several_classes_are_on_the_page(
    calibration, tmp_path
):
    X, y = load_iris(return_X_y=True, as_frame=True)
    forest = cw.SelectiveBayesianForestClassifier(
        calibration=calibration, random_state=0
    ).fit(X[::2], y[::2])
    found = disclosed(section(forest, X[1::2], y[1::2]), show_rows=True)
    path = tmp_path / "page.html"
    assert found["odds"]["features"][0]["lines"][0]["ratio"] == "46"
    assert found["odds"]["label"] is None and len(found["scores"]["charts"]) == 1
    cw.report(forest, path, X=X[1::2], y=y[1::2])
    same_lines(path.read_text(encoding="utf-8"))


def test_hostile_names_stay_text_on_the_page(tmp_path):
    def page(names):
        d, path = len(names) - 2, tmp_path / "page.html"
        edges = {(j, j + 1): 0.9 for j in range(d - 1)}
        made = stand_in(names[:d], np.ones(d), edges, classes=names[d:])
        cw.report(made, path, title=names[0], overwrite=True)
        return path.read_text(encoding="utf-8")

    def without_lines(tags):
        """Names are broken into lines of the picture as they are long."""
        return [tag for tag in tags if "text" not in (tag[0], tag[1])]

    names = list(dict.fromkeys(HOSTILE))
    for start in range(0, len(names) - 25, 50):
        harmless = page([f"name {j}" for j in range(25)])
        assert without_lines(tags_of(page(names[start : start + 25]))) == (
            without_lines(tags_of(harmless))
        )
