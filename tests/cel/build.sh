#!/bin/sh
# Prints the path of the program that answers what apiextensions thinks of CEL rules. It is built once from its Go module and kept in
# the cache, until its sources change.
#
#   CEL_ORACLE=$(tests/cel/build.sh)
#
# CEL_ORACLE wins if it is set. Progress goes to stderr.
set -eu

cd "$(dirname "$0")"
if [ -n "${CEL_ORACLE:-}" ]; then
    echo "$CEL_ORACLE"
    exit 0
fi
cache=${XDG_CACHE_HOME:-$HOME/.cache}/operator-forge/cel
directory=$cache/$(cat go.mod go.sum main.go build.sh | cksum | tr ' ' '-')
program=$directory/oracle
if [ ! -x "$program" ]; then
    command -v go >/dev/null || {
        echo "error: Go is needed to build the program that judges rules, and \`go\` is not in PATH" >&2
        echo "help: install Go $(sed -n 's/^go //p' go.mod) or newer, or set CEL_ORACLE to the path of the program" >&2
        exit 1
    }
    echo "building the program that judges rules (a minute, the first time)" >&2
    mkdir -p "$directory"
    # Two runs at once both build; the last rename wins. Without debug information, the compiler is faster.
    GOTOOLCHAIN=local CGO_ENABLED=0 go build -mod=readonly -buildvcs=false -trimpath -gcflags all=-dwarf=false -ldflags "-s -w" \
        -o "$program.$$" . >&2
    mv "$program.$$" "$program"
fi
echo "$program"
