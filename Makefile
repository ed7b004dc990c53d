# `make demo` and `make test` need python3, make and a package index, and nothing else.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready
READY_BENCH := .venv/ready-bench
READY_DOCS := .venv/ready-docs

.PHONY: demo test bench docs docs-check docs-write clean help

help:
	@echo "make demo    run regression and NDCG Boost on the built-in data set"
	@echo "make test    run the tests"
	@echo "make bench   measure speed and memory beside other libraries"
	@echo "make docs    build the pages in docs/ as HTML in build/docs"
	@echo "make docs-check  run what README.md and docs/ show, and compare (NEEDS=demo: without data)"
	@echo "make docs-write  put in the pages what their commands print now (NEEDS=bench: also times)"
	@echo "make papers  rerun the papers' experiments on the data in $(DATA), write docs/papers; for one:"
	@echo "             make $(PAPERS)"
	@echo "             and a figure or table: make figure-ndcgboost, table-functionals-5, ..."
	@echo "make clean   remove the virtual environment"

demo: $(READY)
	$(BIN)/letorbench run --dataset DEMO --algo regression,ndcgboost
	@echo
	@echo "data:      data/DEMO          (generated)"
	@echo "results:   results/DEMO       (scores, fits, CSV files)"
	@echo "plot:      results/DEMO/ndcg.png, .svg, .pdf"
	@echo "next:      $(BIN)/letorbench --help"

test: $(READY)
	$(BIN)/python -m pytest
	@echo "left: .venv (the environment), nothing else"

bench: $(READY_BENCH)
	$(BIN)/python -m benchmarks

docs: $(READY_DOCS)
	rm -rf docs/api
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs build/docs
	@echo "left: build/docs/index.html"

NEEDS ?= demo,shared

docs-check: $(READY)
	$(BIN)/python docs/check.py --needs $(NEEDS) $(PAGES)

docs-write: $(READY)
	$(BIN)/python docs/check.py --needs $(NEEDS) --write $(PAGES)

$(READY): setup.py setup.cfg
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	$(BIN)/python -m letorbench.compile
	@touch $@

$(READY_BENCH): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	@touch $@

$(READY_DOCS): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	@touch $@

clean:
	rm -rf .venv

# The papers: `make papers` for all at their small size, `make PAPER` for one, and a target for
# each figure and table. DATA and RESULTS are folders; FLAGS=--full asks for the papers' own sizes.
DATA ?= data
RESULTS ?= results
JOBS ?= 2
REPRODUCE = $(BIN)/letorbench reproduce --data-dir $(DATA) --out $(RESULTS) --jobs $(JOBS) $(FLAGS)
PAPERS := ndcgboost-2009 lambdarank-2006 consistency-2011 functionals lecture-2018

.PHONY: papers $(PAPERS) figure-ndcgboost figure-lambdarank-jacobian

papers: $(READY)
	$(REPRODUCE) all --pages docs/papers

$(PAPERS): $(READY)
	$(REPRODUCE) $@

figure-ndcgboost: $(READY)
	$(REPRODUCE) ndcgboost-2009 --part figure-1

figure-lambdarank-jacobian: $(READY)
	$(REPRODUCE) lambdarank-2006 --part jacobian

figure-lambdarank-%: $(READY)
	$(REPRODUCE) lambdarank-2006 --part figure-$*

figure-consistency-%: $(READY)
	$(REPRODUCE) consistency-2011 --part figure-$*

table-functionals-%: $(READY)
	$(REPRODUCE) functionals --part table-$*
