# Two commands are enough on a fresh machine: `make eval` and `make test`.

SHELL := /bin/bash
CARGO ?= cargo
TARGET_DIR := $(or $(CARGO_TARGET_DIR),target)
PLUGINS := noop fuse-pointwise
PLUGIN ?= fuse-pointwise
SAMPLE ?= samples/se-gate-add-relu
PLUGIN_DIR := $(TARGET_DIR)/wasm32-wasip2/plugin
BIN := $(TARGET_DIR)/debug

.PHONY: help setup build plugins hostile-plugins eval test lint

help:
	@echo "make eval     build everything, evaluate plugin $(PLUGIN) on $(SAMPLE), print the table"
	@echo "make test     build everything, run all tests"
	@echo "make build    build the host programs and the plugins"
	@echo "make lint     rustfmt and clippy, warnings are errors"
	@echo "variables: PLUGIN=name SAMPLE=path LIBTORCH=path CARGO_TARGET_DIR=path"

setup:
	@scripts/setup

plugins: setup
	$(CARGO) build --quiet --profile plugin --target wasm32-wasip2 $(addprefix -p passhost-plugin-,$(PLUGINS))

# Plugins that misbehave, for the tests.
hostile-plugins: setup
	$(CARGO) build --quiet --profile plugin --target wasm32-wasip2 -p passhost-hostile-plugins --examples

build: plugins
	$(CARGO) build --workspace --bins

eval: build
	$(BIN)/passhost eval $(PLUGIN_DIR)/$(subst -,_,$(PLUGIN)).wasm $(SAMPLE)

test: build hostile-plugins
	PASSHOST_PLUGINS=$(abspath $(PLUGIN_DIR)) $(CARGO) test --workspace

lint: setup
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings
