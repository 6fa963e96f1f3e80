# Every target works on a fresh clone with nothing but make and Python ≥ 3.11.

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet
# Tests side by side, in processes that take work from one another: one more than there are cores,
# since some wait for a browser or a server, but few, since each has to collect all tests first.
WORKERS ?= $(shell echo $$(( $$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2) + 1 )))
# Bytecode is kept whatever the environment says: hundreds of processes would compile all anew.
PYTEST := env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest --numprocesses $(WORKERS) --maxprocesses 4 --dist worksteal
# Loops are compiled while tests are collected, for else several processes would compile the same.
WARM := env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m tests.warm
KERNELS := NUMBA_DISABLE_JIT=1 $(PYTEST) -q tests/_kernels

# The first interpreter that is new enough and can make an environment; or choose: make PYTHON=...
CANDIDATES := python3.14 python3.13 python3.12 python3.11 python3
first_usable = $(shell for python in $(1); do \
	$$python -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& echo $$python && break; done)
PYTHON ?= $(call first_usable,$(CANDIDATES))

# Environments apart, and their interpreters: make OLDEST_PYTHON=..., make NEWEST_PYTHON=...
OLDEST := .venv-oldest
NEWEST := .venv-newest
OLDEST_PYTHON ?= $(call first_usable,python3.11 python3.12 python3.13 python3.14 python3)
NEWEST_PYTHON ?= $(call first_usable,$(CANDIDATES))

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test test-thorough test-long bench check lint types layers docstrings viewer page format docs clean
.PHONY: mutants test-entries test-oldest test-newest

help:  ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 15

demo: $(VENV)/package.stamp  ## Analyse a built-in system and write ./timme-demo
	$(BIN)/timme demo --output timme-demo --overwrite

test: page  ## Run the quick tests, then those of the kernels with the JIT off
	$(WARM) & $(PYTEST) $(PYTEST_ARGS)
	$(KERNELS)

test-thorough: export HYPOTHESIS_PROFILE := thorough
test-thorough: page  ## Run the dear tests, which `make test` leaves out
	$(WARM) & $(PYTEST) -m "thorough and not long" $(PYTEST_ARGS)

test-long: export HYPOTHESIS_PROFILE := thorough
test-long: page  ## Run all tests, those that take minutes included
	$(WARM) & $(PYTEST) -m "" $(PYTEST_ARGS)
	$(KERNELS)

test-entries: $(VENV)/dev.stamp  ## Run the tests of entries of the PDB, which are fetched where they are not at hand
	$(PYTEST) -m entries tests/motion $(PYTEST_ARGS)

mutants: $(VENV)/dev.stamp  ## Break the code on purpose, a line at a time, and tell what no test notices
	$(BIN)/python -m tests.mutants $(MUTANTS_ARGS)

# Warnings are no errors there: old libraries warn of what new ones changed.
test-oldest: $(OLDEST)/test.stamp  ## Run the tests with the oldest Python and libraries allowed, in .venv-oldest
	$(patsubst $(BIN)/%,$(OLDEST)/bin/%,$(PYTEST)) -W default $(PYTEST_ARGS)

test-newest: $(NEWEST)/test.stamp  ## Run the tests with the newest of both, in .venv-newest
	$(patsubst $(BIN)/%,$(NEWEST)/bin/%,$(PYTEST)) $(PYTEST_ARGS)

bench: $(VENV)/bench.stamp  ## Measure speed and memory beside other libraries, write docs/benchmarks.md
	$(BIN)/python -m benchmarks $(BENCH_ARGS)

check: lint types layers docstrings viewer test test-thorough  ## Everything that must pass before a change lands

lint: $(VENV)/dev.stamp  ## Check style and format (ruff)
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(VENV)/dev.stamp  ## Check types (mypy, strict)
	$(BIN)/mypy

layers: $(VENV)/dev.stamp  ## Check that imports point down only (import-linter)
	$(BIN)/lint-imports --no-logo

docstrings: $(VENV)/dev.stamp  ## Check docstrings (numpydoc)
	$(BIN)/numpydoc lint $$(find src -name '*.py' -not -path '*/_[a-z]*')

viewer: $(VENV)/dev.stamp  ## Check the types of the pages (TypeScript, strict), and test what needs no browser
	$(BIN)/python viewer/build.py --check --test

page: $(VENV)/dev.stamp  ## Build the interactive page and those of the server, if their sources have changed
	$(BIN)/python viewer/build.py || echo "make: the page could not be built; its tests are skipped" >&2

format: $(VENV)/dev.stamp  ## Format the code and mend what can be mended
	$(BIN)/ruff check --fix-only
	$(BIN)/ruff format

docs: $(VENV)/docs.stamp  ## Build the documentation into docs/_build/html
	$(BIN)/python docs/make_options.py
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html

clean:  ## Remove the environment and everything made by the other targets
	rm -rf $(OLDEST) $(NEWEST)
	rm -rf $(VENV) build dist src/timme/page viewer/node_modules docs/_build docs/gallery docs/sg_execution_times.rst timme-demo
	rm -rf .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find src tests benchmarks -name __pycache__ -prune -exec rm -rf {} +

# ---- the environment -----------------------------------------------------------------------

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "make: needs Python 3.11 or newer with venv and ensurepip (Debian: apt install python3-venv)" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(PIP) 'pip>=25.1'

$(VENV)/package.stamp: pyproject.toml | $(BIN)/python
	$(PIP) --editable .
	@touch $@

$(VENV)/dev.stamp: pyproject.toml | $(BIN)/python
	$(PIP) --group dev --editable '.[cluster,formats,jupyter,md,rigidity,tables,web]'
	@touch $@

$(VENV)/bench.stamp: pyproject.toml | $(BIN)/python
	$(PIP) --group bench --editable .
	@touch $@

$(VENV)/docs.stamp: pyproject.toml | $(BIN)/python
	$(PIP) --group docs --editable '.[sklearn]'
	@touch $@

TEST_INSTALL := $(PIP) --group test --editable '.[cluster,formats,jupyter,md,rigidity,tables,web]'

$(OLDEST)/test.stamp: pyproject.toml
	$(OLDEST_PYTHON) -m venv --clear --upgrade-deps $(OLDEST)
	$(OLDEST)/bin/python tests/oldest.py > $(OLDEST)/oldest.txt
	$(TEST_INSTALL:$(BIN)/%=$(OLDEST)/bin/%) --constraint $(OLDEST)/oldest.txt
	@touch $@

$(NEWEST)/test.stamp: pyproject.toml
	$(NEWEST_PYTHON) -m venv --clear --upgrade-deps $(NEWEST)
	$(TEST_INSTALL:$(BIN)/%=$(NEWEST)/bin/%)
	@touch $@
