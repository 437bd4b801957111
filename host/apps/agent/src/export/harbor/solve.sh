#!/bin/sh
set -e
cp "${SOLUTION:-/solution}/pass.rs" "${APP:-/app}/pass.rs"
