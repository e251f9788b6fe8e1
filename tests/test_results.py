"""Pages of results say at which commit they were made, and are true of today."""

from tests.wording import same_text

from benchmarks import stale


def test_pages_were_made_with_the_defaults_of_today_or_say_that_they_are_older():
    found = stale.stale_pages()
    assert not found, "make them again, or see python -m benchmarks.stale --help"


def test_every_page_names_its_commit():
    record = stale.recorded()
    for page, text in stale.pages():
        assert f"at commit `{record[page]['commit']}`" in text


def test_another_default_is_seen():
    today = stale.defaults_of(["RuleListClassifier"])
    assert not stale.changed_defaults({"defaults": today})
    today["RuleListClassifier"]["max_rules"] = "3"
    del today["RuleListClassifier"]["min_samples_leaf"]
    # What is new and off changes nothing.
    del today["RuleListClassifier"]["random_state"]
    same_text(stale.changed_defaults({"defaults": today}))


def test_studies_name_what_they_use():
    named = stale.estimators_named_in("few_rules.run")
    assert {"RuleListClassifier", "FABRulesRegressor"} <= set(named)
    assert "MetaTreeClassifier" not in named
    assert "FABRulesRegressor" in stale.estimators_named_in("readers.rules")
