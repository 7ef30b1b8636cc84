#!/bin/sh
# Prints the directory of a Kubernetes control plane for tests: etcd, kube-apiserver,
# kube-controller-manager and kubectl, in the form that KUBEBUILDER_ASSETS names. Builds it first if
# it is not in the cache; that needs Go and, once, 17 minutes of CPU time. Progress goes to stderr.
#
#   KUBEBUILDER_ASSETS=$(tests/control-plane/build.sh) cargo test
set -eu

cd "$(dirname "$0")"

if [ -n "${KUBEBUILDER_ASSETS:-}" ]; then
    for name in etcd kube-apiserver kubectl; do
        if [ ! -x "$KUBEBUILDER_ASSETS/$name" ]; then
            echo "error: KUBEBUILDER_ASSETS is \`$KUBEBUILDER_ASSETS\`, which holds no \`$name\`" >&2
            echo "help: unset KUBEBUILDER_ASSETS to build a control plane from source" >&2
            exit 1
        fi
    done
    if [ ! -x "$KUBEBUILDER_ASSETS/kube-controller-manager" ]; then
        echo "note: \`$KUBEBUILDER_ASSETS\` holds no \`kube-controller-manager\`; tests that need garbage collection or Deployments will fail" >&2
    fi
    echo "$KUBEBUILDER_ASSETS"
    exit 0
fi

version=$(sed -n 's|^[[:space:]]*k8s.io/kubernetes \(v[0-9.]*\).*|\1|p' go.mod)
inputs=$(cat go.mod go.sum main.go build.sh | cksum | tr ' ' '-')
cache=${XDG_CACHE_HOME:-$HOME/.cache}/operator-forge/control-plane
built=$cache/$version-$inputs

if [ ! -d "$built" ]; then
    command -v go >/dev/null || {
        echo "error: Go is needed to build the control plane, and \`go\` is not in PATH" >&2
        echo "help: install Go $(sed -n 's/^go //p' go.mod) or newer, or set KUBEBUILDER_ASSETS to a directory with etcd, kube-apiserver and kubectl" >&2
        exit 1
    }
    mkdir -p "$cache"
    # The lock saves a second run the work. Without flock both build, and the first rename wins.
    exec 9>"$cache/lock"
    if command -v flock >/dev/null; then
        flock 9
        rm -rf "$cache"/building.* # left by a run that was killed: we hold the lock
    fi
fi

if [ ! -d "$built" ]; then
    work=$(mktemp -d "$cache/building.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    trap 'exit 1' HUP INT TERM
    minor=${version#v*.}
    package=k8s.io/component-base/version
    echo "building Kubernetes $version for tests (minutes, the first time)" >&2
    mkdir "$work/bin"
    # Without the version flags the server calls itself v0.0.0-master.
    GOTOOLCHAIN=local CGO_ENABLED=0 go build -mod=readonly -buildvcs=false -trimpath \
        -ldflags "-s -w -X $package.gitVersion=$version -X $package.gitMajor=1 -X $package.gitMinor=${minor%%.*}" \
        -o "$work/bin/control-plane" . >&2
    for name in etcd kube-apiserver kube-controller-manager kubectl; do
        ln -s control-plane "$work/bin/$name"
    done
    chmod 755 "$work"
    [ -d "$built" ] || mv "$work" "$built"
fi

echo "$built/bin"
