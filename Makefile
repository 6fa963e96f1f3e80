# Every target works on a fresh clone with nothing but make and Python ≥ 3.11.

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet
# Files of tests side by side; few at a time, since some of them use all cores.
PYTEST := $(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 --dist loadfile

# The first interpreter that is new enough and can make an environment; or choose: make PYTHON=...
CANDIDATES := python3.14 python3.13 python3.12 python3.11 python3
PYTHON ?= $(shell for python in $(CANDIDATES); do \
	$$python -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& echo $$python && break; done)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test test-long bench check lint types layers docstrings viewer page format docs clean

help:  ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 12

demo: $(VENV)/package.stamp  ## Analyse a built-in example and write ./timme-demo
	$(BIN)/timme demo --output timme-demo --overwrite

test: page  ## Run the tests, then those of the kernels with the JIT off
	$(PYTEST) $(PYTEST_ARGS)
	NUMBA_DISABLE_JIT=1 $(PYTEST) -q tests/_kernels

test-long: page  ## Run all tests, those that take minutes included
	$(PYTEST) -m "" $(PYTEST_ARGS)

bench: $(VENV)/bench.stamp  ## Measure speed and memory beside other libraries, write docs/benchmarks.md
	$(BIN)/python -m benchmarks $(BENCH_ARGS)

check: lint types layers docstrings viewer test  ## Everything that must pass before a change lands

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
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html

clean:  ## Remove the environment and everything made by the other targets
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
	$(PIP) --group dev --editable '.[cluster,formats,jupyter,rigidity,tables,web]'
	@touch $@

$(VENV)/bench.stamp: pyproject.toml | $(BIN)/python
	$(PIP) --group bench --editable .
	@touch $@

$(VENV)/docs.stamp: pyproject.toml | $(BIN)/python
	$(PIP) --group docs --editable .
	@touch $@
