# Silverball: `make run` shows it, `make test` proves it. Both install first; nothing else is needed.
# The newest Python that runs and can make environments; a command of this name alone proves nothing.
FIND_PYTHON = for name in python3.14 python3.13 python3.12 python3.11 python3; do \
	$$name -c 'import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' >/dev/null 2>&1 \
	&& { echo $$name; break; }; done
PYTHON ?= $(shell $(FIND_PYTHON))
NO_PYTHON = Python 3.11 to 3.14 with its module venv is needed: apt install python3-venv, dnf install python3, brew install python. \
	PYTHON=/path/to/python make ... uses another one.
VENV := .venv
BIN := $(VENV)/bin
RUN_STAMP := $(VENV)/.installed-to-run
STAMP := $(VENV)/.installed
DOCS_STAMP := $(VENV)/.installed-to-document
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
CLIENTS := tests/clients
AUDIT := build/audit
TRIALS := build/trials.jsonl
PORT ?= 8000
HOST ?= 127.0.0.1
# One more than two cores, as tests also wait: for browsers, sockets, timers.
TEST_WORKERS ?= 3
# Compiled tests are kept. A file stays in one process, as its fixtures are made once; the longest come first.
PYTEST := PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n $(TEST_WORKERS) --dist loadfile --no-loadscope-reorder
LOCK := --no-emit-package silverball-client --quiet --python-version 3.11 --generate-hashes --no-header --no-annotate

.PHONY: help clients install install-run run demo-data docs test test-all quick slow-list check generated lock audit soak attempts release bench clean
help:  ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-9s %s\n", $$1, $$2}'

# What runs, and nothing else: `make run` needs no tools.
$(RUN_STAMP): requirements/run.txt requirements/build.txt pyproject.toml clients/python/pyproject.toml
	@$(if $(PYTHON),,echo "$(NO_PYTHON)" >&2; exit 1)
	@echo "Installing with $(PYTHON) into $(VENV), which takes a minute."
	@$(PYTHON) -m venv $(VENV)
	$(PIP) --require-hashes -r requirements/build.txt
	$(PIP) --no-deps --no-build-isolation -e clients/python -e .
	@touch $@

$(STAMP): $(RUN_STAMP) requirements/dev.txt
	$(PIP) --require-hashes -r requirements/dev.txt
	@touch $@

# Compiled here: a server that may not write to its folder would compile again at each start.
install-run: $(RUN_STAMP)
	@$(BIN)/python -m compileall -q src clients/python/src

install: $(STAMP)  ## create .venv and install everything, development tools included
	@$(BIN)/python -m compileall -q src clients/python/src

# Made once; `make clean` removes it.
DEMO_DATA := src/silverball/demo/data/old_nights.db.xz
$(DEMO_DATA): $(RUN_STAMP)
	$(BIN)/python scripts/demo_data.py $@

demo-data: $(DEMO_DATA)  ## play the demo's old nights once, so that its first start is quick

run: install-run demo-data  ## start the demo on http://127.0.0.1:8000; HOST=0.0.0.0 for phones
	$(BIN)/silverball demo --host $(HOST) --port $(PORT)

$(DOCS_STAMP): $(RUN_STAMP) requirements/docs.txt
	$(PIP) --require-hashes -r requirements/docs.txt
	@touch $@

docs: $(DOCS_STAMP)  ## build the handbook, which the server shows under /handbook
	$(BIN)/python scripts/build_handbook.py

check: install  ## ruff, mypy and the import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Published JavaScript clients for the tests; without node those tests skip and say why.
clients: $(CLIENTS)/node_modules
$(CLIENTS)/node_modules: $(CLIENTS)/package-lock.json
	@if command -v npm >/dev/null; then npm ci --silent --fetch-retries=1 --fetch-timeout=20000 --prefix $(CLIENTS) \
		|| echo "npm could not install tests/clients; tests that need it are skipped" >&2; fi
	@if [ -d $@ ]; then touch $@; fi

# PART=rules, PART=web/test_console.py: the tests of one room or file, without the checks.
test: $(if $(PART),install,check) clients  ## checks and tests in a quarter of an hour (longer with Chromium); PART=rules runs one room
	$(PYTEST) --durations=10 $(if $(PART),tests/$(PART))

test-all: $(if $(PART),install,check) clients  ## all tests: both databases, every case; PART as for `test`
	SILVERBALL_TEST_ALL=1 $(PYTEST) --durations=10 $(if $(PART),tests/$(PART))

quick: install  ## the tests that need no browser, no PostgreSQL and under 50 ms each: a minute
	SILVERBALL_QUICK=1 $(PYTEST) -q -p no:schemathesis

# Run on an idle machine, now and then.
slow-list: install  ## measure which tests are too slow for `make quick`, and the seconds of files
	SILVERBALL_LIST_TIMES=tests/file_seconds.txt $(PYTEST)
	SILVERBALL_QUICK=1 SILVERBALL_LIST_SLOW=tests/slow_tests.txt $(BIN)/python -m pytest -q -p no:schemathesis

# In an environment of its own: it brings a pip of its own.
$(AUDIT)/.installed: requirements/audit.txt
	$(PYTHON) -m venv $(AUDIT)
	$(AUDIT)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

audit: $(AUDIT)/.installed  ## known weaknesses of what is locked, and a bill of materials in build/
	$(AUDIT)/bin/python scripts/audit.py

# The table says what was found, whether or not a test failed.
soak: install clients audit  ## the tests that run long, 300 mutants, and the table of docs/reliability.md
	@mkdir -p build && rm -f $(TRIALS)
	SILVERBALL_SOAK=1 SILVERBALL_TRIALS=$(abspath $(TRIALS)) $(BIN)/python -m pytest -n 2 -m soak; \
		result=$$?; $(BIN)/python scripts/reliability_table.py $(TRIALS) && exit $$result
	$(BIN)/python scripts/mutants.py

ATTEMPTS = tests/kit/test_bounded_http.py tests/service/test_access_of_everybody.py \
	tests/service/accounts/test_ended_rights.py tests/exchange/test_hostile_source.py \
	tests/trials/test_frames.py tests/service/test_operations_in_every_format.py tests/web/test_any_form.py

attempts: install clients  ## what must not work is tried, in all cases, and counted in docs/security.md
	@mkdir -p build && rm -f $(TRIALS)
	SILVERBALL_TEST_ALL=1 SILVERBALL_TRIALS=$(abspath $(TRIALS)) $(PYTEST) $(ATTEMPTS)
	$(BIN)/python scripts/reliability_table.py --attempts $(TRIALS)

# KEY=FILE signs the checksums with that SSH key. The handbook is built from the commit, not taken over.
release: $(DOCS_STAMP) $(AUDIT)/.installed  ## wheels, source, bill of materials and checksums in dist/; KEY=FILE signs
	$(BIN)/python scripts/release.py --audit-python $(abspath $(AUDIT)/bin/python) $(if $(KEY),--key $(KEY))

bench: install  ## measure against the peers; prints the table
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/bench.txt
	$(BIN)/python benchmarks/run.py
	$(BIN)/python benchmarks/kept.py
	$(BIN)/python benchmarks/engine.py
	$(BIN)/python benchmarks/results.py
	$(BIN)/python benchmarks/visited_files.py
	$(BIN)/python benchmarks/growth.py
	$(BIN)/python benchmarks/machines.py
	$(BIN)/python benchmarks/ratings.py
	$(BIN)/python benchmarks/bulk.py
	$(BIN)/python benchmarks/pulled.py
	$(BIN)/python benchmarks/feed.py
	$(BIN)/python benchmarks/feed_storm.py
	$(BIN)/python benchmarks/pages.py
	$(BIN)/python benchmarks/lists.py
	$(BIN)/python benchmarks/big.py
	$(BIN)/python benchmarks/searches.py
	$(BIN)/python benchmarks/cache_memory.py
	$(BIN)/python benchmarks/start.py
	$(BIN)/python benchmarks/overload.py
	$(BIN)/python benchmarks/costly.py
	$(BIN)/python benchmarks/planner.py
	$(BIN)/python benchmarks/forecast.py
	$(BIN)/python benchmarks/shared_room.py
	$(BIN)/python benchmarks/typed_client.py
	$(BIN)/python benchmarks/mirror_lag.py
	$(BIN)/python benchmarks/sign_ups.py

generated: install  ## write again what follows from the program: shapes, typed client, tables and examples of the docs
	PYTHONPATH=clients/python $(BIN)/python -m generator
	PYTHONPATH=tests $(BIN)/python -m house.tables
	PYTHONPATH=tests $(BIN)/python -m house.doc_examples

# The locks carry names, versions and hashes; no address is written. Our own client is installed beside them.
lock:  ## lock the dependencies of pyproject.toml again (needs uv)
	uv pip compile $(LOCK) -o requirements/run.txt pyproject.toml
	uv pip compile $(LOCK) -o requirements/build.txt --extra build -c requirements/run.txt pyproject.toml
	uv pip compile $(LOCK) -o requirements/nodes.txt --extra postgresql --extra redis -c requirements/run.txt pyproject.toml
	uv pip compile $(LOCK) -o requirements/dev.txt --extra dev pyproject.toml
	uv pip compile $(LOCK) -o requirements/docs.txt --extra docs -c requirements/dev.txt pyproject.toml
	uv pip compile $(LOCK) -o requirements/audit.txt --extra audit -c requirements/dev.txt pyproject.toml
	uv pip compile $(LOCK) -o requirements/bench.txt --extra bench -c requirements/dev.txt pyproject.toml
	uv pip compile $(LOCK) -o requirements/bulk.txt --extra bulk -c requirements/dev.txt pyproject.toml

clean:  ## remove the environment and the demo's data
	rm -rf $(VENV) .demo build dist src/silverball/web/handbook_site $(DEMO_DATA) .mypy_cache .ruff_cache .pytest_cache
