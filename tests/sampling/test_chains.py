"""Runs of chains: the same draws however they are made, stopped and resumed."""

import hashlib
import json
import sys
import types
import warnings

import numpy as np
import pytest
from tests.sampling.walks import Interrupted, Walk
from tests.wording import refuses, same_text, warns

from clearwood.exceptions import (
    CheckpointWarning,
    InputError,
    InterruptedFitWarning,
    ModelFormatError,
    PoorMixingWarning,
)
from clearwood.sampling import chains as chains_module
from clearwood.sampling import run_chains, to_arviz
from clearwood.sampling.chains import LARGEST_RHAT
from clearwood.sampling.checkpoint import SCHEMA, write_checkpoint
from clearwood.sampling.diagnostics import diagnose

pytestmark = pytest.mark.filterwarnings(
    "ignore::clearwood.exceptions.PoorMixingWarning"
)


def run(sampler=None, n_draws=60, **options):
    options = {"n_warmup": 10, "n_chains": 3, "random_state": 5} | options
    return run_chains(sampler or Walk(), n_draws, **options)


def assert_same(a, b, n=None):
    for name in a.draws:
        np.testing.assert_array_equal(a.draws[name][:, :n], b.draws[name][:, :n])
    np.testing.assert_array_equal(a.info["accepted"][:, :n], b.info["accepted"][:, :n])


def test_shapes_and_what_is_reported():
    chains = run(thin=4)
    assert chains.draws["position"].shape == (3, 60, 2)
    assert chains.draws["side"].dtype.kind == "i"
    assert (chains.n_chains, chains.n_draws) == (3, 60)
    assert set(np.unique(chains.info["accepted"])) <= {0.0, 0.25, 0.5, 0.75, 1.0}
    np.testing.assert_array_equal(
        chains.states[1].position, chains.draws["position"][1, -1]
    )
    assert list(chains.diagnose()) == ["position[0]", "position[1]"]


def test_draws_do_not_depend_on_jobs_length_or_number_of_chains():
    first = run()
    assert_same(run(n_jobs=3), first)
    assert_same(run(n_draws=90), first, n=60)
    more = run(n_chains=4)
    np.testing.assert_array_equal(more.draws["position"][:3], first.draws["position"])
    assert len(np.unique(more.draws["position"][:, 0, 0])) == 4


def test_warm_up_and_thinning_leave_draws_out():
    every = run(n_warmup=0, n_draws=100).draws["position"]
    np.testing.assert_array_equal(
        run(n_warmup=10, n_draws=30, thin=3).draws["position"], every[:, 12:100:3]
    )


def test_a_longer_run_goes_on_from_a_checkpoint(tmp_path):
    path = tmp_path / "chains.json"
    run(n_draws=25, checkpoint=path)
    assert_same(run(n_draws=60, checkpoint=path, random_state=99), run())
    # All is there already: nothing is run.
    assert_same(run(Interrupted(1), n_draws=60, checkpoint=path), run())
    assert_same(run(n_draws=20, checkpoint=path), run(), n=20)


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_ctrl_c_keeps_the_draws_and_resumes_to_the_same_bits(tmp_path, n_jobs):
    path = tmp_path / "chains.json"
    with warns(InterruptedFitWarning, match="60"):
        stopped = run(Interrupted(150), checkpoint=path, n_jobs=n_jobs)
    assert 1 <= stopped.n_draws < 60
    assert_same(stopped, run(), n=stopped.n_draws)
    assert_same(run(checkpoint=path), run())


def test_ctrl_c_in_the_warm_up_leaves_a_checkpoint(tmp_path):
    path = tmp_path / "chains.json"
    with pytest.raises(KeyboardInterrupt):
        run(Interrupted(5), checkpoint=path)
    assert_same(run(checkpoint=path), run())


def slow(sampler=None, **options):
    """Chains that are continued until draws are 16 steps apart."""
    return run(sampler or Walk(scale=0.25), min_ess=150, **options)


def test_chains_that_have_not_converged_are_continued():
    steps = run(Walk(scale=0.25), 1410).draws["position"]
    last = 59 + 45 * (2 + 4 + 8 + 16)  # three quarters of the draws are made anew
    expected = steps[:, last % 16 :: 16][:, -60:]
    np.testing.assert_array_equal(slow().draws["position"], expected)
    assert_same(slow(n_jobs=3), slow())
    # Not where the draws are too few, do not mix at all, or agree.
    assert_same(slow(n_draws=30), run(Walk(scale=0.25), 30))
    stuck = Walk(scale=0.001, start=5.0)
    assert_same(slow(stuck), run(stuck))
    good = {"n_draws": 500, "thin": 5}
    assert_same(run(Walk(scale=2.0), min_ess=300, **good), run(Walk(scale=2.0), **good))


def test_indicators_are_to_converge_too():
    class Sides(Walk):
        def record(self, state):
            return {"left": state.position < 0}

    few, more = (
        run(Sides(scale=0.3), 400, min_ess=n, random_state=2) for n in (None, 300)
    )
    found = [
        max(diagnose(chains.draws["left"][..., k]).rhat for k in (0, 1))
        for chains in (few, more)
    ]
    assert found[0] > LARGEST_RHAT >= found[1]
    assert few.draws["left"].shape == more.draws["left"].shape
    with warns(PoorMixingWarning, match="left"):
        run(Sides(scale=0.3), 400, random_state=2)


@pytest.mark.parametrize("at", [400, 1500])
def test_continued_chains_resume_to_the_same_bits(tmp_path, at):
    path, options = tmp_path / "chains.json", {"scale": 0.25}
    with warns(InterruptedFitWarning, match="60"):
        stopped = slow(Interrupted(at, **options), checkpoint=path)
    assert 15 <= stopped.n_draws < 60
    assert_same(slow(checkpoint=path), slow())
    assert_same(slow(Interrupted(1, **options), checkpoint=path), slow())
    with pytest.raises(InputError):
        run(Walk(**options), checkpoint=path)


def test_an_error_in_one_chain_is_raised():
    class Broken(Walk):
        def step(self, rng, state):
            raise ZeroDivisionError("broken")

    with pytest.raises(ZeroDivisionError, match="broken"):
        run(Broken(), n_jobs=3)


def test_other_generators_resume_too(tmp_path):
    for kind in (np.random.MT19937, np.random.Philox, np.random.SFC64):
        path = tmp_path / f"{kind.__name__}.json"
        make = lambda kind=kind: np.random.Generator(kind(3))  # noqa: E731
        run(n_draws=20, checkpoint=path, random_state=make())
        assert_same(run(checkpoint=path), run(random_state=make()))


def test_a_checkpoint_of_another_run_is_refused(tmp_path):
    path = tmp_path / "chains.json"
    run(checkpoint=path)
    for other in ({"sampler": Walk(scale=2.0)}, {"n_warmup": 11}, {"thin": 2}):
        with refuses(InputError):
            run(checkpoint=path, **other)
    with refuses(InputError):
        run(checkpoint=tmp_path / "nowhere" / "chains.json")


def damaged(content):
    """Ways to damage a checkpoint, one at a time."""
    chain = content["chains"][0]
    for key in ("state", "generator", "done", "draws", "info"):
        for value in (None, [], {}, -1, 10**30, "x"):
            yield content | {"chains": [chain | {key: value}, *content["chains"][1:]]}
    for key in chain["generator"]:
        wrong = chain["generator"] | {key: "no"}
        yield content | {"chains": [chain | {"generator": wrong}] * 3}
    fields = {"dtype": ("O", "(,)i4", 8), "shape": ([-1], [10**12]), "data": ("!",)}
    for field in ({key: bad} for key in fields for bad in fields[key]):
        position = chain["state"]["position"] | field
        state = chain["state"] | {"position": position}
        yield content | {"chains": [chain | {"state": state}] * 3}
    walked = chain["draws"] | {"position": chain["draws"]["position"] | {"shape": [1]}}
    yield content | {"chains": [chain | {"draws": walked}] * 3}
    endless = chain["draws"]["position"] | {"shape": [10**15, 0], "data": ""}
    many = chain | {"draws": {"position": endless}, "done": 10**15 + 10, "info": {}}
    yield content | {"chains": [many] * 3}
    yield content | {"chains": [chain | {"state": content["chains"][1]["state"]}] * 3}
    state = chain["state"] | {"log_density": "high"}
    yield content | {"chains": [chain | {"state": state}] * 3}
    yield content | {"chains": content["chains"][:1]}
    yield content | {"chains": 7}
    yield [content]


def test_checkpoints_that_make_no_sense_are_refused(tmp_path):
    """With a checksum that fits: nobody's accident, but not to be believed either."""
    path = tmp_path / "chains.json"
    run(n_draws=5, checkpoint=path)
    for case in damaged(json.loads(path.read_text())["content"]):
        write_checkpoint(path, case)
        with pytest.raises(ModelFormatError, match=r"chains\.json"):
            run(n_draws=5, checkpoint=path)


def test_files_that_are_no_checkpoints_are_refused(tmp_path):
    path = tmp_path / "chains.json"
    run(n_draws=5, checkpoint=path)
    whole = path.read_bytes()
    assert json.loads(whole)["schema"] == "clearwood.chains/2"

    def signed(body):
        digest = hashlib.sha256(body.encode()).hexdigest()
        head = f'{{"schema": "{SCHEMA}", "sha256": "{digest}",'
        return f'{head}\n"content": {body}}}\n'.encode()

    cases = [whole[: len(whole) // 2], b"[" * 100_000, b"", b"\x00\xff", b"{}"]
    for case in [*cases, signed("[" * 100_000), signed("[]"), signed("{")]:
        path.write_bytes(case)
        with refuses(ModelFormatError, match=r"chains\.json"):
            run(n_draws=5, checkpoint=path)
    path.write_bytes(signed("[" + "{}," * 10**6 + "{}]"))
    with refuses(ModelFormatError):
        run(n_draws=5, checkpoint=path)
    path.write_text('{"schema": "clearwood.chains/1", "plan": {}}')
    with refuses(ModelFormatError):
        run(n_draws=5, checkpoint=path)


def test_no_byte_of_a_checkpoint_can_change(tmp_path):
    """Flipped bits in a draw, a state or a generator would go on to other draws."""
    path = tmp_path / "chains.json"
    run(n_draws=5, checkpoint=path)
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    for place in [*range(120), *rng.integers(len(whole), size=400)]:
        broken = bytearray(whole)
        broken[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(broken)
        with pytest.raises(ModelFormatError, match=r"chains\.json"):
            run(n_draws=5, checkpoint=path)


def test_a_folder_is_no_checkpoint(tmp_path):
    with refuses(InputError):
        run(n_draws=5, checkpoint=tmp_path)
    with refuses(InputError):
        run(n_draws=5, checkpoint=tmp_path / ("x" * 300))


def test_a_full_disk_costs_no_draws(tmp_path, full_disk):
    path = tmp_path / "chains.json"
    with warns(CheckpointWarning) as w, full_disk():
        assert_same(run(checkpoint=path), run())
    assert "chains.json" in str(w[0].message)
    same_text(str(w[0].message))
    assert list(tmp_path.iterdir()) == []
    # The old file stays; once there is room, the run goes on from it.
    run(n_draws=20, checkpoint=path)
    before = path.read_bytes()
    with full_disk(100), pytest.warns(CheckpointWarning):
        assert_same(run(checkpoint=path), run())
    assert path.read_bytes() == before
    assert_same(run(checkpoint=path), run())
    assert path.read_bytes() != before


def test_the_next_save_tries_again(tmp_path, monkeypatch):
    path, saves = tmp_path / "gone" / "chains.json", []
    path.parent.mkdir()

    def write(path, content):
        saves.append(content)
        if len(saves) == 1:
            path.parent.rmdir()
        elif len(saves) == 3:
            path.parent.mkdir()
        write_checkpoint(path, content)

    monkeypatch.setattr(chains_module, "CHECKPOINT_SECONDS", -1.0)
    monkeypatch.setattr(chains_module, "write_checkpoint", write)
    with warns(CheckpointWarning) as warned:
        assert_same(run(checkpoint=path), run())
    assert [w.category for w in warned].count(CheckpointWarning) == 2
    assert len(saves) > 50
    assert_same(run(Interrupted(1), checkpoint=path), run())


def test_parameters_are_checked():
    for name, value in {"n_draws": 0, "n_chains": 0, "thin": 0, "n_warmup": -1}.items():
        with refuses(InputError, match=f"{name}.*{value}"):
            run(**{name: value})


def test_poor_chains_are_told_of():
    with warns(PoorMixingWarning, match=r"'position\[\d\]'"):
        run(Walk(scale=0.01, start=5.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(Walk(scale=2.0), n_draws=500, thin=5)


def test_progress_goes_to_stderr(capsys):
    run(progress=True)
    told = capsys.readouterr()
    assert "sampling: 100%|" in told.err and "50/50 [" in told.err
    assert told.out == ""


@pytest.mark.filterwarnings("ignore:.*ArviZ is undergoing:FutureWarning")
def test_arviz_gets_draws_and_reports():
    pytest.importorskip("arviz")
    chains = run()
    data = to_arviz(chains)
    np.testing.assert_array_equal(
        data["posterior"]["position"].values, chains.draws["position"]
    )
    assert data["sample_stats"]["accepted"].dims == ("chain", "draw")


@pytest.mark.parametrize("version", ["0.20.0", "1.0.0", "1.3.0", "2.0.0"])
def test_both_kinds_of_arviz_get_their_groups(monkeypatch, version):
    """From 1.0 on in one dict, before by name."""

    def from_dict(groups=None, **named):
        assert (groups is None) == version.startswith("0")
        return named if groups is None else groups

    arviz = types.SimpleNamespace(__version__=version, from_dict=from_dict)
    monkeypatch.setitem(sys.modules, "arviz", arviz)
    chains = run()
    data = to_arviz(chains)
    assert data == {"posterior": chains.draws, "sample_stats": chains.info}


def test_without_arviz_one_is_told_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "arviz", None)
    with refuses(InputError):
        to_arviz(run())
