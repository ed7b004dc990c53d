# `make demo` and `make test` need python3, make and a package index, and nothing else.
PYTHON ?= python3
BIN := .venv/bin
# stops a recipe before its first line
REFUSE_OLD = $(if $(OLD),$(error $(OLD)))
OLD = $(shell $(PYTHON) -c 'import sys; v = sys.version_info; \
	v < (3, 11) and print("found Python %d.%d, expected 3.11 or newer" % v[:2])')
INSTALLED := .venv/installed
# modules are compiled when they are first imported: the demo needs a seventh of what is installed
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --editable
# what the tests need that use every optional package
ALL := test,trees,bench,readers

.PHONY: demo test test-all renew leaderboard lint wheel-check locked versions mutants fuzz damage kills bench docs \
	docs-check docs-write pictures clean help

help:
	@echo "make demo    run regression and NDCG Boost on the built-in data set"
	@echo "make test    run the tests"
	@echo "make test-all  run them with every optional package, none of their tests left out; TESTS=FILES"
	@echo "make renew   put what is printed now into the texts that tests compare with"
	@echo "make lint    check form and style (ruff) and types (mypy)"
	@echo "make wheel-check  build the wheel, install it on its own, run the demo with it"
	@echo "make locked       install the locked packages by their hashes, run the demo with them"
	@echo "make versions     run the demo and the quick tests with each Python on this machine"
	@echo "make mutants      break the code at N=100 random places (SEED=0), and by the kept faults"
	@echo "make fuzz         look for input that crashes or is misread, for SECONDS=$(SECONDS) in all"
	@echo "make damage       damage stored files TIMES=$(TIMES) times each way; all of it must be noticed"
	@echo "make kills        kill commands TIMES=$(TIMES) times; they must end as if nothing had been"
	@echo "make bench   measure speed and memory beside other libraries"
	@echo "make docs    build the pages in docs/ as HTML in build/docs"
	@echo "make docs-check  run what README.md and docs/ show, and compare (NEEDS=demo: without data)"
	@echo "make docs-write  put in the pages what their commands print now (NEEDS=bench: also times;"
	@echo "             NEEDS=: only what needs no run)"
	@echo "make pictures  run the pages with pictures, draw these anew (NEEDS=demo: without real data)"
	@echo "make papers  rerun the papers' experiments on the data in $(DATA), write docs/papers; for one"
	@echo "             make PAPER, for a figure, table, theorem or curve make PAPER/PART. What is stored"
	@echo "             is not run again:"
	@awk -F '[].[ "]+' '/^\[part\.[a-z0-9-]*\]/ { name = FILENAME; sub("/claims.toml", "", name); \
		sub(".*/", "", name); gsub("_", "-", name); part = $$3 } \
		/^takes/ { printf "             %s/%s  %s %s\n", name, part, $$3, $$4 }' \
		letorbench/papers/*/claims.toml
	@echo "make leaderboard  run every algorithm on the data in $(DATA), pack what the leaderboard shows"
	@echo "make clean   remove the virtual environment"

# kernels are compiled when they are first used: the first demo takes longer than the next
demo: $(INSTALLED)
	$(BIN)/letorbench run --dataset DEMO --algo regression,ndcgboost
	@echo
	@echo "data:      data/DEMO          (generated)"
	@echo "results:   results/DEMO       (scores, fits, CSV files)"
	@echo "plot:      results/DEMO/ndcg.png        ($(BIN)/letorbench plot DEMO adds .svg and .pdf)"
	@echo "next:      $(BIN)/letorbench --help"

test: .venv/with-test
	$(PYTEST)
	@echo "left: .venv (the environment), nothing else"

test-all: .venv/with-$(ALL)
	$(PYTEST) $(TESTS)

# one process: each puts what is found into a file that others read
renew: .venv/with-test
	RENEW=1 $(BIN)/python -m pytest

# a process a core, which takes tests of another one's share when it is done with its own
PYTEST := $(BIN)/python -m pytest --numprocesses auto --dist worksteal

# E, F, W: errors and style; I: the order of imports; UP: what newer Python says in fewer words
lint: .venv/with-lint
	$(BIN)/ruff format --check --quiet --diff --line-length 100 $(CODE)
	$(BIN)/ruff check --select E,F,W,I,UP --line-length 100 $(CODE)
	$(BIN)/mypy
CODE := letorbench tests docs benchmarks

# a folder of its own for everything, so that the source tree is not in sight
wheel-check:
	$(REFUSE_OLD)rm -rf build/lib build/bdist.* build/wheel
	$(PYTHON) -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir build/wheel .
	@set -e; place=$$(mktemp -d); trap 'rm -rf "$$place"' EXIT; \
	cp build/wheel/letorbench-*.whl "$$place"; cd "$$place"; \
	$(PYTHON) -m venv venv; \
	venv/bin/python -m pip install --quiet --disable-pip-version-check --no-compile letorbench-*.whl; \
	venv/bin/letorbench run --dataset DEMO --algo regression; \
	venv/bin/letorbench doctor; \
	test -f results/DEMO/ndcg.png; \
	echo "the wheel installs and runs without the source tree"

# it alone notices that the index no longer has a locked file
locked:
	$(REFUSE_OLD)rm -rf build/locked
	$(PYTHON) -m venv build/locked
	build/locked/bin/python -m pip install --quiet --disable-pip-version-check --no-compile \
		--require-hashes --requirement tests/packaging/requirements.lock
	build/locked/bin/python -m pip install --quiet --disable-pip-version-check --no-compile \
		--no-deps --no-build-isolation --editable .
	cd build/locked && bin/letorbench run --dataset DEMO --algo regression,ndcgboost
	@echo "left: build/locked, an environment of the locked packages"

versions:
	$(REFUSE_OLD)$(PYTHON) tests/packaging/versions.py

N ?= 100
SEED ?= 0

mutants: .venv/with-$(ALL),mutants
	$(BIN)/python tests/tools/mutants.py --number $(N) --seed $(SEED)

SECONDS ?= 600

fuzz: .venv/with-test
	$(BIN)/python tests/tools/fuzz.py --seconds $(SECONDS) $(FLAGS)
	@echo "left: fuzz-found, where an input crashed or was misread, nothing else"

TIMES ?= 300

damage: .venv/with-test
	$(BIN)/python tests/tools/damage.py --times $(TIMES) --seed $(SEED)

kills: $(INSTALLED)
	$(BIN)/python tests/tools/kills.py --times $(TIMES) --seed $(SEED)

bench: .venv/with-bench
	$(BIN)/python -m benchmarks

leaderboard: .venv/with-bench,trees
	$(BIN)/python -m benchmarks.leaderboard --data-dir $(DATA) --out $(RESULTS)

docs: .venv/with-docs
	rm -rf docs/api docs/notebook docs/commands.md
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs build/docs
	@echo "left: build/docs/index.html"

NEEDS ?= demo,dask,shared

docs-check: .venv/with-test
	$(BIN)/python docs/check.py --needs "$(NEEDS)" $(PAGES)

docs-write: .venv/with-test
	$(BIN)/python docs/check.py --needs "$(NEEDS)" --write $(PAGES)

# a page draws its pictures by its commands; those of docs/speed.md are of docs/speed.csv
pictures: .venv/with-test
	$(BIN)/python docs/speed.py
	$(BIN)/python docs/check.py --needs "$(NEEDS)" --write \
		$$(grep -lE '^!\[.*\]\((docs/)?pictures/' README.md docs/*.md)

.venv/bin/python:
	$(REFUSE_OLD)$(PYTHON) -m venv .venv

$(INSTALLED): setup.py setup.cfg | .venv/bin/python
	$(PIP) .
	@touch $@

# .venv/with-docs,lint: the package with its extras `docs` and `lint`
.venv/with-%: setup.py setup.cfg | .venv/bin/python
	$(PIP) '.[$*]'
	@touch $@

clean:
	rm -rf .venv

# The papers: `make papers` for all, `make PAPER` for one, `make PAPER/PART` for a figure, a table, a
# theorem or a curve. What is stored is not run again. DATA and RESULTS are folders; FLAGS=--full
# asks for the papers' own sizes.
DATA ?= data
RESULTS ?= results
JOBS ?= 2
REPRODUCE = $(BIN)/letorbench reproduce --data-dir $(DATA) --out $(RESULTS) --jobs $(JOBS) $(FLAGS)
PAPERS := ndcgboost-2009 lambdarank-2006 consistency-2011 functionals lecture-2018

.PHONY: papers $(PAPERS)

# theorems and timings use one core each: one of both at the same time
papers: $(INSTALLED)
	$(REPRODUCE) consistency-2011 --part theory & theory=$$!; \
	$(REPRODUCE) lambdarank-2006 --part figure-1 && wait $$theory
	$(REPRODUCE) ndcgboost-2009 --part figure-1 --setting published
	$(REPRODUCE) lambdarank-2006 --part figure-2 --setting published
	$(REPRODUCE) all --pages docs/papers

$(PAPERS): $(INSTALLED)
	$(REPRODUCE) $@

$(PAPERS:=/%): $(INSTALLED)
	$(REPRODUCE) $(@D) --part $*
