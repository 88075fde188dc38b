# Everything a developer runs. Needs make and Python 3.11 or later, nothing else.

VENV := .venv
BIN  := $(VENV)/bin
PIP  := $(BIN)/python -m pip --disable-pip-version-check install -q --no-compile -c constraints.txt
TESTED := '.[all,remote,test]'
# $(call install,WHAT). uv takes a tenth of pip's time; pip stands in where there is no uv, and where
# the packages come from somewhere that only pip is told of.
install = { [ -x $(BIN)/uv ] || $(PIP) uv; } && \
  $(BIN)/uv pip install -q -p $(BIN)/python -c constraints.txt $(1) || $(PIP) $(1)
# All is compiled at the end but the tests of others, which are a third of it: what is left to the
# first run PYTHONDONTWRITEBYTECODE forbids, and then every start takes twice as long. Some files
# are templates that nothing compiles.
COMPILE = $(BIN)/python -m compileall -qq -x '/tests?/' serialpack $(VENV)/lib/python3*/site-packages || true
# pytest runs in so many processes: one more than two cores, for tests wait a tenth of their time.
JOBS ?= 3
# Set PYTHON to choose an interpreter yourself: make test PYTHON=python3.13
PYTHON ?=
# Pythons beside that of the environment, on PATH or pyenv's, are found by themselves; they are
# tested in environments of their own, .venv-3.13 and so on.
OTHERS = $(shell sh tools/pythons.sh $(BIN)/python)
# What a Python may do in another way: values, what holds them, and of conversions, which are made
# of these, the matrix of all values and formats.
OF_VALUES := tests/depth tests/serializers tests/fidelity tests/conversion/test_matrix.py \
	tests/formats tests/objects tests/test_values.py tests/test_equality.py

.PHONY: help try test test-all test-pythons test-newest venv newest env-of test-one lint format bench-peers bench-serializers bench-objects bench-messages bench-folders bench-conversion bench-columns bench-arrays bench-docs fidelity peers-table generate lock clean

help:
	@echo 'make try          set up, then pack, inspect and unpack a sample file'
	@echo 'make test         set up, then lint, types and tests'
	@echo 'make test-all     the same with everything that takes long or needs strace'
	@echo 'make test-pythons the tests under each supported Python that is found'
	@echo 'make test-newest  those that look at values, but the slow ones, under the newest one found'
	@echo 'make lint         ruff and mypy'
	@echo 'make format       let ruff rewrite what it can'
	@echo 'make bench-peers  measure beside zstd, print the table of the README'
	@echo 'make bench-serializers  measure what serialpack costs on top of each library'
	@echo 'make bench-objects      measure messages, arrays, models and lists beside joblib and NumPy'
	@echo 'make bench-messages     measure messages of dask.distributed, write docs/dask.md'
	@echo 'make bench-folders      measure folders of small files beside zstd -r'
	@echo 'make bench-conversion  measure conversion beside other converters'
	@echo 'make bench-columns  measure columns beside other compressors, write docs/columns.md'
	@echo 'make bench-arrays  measure arrays beside other files of them, write docs/arrays.md'
	@echo 'make bench-docs   measure the built-in samples, write docs/benchmarks.md'
	@echo 'make fidelity     measure what each serializer keeps, write docs/fidelity.md'
	@echo 'make peers-table  try other converters with the same values, write docs/peers.md'
	@echo 'make generate     write man pages and completions anew'
	@echo 'make lock         write constraints.txt anew'
	@echo 'make clean        remove what these commands made'

# Setting up

$(BIN)/python:
	@chosen=; for python in $(or $(PYTHON),python3 python3.14 python3.13 python3.12 python3.11 python); do \
	  if "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; \
	  then chosen=$$python; break; fi; \
	done; \
	if [ -z "$$chosen" ]; then \
	  echo "serialpack needs Python 3.11 or later; $(or $(PYTHON),python3) is: $$($(or $(PYTHON),python3) --version 2>&1)." >&2; \
	  echo "Name one with: make $(MAKECMDGOALS) PYTHON=/path/to/python3" >&2; exit 1; \
	fi; \
	echo "making $(VENV) with $$("$$chosen" --version)"; \
	"$$chosen" -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

# The build backend comes first, pinned, so that the build needs no environment of its own.
$(VENV)/.try: $(BIN)/python pyproject.toml constraints.txt
	@echo 'installing serialpack into $(VENV)'
	@$(PIP) hatchling editables
	@$(PIP) --no-build-isolation -e .
	@$(COMPILE)
	@touch $@

$(VENV)/.test: $(BIN)/python pyproject.toml constraints.txt
	@echo 'installing serialpack and what its tests need into $(VENV)'
	@$(call install,hatchling editables)
	@$(call install,--no-build-isolation -e $(TESTED))
	@$(call install,--only-binary :all: --no-binary serialpack --no-build-isolation -e '.[peers]') || \
	  echo 'not every stock reader can be installed here; the tests of absent ones are skipped'
	@$(COMPILE)
	@touch $@

# Commands

# The folder is made anew each time, because serialpack overwrites nothing unasked.
try: $(VENV)/.try
	@rm -rf try && mkdir try
	@echo
	$(BIN)/python -m benchmarks.data contacts --size 8_000_000 try/contacts.ndjson
	$(BIN)/serialpack pack try/contacts.ndjson
	$(BIN)/serialpack inspect try/contacts.ndjson.spk
	$(BIN)/serialpack unpack try/contacts.ndjson.spk -o try/restored.ndjson
	cmp try/contacts.ndjson try/restored.ndjson
	@echo
	@echo 'The very same bytes came back. The files are in try/; the command is $(BIN)/serialpack.'

test: lint
	$(BIN)/pytest -n $(JOBS) --dist loadgroup

test-all: lint
	$(BIN)/pytest -n $(JOBS) --dist loadgroup --hypothesis-profile anew -m 'not soak'
	$(BIN)/pytest -m soak --timeout 3600

# Each is run to its end, also where one before it failed.
test-pythons: $(VENV)/.test
	@code=0; $(BIN)/pytest -n $(JOBS) --dist loadgroup || code=1; \
	others="$(OTHERS)"; \
	[ -n "$$others" ] || echo "no other Python found (3.11 to 3.14, on PATH or pyenv's): only $$($(BIN)/python --version) is tested" >&2; \
	for python in $$others; do $(MAKE) -s test-one OTHER="$$python" || code=1; done; exit $$code

test-newest: $(VENV)/.test
	@newest="$(firstword $(OTHERS))"; \
	if [ -z "$$newest" ]; then \
	  echo "no other Python found (3.11 to 3.14, on PATH or pyenv's): nothing is tested under another than $$($(BIN)/python --version)" >&2; \
	else $(MAKE) -s test-one OTHER="$$newest" ARGS="$(OF_VALUES) -m 'not slow and not soak'"; fi

venv: $(BIN)/python

# Its environment, which .ci/run has made while other things run.
newest: venv
	@newest="$(firstword $(OTHERS))"; [ -z "$$newest" ] || $(MAKE) -s env-of OTHER="$$newest"

env-of:
	@version=$$("$(OTHER)" -c 'import sys; print("%d.%d" % sys.version_info[:2])') && \
	$(MAKE) -s VENV=.venv-$$version PYTHON="$(OTHER)" .venv-$$version/.test

test-one:
	@$(MAKE) -s env-of OTHER="$(OTHER)" && \
	version=$$("$(OTHER)" -c 'import sys; print("%d.%d" % sys.version_info[:2])') && \
	echo "testing under $$("$(OTHER)" --version)" && \
	.venv-$$version/bin/pytest -n $(JOBS) --dist loadgroup $(ARGS)

lint: $(VENV)/.test
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy

format: $(VENV)/.test
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

bench-peers: $(VENV)/.try
	$(BIN)/python -m benchmarks.peers $(ARGS)

bench-serializers: $(VENV)/.test
	$(BIN)/python -m benchmarks.serializers $(ARGS)

bench-objects: $(VENV)/.test
	$(BIN)/python -m benchmarks.objects $(ARGS)

bench-messages: $(VENV)/.test
	$(BIN)/python -m benchmarks.messages $(ARGS)

bench-folders: $(VENV)/.test
	$(BIN)/python -m benchmarks.folders $(ARGS)

bench-conversion: $(VENV)/.test
	$(BIN)/python -m benchmarks.conversion $(ARGS)

# With files of your own: make bench-columns ARGS='--files FOLDER'
bench-columns: $(VENV)/.test
	$(BIN)/python -m benchmarks.columns $(ARGS)

# The data are named in benchmarks/array_data.py: make bench-arrays ARGS='--files FOLDER'
bench-arrays: $(VENV)/.test
	$(BIN)/python -m benchmarks.arrays $(ARGS)

bench-docs: $(VENV)/.test
	$(BIN)/python -m tools.bench_docs $(ARGS)

fidelity: $(VENV)/.test
	$(BIN)/python -m tools.fidelity

peers-table: $(VENV)/.test
	$(BIN)/python -m tools.peers $(ARGS)

generate: $(VENV)/.try
	$(BIN)/python tools/generate.py

# The newest versions that satisfy pyproject.toml, in an environment that holds nothing else.
lock:
	@$(MAKE) -s VENV=$(VENV)-lock $(VENV)-lock/bin/python
	@$(VENV)-lock/bin/python -m pip --disable-pip-version-check install -q '.[all,remote,test,peers]'
	@{ echo '# What the tests run with. Made by: make lock'; \
	   $(VENV)-lock/bin/python -m pip freeze --exclude serialpack; } > constraints.new
	@mv constraints.new constraints.txt
	@rm -rf $(VENV)-lock
	@echo 'constraints.txt is new; now: make test'

clean:
	rm -rf $(VENV) $(VENV)-lock .venv-3.* try build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
