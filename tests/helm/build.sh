#!/bin/sh
# Prints the path of Helm, which the tests of charts run. It is built once from its Go module and kept in the cache, until go.mod
# changes.
#
#   HELM=$(tests/helm/build.sh)
#
# HELM wins if it is set. Progress goes to stderr.
set -eu

cd "$(dirname "$0")"

if [ -n "${HELM:-}" ]; then
    command -v "$HELM" || {
        echo "error: HELM is \`$HELM\`, which is no program" >&2
        echo "help: unset HELM to build it" >&2
        exit 1
    }
    exit 0
fi

version=$(sed -n 's|^[[:space:]]*helm.sh/helm/v4 \(v[0-9.]*\).*|\1|p' go.mod)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/operator-forge/helm
helm=$cache/helm-$(cat go.mod go.sum build.sh | cksum | tr ' ' '-')

if [ ! -x "$helm" ]; then
    command -v go >/dev/null || {
        echo "error: Go is needed to build Helm, and \`go\` is not in PATH" >&2
        echo "help: install Go $(sed -n 's/^go //p' go.mod) or newer, or set HELM to the path of Helm $version" >&2
        exit 1
    }
    echo "building Helm $version (minutes, the first time)" >&2
    mkdir -p "$cache"
    # Two runs at once both build; the last rename wins. Without debug information, the compiler is faster.
    GOTOOLCHAIN=local CGO_ENABLED=0 GOGC=${GOGC:-400} go build -mod=readonly -buildvcs=false -trimpath \
        -gcflags all=-dwarf=false -ldflags "-s -w -X helm.sh/helm/v4/internal/version.version=$version" \
        -o "$helm.$$" helm.sh/helm/v4/cmd/helm >&2
    mv "$helm.$$" "$helm"
fi
echo "$helm"
