# make demo, make test: everything a newcomer needs; each sets up .venv first.
PYTHON ?= python3
BIN := .venv/bin
CORE := .venv/.core
STAMP := .venv/.installed
PACKAGES := ace agency audit containment escape flows models play reports taxonomy

# Commands start faster with the bytecode of an earlier one.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test lint style types namespace lowest bench docs site lock release clean

$(CORE): pyproject.toml requirements-dev.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -c requirements-dev.txt -e .
	@touch $(CORE)

$(STAMP): $(CORE)
	$(BIN)/pip install --quiet --disable-pip-version-check -c requirements-dev.txt -e ".[dev]"
	@touch $(STAMP)

demo: $(CORE)
	$(BIN)/agenthard demo --out demo-run

# LONG=1, as in continuous integration, adds the tests that take many seconds: whole benchmarks, killed commands, servers.
# mypy uses one core for a minute and a half, so it runs next to the tests.
test: $(STAMP) style namespace
	@$(BIN)/mypy > build/mypy.txt 2>&1 & mypy=$$!; \
	$(BIN)/pytest -n auto --dist loadfile --no-loadscope-reorder $(if $(LONG),,-m "not long"); tests=$$?; \
	wait $$mypy; types=$$?; cat build/mypy.txt; test $$tests = 0 && test $$types = 0

lint: style types

style: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP) namespace
	$(BIN)/mypy

# The packages as they are installed, below agenthard/, for mypy and the API reference.
namespace:
	@rm -rf build/types && mkdir -p build/types/agenthard
	@for item in $(CURDIR)/agenthard/* $(PACKAGES:%=$(CURDIR)/%); do ln -s $$item build/types/agenthard/; done

# The oldest versions that pyproject.toml allows: the installed wheel runs the demo, and the tests that need no browser.
lowest: $(STAMP)
	$(BIN)/uv venv --quiet --clear --python $(PYTHON) build/lowest
	$(BIN)/uv pip install --quiet --python build/lowest/bin/python --resolution lowest-direct . $(LOWEST_TEST_TOOLS)
	cd build && lowest/bin/agenthard demo --offline --out lowest-demo
	build/lowest/bin/python -m pytest -p no:cacheprovider -n auto tests/taxonomy tests/audit/statistics tests/audit/detectors tests/reports tests/models

LOWEST_TEST_TOOLS := "pytest>=8.3" "pytest-asyncio>=0.25" "pytest-xdist>=3.6" "hypothesis>=6.100"

# Compares with perf/figures.json. LONG=1 measures what takes minutes too; UPDATE=1 records the figures.
bench: $(STAMP)
	$(BIN)/python perf/bench_commands.py $(if $(LONG),--long) $(if $(UPDATE),--update)

docs: $(STAMP)
	$(BIN)/agenthard taxonomy --markdown > docs/taxonomy.md
	$(BIN)/agenthard checks --markdown docs/checks
	$(BIN)/agenthard explain errors --markdown > docs/reference/errors.md

site: $(STAMP) types
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --site-dir build/site

# Versions that development and the workflows use, for every supported Python and system.
lock: $(STAMP)
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --extra dev --no-header --no-annotate \
	  --no-emit-index-url --no-emit-find-links --output-file requirements-dev.txt pyproject.toml

# Builds, checks, and runs what a user would install, in an empty environment and an empty folder.
release: $(STAMP)
	rm -rf dist build/release && mkdir -p build/release
	$(BIN)/python -m build --outdir dist
	$(BIN)/twine check --strict dist/*
	$(PYTHON) -m venv build/release/venv
	build/release/venv/bin/pip install --quiet --disable-pip-version-check dist/*.whl
	cd build/release && for name in $(PACKAGES); do ! venv/bin/python -c "import $$name" 2>/dev/null || exit 1; done
	cd build/release && venv/bin/python -m agenthard demo --offline --out demo
	@echo "dist/ is ready: tag the commit as v$$($(BIN)/python -c 'from importlib.metadata import version; print(version("agenthard"))') and push the tag"

clean:
	rm -rf .venv build dist demo-run runs
