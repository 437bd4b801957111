# `make test` is enough on a fresh machine: it sets up what is missing, builds and tests.

SHELL := /bin/bash
CARGO ?= cargo
TARGET_DIR := $(or $(CARGO_TARGET_DIR),target)
PLUGINS := noop fuse-pointwise
PLUGIN_DIR := $(TARGET_DIR)/wasm32-wasip2/plugin

.PHONY: help setup plugins hostile-plugins test lint

help:
	@echo "make test      set up what is missing, build the plugins, run all tests"
	@echo "make plugins   build the reference plugins"
	@echo "make lint      rustfmt and clippy, warnings are errors"
	@echo "variables: LIBTORCH=path CARGO_TARGET_DIR=path"

setup:
	@scripts/setup

plugins: setup
	$(CARGO) build --quiet --profile plugin --target wasm32-wasip2 $(addprefix -p passhost-plugin-,$(PLUGINS))

# Plugins that misbehave, for the tests.
hostile-plugins: setup
	$(CARGO) build --quiet --profile plugin --target wasm32-wasip2 -p passhost-hostile-plugins --examples

test: plugins hostile-plugins
	PASSHOST_PLUGINS=$(abspath $(PLUGIN_DIR)) $(CARGO) test --workspace

lint: setup
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings
