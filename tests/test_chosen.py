"""What runs by default and in a quick run: little, but some of everything."""

import pytest
from tests import chosen
from tests.estimators import ESTIMATORS

PROMISE = """
import pytest
from tests.estimators import ESTIMATORS, each


@each(ESTIMATORS)
@pytest.mark.parametrize("kind", range(6))
def test_a_promise(case, kind):
    pass


@pytest.mark.dear
def test_a_dear_one():
    pass
"""


class Collected:
    """What pytest has collected of a file."""

    def pytest_collection_modifyitems(self, items):
        self.items = items[:]


def test_each_method_each_task_and_each_value_has_its_turn(tmp_path):
    path, found = tmp_path / "test_contract.py", Collected()
    path.write_text(PROMISE)
    settings = str(chosen.ROOT / "pyproject.toml")
    pytest.main([str(path), "--collect-only", "-qq", "-c", settings], [found])
    some = chosen.by_default(found.items)
    assert not any("dear" in item.name for item in some)
    cases = {item.callspec.params["case"].make.__name__ for item in some}
    of_method = {
        case.make.__name__.removesuffix("Classifier").removesuffix("Regressor")
        for case in ESTIMATORS
    }
    for method in of_method:
        assert len({name for name in cases if name.startswith(method)}) == 1, method
    tasks = [name.endswith("Regressor") for name in cases]
    assert any(tasks) and not all(tasks)
    assert {item.callspec.params["kind"] for item in some} == {*range(6)}
    assert len(some) < len(ESTIMATORS) < len(found.items) / 6 + 1


def test_each_check_of_sklearn_runs_on_each_family():
    found, path = Collected(), chosen.ROOT / "tests" / chosen.SKLEARN
    settings = str(chosen.ROOT / "pyproject.toml")
    pytest.main([str(path), "--collect-only", "-qq", "-c", settings], [found])
    # Of some there are a few for sparse tables besides.
    found.items = [item for item in found.items if "estimator" in item.callspec.params]

    def where(items):
        return {(chosen._promise_of(item), chosen._family_of(item)) for item in items}

    some = chosen.by_default(found.items)
    assert where(some) == where(found.items)
    assert len(some) <= chosen.OF_A_FAMILY * len(where(some))
    kinds = [
        {type(item.callspec.params["estimator"]) for item in items}
        for items in (some, found.items)
    ]
    assert kinds[0] == kinds[1]


def test_a_changed_file_stands_for_its_tests():
    tests = chosen.ROOT / "tests"
    changed = frozenset(
        {"src/clearwood/rules/exports/python.py", "tests/test_memory.py"}
    )
    assert chosen.is_quick(tests / "test_memory.py", changed)
    assert chosen.is_quick(tests / "rules" / "exports" / "test_sql.py", changed)
    assert not chosen.is_quick(tests / "rules" / "test_rule_set.py", changed)
    assert chosen.is_quick(tests / "contract.py", frozenset())
    texts = frozenset({"tests/rules/texts/rule_set.txt"})
    assert chosen.is_quick(tests / "rules" / "test_rule_set.py", texts)
    assert not chosen.is_quick(tests / "rules" / "test_tree.py", texts)
    single = frozenset({"src/clearwood/_memory.py"})
    assert chosen.is_quick(tests / "test_memory.py", single)
    assert not chosen.is_quick(tests / "rules" / "test_rule_set.py", single)
    # Of others it is the content that tells; models are no tests.
    assert chosen.is_quick(tests / "projection" / "test_golden_trees.py", frozenset())
    model = next((tests / "codec" / "files").iterdir())
    assert not chosen.is_quick(model, frozenset())
