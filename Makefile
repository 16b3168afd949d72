# Every target sets up what it needs, on a machine with Python >= 3.11 and make.

PYTHON ?= python3
VENV := .venv
OLDEST := .venv-oldest
ENGINES := .venv-engines
DOCS := .venv-docs
BIN := $(VENV)/bin
JOBS ?= auto

.PHONY: demo test test-all test-newest test-oldest test-engines lint docs format bench audit build lock clean
.DEFAULT_GOAL := demo

# -- set-up -------------------------------------------------------------------------------------------

$(VENV)/.ready: requirements/dev.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "dpmorse needs Python >= 3.11: make PYTHON=python3.12 ...")'
	@echo "Setting up $(VENV) (once, a minute or two) ..."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@$(BIN)/playwright install chromium-headless-shell >/dev/null 2>&1 \
	  || echo "No browser could be downloaded: the report is tested in the system's Chromium, or not in a browser."
	@touch $@

# The oldest supported version of every dependency; Python 3.11 and 3.12 have wheels for all of them.
OLD_ENOUGH := $(shell $(PYTHON) -c 'import sys; print("yes" if sys.version_info < (3, 13) else "")' 2>/dev/null)

# torch and Spark, in an environment of their own, are larger than all else together: about 3.5 GB.
$(OLDEST)/.ready $(ENGINES)/.ready: .venv-%/.ready: requirements/%.txt pyproject.toml
	@echo "Setting up .venv-$* (once, a minute or more) ..."
	@$(PYTHON) -m venv .venv-$*
	@.venv-$*/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/$*.txt
	@.venv-$*/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

$(DOCS)/.ready: requirements/docs.txt
	@$(PYTHON) -m venv $(DOCS)
	@$(DOCS)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/docs.txt
	@touch $@

# -- what people use ----------------------------------------------------------------------------------

demo: $(VENV)/.ready  ## cluster synthetic people, print a summary, write files to open
	@$(BIN)/dpmorse demo -o demo-output --force

test: $(VENV)/.ready  ## the light suite, in one environment: a few minutes on two cores
	$(BIN)/python -m pytest -n $(JOBS) -m 'not long'

test-all: test-newest $(if $(OLD_ENOUGH),test-oldest) test-engines  ## every test, on the newest and the oldest dependencies

test-newest: $(VENV)/.ready  ## the whole suite, with the tests that are marked long
	$(BIN)/python -m pytest -n $(JOBS)

# Compiled code of other versions of numba is kept apart: in one folder, a process could load what another one is just
# replacing.
test-oldest: export NUMBA_CACHE_DIR = $(CURDIR)/$(OLDEST)/compiled
test-oldest: $(OLDEST)/.ready  ## the light suite of what depends on versions most
	$(OLDEST)/bin/python -m pytest -n $(JOBS) -m 'not long' tests/contracts tests/plots tests/clustering tests/persistence \
	  tests/bases/test_frames.py tests/bases/test_outputs.py tests/bases/test_private_gaussian_mixture.py tests/bases/test_table_mixture.py

test-engines: export NUMBA_CACHE_DIR = $(CURDIR)/$(ENGINES)/compiled
test-engines: $(ENGINES)/.ready  ## tensors, on the CPU and on a GPU where there is one; Spark, where there is Java
	$(ENGINES)/bin/python -m pytest -n $(JOBS) tests/engine tests/records/test_tensors.py tests/records/test_encoding_tensors.py tests/statistics/test_tables.py tests/contracts/test_engines.py tests/contracts/test_replay.py
	$(ENGINES)/bin/python -m pytest -n 0 tests/records/test_spark.py tests/contracts/test_readers.py

lint: $(VENV)/.ready  ## style, types, and the import rules that hold the privacy argument
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(DOCS)/.ready $(VENV)/.ready  ## the site, in site/, with the demo's report; a broken link is an error
	@$(BIN)/dpmorse demo -o demo-output --force --quiet
	NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/mkdocs build --strict --quiet

format: $(VENV)/.ready
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.ready  ## speed and memory against scikit-learn and diffprivlib
	$(BIN)/python -m benchmarks.speed
	$(BIN)/python -m benchmarks.morse

audit: $(VENV)/.ready $(ENGINES)/.ready  ## attack every claim for most of an hour, and write docs/audit.md
	$(BIN)/python -m audits

build: $(VENV)/.ready  ## wheel and source distribution, built twice and compared, with their bill of materials
	$(BIN)/python -m tools.build dist
	$(BIN)/python -m tools.sbom > dist/dpmorse.cdx.json

# -- upkeep -------------------------------------------------------------------------------------------

lock: $(VENV)/.ready  ## resolve the newest and the oldest dependencies anew
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile pyproject.toml --group dev --extra all --universal --python-version 3.11 \
	  --generate-hashes --no-emit-index-url --no-annotate --no-header --quiet --upgrade -o requirements/dev.txt
	$(BIN)/uv pip compile requirements/oldest.in --python-version 3.11 \
	  --generate-hashes --no-emit-index-url --no-annotate --no-header --quiet --upgrade -o requirements/oldest.txt
	$(BIN)/uv pip compile requirements/engines.in --universal --python-version 3.11 \
	  --generate-hashes --no-emit-index-url --no-annotate --no-header --quiet --upgrade -o requirements/engines.txt
	$(BIN)/uv pip compile requirements/docs.in --universal --python-version 3.11 \
	  --generate-hashes --no-emit-index-url --no-annotate --no-header --quiet --upgrade -o requirements/docs.txt

clean:
	rm -rf $(VENV) $(OLDEST) $(ENGINES) $(DOCS) .bench site demo-output build dist
