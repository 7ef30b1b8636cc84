#!/bin/sh
# Runs every target of make named in the arguments, one after the other, and lists the time and the outcome of each at the end.
# A part that fails stops none of those behind it: a night tells everything that it can tell.
set -eu
cd "$(dirname "$0")/.."
outcomes=
failed=0
for part in "$@"; do
    started=$(date +%s)
    outcome=passed
    make "$part" || { outcome=FAILED && failed=1; }
    outcomes="$outcomes$(printf '%-16s %-6s %6s s' "$part" "$outcome" $(($(date +%s) - started)))
"
done
printf '%s' "$outcomes"
exit "$failed"
