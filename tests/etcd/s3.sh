#!/bin/sh
# Prints a directory with versitygw, a server of S3's protocol: DIRECTORY/usr/local/bin/versitygw. It is built once from its Go
# modules, which takes two minutes, and kept in the cache until its version changes.
set -eu

cd "$(dirname "$0")/s3"

image=${XDG_CACHE_HOME:-$HOME/.cache}/operator-forge/s3/$(cat ../s3.sh go.mod go.sum | cksum | tr ' ' '-')
if [ ! -d "$image" ]; then
    command -v go >/dev/null || {
        echo "error: Go is needed to build versitygw, and \`go\` is not in PATH" >&2
        echo "help: install Go $(sed -n 's/^go //p' go.mod) or newer" >&2
        exit 1
    }
    echo "building versitygw (two minutes, the first time)" >&2
    # Two runs at once both build; the first rename wins.
    made=$image.$$
    mkdir -p "$made/usr/local/bin"
    GOTOOLCHAIN=local CGO_ENABLED=0 GOGC=${GOGC:-400} go build -mod=readonly -buildvcs=false -trimpath \
        -gcflags all=-dwarf=false -ldflags "-s -w" -o "$made/usr/local/bin/versitygw" github.com/versity/versitygw/cmd/versitygw >&2
    mv "$made" "$image" 2>/dev/null || rm -rf "$made"
fi
echo "$image"
