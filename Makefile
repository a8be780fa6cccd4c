# make demo, make test: everything a newcomer needs; each sets up .venv first.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
PACKAGES := ace audit flows models reports taxonomy

.PHONY: demo test lint bench docs clean

$(STAMP): pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -e ".[dev]"
	@touch $(STAMP)

demo: $(STAMP)
	$(BIN)/agenthard demo --out demo-run

test: $(STAMP) lint
	$(BIN)/pytest -n auto

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@rm -rf .mypy_path && mkdir -p .mypy_path/agenthard
	@for item in $(CURDIR)/agenthard/* $(PACKAGES:%=$(CURDIR)/%); do ln -s $$item .mypy_path/agenthard/; done
	$(BIN)/mypy

bench: $(STAMP)
	@for file in perf/bench_*.py; do echo "== $$file"; $(BIN)/python $$file || exit 1; done

docs: $(STAMP)
	$(BIN)/agenthard taxonomy --markdown > docs/taxonomy.md
	$(BIN)/agenthard checks --markdown docs/checks

clean:
	rm -rf .venv demo-run runs
