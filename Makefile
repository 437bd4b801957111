# `make eval` and `make test` are each enough on a fresh machine: they set up what is missing first.

SHELL := /bin/bash
CARGO ?= cargo
TARGET_DIR := $(or $(CARGO_TARGET_DIR),target)
PLUGINS := noop fuse-pointwise fuse-norms masked-mean-pool
PLUGIN_DIR := $(TARGET_DIR)/wasm32-wasip2/plugin

.PHONY: help setup build plugins hostile-plugins eval test lint

help:
	@echo "make eval      set up what is missing, build everything, evaluate a plugin on a sample"
	@echo "make test      set up what is missing, build everything, run all tests"
	@echo "make build     build the programs and the reference plugins"
	@echo "make plugins   build the reference plugins"
	@echo "make lint      rustfmt and clippy, warnings are errors"
	@echo "variables: LIBTORCH=path CARGO_TARGET_DIR=path"

setup:
	@scripts/setup

plugins: setup
	$(CARGO) build --quiet --profile plugin --target wasm32-wasip2 $(addprefix -p passhost-plugin-,$(PLUGINS))

build: plugins
	$(CARGO) build --workspace --bins

eval: build
	$(TARGET_DIR)/debug/passhost eval $(PLUGIN_DIR)/fuse_pointwise.wasm samples/se-gate-add-relu

# Plugins that misbehave, for the tests.
hostile-plugins: setup
	$(CARGO) build --quiet --profile plugin --target wasm32-wasip2 -p passhost-hostile-plugins --examples

test: build hostile-plugins
	PASSHOST_PLUGINS=$(abspath $(PLUGIN_DIR)) $(CARGO) test --workspace

lint: setup
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings
