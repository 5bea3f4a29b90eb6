# Paths are relative and programs are started with `python -m`, so that the folder's own path may hold anything.
.DEFAULT_GOAL := help
.PHONY: help audit bench bench-compare bench-growth bench-learning bench-limit bench-overload bench-pages \
	bench-search bench-survival bench-time bench-upgrade bench-verify chromium clean-folder demo fuzz \
	fuzz-parsers lint lock run sbom soak test \
	test-semantic
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV = .venv/bin/python
CHROMIUMS = chromium chromium-browser google-chrome
APT = apt-get update -qq && apt-get install -y -qq chromium
PIP = $(VENV) -m pip --disable-pip-version-check --quiet
# What is installed is what was locked: each file by its hash. The plain files beside say the same to people.
LOCKED = install --require-hashes -r locks
TOOLS = .tools/bin
# Atheris comes built for Linux on Intel alone.
CAN_FOLLOW = $(VENV) -c 'import platform, sys; sys.exit(sys.version_info > (3, 14) or (platform.system(), platform.machine()) != ("Linux", "x86_64"))'
LOCKS = $(basename $(wildcard requirements*.txt))

help:  ## Say what there is to make.
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1	\2/p' Makefile

run: .venv/runtime  ## Run SenseLab until Ctrl-C.
	@exec $(VENV) manage.py up --stop-with-parent

demo: .venv/runtime  ## Fill the account `demo` with six weeks of plausible agent life.
	@exec $(VENV) manage.py seed_demo

clean-folder:  ## Run in a clean folder what the image runs, where no container engine is.
	@$(PYTHON) docs/deploy/clean_folder.py

test: .venv/testing chromium  ## Install what testing needs and run everything.
	$(VENV) -m pytest tests/house
	$(MAKE) lint
	$(VENV) -m pytest --ignore=tests/house --ignore=tests/semantic --numprocesses=auto --dist=loadfile --no-loadscope-reorder
	@if $(CAN_FOLLOW); then $(MAKE) fuzz-parsers RUNS=5000; fi

test-semantic: .venv/testing .venv/semantic  ## Install the embedding model and test with it.
	$(VENV) -m pytest tests/semantic

bench: .venv/testing  ## Measure beside the published peer: the same entries, the same calls, a ratio for each.
	@$(VENV) -m tests.load.bench_peer $(BENCH)

bench-compare: .venv/testing  ## Hold the last run of bench against the one before; fails at 15 % less.
	@$(VENV) -m tests.load.bench_compare

bench-growth: .venv/testing  ## Say what a million writes, reads and reports take on the disk.
	@$(VENV) -m tests.load.bench_growth $(BENCH)

bench-learning: .venv/testing  ## Let scripted agents learn in a changing world: ours, no memory and the published peer.
	@$(VENV) -m tests.load.bench_learning $(BENCH)
bench-limit: .venv/testing  ## Hold reads and writes against pgbench saying the same to the database.
	@$(VENV) -m tests.load.bench_limit

soak: .venv/testing  ## Kill parts with -9 for ten minutes while agents write, and look whether all is there (SECONDS=600).
	$(VENV) -m tests.load.soak $(or $(SECONDS),600)

bench-survival: .venv/testing  ## Measure export, import and check at 60,000 entries and 200,000 versions.
	$(VENV) -m tests.load.bench_survival

bench-verify: .venv/testing  ## Measure what recomputing 1,000,000 versions and seals costs.
	@$(VENV) -m tests.load.bench_verify

bench-overload: .venv/testing  ## Offer three times what it carries for a minute, and look how it bears that.
	@$(VENV) -m tests.load.bench_overload $(BENCH)

bench-upgrade: .venv/testing  ## Migrate 100,000 entries of an earlier release while that writes.
	@$(VENV) -m tests.load.bench_upgrade $(BENCH)

bench-pages: .venv/testing  ## Open each page on a store of 1,000,000 entries: milliseconds, statements, kilobytes.
	@$(VENV) -m tests.load.bench_pages $(BENCH)

bench-time: .venv/testing  ## Measure what time costs at 100,000 and 1,000,000 entries.
	@$(VENV) -m tests.load.bench_time

bench-search: .venv/testing  ## Measure what looking for something costs at 100,000 and 1,000,000 entries.
	@$(VENV) -m tests.load.bench_search $(BENCH)

fuzz: .venv/testing  ## Call the whole API as its schema says one may, 20,000 times (CASES=20000), then fuzz-parsers.
	FUZZ_CASES=$(or $(CASES),20000) $(VENV) -m pytest tests/fuzz --numprocesses=auto --dist=worksteal
	@if $(CAN_FOLLOW); then $(MAKE) fuzz-parsers; fi

fuzz-parsers: .venv/testing .venv/fuzzing  ## Let atheris look for texts that our parsers fall over (RUNS=1000000).
	@mkdir -p var/fuzz
	SENSELAB_DATA=var/test $(VENV) -m tests.fuzz.following -seed=1 -max_len=200 -len_control=0 -verbosity=0 \
		-artifact_prefix=var/fuzz/ -runs=$(or $(RUNS),1000000)

lock: .tools/ready  ## Write the hashes of what the requirements pin (locks/); after each change of a requirement.
	@mkdir -p locks
	@for name in $(LOCKS); do $(TOOLS)/uv pip compile $$name.txt --output-file locks/$$name.txt --generate-hashes \
		--no-deps --no-header --no-annotate --python-version 3.11 --quiet || exit 1; done

audit: .tools/ready  ## Ask whether weaknesses of the locked packages are known.
	@for name in $(LOCKS); do $(TOOLS)/pip-audit --strict --require-hashes --disable-pip --progress-spinner off \
		-r locks/$$name.txt || { echo "locks/$$name.txt: weak packages stand above, or else why they could not be asked for;" \
		"what was not asked for is not audited." >&2; exit 1; }; done

sbom: .tools/ready  ## List what SenseLab runs on as a CycloneDX bill of materials: var/sbom.json.
	@mkdir -p var
	@$(TOOLS)/cyclonedx-py requirements locks/requirements.txt --pyproject pyproject.toml --mc-type application \
		--output-reproducible --of JSON -o var/sbom.json

lint: .venv/testing  ## Check style, types and migrations.
	$(VENV) -m ruff check .
	$(VENV) -m ruff format --check .
	$(VENV) -m mypy manage.py senselab memories outcomes
	SENSELAB_DATA=var/test $(VENV) manage.py makemigrations --check --dry-run

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "SenseLab needs Python 3.11 or newer: make PYTHON=/path/to/python3 run" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || ! command -v apt-get >/dev/null || ! test "$$(id -u)" = 0 || \
		{ apt-get update -qq && apt-get install -y -qq python3-venv; }
	@$(PYTHON) -m venv --clear .venv || { rm -rf .venv; exit 1; }

.venv/runtime: locks/requirements.txt | .venv/bin/python
	@echo "Installing what SenseLab runs on."
	@$(PIP) $(LOCKED)/requirements.txt
	@$(PIP) install --no-deps --editable .
	@touch $@

.venv/testing: locks/requirements-dev.txt | .venv/bin/python
	@echo "Installing what testing needs."
	@$(PIP) $(LOCKED)/requirements-dev.txt
	@touch .venv/runtime $@

.venv/semantic: locks/requirements-semantic.txt | .venv/bin/python
	@echo "Installing what embeds texts."
	@$(PIP) $(LOCKED)/requirements-semantic.txt
	@touch $@

.venv/fuzzing: locks/requirements-fuzz.txt | .venv/bin/python
	@echo "Installing what follows the branches of our parsers."
	@$(PIP) $(LOCKED)/requirements-fuzz.txt
	@touch $@

.tools/ready: requirements-tools.txt
	@echo "Installing what locks and audits packages."
	@$(PYTHON) -m venv --clear .tools
	@$(TOOLS)/python -m pip --disable-pip-version-check --quiet install $$(test -f locks/requirements-tools.txt \
		&& echo --require-hashes -r locks/requirements-tools.txt || echo -r requirements-tools.txt)
	@touch $@

chromium:
	@for name in $(CHROMIUMS); do command -v $$name >/dev/null && exit 0; done; \
	test -d "/Applications/Chromium.app" && exit 0; \
	if ! command -v apt-get >/dev/null; then say="with your package manager (macOS: brew install --cask chromium)"; \
	elif test "$$(id -u)" = 0; then $(APT) && exit 0; say="yourself: apt-get install chromium"; \
	elif command -v sudo >/dev/null; then sudo sh -c '$(APT)' && exit 0; say="yourself: sudo apt-get install chromium"; \
	else say="as root: apt-get install chromium"; fi; \
	echo "The browser tests need Chromium; install it $$say" >&2; exit 1
