#!/bin/sh
# Compiles all tests and runs them: those that compile generated projects, in `tests/projects`, beside the others, most of which wait for
# something. Their output comes at the end.
set -eu
cd "$(dirname "$0")/.."
cargo=${CARGO:-cargo}
all="--workspace --all-features"
log=$(mktemp)
projects=
# Job control gives the suite beside a process group, which ends with this script.
set -m
trap '[ -z "$projects" ] || kill -- -"$projects" 2>/dev/null; rm -f "$log"' EXIT
trap 'exit 1' HUP INT TERM

# Their words have no spaces.
# shellcheck disable=SC2086
{
    $cargo test $all --no-run
    echo "tests/projects runs beside the following suites; its output comes at the end"
    $cargo test $all --test 'p*' >"$log" 2>&1 &
    projects=$!
    failed=0
    $cargo test $all --lib --bins --examples --test '[!p]*' || failed=1
    $cargo test $all --doc || failed=1
    wait "$projects" || failed=1
    projects=
}
cat "$log"
exit "$failed"
