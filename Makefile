# A fresh clone, Python 3.11 or newer, Java 17 or newer, make: that is all these need; the tests also openssl. What needs a
# Kerberos KDC, tmux, zsh, fish, groff, Chromium or Prometheus (Debian: krb5-kdc krb5-admin-server krb5-user libkrb5-dev tmux
# zsh fish curl jq groff-base chromium prometheus) is skipped where there is none, and says so; with
# REQUIRE=--require-programs, as CI has it, it fails.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
FUZZ_SECONDS ?= 180
# There are no wheels of gssapi for Linux: it is built where the headers are, which Debian has in libkrb5-dev.
KERBEROS := $(shell command -v krb5-config >/dev/null && echo ,gssapi)

# Each test process would compile kgroups and the tests again, if the environment forbids bytecode files.
export PYTHONDONTWRITEBYTECODE =

.PHONY: help demo test lanes soak style fast units history spark default others alone faults site sandbox bench fuzz audit sbom docs docs-pictures readme-pictures screens dist lowest newest pythons release-check clean

help:
	@echo "make demo     three real brokers, real groups, and what kgroups shows of them"
	@echo "make test     everything: style, types, and all tests, on six versions of Kafka"
	@echo "make soak     the tests that run too long for each change; make test skips them"
	@echo "make sandbox  the demo's brokers and groups, to stay until: $(BIN)/kgroups sandbox down"
	@echo "make bench    kgroups beside its peers, in numbers"
	@echo "make fuzz     random bytes for everything that reads bytes, FUZZ_SECONDS=180 for each target"
	@echo "make audit    known vulnerabilities of what kgroups is installed with (asks PyPI)"
	@echo "make sbom     build/sbom.json, CycloneDX: the same packages, with versions and licenses"
	@echo "make docs     build/site/index.html, the documentation as a site that works from disk"
	@echo "make dist     the files of a release in dist/: wheel, source, one executable file, and all wheels for hosts without network"
	@echo "make lowest   the tests with the lowest version of each dependency; make newest: the newest; make pythons: each Python"
	@echo "make release-check  the checks before a release: PASS, FAIL, or NOT AVAILABLE; takes an hour"
	@echo "make clean    delete the virtual environment and what tools left behind"

demo: $(VENV)/.installed
	@$(BIN)/python -m kgroups.sandbox.demo

# All at a time, even on two cores: tests of brokers wait more than they compute.
test: $(VENV)/.installed-dev
	@$(MAKE) $(TOGETHER) style lanes

TOGETHER := --no-print-directory --jobs --keep-going --output-sync=line

# Eight processes that start at the same time would compile the same modules eight times: one imports them all before.
lanes: $(VENV)/.installed-dev
	@$(BIN)/pytest -q --collect-only tests > /dev/null || true
	@$(MAKE) $(TOGETHER) default others spark alone faults history units site

style: $(VENV)/.installed-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

fast: units history

# Tests without brokers, in two parts of about the same length.
HISTORY := tests/unit/history

history: $(VENV)/.installed-dev
	$(BIN)/pytest -q $(HISTORY) tests/distribution $(REQUIRE)

units: $(VENV)/.installed-dev
	$(BIN)/pytest -q tests/unit tests/property $(HISTORY:%=--ignore=%) $(REQUIRE)

# One session of Spark for all.
spark: $(VENV)/.installed-dev
	$(BIN)/pytest -q tests/spark tests/integration -m "spark and not shared" --require-kafka --kafka all $(REQUIRE)

# Tests of shared clusters, in two parts of about the same length: the version of most tests, and the others.
default: $(VENV)/.installed-dev
	$(BIN)/pytest -q tests/integration -m shared --require-kafka --kafka 4.3.1 $(REQUIRE)

others: $(VENV)/.installed-dev
	$(BIN)/pytest -q tests/integration -m shared --require-kafka --kafka 1.1.1,2.5.1,2.8.2,3.9.1,4.4.0 $(REQUIRE)

# Tests of clusters of their own, in three parts: the third is in spark.
alone: $(VENV)/.installed-dev
	$(BIN)/pytest -q tests/integration -m "alone and not faults and not spark" --require-kafka --kafka all $(REQUIRE)

faults: $(VENV)/.installed-dev
	$(BIN)/pytest -q tests/integration -m faults --require-kafka --kafka all $(REQUIRE)

# The documentation as a site, in a browser.
site: $(VENV)/.installed-dev build/docs/.installed
	$(BIN)/pytest -q tests/site $(REQUIRE)

# One Kafka version: what these tests look for takes time, not versions.
soak: $(VENV)/.installed-dev build/docs/.installed
	$(BIN)/pytest -q tests -m soak --soak -o faulthandler_timeout=7200 --require-kafka --kafka 4.3.1 $(REQUIRE)

sandbox: $(VENV)/.installed
	@$(BIN)/kgroups sandbox up --brokers 3
	@$(BIN)/kgroups sandbox seed

bench: $(VENV)/.installed
	$(BIN)/python bench/run.py

fuzz: $(VENV)/.installed-dev
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check "atheris>=2.3"
	$(BIN)/python -m tests.fuzz.run --seconds $(FUZZ_SECONDS)

# In an environment of their own: tools that look at packages are none of them. What cannot be audited is a failure.
audit: $(VENV)/.installed-dev build/tools/.installed
	build/tools/bin/pip-audit --strict --skip-editable --progress-spinner off --path "$$($(SITE))" --output build/audit.json --format json

sbom: $(VENV)/.installed-dev build/tools/.installed
	build/tools/bin/cyclonedx-py environment --pyproject pyproject.toml --mc-type application --output-reproducible --output-file build/sbom.json $(BIN)/python
	@echo "build/sbom.json: $$(grep -c '"purl"' build/sbom.json) packages"

dist: $(VENV)/.installed-dev
	$(BIN)/python -m tests.distribution.build

lowest newest: $(VENV)/.installed-dev
	$(BIN)/python -m tests.distribution.dependencies $@

pythons: $(VENV)/.installed-dev
	$(BIN)/python -m tests.distribution.release_check --only pythons

release-check: $(VENV)/.installed-dev build/tools/helm
	@$(INSTALL) "kubernetes-validate>=1.33" "pyyaml>=6"
	@$(BIN)/python -m tests.distribution.release_check

# Helm has no package of Debian: it is built if there is Go, which takes minutes. Without it, its checks are not available.
build/tools/helm:
	@mkdir -p build/tools
	@! command -v go > /dev/null || GOBIN=$(CURDIR)/build/tools go install helm.sh/helm/v3/cmd/helm@v3.22.0

SITE := $(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))'

build/tools/.installed: | $(BIN)/python
	@$(PYTHON) -m venv build/tools
	@build/tools/bin/python -m pip install --quiet --disable-pip-version-check "pip-audit>=2.10,<3" "cyclonedx-bom>=7.5,<8"
	@touch $@

# Not with --quiet: it would ignore warnings, which are errors.
docs: build/docs/.installed
	@NO_MKDOCS_2_WARNING=1 build/docs/bin/mkdocs build --config-file docs/site/mkdocs.yml
	@echo "build/site/index.html"

# Pictures of real runs, on brokers of their own; the next make docs shows them.
docs-pictures: $(VENV)/.installed
	$(BIN)/python docs/site/pictures.py

# Those in docs/pictures/, on brokers of their own; review and commit them.
readme-pictures: $(VENV)/.installed
	$(BIN)/python docs/site/pictures.py --readme

# What a terminal shows of the most used commands, at four widths, in build/screens/; needs tmux.
screens: $(VENV)/.installed
	$(BIN)/python docs/site/pictures.py --screens

build/docs/.installed: docs/site/requirements.txt | $(BIN)/python
	@$(PYTHON) -m venv --without-pip build/docs
	@$(INSTALL_DOCS) --requirement docs/site/requirements.txt
# Of this package only its axe.min.js is used, by tests/site.
	@$(INSTALL_DOCS) --no-deps "axe-playwright-python>=0.1.8,<1"
	@touch $@

INSTALL_DOCS := $(BIN)/python -m pip --python build/docs/bin/python install --quiet --disable-pip-version-check --no-compile

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The pip that comes with Python 3.11 takes half a minute longer to choose the versions of all packages.
# Compiling all modules of all packages takes a minute, and most are never imported: Python compiles those that are.
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile

# The package is installed in place: only a change of what it needs makes these anew.
$(VENV)/.installed: pyproject.toml | $(BIN)/python
	@echo "installing kgroups into $(VENV)"
	@$(INSTALL) -e ".[pipeline]"
	@touch $@

$(VENV)/.installed-dev: pyproject.toml | $(BIN)/python
	@echo "installing kgroups and its tools into $(VENV)"
	@$(INSTALL) -e ".[dev,pipeline$(KERBEROS)]"
	@touch $@ $(VENV)/.installed

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "kgroups needs Python 3.11 or newer: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
