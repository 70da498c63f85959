# Everything runs from one virtual environment made here; only Python 3.11 and make are needed beforehand.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --disable-pip-version-check --quiet --require-hashes
DEMO := $(CURDIR)/.demo
HOST ?= 127.0.0.1
PORT ?= 8000
# The server that `make test-all` uses beside SQLite; a test database is made in it and removed again.
POSTGRES ?= postgres://postgres@127.0.0.1:5432/postgres
# The broker for the tests with real workers; those that die anywhere never see a broker.
REDIS ?= redis://127.0.0.1:6379/0
QUEUE_TESTS := tests/jobs/test_bell.py tests/journeys/test_night.py
DATABASE_TESTS := tests/ledger tests/agents tests/runs tests/proposals tests/jobs tests/api tests/web tests/journeys

.PHONY: help install demo run test test-all check lock bench bench-writes

help:
	@echo "make demo          an example home with a proposal waiting, served on $(HOST):$(PORT), with its worker"
	@echo "make run           serve your own home (MEMORYHUB_HOME, default ~/.memoryhub), with its worker"
	@echo "make test          the tests, on SQLite, without a browser"
	@echo "make test-all      more: everything on PostgreSQL too, the queue on Redis, and a real Chromium"
	@echo "make check         format, lint, types, deployment checks, migrations, tests"
	@echo "make bench-writes  appends through the API beside the disk's own fsync rate"

$(VENV)/.base: requirements/base.txt
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
	$(PIP) -r requirements/base.txt
	@touch $@

$(VENV)/.test: $(VENV)/.base requirements/test.txt
	$(PIP) -r requirements/test.txt
	@touch $@

$(VENV)/.all: $(VENV)/.test requirements/all.txt
	$(PIP) -r requirements/all.txt
	@touch $@

install: $(VENV)/.base

demo: install
	MEMORYHUB_HOME=$(DEMO) $(BIN)/python manage.py demo --host $(HOST) --port $(PORT)

run: install
	$(BIN)/python manage.py migrate --verbosity 0
	$(BIN)/python manage.py serve --host $(HOST) --port $(PORT)

test: $(VENV)/.test
	$(BIN)/python -m pytest -m "not browser"

# Once more with everything: a real browser, the queue on Redis, and whatever touches the database on PostgreSQL too.
test-all: $(VENV)/.all
	$(BIN)/python -m pytest -m browser
	MEMORYHUB_REDIS_URL=$(REDIS) $(BIN)/python -m pytest -m "not browser" -k "not anywhere" $(QUEUE_TESTS)
	MEMORYHUB_DATABASE_URL=$(POSTGRES) $(BIN)/python -m pytest -m "not browser" $(DATABASE_TESTS)

check: $(VENV)/.all
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	MEMORYHUB_HTTPS=yes MEMORYHUB_SECRET_KEY=$$(head -c 48 /dev/urandom | base64) \
	  $(BIN)/python manage.py check --deploy --fail-level WARNING
	$(BIN)/python manage.py makemigrations --check --dry-run
	$(BIN)/python -m pytest -m "not browser"

bench: bench-writes

bench-writes: $(VENV)/.test
	$(BIN)/python -m tests.bench.writes

lock: $(VENV)/.all
	$(BIN)/python -m pip install --quiet pip-tools
	for set in "base:" "test:--extra test" "all:--extra test --extra postgres --extra redis --extra browser --extra check"; do \
	  $(BIN)/python -m piptools compile --quiet --generate-hashes --strip-extras --allow-unsafe \
	    --no-emit-index-url --no-emit-trusted-host --no-emit-find-links --no-emit-options --no-header --no-annotate \
	    $${set#*:} --output-file requirements/$${set%%:*}.txt pyproject.toml; \
	done
