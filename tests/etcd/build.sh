#!/bin/sh
# Prints a directory with two minor versions of etcd: MINOR/usr/local/bin/{etcd,etcdctl,etcdutl} for each MINOR, 3.6 and 3.7,
# and MINOR/version. Each is built once from its Go modules, and kept in the cache until their versions change.
#
#   ETCD_IMAGES=$(tests/etcd/build.sh)
#
# ETCD_IMAGES wins if it is set. Progress goes to stderr.
set -eu

cd "$(dirname "$0")"

if [ -n "${ETCD_IMAGES:-}" ]; then
    echo "$ETCD_IMAGES"
    exit 0
fi

images=${XDG_CACHE_HOME:-$HOME/.cache}/operator-forge/etcd/$(cat build.sh 3.*/go.mod 3.*/go.sum | cksum | tr ' ' '-')

for minor in 3.6 3.7; do
    image=$images/$minor
    [ -d "$image" ] && continue
    version=$(sed -n 's|^[[:space:]]*go.etcd.io/etcd/server/v3 v\([0-9.]*\).*|\1|p' "$minor/go.mod")
    command -v go >/dev/null || {
        echo "error: Go is needed to build etcd $version, and \`go\` is not in PATH" >&2
        echo "help: install Go $(sed -n 's/^go //p' "$minor/go.mod") or newer" >&2
        exit 1
    }
    echo "building etcd $version (a minute, the first time)" >&2
    # Two runs at once both build; the first rename wins. Without debug information, the compiler is faster.
    made=$image.$$
    mkdir -p "$made/usr/local/bin"
    (
        cd "$minor"
        for module in server etcdctl etcdutl; do
            GOTOOLCHAIN=local CGO_ENABLED=0 GOGC=${GOGC:-400} go build -mod=readonly -buildvcs=false -trimpath \
                -gcflags all=-dwarf=false -ldflags "-s -w" -o "$made/usr/local/bin/$module" "go.etcd.io/etcd/$module/v3" >&2
        done
    )
    mv "$made/usr/local/bin/server" "$made/usr/local/bin/etcd"
    echo "$version" >"$made/version"
    mv "$made" "$image" 2>/dev/null || rm -rf "$made"
done
echo "$images"
