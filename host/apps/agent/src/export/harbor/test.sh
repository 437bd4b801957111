#!/bin/sh
app=${APP:-/app} tests=${TESTS:-/tests} logs=${LOGS:-/logs/verifier}
mkdir -p "$logs"
if [ ! -f "$app/pass.rs" ]; then
    echo 0 > "$logs/reward.txt"
    exit 0
fi
passhost eval "$app/pass.rs" "$tests/sample" @OPTIONS@ --json "$logs/result.json"
ended=$?
if [ $ended -gt 1 ]; then
    exit $ended
fi
score=$(sed -n 's/^ *"@KEY@": \([0-9.eE+-]*\),*$/\1/p' "$logs/result.json" | head -n 1)
echo "${score:-@NOTHING@}" > "$logs/reward.txt"
