# Every target sets up what it needs in a local .venv. Only Python >= 3.11 and make are required.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
XDIST ?= --numprocesses=3 --dist=loadfile  # what a file sets up, it sets up once; a browser is waited for
SOAK := $(addprefix tests/,session/durability/test_crash.py session/durability/test_journal_damage.py \
	session/durability/test_forgeries.py data/odd/test_damage.py data/odd/test_nasty.py web/test_fuzz.py \
	web/page/test_board.py \
	cli/test_serve.py::test_answers_and_undos_take_no_more_memory)

.DEFAULT_GOAL := demo
.PHONY: help demo test lint soak bench agreement docs hooks wheel clean

help:                       ## this list
	@sed -n 's/^\([a-z]*\):[^#]*## \(.*\)/\1|\2/p' Makefile | while IFS='|' read -r target what; \
	do printf 'make %-10s %s\n' "$$target" "$$what"; done

demo: .venv/base            ## cluster the bundled digits by answering questions
	@$(BIN)/cobras demo $(OPTIONS)

test: .venv/test            ## all tests and doctests
	$(BIN)/python -m pytest $(XDIST)

lint: .venv/lint            ## style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

soak: .venv/test            ## kills, flipped bits, nasty files and requests by the thousand; prints what was lost
	COBRAS_SOAK=1 $(BIN)/python -m pytest $(XDIST) --dist=worksteal $(SOAK)

bench: .venv/peers          ## speed beside scikit-learn and the peers, as ratios, and growth with the rows
	$(BIN)/python -m benchmarks.peers.kmeans
	$(BIN)/python -m benchmarks.speed
	$(BIN)/python -m benchmarks.peers.baselines
	$(BIN)/python -m benchmarks.speed --growth
	$(BIN)/python -m benchmarks.large.scale
	$(BIN)/python -m benchmarks.large.cluster
	$(BIN)/python -m benchmarks.page.web

agreement: .venv/peers      ## same behaviour as cobras-ts, 50 seeds
	$(BIN)/python -m benchmarks.peers.agreement

docs: .venv/docs            ## HTML in docs/_build, tutorials included, which are run
	$(BIN)/sphinx-build -W --keep-going -q docs docs/_build

hooks: .venv/lint           ## run style and types before every commit
	$(BIN)/pre-commit install

wheel: .venv/test           ## dist/*.whl
	$(BIN)/python -m build --wheel

clean:                      ## remove .venv and all that was built
	rm -rf .venv build dist docs/_build docs/tutorials .pytest_cache .mypy_cache .ruff_cache .hypothesis

.venv/base: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "cobras needs Python >= 3.11")'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(PIP) --upgrade pip  # before 25.1 pip knows no dependency groups
	$(PIP) --editable .
	touch $@

.venv/test .venv/lint .venv/docs .venv/peers: .venv/%: .venv/base
	$(PIP) --editable . --group $*
	touch $@
