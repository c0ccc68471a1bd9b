# `make` alone lists the targets. Needs only make and Python >= 3.11.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# Many tests start processes: without bytecode files each would compile the package anew.
PYTEST := PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n auto --dist worksteal

.DEFAULT_GOAL := help
.PHONY: help demo test test-all test-long test-scale test-versions check format docs bench test-gpu bench-gpu clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-13s %s\n", $$1, $$2}'

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("posterior needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Try: make PYTHON=python3.12") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt "pip>=25.1"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --group dev --editable .
	@touch $(READY)

demo: $(READY) ## compare models of the bundled penguins and write report.html
	$(BIN)/posterior compare penguins --report report.html

test: $(READY) ## the test suite (a quarter of an hour on two cores)
	$(PYTEST) -m "not long and not spark"

test-all: $(READY) ## the suite and the long runs
	$(PYTEST) -m "not spark" --hypothesis-profile many

# SELECT="long and not spark": without the many examples of properties that `make test` tries with few.
SELECT ?= (long or hypothesis) and not spark
test-long: $(READY) ## the long runs alone (fuzzing, simulations, all combinations, many examples)
	$(PYTEST) -m "$(SELECT)" --hypothesis-profile many

# In one process: Spark has workers of its own.
test-scale: $(READY) ## what runs on Spark; installs it, and Java where apt-get can
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --group scale
	@[ -n "$$JAVA_HOME" ] || command -v java >/dev/null || ! command -v apt-get >/dev/null || \
		{ apt-get update -qq && apt-get install -y -qq default-jre-headless >/dev/null; } || echo "Java could not be installed"
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -m spark

test-versions: $(READY) ## the suite on the lowest and the newest versions that can be had (ARGS=3.13:newest: one pair)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --group versions
	$(BIN)/python scripts/test_versions.py $(ARGS)

check: $(READY) ## format, lint, types, layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(READY) ## apply the formatter and the safe fixes
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(READY) ## the site in docs/_build/html, every page run and every link followed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --group docs
	@rm -rf docs/api/generated
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m sphinx --fail-on-warning --keep-going --fresh-env --jobs auto --quiet docs docs/_build/html
	$(BIN)/python scripts/check_site.py docs/_build/html
	@echo "docs/_build/html/index.html"

bench: $(READY) ## time against rivals, after checking that the answers agree (ARGS=--quick: a minute)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --group bench
	$(BIN)/python -m benchmarks $(ARGS)

# On a machine with a GPU its own Python, CuPy and PyTorch are used: nothing is installed.
test-gpu: ## what runs on an NVIDIA GPU, with the Python at hand
	PYTHONPATH=src $(PYTHON) -m pytest -q --noconftest tests/gpu

bench-gpu: ## fits and posteriors on a GPU, checked and timed; writes benchmarks/results/gpu.json
	PYTHONPATH=src $(PYTHON) -m benchmarks.gpu $(ARGS)

clean: ## remove the environment and the caches
	rm -rf $(VENV) .versions docs/_build docs/api/generated .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
