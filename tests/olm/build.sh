#!/bin/sh
# Prints the path of the program in main.go, which checks bundles and catalogs with operator-framework's code. It is built once, from
# published Go modules, and kept in the cache until its source changes. Progress goes to stderr.
set -eu

cd "$(dirname "$0")"

cache=${XDG_CACHE_HOME:-$HOME/.cache}/operator-forge/olm
made=$cache/$(cat go.mod go.sum main.go build.sh | cksum | tr ' ' '-')

if [ ! -x "$made" ]; then
    mkdir -p "$cache"
    # The lock saves a second run the work. Without flock both do it, and the first rename wins.
    exec 9>"$cache/lock"
    if command -v flock >/dev/null; then flock 9; fi
fi

if [ ! -x "$made" ]; then
    command -v go >/dev/null || {
        echo "error: Go is needed to build the validators of operator-framework, and \`go\` is not in PATH" >&2
        echo "help: install Go $(sed -n 's/^go //p' go.mod) or newer" >&2
        exit 1
    }
    echo "building the validators of operator-framework (minutes, the first time)" >&2
    work=$(mktemp "$cache/making.XXXXXX")
    trap 'rm -f "$work"' EXIT
    trap 'exit 1' HUP INT TERM
    # The tag leaves out gpgme, and without cgo there is no sqlite. Nothing here needs either.
    GOTOOLCHAIN=local CGO_ENABLED=0 GOGC=${GOGC:-400} go build -mod=readonly -buildvcs=false -trimpath \
        -tags containers_image_openpgp -gcflags all=-dwarf=false -ldflags "-s -w" -o "$work" . >&2
    chmod +x "$work"
    mv "$work" "$made"
fi

echo "$made"
