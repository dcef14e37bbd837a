# Everything happens in .venv, with the versions of constraints.txt. Needs Python 3.11 to 3.13 and make.
PYTHON ?= $(shell command -v python3.11 || command -v python3.12 || command -v python3.13 || command -v python3)
VENV ?= .venv
BIN = $(VENV)/bin
INSTALL = $(BIN)/python -m pip install --disable-pip-version-check --quiet --constraint constraints.txt

.PHONY: help install serve test lint bench clean

help:
	@echo "make serve    install, add the seeds, open the chat page at http://127.0.0.1:7860"
	@echo "make test     install, run all tests"
	@echo "make lint     ruff and mypy"
	@echo "make bench    the benchmarks"
	@echo "make clean    remove .venv and what tools left behind"

install: $(VENV)/installed-test

$(VENV)/python:
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' \
		|| { echo "Python 3.11 to 3.13 is needed; name one with: make PYTHON=/path/to/python3.11 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/installed-%: $(VENV)/python pyproject.toml constraints.txt
	@echo "Installing askabstracts[$*] into $(VENV) (about 1 GB, some minutes the first time)"
	$(INSTALL) --editable ".[$*]"
	@touch $@

serve: install
	$(BIN)/rag ingest
	$(BIN)/rag serve --open

test: install
	HF_HUB_OFFLINE=1 $(BIN)/python -m pytest

lint: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: install
	HF_HUB_OFFLINE=1 $(BIN)/python -m pytest -m bench -s tests/bench

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis dist
