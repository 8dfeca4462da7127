# Two commands do all the set-up: `make app` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV := $(shell command -v uv 2>/dev/null)
PORT ?= 8501
DEMO ?= demo

.PHONY: install app test check format bench bench-app quality images clean

install: $(VENV)/.installed
app: install
	@$(BIN)/errata demo --prepare $(DEMO)
	@$(BIN)/errata app --workspace $(DEMO) --port $(PORT)

$(VENV)/bin/python:
	@if [ -n "$(UV)" ]; then uv venv --quiet --python $(PYTHON) $(VENV); else $(PYTHON) -m venv $(VENV); fi

# $(call install,EXTRAS): uv when it is there, pip otherwise.
define install_extras
	@if [ -n "$(UV)" ]; then uv pip install --quiet --python $(BIN)/python -c constraints.txt -e '.$(1)'; \
	else $(BIN)/python -m pip install --quiet -c constraints.txt -e '.$(1)'; fi
endef

$(VENV)/.installed: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(call install_extras,)
	@touch $@

$(VENV)/.installed-dev: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(call install_extras,[dev])
	@touch $@ $(VENV)/.installed

.PHONY: chromium
chromium: $(VENV)/.installed-dev
	@$(BIN)/python tests/install_chromium.py

test: $(VENV)/.installed-dev chromium
	$(BIN)/python -m pytest -n 2 --dist loadgroup $(PYTEST_ARGS)

format: $(VENV)/.installed-dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix-only --quiet .

check: $(VENV)/.installed-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(MAKE) --no-print-directory test

clean:
	rm -rf $(VENV) $(DEMO) .mypy_cache .ruff_cache .pytest_cache .hypothesis
