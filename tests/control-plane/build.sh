#!/bin/sh
# Prints the directory of a Kubernetes control plane, in the form that KUBEBUILDER_ASSETS names:
#
#   build.sh demo    etcd, kube-apiserver and kubectl
#   build.sh         these and kube-controller-manager, which some tests need
#
#   KUBEBUILDER_ASSETS=$(tests/control-plane/build.sh) cargo test
#
# KUBEBUILDER_ASSETS wins if it is set. Otherwise the binaries are made once and kept in the cache: fetched as the archive
# that controller-tools publishes for envtest, or built from Go modules where the archive cannot be fetched. The archive is
# Kubernetes 1.37.0 and the modules are 1.37.1, because no archive of 1.37.1 is published. The archive has no
# kube-controller-manager, so that is always built. Progress goes to stderr.
#
# ENVTEST_URL is where the archives are, without the directory of the version.
set -eu

cd "$(dirname "$0")"

case ${1-} in
demo) controllers= ;;
'') controllers=kube-controller-manager ;;
*)
    echo "error: \`$1\` is not something to build" >&2
    echo "help: tests/control-plane/build.sh [demo]" >&2
    exit 2
    ;;
esac

if [ -n "${KUBEBUILDER_ASSETS:-}" ]; then
    for name in etcd kube-apiserver kubectl; do
        if [ ! -x "$KUBEBUILDER_ASSETS/$name" ]; then
            echo "error: KUBEBUILDER_ASSETS is \`$KUBEBUILDER_ASSETS\`, which holds no \`$name\`" >&2
            echo "help: unset KUBEBUILDER_ASSETS to fetch or build a control plane" >&2
            exit 1
        fi
    done
    if [ -n "$controllers" ] && [ ! -x "$KUBEBUILDER_ASSETS/$controllers" ]; then
        echo "note: \`$KUBEBUILDER_ASSETS\` holds no \`$controllers\`; tests that need garbage collection or Deployments will fail" >&2
    fi
    echo "$KUBEBUILDER_ASSETS"
    exit 0
fi

version=$(sed -n 's|^[[:space:]]*k8s.io/kubernetes \(v[0-9.]*\).*|\1|p' go.mod)
inputs=$(cat go.mod go.sum main.go controller-manager/main.go build.sh envtest.sha512 | cksum | tr ' ' '-')
platform=$(uname -sm | tr 'A-Z ' 'a-z-' | sed -e 's/x86_64/amd64/' -e 's/aarch64/arm64/')
archive=$(sed -n "s/^.*  \(envtest-v.*-$platform.tar.gz\)$/\1/p" envtest.sha512)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/operator-forge/control-plane
# Fetched or built: what is there is used until its inputs change.
made=$cache/$inputs

# Fetches the archive $1 into the file $2.
fetch() {
    url=${ENVTEST_URL:-https://github.com/kubernetes-sigs/controller-tools/releases/download}/${1%-"$platform".tar.gz}/$1
    command -v curl >/dev/null || {
        echo "\`curl\` is not in PATH" >&2
        return 1
    }
    curl --fail --silent --show-error --location --connect-timeout 5 --speed-limit 10000 --speed-time 20 \
        --output "$2" "$url" >&2
}

# Whether file $2 has the checksum that envtest.sha512 has for the archive $1.
verify() {
    sum=$(if command -v sha512sum >/dev/null; then sha512sum "$2"; else shasum -a 512 "$2"; fi) || return 1
    if [ "${sum%% *}  $1" != "$(grep "  $1\$" envtest.sha512)" ]; then
        echo "$1 does not have the checksum that tests/control-plane/envtest.sha512 has for it" >&2
        return 1
    fi
}

# Puts the binaries of the archive into $1.
published() {
    if [ -z "$archive" ]; then
        echo "no control plane is published for $platform" >&2
        return 1
    fi
    echo "fetching $archive" >&2
    fetch "$archive" "$1/archive" && verify "$archive" "$1/archive" &&
        tar -xzf "$1/archive" -C "$1" --strip-components 2 && rm "$1/archive" &&
        [ -x "$1/etcd" ] && [ -x "$1/kube-apiserver" ] && [ -x "$1/kubectl" ]
}

# Builds the package $1 of this module into the file $2; $3 says what it is.
build() {
    command -v go >/dev/null || {
        echo "error: Go is needed to build $3, and \`go\` is not in PATH" >&2
        echo "help: install Go $(sed -n 's/^go //p' go.mod) or newer, or set KUBEBUILDER_ASSETS to a directory with etcd, kube-apiserver, kubectl and kube-controller-manager" >&2
        return 1
    }
    echo "building $3 of Kubernetes $version (minutes, the first time)" >&2
    minor=${version#v*.}
    package=k8s.io/component-base/version
    # Without the version flags a server calls itself v0.0.0-master. A compiler that writes no debug information and collects
    # garbage less often needs a tenth to a sixth less time, and what is linked with -s -w has no debug information anyway. Go
    # lists each package that it compiled; every hundredth is a line of progress.
    { GOTOOLCHAIN=local CGO_ENABLED=0 GOGC=${GOGC:-400} go build -v -mod=readonly -buildvcs=false -trimpath \
        -gcflags all=-dwarf=false -ldflags "-s -w -X $package.gitVersion=$version -X $package.gitMajor=1 -X $package.gitMinor=${minor%%.*}" \
        -o "$2" "$1" 2>&1 && echo built >"$2.done"; } | awk '
        /^go: downloading / { if (!modules++) print "downloading Go modules"; next }
        /^[^ :]+$/ { if (++packages % 100 == 0) print packages " packages compiled"; fflush(); next }
        { print }' >&2
    [ -e "$2.done" ] || return 1
    rm "$2.done"
}

complete() {
    [ -d "$made" ] && { [ -z "$controllers" ] || [ -x "$made/$controllers" ]; }
}

if ! complete; then
    mkdir -p "$cache"
    # The lock saves a second run the work. Without flock both do it, and the first rename wins.
    exec 9>"$cache/lock"
    if command -v flock >/dev/null; then
        flock 9
        rm -rf "$cache"/making.* # left by a run that was killed: we hold the lock
    fi
fi

if ! complete; then
    work=$(mktemp -d "$cache/making.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    trap 'exit 1' HUP INT TERM
    if [ ! -d "$made" ]; then
        mkdir "$work/bin"
        published "$work/bin" || {
            echo "note: the published control plane cannot be used, so it is built from source" >&2
            rm -rf "$work/bin" && mkdir "$work/bin"
            build . "$work/bin/control-plane" "etcd, kube-apiserver and kubectl"
            for name in etcd kube-apiserver kubectl; do
                ln -s control-plane "$work/bin/$name"
            done
        }
        [ -d "$made" ] || mv "$work/bin" "$made"
    fi
    if [ -n "$controllers" ] && [ ! -x "$made/$controllers" ]; then
        build ./controller-manager "$work/$controllers" "$controllers"
        mv "$work/$controllers" "$made/$controllers"
    fi
fi

# Where the Makefiles of generated projects look: a name that stays. Another run may make it at the same time.
stable=$cache/${version%.*}
[ -x "$stable/kubectl" ] || ln -sfn "$inputs" "$stable" || [ -x "$stable/kubectl" ]

echo "$made"
