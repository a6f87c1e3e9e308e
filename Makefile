# Two commands matter: `make demo` and `make test`. Both set up a virtual environment first; nothing else is touched.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
OUT ?= demo-output
PEERS_VENV ?= .venv-peers
# The oldest versions that pyproject.toml admits have wheels for the oldest Python that it admits.
OLDEST_VENV ?= .venv-oldest
OLDEST_PYTHON ?= python3.11
NEWEST_VENV ?= .venv-newest
QISKIT_VENV ?= .venv-qiskit
# Tests run on two processes; one BLAS thread each keeps them from fighting over the cores.
THREADS := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1

.PHONY: help setup demo test test-long test-torch test-qiskit test-machines oldest newest check format bench bench-all bench-peers bench-peers-solvers bench-peers-ratings bench-peers-clicks clean

help:
	@echo "make demo       set up, run the main job, save pictures in $(OUT)/"
	@echo "make test       set up, run the tests (under five minutes on two cores)"
	@echo "make test-long  those that take seconds each and the big random campaigns as well"
	@echo "make test-qiskit  tomography beside the real qiskit-experiments, in an environment of its own, and its benchmark"
	@echo "make test-machines  the numerical tests under every BLAS kernel that this processor runs, without vector units in"
	@echo "                  numba and in NumPy, and on one and two threads; those and the command line with the oldest"
	@echo "                  versions that pyproject.toml admits; all tests with the newest (an hour on two cores;"
	@echo "                  ARGS='Nehalem oldest': those alone)"
	@echo "make test-torch  those of the Torch place, in an environment of its own with a build of Torch for processors"
	@echo "make check      ruff format, ruff, mypy"
	@echo "make bench      the benchmarks that guard speed (under ten minutes on two cores; keep the machine quiet)"
	@echo "make bench-all  all of our own benchmarks, in full (more than half an hour)"
	@echo "make bench-peers  against other tools, in an environment of its own (hours; ARGS=--quick: minutes): solvers, then"
	@echo "                  predictions of ratings, rankings of clicks; bench-peers-solvers, -ratings, -clicks for one"

setup: $(VENV)/.ready

$(VENV)/.ready: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "spectraplex needs Python 3.11 or newer; set PYTHON=...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[dev]"
	@touch $@

demo: setup
	$(BIN)/python -m spectraplex.demo --out $(OUT)

test: setup
	$(THREADS) $(BIN)/python -m pytest -q -n 2 -m "not long and not slow"

test-long: setup
	$(THREADS) $(BIN)/python -m pytest -q -n 2

test-qiskit: $(QISKIT_VENV)/.ready
	$(THREADS) $(QISKIT_VENV)/bin/python -m pytest -q tests/test_tomography_qiskit.py -W ignore::DeprecationWarning
	$(QISKIT_VENV)/bin/python -m benchmarks tomography 5

$(QISKIT_VENV)/.ready: pyproject.toml
	$(PYTHON) -m venv $(QISKIT_VENV)
	$(QISKIT_VENV)/bin/python -m pip install --quiet --disable-pip-version-check -e . pytest hypothesis qiskit-experiments qiskit-aer qutip cvxpy
	@touch $@

oldest: $(OLDEST_VENV)/.ready

$(OLDEST_VENV)/.ready: pyproject.toml tests/oldest.py | setup
	$(OLDEST_PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11) and "the oldest versions are for Python 3.11; set OLDEST_PYTHON=...")'
	$(OLDEST_PYTHON) -m venv --clear $(OLDEST_VENV)
	$(BIN)/python tests/oldest.py > $(OLDEST_VENV)/pins.txt
	$(OLDEST_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --only-binary :all: -c $(OLDEST_VENV)/pins.txt -e ".[dev]"
	@touch $@

# What is newest changes by the day, so this is looked up every time.
newest:
	$(PYTHON) -m venv $(NEWEST_VENV)
	$(NEWEST_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade --upgrade-strategy eager -e ".[dev]"

test-machines: setup oldest newest
	$(BIN)/python tests/machines.py --oldest $(OLDEST_VENV)/bin/python --newest $(NEWEST_VENV)/bin/python $(ARGS)

test-torch: setup
	$(BIN)/python tests/with_torch.py .venv-torch -n 2

check: setup
	$(BIN)/ruff format --check src tests benchmarks
	$(BIN)/ruff check src tests benchmarks
	$(BIN)/mypy

format: setup
	$(BIN)/ruff format src tests benchmarks
	$(BIN)/ruff check --fix src tests benchmarks

bench: setup
	$(BIN)/python -m benchmarks

bench-all: setup
	$(BIN)/python -m benchmarks all

# The other tools get an environment of their own: opt-in, and nothing of theirs reaches the one we develop in.
$(PEERS_VENV)/.ready: pyproject.toml benchmarks/peers/requirements.txt
	$(PYTHON) -m venv $(PEERS_VENV)
	$(PEERS_VENV)/bin/python -m pip install --quiet --disable-pip-version-check -e ".[plot]" -r benchmarks/peers/requirements.txt
	@touch $@

bench-peers: $(PEERS_VENV)/.ready
	$(PEERS_VENV)/bin/python -m benchmarks.peers run $(ARGS)
	$(PEERS_VENV)/bin/python -m benchmarks.peers ratings $(ARGS)
	$(PEERS_VENV)/bin/python -m benchmarks.peers clicks $(ARGS)

bench-peers-solvers: $(PEERS_VENV)/.ready
	$(PEERS_VENV)/bin/python -m benchmarks.peers run $(ARGS)

bench-peers-ratings: $(PEERS_VENV)/.ready
	$(PEERS_VENV)/bin/python -m benchmarks.peers ratings $(ARGS)

bench-peers-clicks: $(PEERS_VENV)/.ready
	$(PEERS_VENV)/bin/python -m benchmarks.peers clicks $(ARGS)

clean:
	rm -rf $(VENV) $(PEERS_VENV) $(OLDEST_VENV) $(NEWEST_VENV) $(QISKIT_VENV) .venv-torch build dist $(OUT) benchmarks/results .mypy_cache .pytest_cache .ruff_cache .hypothesis
