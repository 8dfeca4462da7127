# Two commands do all the set-up: `make app` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV := $(shell command -v uv 2>/dev/null)
PORT ?= 8501
DEMO ?= demo
# CI adds spark and mlflow, whose tests are skipped with a word where they are not installed.
DEV_EXTRAS ?= dev
PYTEST_ARGS ?=
# Built by the install, so a change asks for another one.
COMPILED := $(wildcard ingest/compiled/*.px[di] ingest/compiled/*.pyx)

.PHONY: install app test check lint format chromium bench docs clean

install: $(VENV)/.installed

app: install
	@$(BIN)/errata demo --prepare $(DEMO)
	@$(BIN)/errata app --workspace $(DEMO) --port $(PORT)

$(VENV)/bin/python:
	@if [ -n "$(UV)" ]; then uv venv --quiet --python $(PYTHON) $(VENV); else $(PYTHON) -m venv $(VENV); fi

# $(call install_with,[EXTRAS]): uv when it is there, pip otherwise.
define install_with
	@if [ -n "$(UV)" ]; then uv pip install --quiet --python $(BIN)/python -c constraints.txt -e '.$(1)'; \
	else $(BIN)/python -m pip install --quiet -c constraints.txt -e '.$(1)'; fi
endef

$(VENV)/.installed: pyproject.toml constraints.txt $(COMPILED) | $(VENV)/bin/python
	$(call install_with,)
	@touch $@

$(VENV)/.installed-dev: pyproject.toml constraints.txt $(COMPILED) | $(VENV)/bin/python
	$(call install_with,[$(DEV_EXTRAS)])
	@touch $@ $(VENV)/.installed

chromium: $(VENV)/.installed-dev
	@$(BIN)/python tests/install_chromium.py

test: chromium
	$(BIN)/python -m pytest -n 2 --dist loadgroup $(PYTEST_ARGS)

lint: $(VENV)/.installed-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

check: lint test

format: $(VENV)/.installed-dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix-only --quiet .

# Each figure is a ratio to something measured beside it in the same run.
bench: $(VENV)/.installed-dev
	@set -e; for name in ingest otlp mining sets runner metrics pages; do $(BIN)/python -m tests.bench.bench_$$name; done

# Rephrases, refusals, groundedness and scope on labelled data; writes docs/quality.md.
DATA ?= ../shared/data
quality: $(VENV)/.installed-dev
	$(BIN)/python -m tests.quality $(DATA)

# Key press to next item in Chromium on 1 million interactions; builds its workspace once, under build/.
bench-app: chromium
	$(BIN)/python -m tests.bench.bench_app

images: chromium
	$(BIN)/python tests/take_images.py

docs: $(VENV)/.installed-dev
	@$(BIN)/python tests/command_reference.py --write

clean:
	rm -rf $(VENV) $(DEMO) .mypy_cache .ruff_cache .pytest_cache .hypothesis build ingest/compiled/*.c ingest/compiled/*.so
