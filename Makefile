# Common tasks. Every target that builds first runs `setup`, which is silent and immediate once the tools are
# installed.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := build

# For an LLVM outside the distribution's location: make LLVM_PREFIX=/path/to/llvm-21 ...
ifdef LLVM_PREFIX
export LLVM_PREFIX
export MLIR_SYS_210_PREFIX := $(LLVM_PREFIX)
export LLVM_SYS_211_PREFIX := $(LLVM_PREFIX)
export TABLEGEN_210_PREFIX := $(LLVM_PREFIX)
export LIBCLANG_PATH := $(LLVM_PREFIX)/lib
endif

.PHONY: build demo test test-full independent corpus lint docs book setup gpu-pack dist dist-test wheel deb image bench

build: setup
	cargo build --workspace --bins

# Compiles each program in examples/ and shows the results. The first build takes minutes; cargo shows its progress. It has
# every command that the README names next.
demo: setup
	@echo "demo: building the compiler (minutes the first time, seconds after that)" >&2
	@cargo build --workspace --bin tileiras --bin tileiras-core --bin tile-run
	@scripts/demo.sh

# Without another process of nextest for each test, which takes 4 ms. It only matters if the run is suspended.
test test-full: export NEXTEST_DOUBLE_SPAWN := 0

# Everything is built first, because the store of results is filled by a program of the workspace.
test: setup
	cargo nextest run --workspace --no-run
	cargo xtask fill-store
	cargo nextest run --workspace

# Including the long matrices: all programs, targets and levels.
test-full: setup
	cargo nextest run --workspace --no-run
	TILEIRAS_TEST_FULL=1 cargo xtask fill-store
	TILEIRAS_TEST_FULL=1 cargo nextest run --workspace --profile full

# Runs kernels that Triton of PyPI compiles on the simulator: scripts/independent.py. Half an hour, once a week.
INDEPENDENT := target/independent
independent: setup
	cargo build --bin tile-run
	python3 -m venv $(INDEPENDENT)/venv
	$(INDEPENDENT)/venv/bin/pip install --quiet triton numpy
	$(INDEPENDENT)/venv/bin/python -W ignore scripts/independent.py $(INDEPENDENT)/cases

# Compiles the supported corpus programs, runs them in the simulator and prints a table:
# make corpus TARGETS=sm_90 LEVELS=3 SEEDS=plain PROGRAMS='vadd saxpy'
TARGETS ?= sm_80,sm_90,sm_100,sm_120
LEVELS ?= 0,3
SEEDS ?= plain,1,2,3,4,5
PROGRAMS ?=
corpus: setup
	cargo xtask corpus --supported --targets $(TARGETS) --levels $(LEVELS) --seeds $(SEEDS) $(PROGRAMS)

lint: setup
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	cargo xtask tidy
	cargo build --workspace --bins
	cargo xtask docs --check

# A release that needs neither MLIR nor LLVM at run time, in target/dist/tileiras-VERSION: scripts/dist.sh.
dist: setup
	scripts/dist.sh

# Tests the release: shared libraries, start-up, C programs with both libraries.
dist-test: dist
	scripts/test-dist.sh

# The Python package, in target/wheel: scripts/wheel.sh.
wheel: setup
	scripts/wheel.sh

# The Debian package, in target/deb: scripts/deb.sh.
deb: setup
	scripts/deb.sh

# A container image with the Debian package: scripts/image.sh.
image: setup
	scripts/image.sh

# The documentation as an HTML book, in target/book: scripts/book.sh.
book:
	scripts/book.sh

# Times compared with NVIDIA's tools: docs/performance.md.
bench: dist
	scripts/setup.sh --comparisons
	benches/against_the_vendor.py

# The directory to copy to a GPU machine: gpu/README.md.
gpu-pack:
	gpu/build.sh

# The generated pages in docs/reference.
docs: setup
	cargo build --workspace --bins
	cargo xtask docs

setup:
	@scripts/setup.sh
