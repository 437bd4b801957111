# `make eval` and `make test` are each enough on a fresh machine: they set up what is missing first.

SHELL := /bin/bash
CARGO ?= cargo
TARGET_DIR := $(or $(CARGO_TARGET_DIR),target)
PLUGINS := noop gate autofuse fuse-pointwise fuse-norms masked-mean-pool
PLUGIN_DIR := $(TARGET_DIR)/wasm32-wasip2/plugin

# Programs of the command, and where they come from.
PROGRAMS := -p passhost -p passhost-sandbox -p passhost-sample -p passhost-bench -p passhost-compiler -p passhost-builder

.PHONY: help setup announce programs build plugins hostile-plugins eval demo benchmark install wheel sdk docs test test-frameworks lint

help:
	@echo "make eval      set up what is missing, build the programs and a plugin, evaluate it on a sample"
	@echo "make benchmark build the programs and plugins, measure them beside PyTorch itself on the fusible and anchor tasks"
	@echo "make test      set up what is missing, build everything, run all tests"
	@echo "make test-frameworks  install clients of training frameworks, and have each run an episode against passhost serve"
	@echo "make build     build all programs and the reference plugins"
	@echo "make plugins   build the reference plugins"
	@echo "make install   put the programs, the SDK and samples where they work without this clone"
	@echo "make wheel     make a Python wheel of all of it, with torch.compile(backend=\"passhost\")"
	@echo "make sdk       compile the SDK that passes are built against by passhost build"
	@echo "make demo      record the terminal session of README, docs/pictures/demo.svg"
	@echo "make docs      guide, architecture, threat model and the libraries' API as one folder of linked pages"
	@echo "make lint      rustfmt and clippy, warnings are errors"
	@echo "variables: LIBTORCH=path CARGO_TARGET_DIR=path PREFIX=path (of make install, ~/.local if absent)"
	@echo "           EVAL='--quick' (options of the evaluation of make eval)"

setup:
	@scripts/setup

# A first build is long: say what is being waited for.
announce: setup
	@[ -e $(TARGET_DIR)/debug/passhost ] || echo "building for the first time, about 9 minutes on two cores: mostly wasmtime with its compiler, PyTorch's C++ interface and ruff's Python parser" >&2

programs: announce
	$(CARGO) build $(PROGRAMS) --bins

# As a component alone: with the library that the tests link, cargo would leave out the optimisation of the whole.
COMPONENT := rustc --quiet --profile plugin --target wasm32-wasip2 --lib --crate-type cdylib

plugins: setup
	for plugin in $(PLUGINS); do $(CARGO) $(COMPONENT) -p passhost-plugin-$$plugin || exit; done

build: announce plugins
	$(CARGO) build --workspace --bins

EVALUATION = $(TARGET_DIR)/debug/passhost eval $(PLUGIN_DIR)/masked_mean_pool.wasm samples/masked-mean-pool $(EVAL)

eval: programs
	$(CARGO) $(COMPONENT) -p passhost-plugin-masked-mean-pool
	@echo $(EVALUATION)
	@$(EVALUATION) || { code=$$?; [ $$code != 3 ] || echo "with make: make eval EVAL=--quick, or EVAL='--wait 5m'" >&2; exit $$code; }

# Records docs/pictures/demo.svg anew: on a machine that does nothing else.
demo: programs
	$(CARGO) $(COMPONENT) -p passhost-plugin-masked-mean-pool
	scripts/demo $(TARGET_DIR)/debug $(PLUGIN_DIR)/masked_mean_pool.wasm

PREFIX ?= $(HOME)/.local

install: programs
	scripts/install "$(PREFIX)" "$(TARGET_DIR)/debug"

wheel: programs plugins
	scripts/wheel "$(TARGET_DIR)/debug" "$(PLUGIN_DIR)"

sdk: programs
	$(TARGET_DIR)/debug/passhost setup-sdk --source .

docs: setup
	scripts/docs

# Takes hours on a CPU; variables and lists: scripts/benchmark.
benchmark: programs plugins
	scripts/benchmark

# Plugins that misbehave, and the one that plays scripts, for the tests.
hostile-plugins: setup
	$(CARGO) build --quiet --profile plugin --target wasm32-wasip2 -p passhost-hostile-plugins --examples
	$(CARGO) build --quiet --profile plugin --target wasm32-wasip2 -p passhost-adversarial-guest

test: build hostile-plugins
	$(TARGET_DIR)/debug/passhost setup-sdk --source .
	PASSHOST_PLUGINS=$(abspath $(PLUGIN_DIR)) scripts/test

# Not part of `make test`: the packages are large, and come from the network.
test-frameworks: programs sdk
	scripts/test-frameworks

lint: setup
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings
