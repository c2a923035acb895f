# A fresh clone, Python 3.11 or newer, Java 17 or newer, make: that is all these need.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help demo test sandbox bench clean

help:
	@echo "make demo     three real brokers, real groups, and what kgroups shows of them"
	@echo "make test     everything: style, types, and all tests, on five versions of Kafka"
	@echo "make sandbox  the demo's brokers and groups, to stay until: $(BIN)/kgroups sandbox down"
	@echo "make bench    kgroups beside its peers, in numbers"
	@echo "make clean    delete the virtual environment and what tools left behind"

demo: $(VENV)/.installed
	@$(BIN)/python -m kgroups.sandbox.demo

test: $(VENV)/.installed-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/pytest -q --require-kafka --kafka all

sandbox: $(VENV)/.installed
	@$(BIN)/kgroups sandbox up --brokers 3
	@$(BIN)/kgroups sandbox seed

bench: $(VENV)/.installed
	$(BIN)/python bench/run.py

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The package is installed in place: only a change of what it needs makes these anew.
$(VENV)/.installed: pyproject.toml | $(BIN)/python
	@echo "installing kgroups into $(VENV)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[pipeline]"
	@touch $@

$(VENV)/.installed-dev: pyproject.toml | $(BIN)/python
	@echo "installing kgroups and its tools into $(VENV)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[dev,pipeline]"
	@touch $@ $(VENV)/.installed

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "kgroups needs Python 3.11 or newer: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV)
