# Every target works on a fresh clone with nothing but make and Python ≥ 3.11.

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet
# Two processes share the tests: each collects all of them first, so that more would cost more.
WORKERS ?= 2
# Bytecode is kept whatever the environment says.
PYTEST := env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest --numprocesses $(WORKERS) --dist worksteal
# Tests that compare compiled loops with references, on systems that are small enough for both.
KERNELS := $(patsubst %,tests/core/test_%.py,linkage moments objects pairs parts tree)

# The first interpreter that is new enough and can make an environment; or choose: make PYTHON=...
CANDIDATES := python3.14 python3.13 python3.12 python3.11 python3
first_usable = $(shell for python in $(1); do \
	$$python -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& echo $$python && break; done)
PYTHON ?= $(call first_usable,$(CANDIDATES))

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test test-slow test-oldest fuzz check lint types layers docstrings words scripts page format docs bench clean

help:  ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 15

demo: $(VENV)/package.stamp  ## Analyse a built-in system and write ./timme-demo-kinase
	$(BIN)/timme demo --overwrite

test: $(VENV)/dev.stamp  ## Run the tests, those marked slow excepted
	$(PYTEST) $(PYTEST_ARGS)

test-slow: export HYPOTHESIS_PROFILE := nightly
test-slow: $(VENV)/dev.stamp  ## Run all tests, and those of the kernels with the JIT off
	$(PYTEST) -m "" $(PYTEST_ARGS)
	HYPOTHESIS_PROFILE=quick NUMBA_DISABLE_JIT=1 $(PYTEST) -q $(KERNELS)

test-oldest: | $(BIN)/python  ## Run the tests with the oldest dependencies that pyproject.toml allows
	$(PIP) uv
	$(BIN)/uv venv --quiet --allow-existing --python $(BIN)/python .venv-oldest
	$(BIN)/uv pip install --quiet --python .venv-oldest --resolution lowest-direct \
		--group test --editable '.[cluster,formats,rigidity,web]'
	.venv-oldest/bin/python -m pytest --numprocesses $(WORKERS) --dist worksteal $(PYTEST_ARGS)

fuzz: $(VENV)/dev.stamp  ## Read 2,000 damaged files, each in a process of its own
	$(BIN)/python -m tests.fuzz $(FUZZ_ARGS)

bench: $(VENV)/bench.stamp  ## Measure speed and memory beside other libraries
	$(BIN)/python -m benchmarks $(BENCH_ARGS)

check: lint types layers docstrings words scripts  ## Check style, types, imports, docstrings and the page

lint: $(VENV)/dev.stamp
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(VENV)/dev.stamp
	$(BIN)/mypy

layers: $(VENV)/dev.stamp
	$(BIN)/lint-imports --no-logo

docstrings: $(VENV)/dev.stamp
	$(BIN)/numpydoc lint $$(find src/timme -name '*.py' -not -path '*/_[a-z]*')

words: $(VENV)/dev.stamp
	$(BIN)/python -m pytest --quiet --numprocesses 0 tests/test_words.py

scripts: $(VENV)/dev.stamp
	$(BIN)/python viewer/build.py --check --test

page: $(VENV)/dev.stamp  ## Build the interactive page and those of the server
	$(BIN)/python viewer/build.py || echo "make: the page could not be built; its tests are skipped" >&2

format: $(VENV)/dev.stamp  ## Format the code
	$(BIN)/ruff check --fix-only
	$(BIN)/ruff format

docs: $(VENV)/docs.stamp  ## Build the documentation into docs/_build/html
	$(BIN)/python docs/options.py
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html

clean:  ## Remove the environment and everything made by the other targets
	rm -rf $(VENV) .venv-oldest build dist src/timme/page viewer/node_modules docs/_build docs/gallery docs/results docs/first-look.ipynb docs/generated docs/sg_execution_times.rst timme-demo-*
	rm -rf .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	rm -rf .cache
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
