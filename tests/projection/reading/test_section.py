"""What pages say of projections: every number by hand, on the rows handed in."""

import copy
import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import BayesianRidge
from tests._html.hostile import HOSTILE, tags_of
from tests.charts.drawn import dots, elements, lines, texts
from tests.wording import refuses, same_lines, same_text

import clearwood as cw
from clearwood._html.disclosure import disclosed
from clearwood.cli.verbs.project import _fidelity_text
from clearwood.exceptions import InputError
from clearwood.projection import split_posterior
from clearwood.projection.reading.coefficients import section as linear_section
from clearwood.projection.reading.scores import compare_with_reference, remarks_on
from clearwood.projection.reading.section import model_of, section
from clearwood.projection.reading.size_chart import held_out_measure
from clearwood.projection.sizes import SizePath
from clearwood.references import GivenDraws
from clearwood.reporting import summarize


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(size=(160, 3)), columns=["dose", "age", "bmi"])
    y = 3 * (X["dose"] > 0.5) + X["age"] + rng.normal(size=160) / 4
    # In other units, so that a variance is no standard deviation.
    return X, 3 * y.to_numpy()


@pytest.fixture(scope="module")
def values(rows):
    X, y = rows
    ref = cw.reference(BayesianRidge(), X[:110], y[:110], n_draws=30, random_state=0)
    tree = cw.ProjectedTreeRegressor(ref, max_leaf_nodes=4, random_state=0)
    return tree.fit(X[:110], pd.Series(y[:110], name="pain"))


@pytest.fixture(scope="module")
def labels(rows):
    X, y = rows[0], np.where(rows[1] > 6, "ill", "well")
    ref = cw.reference(None, X[:110], y[:110], n_draws=30, random_state=0)
    tree = cw.ProjectedTreeClassifier(ref, n_leaf_nodes=3)
    return tree.fit(X[:110], y[:110])


def test_the_certainty_of_splits_is_that_of_the_rows_passed(values, labels, rows):
    for tree, of in ((values, None), (labels, "labels")):
        X, y = new(rows, of)
        shown = section(tree, X, y)["splits"]
        assert shown["lines"] == split_posterior(tree, X).lines()
        assert [line["rows"] for line in shown["lines"]][0] == "50"
        same_text(shown["words"][0])
        assert section(tree)["splits"] is None
    many = pd.concat([rows[0]] * 30)
    assert section(values, many)["splits"]["lines"][0]["rows"] == "1,600"
    rules = cw.ProjectedRuleListRegressor(values.reference_, n_rules=2, random_state=0)
    assert section(rules.fit(rows[0]), rows[0])["splits"] is None


def new(rows, of=None):
    X, y = rows[0][110:], rows[1][110:]
    return X, (y if of is None else np.where(y > 6, "ill", "well"))


def test_scores_of_values_are_those_by_hand(values, rows):
    X, y = new(rows)
    found = compare_with_reference(values, X, y)
    said = values.reference_.predict(X)
    rmse = {"reference": said - y, "proxy": values.predict(X) - y}
    for name, gap in rmse.items():
        assert found[name]["rmse"] == pytest.approx(np.sqrt((gap**2).mean()))
    low, high = values.predict_interval(X).T
    assert found["proxy"]["coverage"] == np.mean((low <= y) & (y <= high))
    assert found["proxy"]["width"] == pytest.approx((high - low).mean())
    mean, variance, noise = values.reference_.mean_and_variance(X)
    # Of a linear model draws are normal: the mixture is so, too, but for 30 draws.
    together = variance + noise
    density = -0.5 * np.log(2 * np.pi * together) - (y - mean) ** 2 / 2 / together
    assert found["reference"]["log_loss"] == pytest.approx(-density.mean(), abs=0.02)
    r2 = 1 - ((values.predict(X) - said) ** 2).mean() / said.var()
    assert found["fidelity"]["r2"] == pytest.approx(r2)


def test_scores_of_classes_are_those_by_hand(labels, rows):
    X, y = new(rows, "labels")
    found = compare_with_reference(labels, X, y)
    p, q = labels.reference_.predict_proba(X), labels.predict_proba(X)
    for name, probabilities in {"reference": p, "proxy": q}.items():
        # What was held to be impossible costs much, but not everything.
        known = np.clip(probabilities, 1e-15, 1.0)
        told = -np.log(known[np.arange(len(y)), (y == "well").astype(int)]).mean()
        assert found[name]["log_loss"] == pytest.approx(told)
        wrong = labels.classes_[probabilities.argmax(axis=1)] != y
        assert found[name]["error"] == wrong.mean()
    q = np.maximum(q, 1e-15)
    divergence = (p * np.log(np.where(p > 0, p, q) / q)).sum(axis=1).mean()
    assert found["fidelity"]["divergence"] == pytest.approx(divergence)
    assert set(compare_with_reference(labels, X)["fidelity"]) == set(found["fidelity"])


def test_a_label_never_seen_costs_much_but_not_everything(labels, rows):
    X, _ = new(rows, "labels")
    found = compare_with_reference(labels, X[:2], ["never", "never"])
    assert found["proxy"]["error"] == 1
    assert 30 < found["proxy"]["log_loss"] < 40


def test_a_reference_worse_than_a_constant_is_said_to_be_so(rows):
    X, y = new(rows, "classes")
    n = len(y)
    # Sure of everything, and wrong in the first five.
    wrong = np.arange(n) < 5
    draws = np.eye(2)[((y == "well") ^ wrong).astype(int)][None]
    ref = GivenDraws(draws, X, classes=["ill", "well"])
    tree = cw.ProjectedTreeClassifier(ref, n_leaf_nodes=2).fit(X)
    found = compare_with_reference(tree, X, y)
    of_class = np.array([(y == label).sum() for label in y])
    by_others = -np.log((of_class - 0.5) / n).mean()
    assert found["constant"]["log_loss"] == pytest.approx(by_others)
    worse, impossible, *_ = section(tree, X, y)["scores"]["remarks"]
    same_lines(worse)
    same_lines(impossible)
    assert found["reference"]["impossible"] == 5
    # What is only unlikely is not impossible, and less sure it is worth following.
    soft = GivenDraws(0.8 * draws + 0.1, X, classes=["ill", "well"])
    tree = cw.ProjectedTreeClassifier(soft, n_leaf_nodes=2).fit(X)
    found = compare_with_reference(tree, X, y)
    assert found["reference"]["impossible"] == 0
    assert not any("reference" in text for text in remarks_on(found))


def test_values_are_compared_with_a_constant_of_the_other_rows(values, rows):
    X, y = new(rows)
    found = compare_with_reference(values, X, y)
    others = np.array([np.delete(y, i).mean() for i in range(len(y))])
    rmse = np.sqrt(((y - others) ** 2).mean())
    assert found["constant"]["rmse"] == pytest.approx(rmse)
    assert remarks_on(found) == []
    far = compare_with_reference(values, X, y + 50)
    same_lines(remarks_on(far)[0])
    assert compare_with_reference(values, X[:1], y[:1])["constant"] == {}


def test_a_unit_moves_the_log_loss_by_its_logarithm(values, rows):
    X, y = new(rows)

    def proxy_scores(unit):
        ref = GivenDraws(unit * values.reference_.draws(X), X, noise_variance=unit**2)
        tree = cw.ProjectedTreeRegressor(ref, n_leaf_nodes=2).fit(X)
        return compare_with_reference(tree, X, unit * y)["proxy"]

    gap = proxy_scores(2.0**70)["log_loss"] - proxy_scores(1.0)["log_loss"]
    assert gap == pytest.approx(70 * np.log(2))


def test_who_knows_no_noise_has_no_interval(rows):
    X, y = rows[0], rows[1]
    ref = GivenDraws(np.stack([y, y + 1]), X)
    tree = cw.ProjectedTreeRegressor(ref, n_leaf_nodes=2).fit(X)
    found = compare_with_reference(tree, X, y)
    assert set(found["reference"]) == {"rmse"}
    assert "coverage" in found["proxy"]


def test_of_one_row_no_share_of_a_variance_is_told(values, rows):
    X, y = new(rows)
    page = summarize(values, X=X[:1], y=y[:1])
    for scores in (page["scores"], page["projection"]["scores"]):
        told = [line for line in scores["lines"] if "R²" in line["name"]]
        both = [line.get("values", [line.get("rules")])[-1] for line in told]
        assert both == [None]
    fidelity = compare_with_reference(values, X[:1], y[:1])["fidelity"]
    gap = values.predict(X[:1]) - values.reference_.predict(X[:1])
    assert fidelity["rms_difference"] == pytest.approx(abs(gap[0]))
    told = _fidelity_text(fidelity, "tree")
    assert f" {abs(gap[0]):.2g}" in told
    same_lines(told)


def test_leaves_count_the_rows_handed_in(values, rows):
    X, y = new(rows)
    lines = disclosed(section(values, X, y)["leaves"]["lines"], show_rows=True)
    leaf = values.rules_.apply(X)
    for i, line in enumerate(lines):
        here = leaf == i
        assert line["rows"].split()[0] == str(here.sum())
        if here.any():
            assert float(line["observed"]) == pytest.approx(y[here].mean(), rel=0.01)
        low, high = line["predictions"][0]["observation"].split(" to ")
        ends = values.predict_interval(X[here].iloc[:1])[0]
        assert (float(low), float(high)) == pytest.approx(tuple(ends), rel=0.01)
        not_known = float(line["predictions"][0]["epistemic"])
        assert not_known == pytest.approx(values.leaves_.epistemic[i], rel=0.06)
        chance = float(line["predictions"][0]["aleatoric"])
        assert chance == pytest.approx(values.leaves_.aleatoric[i], rel=0.06)


def test_intervals_of_one_width_are_not_said_to_hold_of_every_leaf(values, rows):
    def words(tree):
        return dict(section(tree)["leaves"]["words"])["90 % prediction interval"]

    same_text(words(values))
    for n_leaf_nodes, family in ((2, "mean"), (2, "mean_variance"), (1, "mean")):
        # Rows of which no targets are known.
        other = cw.ProjectedTreeRegressor(
            values.reference_, family=family, n_leaf_nodes=n_leaf_nodes
        )
        same_text(words(other.fit(rows[0])))


def test_what_is_known_of_probabilities_is_said_of_classes(labels):
    words = dict(section(labels)["leaves"]["words"])
    same_text(words["90 % interval"])


def test_the_interval_beside_a_rule_is_told_from_that_of_the_draws(values, rows):
    X, y = new(rows)

    def words(*of):
        return dict(section(*of)["leaves"]["words"])["Mean in"]

    same_lines(words(values))
    same_lines(words(values, X))
    same_lines(words(values, X, y))


def test_without_rows_numbers_are_said_to_be_of_training_rows(values):
    found = disclosed(section(values), show_rows=True)
    assert found["scores"] is None
    same_text(found["leaves"]["counted"])
    shares = [float(line["rows"].rstrip("%")) for line in found["leaves"]["lines"]]
    assert sum(shares) == pytest.approx(100, abs=1)
    said = dict(found["leaves"]["words"])
    assert "Rows" not in said
    same_text(said["Training rows"])


def test_the_size_path_is_drawn_with_the_reference(values, rows):
    X, y = new(rows)
    chart = section(values, X, y)["chart"]
    assert chart["has_band"] and len(elements(chart["svg"], "polygon")) == 1
    same_text(list(texts(chart["svg"])))
    errors = [np.sqrt(((tree.predict(X) - y) ** 2).mean()) for tree in values.trees_]
    told = [float(line["cells"][1]) for line in chart["lines"]["rows"]]
    assert told == pytest.approx(errors, rel=0.006)
    told = re.findall(r"with (\d+ (?:leaf|leaves)(?: \(chosen\))?)", chart["words"])
    assert told == 2 * ["1 leaf", "2 leaves (chosen)", "4 leaves"]
    # Down is better: the larger tree is drawn below the constant.
    heights = dots(chart["svg"], "first")[:, 1]
    assert np.argsort(heights)[::-1].tolist() == np.argsort(errors).tolist()


def test_the_size_is_explained(values, labels):
    same_text(section(values)["size_choice"])
    same_lines(section(labels)["size_choice"])


@pytest.mark.parametrize("evaluated_on", ["labels", "reference"])
def test_the_loss_is_given_with_its_standard_error(values, evaluated_on):
    size = np.array([1, values.rules_.n_rules])
    gaps, errors = np.array([0.5, 0.06]), np.array([0.1, 0.02])
    other = copy.copy(values)
    other.size_path_ = SizePath(size, -gaps, gaps, gaps, errors, evaluated_on, 0.05)
    same_text(section(other)["size_choice"])


def test_a_gain_over_the_reference_is_told_where_a_constant_has_it(values):
    gaps, errors = np.array([-0.75, -0.8]), np.array([0.2, 0.2])
    size = np.array([1, values.rules_.n_rules])
    other = copy.copy(values)
    other.size_path_ = SizePath(size, -gaps, gaps, gaps, errors, "labels", 0.05)
    words = section(other)["size_choice"]
    same_text(words)
    assert "constant" not in section(values)["size_choice"]


def test_an_alpha_that_was_judged_is_explained(rows):
    X, y = rows
    ref = cw.reference(BayesianRidge(), X, y, n_draws=5, random_state=0)
    tree = cw.ProjectedTreeRegressor(
        ref, alpha="cv", max_leaf_nodes=3, random_state=0
    ).fit(X, y)
    assert f"{tree.alpha_:.3g} " in section(tree)["size_choice"]
    # No loss is tolerated, nor shown as if it were.
    assert "tolerance" not in section(tree)["chart"]["svg"]
    fixed = cw.ProjectedTreeRegressor(ref, alpha=0.1, max_leaf_nodes=3).fit(X, y)
    same_lines(section(fixed)["size_choice"])


@pytest.mark.parametrize(
    "make", [cw.ProjectedTreeRegressor, cw.ProjectedRuleListRegressor]
)
def test_where_no_split_helps_the_page_says_so(make, rows):
    X, _ = rows
    constant = cw.reference(lambda X, draw: np.full(len(X), 2.0), X, n_draws=1)
    judged = section(make(constant, random_state=0).fit(X))["size_choice"]
    same_lines(judged)
    asked = "n_rules" if make is cw.ProjectedRuleListRegressor else "n_leaf_nodes"
    one = make(constant, random_state=0, **{asked: 1}).fit(X)
    same_lines(section(one)["size_choice"])


def test_lists_have_lines(rows):
    X, y = rows
    ref = cw.reference(BayesianRidge(), X, y, n_draws=5, random_state=0)
    found = cw.ProjectedRuleListRegressor(ref, n_rules=3, random_state=0).fit(X, y)
    summary = summarize(found, X=X, y=y)
    # Sizes stand on the page once, beside the reference.
    assert summary["path"] is None
    page = summary["projection"]
    assert page["words"].lines == "rules" and page["proxy"] == "List"
    errors = [np.sqrt(((one.predict(X) - y) ** 2).mean()) for one in found.path_]
    told = [float(line["cells"][0]) for line in page["chart"]["lines"]["rows"]]
    assert told == pytest.approx(errors, rel=0.006)


def test_the_page_is_about_the_reference_and_the_rows_handed_in(values, rows):
    X, y = new(rows)
    page = summarize(values, X=X, y=y)
    assert dict(page["facts"])["Model"] == "the reference (BayesianRidge, 30 draws)"
    lines = {line["name"]: line for line in page["scores"]["lines"]}
    reference = compare_with_reference(values, X, y)["reference"]["rmse"]
    line = next(one for name, one in lines.items() if "squared error" in name)
    assert line["model"] == pytest.approx(reference)
    assert sum(line["rows_assigned"] for line in page["rules"]["lines"]) == len(X)
    here = page["rules"]["words"]
    same_text(here["Rows"])
    alone = summarize(values)["rules"]["words"]
    same_text(alone["Rows"])


def test_a_reference_that_cannot_be_asked_is_said_to_be_so(rows, tmp_path):
    X, y = rows
    ref = GivenDraws(np.stack([y, y + 1]), X)
    tree = cw.ProjectedTreeRegressor(ref, n_leaf_nodes=2).fit(X[:110])
    other = X[110:] + 1
    assert model_of(tree, other) is None
    found = section(tree, other, y[110:])
    assert found["scores"] is None
    same_lines(found["refused"])
    # Its error is known all the same.
    assert len(lines(found["chart"]["svg"])) == 1
    assert "the reference" not in texts(found["chart"]["svg"])
    cw.save(tree, tmp_path / "tree.zip")
    again = cw.load(tmp_path / "tree.zip")
    cw.report(again, tmp_path / "page.html", X=other, y=y[110:])
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "hand in" not in page
    same_lines(page)


def test_what_is_no_posterior_is_not_called_one(rows, tmp_path):
    X, y = rows[0], np.where(rows[1] > 6, "ill", "well")
    forest = RandomForestClassifier(10, random_state=0).fit(X, y)
    tree = cw.ProjectedTreeClassifier(cw.reference(forest, X, y), n_leaf_nodes=2)
    facts = dict(section(tree.fit(X, y))["facts"])
    same_lines(facts["Predictions"])
    # Nor when it comes from a file.
    cw.save(tree, tmp_path / "tree.zip")
    assert dict(section(cw.load(tmp_path / "tree.zip"))["facts"]) == facts


def test_a_file_knows_how_many_draws_a_single_line_stands_for(rows, tmp_path):
    X, y = rows
    ref = cw.reference(BayesianRidge(), X, y, n_draws=5, random_state=0)
    model = cw.ProjectedLinearRegression(ref, draws="mean").fit(X)
    cw.save(model, tmp_path / "line.zip")
    facts = linear_section(cw.load(tmp_path / "line.zip"))["facts"]
    assert facts == linear_section(model)["facts"]
    assert dict(facts)["Predictions"].startswith("5 ")


@pytest.fixture(scope="module")
def line(rows):
    X, y = rows[0].copy(), rows[1]
    X["hue"] = np.where(np.arange(len(X)) % 3 == 0, "red", "blue")
    frame = X.astype({"hue": "category"})
    ref = cw.reference(None, frame, y > 6, n_draws=20, random_state=0)
    return cw.ProjectedLogisticRegression(ref).fit(frame, y > 6), frame, y > 6


def test_coefficients_are_told_per_deviation_and_per_unit(line):
    model, _, _ = line
    found = linear_section(model)["outputs"][0]
    told = {line["name"]: line for line in found["lines"]}
    t = model.terms_.names.index("dose")
    unit = model.terms_.unit[t]

    def number(text):
        return float(text.replace("−", "-").split()[0])

    assert number(told["dose"]["change"]) == pytest.approx(model.coef_[0, t], rel=0.01)
    per_unit = model.coef_[0, t] / unit
    assert number(told["dose"]["per_unit"]) == pytest.approx(per_unit, rel=0.01)
    t = model.terms_.names.index("age")
    odds = float(told["age"]["odds"].removeprefix("× ").replace(",", ""))
    change = model.coef_[0, t] / model.terms_.unit[t]
    assert odds == pytest.approx(np.exp(change), rel=0.01)
    same_text(told["hue=red"]["unit"])
    # Of a category, too, the interval is in the unit of the number beside it.
    t = model.terms_.names.index("hue=red")
    ends = np.quantile(model.coef_draws_[:, 0, t], [0.05, 0.95]) / model.terms_.unit[t]
    low, high = told["hue=red"]["interval_per_unit"].split(" to ")
    assert (number(low), number(high)) == pytest.approx(tuple(ends), rel=0.01)
    same_text(found["label"])


def test_a_linear_model_has_a_page(line, tmp_path):
    model, X, y = line
    cw.report(model, tmp_path / "with.html", X=X, y=y)
    cw.report(model, tmp_path / "without.html", title="<b>mine")
    text = (tmp_path / "with.html").read_text(encoding="utf-8")
    assert "training rows" not in text
    same_lines(text)
    text = (tmp_path / "without.html").read_text(encoding="utf-8")
    assert "&lt;b&gt;mine" in text
    same_lines(text)
    with refuses(InputError):
        cw.report(model, tmp_path / "other.html", model=[1], X=X)


def test_hostile_names_stay_text_on_the_page(rows, tmp_path):
    X, y = rows[0][:60], rows[1][:60]
    kinds = {
        "tree": cw.ProjectedTreeClassifier(None, n_leaf_nodes=3, random_state=0),
        "line": cw.ProjectedLogisticRegression(None, draws="mean", random_state=0),
    }

    def page(kind, names, labels):
        frame = X.set_axis(names, axis=1)
        y_named = pd.Series(np.where(y > 6, labels[0], labels[1]), name=names[0])
        model = kinds[kind].set_params(
            reference=cw.reference(None, frame, y_named, n_draws=3, random_state=0)
        )
        model.fit(frame, y_named)
        path = tmp_path / "page.html"
        cw.report(model, path, X=frame, y=y_named, overwrite=True)
        return tags_of(path.read_text(encoding="utf-8"))

    hostile = sorted(HOSTILE)
    for kind in kinds:
        plain = page(kind, ["a", "b", "c"], ["x", "y"])
        for i in range(0, len(hostile) - 5, 40):
            assert page(kind, hostile[i : i + 3], hostile[i + 3 : i + 5]) == plain


@pytest.mark.parametrize("proxy", ["tree", "linear"])
def test_an_explanation_of_one_row_has_a_page(values, rows, tmp_path, proxy):
    names = [*HOSTILE[:2], "bmi"]
    frame, row = rows[0].set_axis(names, axis=1), 3
    ref = cw.reference(BayesianRidge(), frame, rows[1], n_draws=5, random_state=0)
    found = cw.explain_local(
        ref, frame.iloc[row], proxy=proxy, max_size=2, n_neighbours=64
    )
    page = summarize(found)["local"]
    told = {line["name"]: line for line in page["used"]}
    assert set(told) == set(found.inclusion_frequency)
    for name, line in told.items():
        assert float(line["value"]) == pytest.approx(frame[name].iloc[row], rel=1e-5)
        assert float(line["share"].rstrip("%")) == pytest.approx(
            100 * found.inclusion_frequency[name], rel=0.01
        )
    if proxy == "tree":
        (here,) = [line for line in page["rules"] if line["has_row"]]
        assert float(here["prediction"]) == pytest.approx(
            found.proxy_predicted, rel=0.01
        )
    else:
        assert len(page["effects"]) == len(found.effects) == 2
    trust = f" {100 * found.fidelity:.3g} % "
    assert any(trust in fact for _, fact in page["facts"])
    cw.report(found, tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert not {"img", "script"} & {tag for tag, _ in tags_of(text)}
    with refuses(InputError):
        summarize(found, X=frame)


def test_an_explanation_of_one_prediction_does_not_say_how_sure_it_is(rows, tmp_path):
    X, _ = rows
    teacher = cw.reference(lambda X, draw: 2 * np.asarray(X)[:, 0], X, n_draws=1)
    found = cw.explain_local(teacher, X.iloc[0], n_neighbours=64)
    assert f" {found.predicted:.4g}" in str(found)
    cw.report(found, tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "draws" not in text
    same_lines(text)
    trees = cw.reference(
        lambda X, draw: (2 + draw) * np.asarray(X)[:, 0], X, n_draws=2,
        is_posterior=False,
    )  # fmt: skip
    found = cw.explain_local(trees, X.iloc[0], n_neighbours=64)
    same_lines(dict(summarize(found)["local"]["facts"])["Prediction of the reference"])


def test_names_of_near_levels_are_in_one_place():
    losses = {"held_out": np.array([1.0, 1e-14]), "standard_error": None}
    for tolerance, names in {
        0.5: ["equal to the reference", "least loss + 0.5"],
        0.01: ["equal to the reference, least loss + 0.01", ""],
    }.items():
        path = SimpleNamespace(**losses, least_loss=0.0, tolerance=tolerance)
        assert [name for _, name in held_out_measure(path).levels] == names
