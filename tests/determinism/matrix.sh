#!/usr/bin/env bash
# Builds the program with every compiler and optimisation level of the matrix, runs every library
# scenario with each, and compares the trace hashes: same scenario, same seed, same hash.
# Two runs in one process are compared by a test of the suite; four parallel processes here.
set -euo pipefail
cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/../.."
presets=(release debug clang sanitize)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for preset in "${presets[@]}"; do
  targets=(tailrace)
  # The sanitizers also read the recordings that come with the sources, and broken input.
  [ "$preset" != sanitize ] || targets+=(tailrace_golden language_test)
  if ! { cmake --preset "$preset" && cmake --build --preset "$preset" --target "${targets[@]}"; } \
    >"$work/build.log" 2>&1; then
    tail -n 40 "$work/build.log"
    exit 1
  fi
done

# hash_of PRESET SCENARIO: the trace hash; a scenario whose expectations fail has one, too.
hash_of() {
  local json status=0
  json=$("build/$1/scenarios/tailrace" run "$2" --json --quiet) || status=$?
  if [ "$status" -gt 1 ]; then
    echo "exit status $status" # shows up as a difference
    return
  fi
  sed -n 's/.*"trace_hash": *"\([0-9a-f]*\)".*/\1/p' <<<"$json"
}

failed=0
for scenario in scenarios/library/*.yaml; do
  expected=$(hash_of release "$scenario")
  line="$(basename "$scenario" .yaml): $expected"
  [[ $expected =~ ^[0-9a-f]{16}$ ]] || failed=1
  for preset in debug clang sanitize; do
    actual=$(hash_of "$preset" "$scenario")
    line+=" $preset $([ "$actual" = "$expected" ] && echo same || echo "DIFFERS ($actual)")"
    [ "$actual" = "$expected" ] || failed=1
  done
  for i in 1 2 3 4; do
    hash_of release "$scenario" >"$work/parallel.$i" &
  done
  wait
  for i in 1 2 3 4; do
    [ "$(cat "$work/parallel.$i")" = "$expected" ] || {
      line+=" parallel run $i DIFFERS"
      failed=1
    }
  done
  echo "$line"
done

echo "sanitizers over tests/data:"
TAILRACE_SHARED=tests/data build/sanitize/tests/golden/tailrace_golden || failed=1
build/sanitize/tests/scenarios/language_test --gtest_brief=1 || failed=1
exit "$failed"
