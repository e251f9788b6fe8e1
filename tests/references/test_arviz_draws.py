"""Draws as PyMC, Stan, NumPyro and bambi write them, through ArviZ."""

from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from tests.wording import refuses

import clearwood as cw
from clearwood.exceptions import InputError
from clearwood.references import arviz_reference

X = pd.DataFrame({"a": [0.5, 1.5, 2.5]}, index=["ann", "bob", "eve"])
MU = np.arange(24.0).reshape(2, 4, 3) + 0.5
P = np.linspace(0.1, 0.9, 24).reshape(2, 4, 3)
Y = (P > 0.5).astype(np.int64)
PATIENTS = {"coords": {"patient": list(X.index)}, "dims": {"mu": ["patient"]}}


def stand_in(groups, coords=(), dims=()):
    """What is read of ArviZ's data, whatever its version."""
    coords, dims = dict(coords), dict(dims)

    def array(name, values):
        own = dims.get(name, [f"{name}_dim_{i}" for i in range(values.ndim - 2)])
        held = {d: SimpleNamespace(values=np.array(c)) for d, c in coords.items()}
        named = {"dims": ("chain", "draw", *own), "coords": held}
        return SimpleNamespace(values=values, shape=values.shape, **named)

    return {
        group: _Dataset({name: array(name, v) for name, v in variables.items()})
        for group, variables in groups.items()
    }


class _Dataset(dict):
    @property
    def data_vars(self):
        return list(self)


def by_arviz(groups, **settings):
    arviz = pytest.importorskip("arviz", reason="needs arviz (its extra)")
    if int(arviz.__version__.split(".")[0]) >= 1:
        return arviz.from_dict(groups, **settings)
    return arviz.from_dict(**groups, **settings)


def by_arviz_base(groups, **settings):
    """ArviZ from version 1 on: its data are of xarray."""
    name, why = "arviz_base", "needs arviz from 1.0 on"
    return pytest.importorskip(name, reason=why).from_dict(groups, **settings)


@pytest.fixture(params=[stand_in, by_arviz, by_arviz_base])
def made_by(request):
    return request.param


def test_draws_of_all_chains_are_read(made_by):
    posterior = {"mu": MU, "sigma": np.ones((2, 4))}
    data = made_by({"posterior": posterior, "posterior_predictive": {"y": MU + 0.25}})
    assert (arviz_reference(data, X).draws(X) == MU.reshape(8, 3) + 0.25).all()
    sigma = np.asarray(data["posterior"]["sigma"].values).ravel()
    reference = arviz_reference(data, X, variable="mu", noise_variance=sigma**2)
    assert (reference.draws(X) == MU.reshape(8, 3)).all()
    assert (reference.noise_variance(X) == 1).all() and reference.is_posterior
    if made_by is not stand_in:
        assert (cw.reference(data, X).draws(X) == MU.reshape(8, 3) + 0.25).all()
    with refuses(InputError, match="'nu'"):
        arviz_reference(data, X, variable="nu")
    with refuses(InputError):
        arviz_reference(data, X[:2])


def test_of_several_variables_the_observed_one_is_read(made_by):
    predicted = {"y": MU, "z": MU + 9}
    with refuses(InputError):
        arviz_reference(made_by({"posterior_predictive": predicted}), X)
    seen = {"observed_data": {"z": np.full(3, 5.0)}}
    data = made_by({"posterior_predictive": predicted, **seen})
    assert (arviz_reference(data, X).draws(X) == MU.reshape(8, 3) + 9).all()


def test_predictions_are_told_from_the_posterior_predictive_by_their_rows(made_by):
    grid = pd.DataFrame({"a": [7.0, 8.0]})
    both = {"posterior_predictive": {"y": MU}, "predictions": {"y": MU[..., :2] + 9}}
    data = made_by(both)
    assert (arviz_reference(data, X).draws(X) == MU.reshape(8, 3)).all()
    found = arviz_reference(data, grid)
    assert (found.draws(grid) == MU[..., :2].reshape(8, 2) + 9).all()
    both["predictions"] = {"y": MU + 9}
    with refuses(InputError, match="group='predictions'"):
        arviz_reference(made_by(both), X)
    found = arviz_reference(made_by(both), X, group="predictions")
    assert (found.draws(X) == MU.reshape(8, 3) + 9).all()


def test_coordinates_with_names_are_matched_with_the_index(made_by):
    data = made_by({"posterior": {"mu": MU}}, **PATIENTS)
    for rows in (X, X[::-1]):
        reference = arviz_reference(data, rows, variable="mu")
        assert (reference.draws(X) == MU.reshape(8, 3)).all()
    # Without names in common, or with numbers as ArviZ makes them, by position.
    other = X[::-1].set_axis([0, 1, 2])
    unnamed = made_by({"posterior": {"mu": MU}})
    turned = X.set_axis([2, 1, 0])
    for rows in (other, turned, X.to_numpy()):
        for source in (unnamed,) if rows is turned else (data, unnamed):
            reference = arviz_reference(source, rows, variable="mu")
            assert (reference.draws(rows) == MU.reshape(8, 3)).all()


def test_probabilities_of_the_second_of_two_classes_suffice(made_by):
    observed = {"observed_data": {"observed": np.array([0, 1, 1])}}
    data = made_by({"posterior": {"p": P, "other": P}, **observed})
    for settings in ({}, {"classes": [0, 1]}, {"classes": ["no", "yes"]}):
        reference = arviz_reference(data, X, variable="p", **settings)
        assert reference.task == "classification" and reference.is_posterior
        assert (reference.draws(X)[..., 1] == P.reshape(8, 3)).all()
    assert reference.classes.tolist() == ["no", "yes"]
    as_values = arviz_reference(data, X, variable="p", task="regression")
    assert as_values.task == "regression"


def test_drawn_labels_are_probabilities_and_no_values(made_by):
    for labels in (Y, Y.astype(bool), Y.astype(float)):
        reference = arviz_reference(made_by({"posterior_predictive": {"y": labels}}), X)
        assert reference.classes.tolist() == [0, 1]
        assert (reference.draws(X)[0, :, 1] == Y.reshape(8, 3).mean(axis=0)).all()
        assert reference.n_draws == 1 and not reference.is_posterior


def test_whole_numbers_are_counts_or_labels_as_stated(made_by):
    whole = np.arange(24).reshape(2, 4, 3) % 3 * 2
    data = made_by({"posterior_predictive": {"y": whole}})
    with refuses(InputError, match='task="counts"'):
        arviz_reference(data, X)
    counts = arviz_reference(data, X, task="counts")
    assert counts.task == "counts" and counts.n_draws == 1
    assert (counts.draws(X) == whole.reshape(8, 3).mean(axis=0)).all()
    as_values = arviz_reference(data, X, task="regression")
    assert (as_values.draws(X) == whole.reshape(8, 3)).all()
    labels = arviz_reference(data, X, classes=[0, 2, 4])
    assert (labels.draws(X)[0] == np.eye(3)).all()
    with refuses(InputError, match="4"):
        arviz_reference(data, X, classes=["a", "b", "c"])
    if made_by is not stand_in:
        assert cw.reference(data, X, task="counts").task == "counts"
    groups = {"posterior": {"mu": MU}, "posterior_predictive": {"y": whole}}
    data = made_by({**groups, "observed_data": {"y": np.array([0, 3, 1])}})
    with refuses(InputError, match="'mu'"):
        arviz_reference(data, X, variable="mu")
    rates = arviz_reference(data, X, variable="mu", task="counts")
    assert (rates.draws(X) == MU.reshape(8, 3)).all() and rates.is_posterior


def test_classes_are_named_by_their_coordinates_wherever_they_stand(made_by):
    share = np.random.default_rng(0).dirichlet(np.ones(4), size=(2, 5, 3))
    hues = ["red", "green", "blue", "none"]
    named = {"coords": {"hue": hues}, "dims": {"p": ["row", "hue"]}}
    found = arviz_reference(
        made_by({"posterior": {"p": share}}, **named), X, variable="p"
    )
    assert found.classes.tolist() == hues
    np.testing.assert_allclose(found.draws(X), share.reshape(10, 3, 4))
    named["dims"] = {"p": ["hue", "row"]}
    turned = {"posterior": {"p": np.swapaxes(share, 2, 3)}}
    found = arviz_reference(made_by(turned, **named), X, variable="p")
    np.testing.assert_allclose(found.draws(X), share.reshape(10, 3, 4))
    single = arviz_reference(
        made_by({"posterior": {"mu": MU[..., None]}}), X, variable="mu"
    )
    assert (single.draws(X) == MU.reshape(8, 3)).all()
    deep = made_by({"posterior": {"p": np.stack([share, share], axis=-1)}})
    with refuses(InputError):
        arviz_reference(deep, X, variable="p")


# A real fit


def logistic_fit():
    """A logistic regression by NumPyro, with rows named by the user."""
    numpyro = pytest.importorskip("numpyro", reason="needs numpyro, which is large")
    arviz = pytest.importorskip("arviz", reason="needs arviz (its extra)")
    jax, infer = import_module("jax"), import_module("numpyro.infer")
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.normal(size=(120, 2)), columns=["dose", "age"])
    rows.index = [f"patient {i}" for i in rows.index]
    truth = 1 / (1 + np.exp(-2 * rows["dose"].to_numpy()))
    y = (rng.random(120) < truth).astype(int)

    def model(x, y=None):
        normal = numpyro.distributions.Normal(0, 2)
        slope = numpyro.sample("slope", normal.expand([2]))
        p = numpyro.deterministic("p", jax.nn.sigmoid(x @ slope))
        numpyro.sample("y", numpyro.distributions.Bernoulli(probs=p), obs=y)

    sampler = infer.MCMC(
        infer.NUTS(model), num_warmup=200, num_samples=200, progress_bar=False
    )
    sampler.run(jax.random.PRNGKey(0), x=rows.to_numpy(), y=y)
    predict = infer.Predictive(model, sampler.get_samples())
    data = arviz.from_numpyro(
        sampler,
        posterior_predictive=predict(jax.random.PRNGKey(1), rows.to_numpy()),
        coords={"patient": list(rows.index)},
        dims={"p": ["patient"], "y": ["patient"]},
    )
    return rows, y, truth, data


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_a_posterior_of_numpyro_is_projected_and_explained():
    rows, y, truth, data = logistic_fit()
    labels, shares = (cw.reference(data, rows, variable=v) for v in (None, "p"))
    # The labels' mean is that of the probabilities: 200 draws have error .035 at most.
    mean = shares.mean_and_variance(rows)[0][:, 1]
    assert np.abs(labels.draws(rows)[0, :, 1] - mean).max() < 0.18
    assert np.abs(mean - truth).mean() < 0.1
    tree = cw.ProjectedTreeClassifier(shares, n_leaf_nodes=2, random_state=0)
    low, high = tree.fit(rows, y).predict_interval(rows)[:, 1].T
    assert (low < tree.predict_proba(rows)[:, 1]).all() and (high > low).all()
    condition = tree.rules_.rules[0].conditions[0]
    assert condition.feature == 0 and abs(condition.high) < 0.7
    found = cw.explain_local(shares, rows.iloc[3], label=1, max_size=2)
    assert found.predicted == pytest.approx(mean[3]) and found.std > 0
    assert list(found.inclusion_frequency)[0] == "dose"
